"""Tries out, once per process, which isolation layers this machine offers."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from referee.harness.isolation import c_programs, launcher_build, visible_paths
from referee.harness.isolation.c_programs import without
from referee.harness.isolation.hidden_files import VisiblePaths
from referee.harness.isolation.layers import account, bubblewrap, cgroups, landlock, namespaces, seccomp
from referee.harness.isolation.layers.cgroups import Groups
from referee.harness.isolation.layers.namespaces import SandboxFiles
from referee.harness.isolation.self_protection import children_waited_for
from referee.harness.isolation.supervisor import PORTABLE, STATUS

LAUNCHER = "launcher"
"""The name of the sandbox launcher among the layers."""
TRIAL_S = 10.0
TRIALS = 2
"""How often a layer is tried if the machine may have been too busy for it."""
NO_ANSWER, KILLED = "no answer within", "killed by SIGKILL"
BUSY = (NO_ANSWER, KILLED, *map(os.strerror, (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)))
"""Parts of a reason after which the same trial may succeed a moment later."""

_probing = threading.Lock()


class Machine(Struct, frozen=True):
    """The isolation layers that this machine offers."""

    namespaces: str | None
    """How they are made: "own" (as root), "user" (in a user namespace) or "bwrap"; None = not at all."""
    landlock: int
    """Its version; 0 = none."""
    groups: Groups
    missing: Mapping[str, str]
    """By layer, why it is missing. Namespaces may be made in one way and be missing in another."""
    undecided: Mapping[str, str] = {}
    """By layer, why its trial has failed although this machine may have it: the machine was too busy."""

    def has(self, layer: str) -> bool:
        """Whether the machine offers `seccomp`, `account` (one for each bot), or the `launcher`, which they need."""
        return self.missing.keys().isdisjoint((layer, LAUNCHER, "linux"))


def probe() -> Machine:
    """Tries every layer. Threads that call this at the same time wait for one answer."""
    with _probing:
        return probed()


@cache
def probed() -> Machine:
    """Does the work of `probe`."""
    if PORTABLE:
        why = f"this is {sys.platform}" if sys.platform != "linux" else f"switched off by {c_programs.WITHOUT}"
        return Machine(None, 0, Groups(()), {"linux": why})
    if reason := launcher_build.obstacle():
        missing = {LAUNCHER: reason}
        return Machine(None, 0, Groups(()), missing, _undecided(missing))
    missing = dict[str, str]()
    namespace = _namespaces(missing)
    version = 0 if without("landlock") else landlock.abi()
    if not version:
        missing["landlock"] = "not in this kernel, or switched off"
    elif reason := _trial(None, landlock.steps(["/"], [], [], version)):
        missing["landlock"], version = reason, 0
    filter_steps = [] if without("seccomp") else seccomp.steps(True, True, True)
    if reason := _trial(None, filter_steps) if filter_steps else "not known for this processor":
        missing["seccomp"] = reason
    if reason := _no_account(namespace):
        missing["account"] = reason
    groups, no_groups = (Groups(()), {}) if without("cgroup") else cgroups.find()
    missing |= {f"cgroup {name}": reason for name, reason in no_groups.items()}
    return Machine(namespace, version, groups, missing, _undecided(missing))


def _undecided(missing: Mapping[str, str]) -> dict[str, str]:
    return {layer: why for layer, why in missing.items() if any(word in why for word in BUSY)}


def sandbox_command(
    namespace: str | None, files: SandboxFiles, group: Sequence[str], steps: Sequence[str]
) -> list[str]:
    """Returns the sandbox launcher's command line: it joins the control group, enters namespaces, and takes the steps.

    `namespace`: how namespaces are made (`Machine`).
    """
    launcher = launcher_build.program()
    if namespace == "bwrap":  # its namespaces hide the control groups
        outside = [launcher, *group, "--"] if group else []
        inner = launcher if files.root is None else bubblewrap.INNER_LAUNCHER
        words = bubblewrap.command(files, launcher)
        return [*outside, *words, inner, "status", STATUS, "init", files.scratch, *steps]
    line = [launcher, "status", STATUS, *group]
    if namespace is not None:
        line += [*namespaces.enter(namespace == "user", files.network), *namespaces.mount(files), "init", files.scratch]
    return [*line, *steps]


def _namespaces(missing: dict[str, str]) -> str | None:
    """Returns the first way to make namespaces that works, and notes in `missing` why others do not."""
    for way in ("own", "user", "bwrap"):
        layer = "bwrap" if way == "bwrap" else "namespaces"
        if (way == "own" and os.geteuid() != 0) or without(layer):
            continue
        if way == "bwrap" and bubblewrap.program() is None:
            missing[layer] = "not installed"
        elif reason := _trial(way, []):
            missing[layer] = reason
        else:
            return way
    return None


def _no_account(namespace: str | None) -> str | None:
    """Returns why bots cannot have accounts of their own; None = they can."""
    if os.geteuid() != 0 or without("account"):
        return "only root can change accounts"
    if namespace in ("user", "bwrap"):
        return "a user namespace holds one account only"
    return _trial(namespace, account.steps(str(account.draw())))


def _trial(namespace: str | None, steps: Sequence[str]) -> str | None:
    """Starts a program with some layers. Returns why that fails, or None. A busy machine gets a second try."""
    reason = None
    for _ in range(TRIALS):
        try:
            with children_waited_for():
                reason = _try(namespace, steps)
        except OSError as error:
            reason = str(error)
        if reason is None or not any(word in reason for word in BUSY):
            return reason
    return reason


def _try(namespace: str | None, steps: Sequence[str]) -> str | None:
    folders = map(os.path.realpath, filter(os.path.exists, visible_paths.SYSTEM_FOLDERS))
    visible = VisiblePaths(tuple(visible_paths.outermost(folders)))
    files = SandboxFiles(visible, visible_paths.SYSTEM_FOLDERS, (), "/tmp/scratch", 1 << 20)
    words = sandbox_command(namespace, files, [], steps if "account" in steps else ["no_new_privs", *steps])
    program = shutil.which("true", path=os.defpath) or sys.executable
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            replaced = {STATUS: str(theirs.fileno()), "fork": "fork_and_wait"}
            process = subprocess.Popen(
                [*(replaced.get(word, word) for word in words), "--", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        ours.settimeout(TRIAL_S)
        try:
            messages = [*iter(lambda: ours.recv(4096), b"")]
            _, stderr = process.communicate(timeout=TRIAL_S)
        except (TimeoutError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f"{NO_ANSWER} {TRIAL_S:g} s"
    for message in messages:
        if message.startswith(b"error "):
            return message.removeprefix(b"error ").decode("utf-8", "replace")
    if process.returncode if namespace is None else not any(message.startswith(b"exit 0 ") for message in messages):
        if process.returncode == -signal.SIGKILL:
            return KILLED
        return stderr.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
    return None

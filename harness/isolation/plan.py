"""Which layers of isolation this machine gives, tried out, and what each bot is started with.

A *guarantee* is what is promised (`GUARANTEES`); a *layer* is what keeps it here, by name, "none" if nothing does.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from msgspec import Struct

from referee.harness.errors import NotIsolated, RunError, UsageError
from referee.harness.isolation import launcher_build, visible_paths
from referee.harness.isolation.hidden_files import Hidden, Sight, sight
from referee.harness.isolation.launcher_build import without
from referee.harness.isolation.layers import account, bubblewrap, cgroups, landlock, namespaces, process_limit, seccomp
from referee.harness.isolation.layers.cgroups import Group, Groups
from referee.harness.isolation.layers.namespaces import View
from referee.harness.isolation.supervisor import FLOOR, STATUS
from referee.harness.paths import HOME

NONE = "none"
GUARANTEES: Mapping[str, str] = {
    "kill": "whatever a bot starts ends with it",
    "memory": "the memory of everything that it starts",
    "hidden": "memory that stands in no process's account: files in memory, with or without a name",
    "processes": "how many of them live at a time",
    "cpu": "the CPU time of everything that it starts",
    "disk": "how much it writes into its scratch folder",
    "files": "it writes to its scratch folder only, and reads the system and its own folder only",
    "network": "it reaches nobody over any network",
    "peers": "it neither sees nor signals another bot or the referee",
    "privileges": "it has none, and gets none: no capabilities, no namespaces of its own",
    "account": "an account that nothing belongs to",
}
MODES = ("off", "auto", "required")
TRIAL_S = 10.0
IN_PROC = (
    "self",
    "cpuinfo",
    "meminfo",
    "stat",
    "loadavg",
    "uptime",
    "version",
    "filesystems",
    "mounts",
    "sys",
    "cgroups",
)
"""What a bot needs of a /proc that is not its own: nothing of other processes."""


class Isolation(Struct, frozen=True):
    """What was asked for: `off`, `auto` (what this machine has), or `required`."""

    mode: str = "auto"
    required: tuple[tuple[str, str | None], ...] = ()
    """With `required`: guarantees that some layer must keep, each perhaps with the one that it must be."""
    readable: tuple[str, ...] = ()
    """Further files and folders that bots may read."""
    writable: tuple[str, ...] = ()
    """Folders that bots may write to, and that outlast them. A replay that is put into one is not hidden."""


OFF = Isolation("off")


def isolation(text: str) -> Isolation:
    """`off`, `auto`, `required`, or `required:files,memory=cgroup`. UsageError for anything else."""
    mode, colon, names = text.partition(":")
    if mode not in MODES or (colon and (mode != "required" or not names)):
        raise UsageError(f"--isolation {text}: wanted is off, auto, required or required:NAME,NAME")
    required: list[tuple[str, str | None]] = []
    for name in names.split(",") if names else GUARANTEES if mode == "required" else ():
        guarantee, equals, layer = name.partition("=")
        if guarantee not in GUARANTEES:
            raise UsageError(f"--isolation {text}: there is no guarantee {guarantee!r}; {', '.join(GUARANTEES)}")
        if names or guarantee != "account":  # only root can give bots another account; for others it is not missing
            required.append((guarantee, layer if equals else None))
    return Isolation(mode, tuple(required))


class Found(Struct, frozen=True):
    """What the trial runs showed."""

    namespaces: str | None
    """"own" (as root), "user" (in a user namespace), "bwrap"; None = refused."""
    landlock: int
    """Its version; 0 = none."""
    seccomp: bool
    account: bool
    """Bots can be given an account of their own, where their files are open to it."""
    groups: Groups
    compiled: bool
    """The launcher is the quick one."""
    missing: Mapping[str, str]
    """By layer: why it is not there."""


@cache
def found() -> Found:
    """Tries every layer once; the later calls are free."""
    if FLOOR:
        why = f"this is {sys.platform}" if sys.platform != "linux" else "switched off"
        return Found(None, 0, False, False, Groups(()), False, {"linux": f"{why}: psutil and POSIX alone"})
    missing: dict[str, str] = {}
    spaces = _namespaces(missing)
    version = 0 if without("landlock") else landlock.abi()
    if not version:
        missing["landlock"] = "the kernel has none, or it is switched off"
    elif reason := _trial(None, landlock.steps(["/"], [], [], version)):
        missing["landlock"], version = reason, 0
    program = [] if without("seccomp") else seccomp.steps(True, True, True)
    if reason := _trial(None, program) if program else "unknown for this processor":
        missing["seccomp"] = reason
    if reason := _no_account(spaces):
        missing["account"] = reason
    groups, no_groups = (Groups(()), {}) if without("cgroup") else cgroups.find()
    missing |= {f"cgroup {name}": reason for name, reason in no_groups.items()}
    compiled = not launcher_build.command()[-1].endswith(".py")
    if not compiled:
        missing["launcher"] = f"{launcher_build.obstacle()}: every bot starts some 8 ms later"
    return Found(spaces, version, "seccomp" not in missing, "account" not in missing, groups, compiled, missing)


def _namespaces(missing: dict[str, str]) -> str | None:
    """The first way to get namespaces that works; those that do not are told in `missing`."""
    for way in ("own", "user", "bwrap"):
        if (way == "own" and os.geteuid() != 0) or without("bwrap" if way == "bwrap" else "namespaces"):
            continue
        if way == "bwrap" and bubblewrap.program() is None:
            missing["bwrap"] = "not installed"
        elif reason := _trial(way, []):
            missing["bwrap" if way == "bwrap" else "namespaces"] = reason
        else:
            return way
    return None


def _no_account(spaces: str | None) -> str | None:
    """Why bots cannot be given another account; None = they can."""
    if os.geteuid() != 0 or without("account"):
        return "only a root can give bots another"
    if spaces in ("user", "bwrap"):
        return "a user namespace holds one account only"
    return _trial(spaces, account.steps(account.draw()))


def _trial(spaces: str | None, steps: Sequence[str]) -> str | None:
    """Starts a program with some layers: why that does not work, or None."""
    shown = visible_paths.without_nested(
        os.path.realpath(path) for path in visible_paths.SYSTEM if os.path.exists(path)
    )
    view = View(Sight(tuple(shown)), visible_paths.SYSTEM, (), "/tmp/scratch", 1 << 20, os.geteuid(), os.getegid())
    program = shutil.which("true", path=os.defpath) or sys.executable
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            words = _composed(spaces, view, [], ["nnp", *steps] if "account" not in steps else steps)
            line = [str(theirs.fileno()) if word == STATUS else "attend" if word == "fork" else word for word in words]
            done = subprocess.Popen(
                [*line, "--", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
        ours.settimeout(TRIAL_S)
        try:
            messages = [*iter(lambda: ours.recv(4096), b"")]
            _, stderr = done.communicate(timeout=TRIAL_S)
        except (TimeoutError, subprocess.TimeoutExpired):
            done.kill()
            done.communicate()
            return f"no answer within {TRIAL_S:g} s"
    for message in messages:
        if message.startswith(b"error "):
            return message.removeprefix(b"error ").decode("utf-8", "replace")
    if done.returncode if spaces is None else not any(message.startswith(b"exit 0 ") for message in messages):
        return stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
    return None


def _composed(spaces: str | None, view: View, group: Sequence[str], inside: Sequence[str]) -> list[str]:
    """A launcher's command line: into the control group, into namespaces, and there the steps `inside`."""
    launcher = launcher_build.command()
    if spaces == "bwrap":  # control groups cannot be written to from there
        before = [*launcher, *group, "--"] if group else []
        return [
            *before,
            *bubblewrap.command(view, launcher),
            *launcher,
            "status",
            STATUS,
            "init",
            view.scratch,
            *inside,
        ]
    taken = [*launcher, "status", STATUS, *group]
    if spaces is not None:
        taken += [*namespaces.enter(user=spaces == "user"), *namespaces.files(view), "init", view.scratch]
    return [*taken, *inside]


def table(isolation: Isolation) -> dict[str, str]:
    """The layer that keeps each guarantee."""
    if isolation.mode == "off" or FLOOR:
        return {
            "kill": "psutil" if FLOOR else "subreaper",
            "memory": "poll",
            "processes": "poll",
            "cpu": "poll",
            "disk": "poll",
            **dict.fromkeys(("hidden", "files", "network", "peers", "privileges", "account"), NONE),
        }
    here = found()
    groups, spaces, scoped = here.groups, here.namespaces, here.landlock >= landlock.SCOPE_ABI
    inside = "bwrap" if spaces == "bwrap" else "namespaces"
    locked = "landlock" if here.landlock else None
    return {
        "kill": "pidns" if spaces else "subreaper",
        "memory": "cgroup" if groups.has("memory") else "poll+data",
        "hidden": "cgroup" if groups.has("memory") else "seccomp" if here.seccomp and (spaces or locked) else NONE,
        "processes": "cgroup" if groups.has("pids") else "poll+rlimit" if spaces == "user" or here.account else "poll",
        "cpu": "cgroup" if groups.has("cpu") else "poll",
        "disk": inside if spaces else "poll",
        "files": _joined(inside if spaces else None, locked) or NONE,
        "network": inside if spaces else "seccomp" if here.seccomp else NONE,
        "peers": _joined(inside if spaces else None, locked if scoped else None) or NONE,
        "privileges": "seccomp" if here.seccomp else NONE,
        "account": "own" if here.account else NONE,
    }


def weakest(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """One table for several bots: what is kept for all. Only another account may be there for some alone."""
    first, *others = [*tables] or [{}]
    found = dict(first)
    for kept in others:
        if kept != found:
            found |= {name: layer for name, layer in kept.items() if found.get(name) != NONE}
    return found


def _joined(*layers: str | None) -> str | None:
    return "+".join(filter(None, layers)) or None


def unmet(isolation: Isolation, kept: Mapping[str, str] | None = None) -> list[str]:
    """What is required and not there, one line each; `kept`: the table of one bot. Default: this machine's."""
    if not isolation.required:
        return []
    kept = table(isolation) if kept is None else kept
    lines = []
    for guarantee, demanded in isolation.required:
        has = kept[guarantee]
        if has == NONE or (demanded is not None and demanded not in has.split("+")):
            wish = "" if demanded is None else f" by {demanded}"
            lines.append(f"{guarantee} ({GUARANTEES[guarantee]}) is not kept{wish} here: {has}")
    return lines


class Start(Struct, frozen=True):
    """How one bot is started."""

    launcher: tuple[str, ...] = ()
    """The launcher with its steps, to stand before the program; () = the program alone."""
    kept: Mapping[str, str] = {}
    """The table of this bot."""
    group: Group | None = None


class Home(Struct, frozen=True):
    """What a bot is to find where it lives."""

    argv: Sequence[str]
    cwd: Path
    path: str
    """Its PATH."""
    scratch: Path
    whole: tuple[str, ...]
    """Folders of which it is given all if it is given anything inside: what was built together."""
    memory_bytes: int | None
    processes: int | None
    scratch_bytes: int | None
    """How much room there is to be in the scratch folder."""
    hidden: Hidden = Hidden()
    """Replays that it must not see, wherever they lie."""


@contextmanager
def room(isolation: Isolation) -> Iterator[None]:
    """Bots are started within such a block. It may keep our process in another control group, until it ends."""
    if isolation.mode == "off" or FLOOR or without("cgroup"):
        yield
        return
    with cgroups.room():
        yield


def start(isolation: Isolation, home: Home) -> Start:
    """What goes before a bot's command line. NotIsolated if something is required that is not kept for it; OSError if
    its control group cannot be made."""
    kept = table(isolation)
    if isolation.mode == "off" or FLOOR:
        _demand(isolation, kept)
        return Start(kept=kept)
    here = found()
    needed = visible_paths.needed(tuple(home.argv), home.cwd, home.path, (*home.whole, *isolation.readable))
    seen = sight(needed, isolation.writable, home.hidden, can_empty=here.namespaces is not None)
    uid = _own_account(home, here, seen)
    if uid is None:
        kept["account"] = NONE
    _demand(isolation, kept)
    group = here.groups.make(home.memory_bytes, home.processes) if here.groups.hierarchies else None
    uids = (os.geteuid(), os.getegid()) if uid is None else (uid, uid)
    files = [word for word in home.argv if word.startswith("/") and os.path.exists(word)]
    named = [
        *visible_paths.SYSTEM,
        *visible_paths.kits(),
        *files,
        str(home.cwd),
        *home.path.split(os.pathsep),
        *isolation.readable,
    ]
    view = View(seen, named, isolation.writable, str(home.scratch), home.scratch_bytes, *uids)
    into = [] if group is None else group.steps(forks=here.namespaces in ("own", "user"))
    try:
        line = _composed(here.namespaces, view, into, _inside(here, view, home, uid))
    except (OSError, RunError):
        if group is not None:
            group.remove()
        raise
    return Start((*line, "--"), kept, group)


def _demand(isolation: Isolation, kept: Mapping[str, str]) -> None:
    if lines := unmet(isolation, kept):
        raise NotIsolated("; ".join(lines))


def start_build(isolation: Isolation, memory_bytes: int | None, processes: int | None, network: bool) -> Start:
    """What goes before a build's command line: a control group where there are some, and no network unless it may have
    it. OSError if that cannot be."""
    here = found() if isolation.mode != "off" else None
    cut: list[str] = []
    if not network:
        if here is None or here.namespaces not in ("own", "user"):
            raise OSError("nothing here keeps it from the network: that needs namespaces")
        cut = namespaces.without_network(user=here.namespaces == "user")
    group = here.groups.make(memory_bytes, processes) if here is not None and here.groups.hierarchies else None
    if group is None and not cut:
        return Start()
    into = [] if group is None else group.steps(forks=False)
    return Start((*launcher_build.command(), "status", STATUS, *into, *cut, "--"), group=group)


def _own_account(home: Home, here: Found, seen: Sight) -> int | None:
    """An account for a bot, if it can reach there what it needs; it then owns the scratch folder."""
    if not here.account:
        return None
    below = frozenset(seen.shown) if here.namespaces else frozenset()
    own_folder = home.cwd if home.cwd != HOME else Path(home.argv[0])  # a built-in bot's is the whole package
    own_path = os.path.realpath(own_folder)
    own = [own_path]
    if own_path in seen.opened:
        own = [path for path in seen.shown if visible_paths.covered(path, [own_path]) and not os.path.islink(path)]
    needed = [
        *own,
        *(word for word in home.argv if word.startswith("/") and os.path.isfile(word)),
    ]
    needed += visible_paths.of_original(home.argv)
    if not account.open_to_others(needed, below, seen.emptied):
        return None
    uid = account.draw()
    if here.namespaces is None:
        os.chown(home.scratch, uid, uid)
        os.chmod(home.scratch.parent, 0o711)
    return uid


def _inside(here: Found, view: View, home: Home, uid: int | None) -> list[str]:
    """What a bot's process does to itself, at last."""
    steps = ["chdir", str(home.cwd), *(account.steps(uid) if uid is not None else ()), "nocaps"]
    if uid is not None or here.namespaces == "user":
        steps += process_limit.steps(home.processes)
    steps.append("nnp")
    if here.landlock:
        files = [path for path in view.sight.shown if not os.path.islink(path)]  # a link needs no right
        read = ["/"] if here.namespaces else [*files, *(f"/proc/{name}" for name in IN_PROC)]
        listed = () if here.namespaces else view.sight.opened
        write = [view.scratch, *view.writable, *(["/tmp"] if here.namespaces else [])]
        steps += landlock.steps(read, write, namespaces.DEVICES, here.landlock, listed)
    if here.seccomp:
        alone = here.namespaces is not None
        local_sockets = alone or here.landlock >= landlock.SCOPE_ABI
        steps += seccomp.steps(not alone and not here.landlock, not alone, local_sockets)
    return steps

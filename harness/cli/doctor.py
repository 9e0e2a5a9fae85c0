"""`referee doctor`: what keeps bots apart on this machine, what it lacks, and how to get it."""

import os
import platform
import resource
from pathlib import Path

import psutil
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from referee.harness.check.attacks import Attacked, attack_all
from referee.harness.cli.exit_codes import AT_FAULT, NOT_ISOLATED, PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import live, out, print_json
from referee.harness.cli.signals import run
from referee.harness.isolation import launcher_build, plan
from referee.harness.isolation.layers import bubblewrap, cgroups
from referee.harness.isolation.layers.cgroups import TaskLimit
from referee.harness.isolation.layers.process_limit import tasks
from referee.harness.isolation.plan import GUARANTEES, NONE, Found
from referee.harness.isolation.process_tree import READ_BY as TREE_READ_BY
from referee.harness.process.limits import Limits

USER_NAMESPACES = (
    "sysctl kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
    "user.max_user_namespaces above 0; in a container: allow unshare and mount; or install bubblewrap"
)
LINUX = "Linux: on Windows WSL, on macOS a virtual machine"
SEATS = 2
OWN_TASKS = 64
"""Threads of the referee, spawners and supervisors, and a runtime's first threads."""
TASKS = (
    "raise TasksMax= of the unit, --pids-limit of the container, ulimit -u, kernel.threads-max or kernel.pid_max; or "
    "play with a lower --processes"
)
ENOUGH_DESCRIPTORS = 256
"""For matches of four bots and whatever else is open."""
CGROUPS = "run as root, or in a service or scope with Delegate=yes: systemd-run --user --scope -p Delegate=yes …"


class Line(Struct, frozen=True):
    """One layer on this machine."""

    layer: str
    here: bool
    what: str
    """What there is, or why there is nothing."""
    remedy: str | None = None
    """How to get it."""


class Diagnosis(Struct, frozen=True):
    """All that `--json` prints."""

    machine: str
    layers: list[Line]
    guarantees: dict[str, str]
    """The layer that keeps each."""
    unmet: list[str]
    """What `--isolation required` would refuse to start for."""
    attacks: list[Attacked] | None = None


def doctor(*, isolation: str = "auto", attack: Flag = False, json: Flag = False) -> int:
    """Tells what keeps bots apart on this machine, what it lacks, and how to get it.

    Exit codes: 0, 1 if an attack reached what a layer should have kept, 5 if --isolation requires more than there is.

    Parameters
    ----------
    isolation
        As for a match: off, auto, required or required:NAME,NAME.
    attack
        Have harmless bots try here what hostile ones would, and tell what they reached.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    demanded = plan.isolation(isolation)
    kept = plan.table(demanded)
    unmet = plan.unmet(demanded)
    attacks = run(_attack, demanded) if attack and not unmet else None
    found = Diagnosis(_machine(), _lines(plan.found()), kept, unmet, attacks)
    if json:
        print_json(found)
    else:
        out.print(_report(found))
    if unmet:
        return NOT_ISOLATED
    return AT_FAULT if any(done.reached and kept[done.guarantee] != NONE for done in attacks or ()) else PLAYED


async def _attack(demanded: plan.Isolation) -> list[Attacked]:
    try:
        return await attack_all(demanded, lambda done: live.show(f"attack {done.name}"))
    finally:
        live.clear()


def _machine() -> str:
    system = platform.uname()
    who = "root" if os.geteuid() == 0 else f"account {os.geteuid()}"
    return f"{system.system} {system.release} {system.machine}, Python {platform.python_version()}, {who}"


def _lines(here: Found) -> list[Line]:
    """One line a layer."""
    missing = here.missing
    if "linux" in missing:
        linux = Line("linux", False, f"{missing['linux']}, as well as they can keep bots together", LINUX)
        return [linux, Line("process tree", True, f"read by {TREE_READ_BY}"), _descriptors(), *_tasks()]
    lines = [_launcher(here), _namespaces(here), _landlock(here)]
    lines.append(Line("seccomp", here.seccomp, missing.get("seccomp", "a handful of system calls are denied")))
    for name, gives in (
        ("memory", "a memory limit that holds exactly, hidden memory included"),
        ("pids", "a limit of threads and processes that holds exactly"),
        ("cpu", "exact CPU time of everything that a bot starts"),
    ):
        has = here.groups.has(name)
        lines.append(Line(f"cgroup {name}", has, gives if has else missing.get(f"cgroup {name}", NONE), CGROUPS))
    words = "every bot has an account of its own, where its files are open to it (chmod o+rX)"
    lines.append(Line("account", here.account, missing.get("account", words), "run the referee as root"))
    lines.append(Line("process tree", True, f"read by {TREE_READ_BY}"))
    lines.append(_descriptors())
    lines += _tasks()
    return lines


def _descriptors() -> Line:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = most == resource.RLIM_INFINITY or most >= ENOUGH_DESCRIPTORS
    many = "any number" if most == resource.RLIM_INFINITY else most
    return Line("descriptors", enough, f"{many} may be open", f"ulimit -n {ENOUGH_DESCRIPTORS}")


def _tasks() -> list[Line]:
    """Whether the machine has as many tasks left as the bots of a match may use. No line where nobody knows."""
    limits = [*cgroups.task_limits(), *_account_tasks(), *_kernel_tasks()]
    if not limits:
        return []
    limit = min(limits, key=lambda limit: limit.most - limit.living)
    left, processes = limit.most - limit.living, Limits().processes or 0
    needed = SEATS * tasks(processes) + OWN_TASKS
    what = f"{left} processes and threads can be started ({limit.name} is {limit.most}); a match may use {needed}"
    return [Line("tasks", left >= needed, what, TASKS)]


def _account_tasks() -> list[TaskLimit]:
    """`ulimit -u`, which does not bind root."""
    most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if most == resource.RLIM_INFINITY or os.geteuid() == 0:
        return []
    found = psutil.process_iter(["uids", "num_threads"])
    ours = (each.info for each in found if each.info["uids"] and each.info["uids"].real == os.getuid())
    return [TaskLimit("ulimit -u", most, sum(info["num_threads"] or 0 for info in ours))]


def _kernel_tasks() -> list[TaskLimit]:
    """Those of the whole machine; none where there is no Linux."""
    try:
        living = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        names = ("threads-max", "pid_max")
        return [TaskLimit(f"kernel.{name}", int(Path("/proc/sys/kernel", name).read_text()), living) for name in names]
    except (OSError, ValueError):
        return []


def _launcher(here: Found) -> Line:
    command = launcher_build.command()
    what = f"compiled, {Path(command[-1])}" if here.compiled else here.missing["launcher"]
    remedy = "set XDG_CACHE_HOME" if "cannot be written" in what else "install gcc or clang"
    return Line("launcher", here.compiled, what, remedy)


def _namespaces(here: Found) -> Line:
    kinds = {"own": "made as root", "user": "made in a user namespace", "bwrap": f"made by {bubblewrap.program()}"}
    if here.namespaces is not None:
        what = f"{kinds[here.namespaces]}: processes, files, network and messages of its own for each bot"
        return Line("namespaces", True, what)
    return Line("namespaces", False, here.missing.get("namespaces", "refused"), USER_NAMESPACES)


def _landlock(here: Found) -> Line:
    version = here.landlock
    if not version:
        return Line("landlock", False, here.missing["landlock"], "Linux 5.13 or later with landlock among lsm= at boot")
    gives = ["files", *(["TCP"] if version >= 4 else []), *(["signals and abstract sockets"] if version >= 6 else [])]
    return Line("landlock", True, f"version {version}: {', '.join(gives)}", None if version >= 6 else "Linux 6.12")


def _report(found: Diagnosis) -> Group:
    parts: list[RenderableType] = [Text(found.machine), _layers(found), _guarantees(found)]
    if found.attacks is not None:
        parts.append(_attacks(found.attacks))
    for line in found.unmet:
        parts.append(Text(f"required: {line}", style="bold red"))
    return Group(*parts)


def _layers(found: Diagnosis) -> Sheet:
    sheet = Sheet(("layer", "here"), (), ("what",))
    for line in found.layers:
        state = Text("yes", style="green") if line.here else Text("no", style="yellow")
        remedy = (
            "" if (line.here and line.layer != "landlock") or line.remedy is None else f"; to get it: {line.remedy}"
        )
        sheet.add(line.layer, state, printable(line.what) + remedy)
    return sheet


def _guarantees(found: Diagnosis) -> Sheet:
    sheet = Sheet(("guarantee", "kept by"), (), ("what",))
    for name, layer in found.guarantees.items():
        sheet.add(name, Text(layer, style="bold red" if layer == NONE else "green"), GUARANTEES[name])
    return sheet


def _attacks(attacks: list[Attacked]) -> Sheet:
    sheet = Sheet(("attack", "tries", "was"), (), ("what a bot did", "what came of it"))
    for done in attacks:
        word = Text("reached", style="bold red") if done.reached else Text("refused", style="green")
        sheet.add(done.name, done.guarantee, word, done.what, printable(done.detail))
    return sheet

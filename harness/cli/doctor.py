"""`referee doctor`: the isolation layers, compilers and Python of this machine, and how to get what is missing."""

import os
import platform
import resource
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import psutil
from msgspec import Struct
from rich.console import Group
from rich.text import Text

from referee.harness.addons import hooks
from referee.harness.cli.exit_codes import NOT_ISOLATED, PLAYED
from referee.harness.cli.interpreter import DEBUG, NOT_OPTIMISED, ns_per_step, slow_build
from referee.harness.cli.options import Json
from referee.harness.cli.reports.rows import Sheet
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import print_result
from referee.harness.isolation import launcher_build, plan
from referee.harness.isolation.layers import bubblewrap, cgroups
from referee.harness.isolation.layers.cgroups import TaskLimit, tasks
from referee.harness.isolation.plan import GUARANTEES, NONE
from referee.harness.isolation.probe import LAUNCHER, Machine, probe
from referee.harness.isolation.process_tree import READ_BY as TREE_READ_BY
from referee.harness.languages import packages, toolchains
from referee.harness.languages.items import Toolchain
from referee.harness.process.limits import Limits
from referee.harness.process.machine_effects import machine_effects
from referee.harness.programs.targets import targets

CGROUPS = "run as root, or in a service or scope with Delegate=yes: systemd-run --user --scope -p Delegate=yes COMMAND"
USER_NAMESPACES = (
    "sysctl kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
    "user.max_user_namespaces above 0; in a container: allow unshare and mount; or install bubblewrap"
)
NAMESPACES_MADE = {"own": "made as root", "user": "made in a user namespace", "bwrap": "made by {bwrap}"}
TASKS = (
    "raise TasksMax= of the unit, --pids-limit of the container, ulimit -u, kernel.threads-max or kernel.pid_max; or "
    "play with a lower --processes"
)
TIMING = (
    "for a contest: echo off > /sys/devices/system/cpu/smt/control; echo 1 > "
    "/sys/devices/system/cpu/intel_pstate/no_turbo or echo 0 > /sys/devices/system/cpu/cpufreq/boost; "
    "sysctl kernel.sched_schedstats=1"
)
OPTIMISED = (
    "use the Python of Debian or Ubuntu, of an official image (docker pull python) or of uv; with pyenv, "
    "install it with PYTHON_CONFIGURE_OPTS=--enable-optimizations"
)
SLOWER = {NOT_OPTIMISED: "a turn takes 5 to 10 % more time, an engine 16 %", DEBUG: "matches are far slower"}
SEATS = 2
OWN_TASKS = 64
"""Tasks of the referee, spawners and supervisors."""
ENOUGH_DESCRIPTORS = 256
"""Enough for matches of four bots."""


class Line(Struct, frozen=True):
    """One layer of this machine, or another thing that matches depend on."""

    layer: str
    here: bool
    what: str
    """The benefit of the layer, or the reason why it is missing."""
    remedy: str | None = None
    """How to get it."""


class Tool(Struct, frozen=True):
    """A program or library that the starter kits need."""

    kits: list[str]
    """The languages of these kits."""
    name: str
    """The program, or the library's header."""
    version: str
    """Such as `12.2.0`; empty if unknown."""
    lack: str
    """Why it cannot be used; empty if it can."""
    install: list[str]
    """The command that installs it. On an unknown system: one for each system that we know."""


class Diagnosis(Struct, frozen=True):
    """The output of `--json`."""

    machine: str
    layers: list[Line]
    guarantees: dict[str, str]
    """By guarantee, the layer that keeps it."""
    unmet: list[str]
    """The requirements of `--isolation` that are not met."""
    toolchains: list[Tool]


def doctor(*, isolation: str = "auto", json: Json = False) -> int:
    """Shows what this machine has for matches.

    Lists the isolation layers, compilers and Python, and how to get what is missing.

    Exit codes: 0, 5 if a requirement of --isolation is not met.

    Args:
        isolation: As for a match: off, auto, required or required:NAME,NAME.
    """
    requested = plan.isolation(isolation)
    layers = plan.layer_by_guarantee(requested)
    unmet = plan.unmet(requested)
    diagnosis = Diagnosis(_machine(), [*_layers(probe())], layers, unmet, _tools())
    print_result(diagnosis, _report(diagnosis), json)
    return NOT_ISOLATED if unmet else PLAYED


def _machine() -> str:
    system = platform.uname()
    who = "root" if os.geteuid() == 0 else f"account {os.geteuid()}"
    return f"{system.system} {system.release} {system.machine}, Python {platform.python_version()}, {who}"


def _layers(machine: Machine) -> Iterator[Line]:
    missing = machine.missing
    if "linux" in missing:
        what = f"{missing['linux']}: bots are supervised with psutil alone"
        yield Line("linux", False, what, "Linux: on Windows WSL, on macOS a virtual machine")
    elif LAUNCHER in missing:
        what = f"{missing[LAUNCHER]}: bots have no namespaces, Landlock, seccomp, control groups or accounts"
        remedy = "set XDG_CACHE_HOME" if "the cache" in what else "install gcc or clang, or a wheel of Referee"
        yield Line(LAUNCHER, False, what, remedy)
    else:
        yield Line(LAUNCHER, True, launcher_build.program())
        yield _namespaces(machine)
        yield _landlock(machine)
        yield Line("seccomp", machine.has("seccomp"), missing.get("seccomp", "denies a handful of system calls"))
        for name, benefit in (
            ("memory", "an exact limit of memory, hidden memory included"),
            ("pids", "an exact limit of processes and threads"),
            ("cpu", "exact CPU time of everything that a bot starts"),
        ):
            here = machine.groups.has(name)
            yield Line(f"cgroup {name}", here, benefit if here else missing.get(f"cgroup {name}", NONE), CGROUPS)
        benefit = "a new account for every bot whose files are open to all accounts (chmod o+rX)"
        yield Line("account", machine.has("account"), missing.get("account", benefit), "run the referee as root")
    yield Line("process tree", True, f"read by {TREE_READ_BY}")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    unlimited = limit == resource.RLIM_INFINITY
    what = f"the limit of open files is {'infinite' if unlimited else limit}"
    yield Line("descriptors", unlimited or limit >= ENOUGH_DESCRIPTORS, what, f"ulimit -n {ENOUGH_DESCRIPTORS}")
    yield from _tasks()
    yield _machine_effects()
    yield _python()


def _namespaces(machine: Machine) -> Line:
    if machine.namespaces is None:
        return Line("namespaces", False, machine.missing.get("namespaces", "refused"), USER_NAMESPACES)
    made = NAMESPACES_MADE[machine.namespaces].format(bwrap=bubblewrap.program())
    return Line(
        "namespaces",
        True,
        f"{made}: each bot has its own processes, files, network and messages; images run (oci:IMAGE.tar)",
    )


def _landlock(machine: Machine) -> Line:
    version = machine.landlock
    if not version:
        reason = machine.missing["landlock"]
        return Line("landlock", False, reason, "Linux 5.13 or later with landlock among lsm= at boot")
    scope = ["files", *(["TCP"] if version >= 4 else []), *(["signals and abstract sockets"] if version >= 6 else [])]
    return Line("landlock", True, f"version {version}: {', '.join(scope)}", None if version >= 6 else "Linux 6.12")


def _machine_effects() -> Line:
    """Says what can be measured of a machine's effect on the time of bots, and what changes a core's speed unseen."""
    found = machine_effects()
    known = {True: "on", False: "off", None: "unknown here"}
    counted = "counts" if found.core_wait else "does not count"
    stolen = " and stolen time" if found.steal else ""
    what = f"the kernel {counted} core waits{stolen}; SMT is {known[found.smt]}, turbo {known[found.turbo]}"
    return Line("timing", found.core_wait and not found.smt and not found.turbo, what, TIMING)


def _python() -> Line:
    slow = slow_build(sysconfig.get_config_vars())
    loop = f"{ns_per_step():.0f} ns for a step of a small loop"
    what = f"built with profile-guided optimisation; {loop}" if slow is None else f"{slow}: {SLOWER[slow]}; {loop}"
    return Line("python", slow is None, what, OPTIMISED)


def _tasks() -> Iterator[Line]:
    """Compares the tasks that can still be started with those that the bots of a match may use. No line if unknown."""
    limits = [*cgroups.task_limits(), *_account_tasks(), *_kernel_tasks()]
    if not limits:
        return
    limit = min(limits, key=lambda each: each.limit - each.alive)
    left, processes = limit.limit - limit.alive, Limits().processes or 0
    needed = SEATS * tasks(processes) + OWN_TASKS
    what = f"{left} more processes and threads can be started ({limit.name} is {limit.limit}); a match may use {needed}"
    yield Line("tasks", left >= needed, what, TASKS)


def _account_tasks() -> list[TaskLimit]:
    """Returns the limit `ulimit -u`, which does not bind root."""
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if limit == resource.RLIM_INFINITY or os.geteuid() == 0:
        return []
    infos = (process.info for process in psutil.process_iter(["uids", "num_threads"]))
    own = (info["num_threads"] or 0 for info in infos if info["uids"] and info["uids"].real == os.getuid())
    return [TaskLimit("ulimit -u", limit, sum(own))]


def _kernel_tasks() -> list[TaskLimit]:
    """Returns the limits of the whole machine; none if it does not run Linux."""
    try:
        alive = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        names = ("threads-max", "pid_max")
        return [TaskLimit(f"kernel.{name}", int(Path("/proc/sys/kernel", name).read_text()), alive) for name in names]
    except (OSError, ValueError):
        return []


def _tools() -> list[Tool]:
    """Asks all programs for their versions at the same time: some take half a second."""
    users: dict[str, list[Toolchain]] = {}
    of_targets = chain.from_iterable(target.toolchains() for target in targets().values())
    for toolchain in (*packages.KITS.values(), *of_targets):
        for name in toolchain.items + toolchain.test_items:
            users.setdefault(name, []).append(toolchain)
    compilers = {name: kits[0].items[0] for name, kits in users.items()}
    with ThreadPoolExecutor() as threads:
        found = threads.map(lambda name: toolchains.look_up(packages.ITEMS[name], compilers[name]), users)
    tools = [
        Tool([kit.name for kit in kits], name, here.version, here.lack, packages.install_lines([packages.ITEMS[name]]))
        for (name, kits), here in zip(users.items(), found, strict=True)
    ]
    return [*tools, *chain.from_iterable(hooks().machine())]


def _report(diagnosis: Diagnosis) -> Group:
    layers = Sheet(("layer", "here"), (), ("what",))
    for line in diagnosis.layers:
        state = Text("yes", style="green") if line.here else Text("no", style="yellow")
        needs_remedy = line.remedy is not None and (not line.here or line.layer == "landlock")
        layers.add(line.layer, state, printable(line.what) + (f"; to get it: {line.remedy}" if needs_remedy else ""))
    guarantees = Sheet(("guarantee", "kept by"), (), ("what",))
    for name, layer in diagnosis.guarantees.items():
        guarantees.add(name, Text(layer, style="bold red" if layer == NONE else "green"), GUARANTEES[name])
    tools = Sheet(("program or library", "kits", "version"), (), ("to install it",))
    for tool in diagnosis.toolchains:
        version = Text(
            f"no: {tool.lack}" if tool.lack else tool.version or "yes", style="yellow" if tool.lack else "green"
        )
        tools.add(tool.name, ", ".join(tool.kits), version, ", or ".join(tool.install) if tool.lack else "")
    unmet = [Text(f"required: {line}", style="bold red") for line in diagnosis.unmet]
    return Group(Text(diagnosis.machine), layers, guarantees, tools, *unmet)

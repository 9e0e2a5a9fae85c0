"""Plans isolation: the guarantees, the layer that keeps each on this machine, and the sandbox of a bot or a build.

A *guarantee* is a promise (`GUARANTEES`). A *layer* keeps it, and differs between machines; "none" = nothing keeps it.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from msgspec import Struct

from referee.harness.common.errors import NotIsolated, RunError, UsageError
from referee.harness.common.paths import HOME, KITS
from referee.harness.isolation import launcher_build, visible_paths
from referee.harness.isolation.c_programs import without
from referee.harness.isolation.hidden_files import HiddenFiles, VisiblePaths, select_visible
from referee.harness.isolation.layers import account, cgroups, landlock, namespaces, seccomp
from referee.harness.isolation.layers.cgroups import Group, GroupLimits, Groups
from referee.harness.isolation.layers.namespaces import SandboxFiles
from referee.harness.isolation.probe import LAUNCHER, Machine, probe, sandbox_command
from referee.harness.isolation.supervisor import PORTABLE

NONE = "none"
GUARANTEES: Mapping[str, str] = {
    "kill": "everything that a bot starts ends with it",
    "memory": "a limit for the memory of everything that it starts",
    "hidden": "a limit for memory that no process is charged for: files in memory",
    "processes": "a limit for its processes",
    "cpu": "the CPU time of everything that it starts is counted",
    "disk": "a limit for the size of its scratch folder",
    "files": "it writes to its scratch folder only, and reads the system and its own folder only",
    "network": "it has no network",
    "peers": "it can neither see nor signal other bots and the referee",
    "privileges": "it has no capabilities, and can get none in namespaces of its own",
    "account": "an account of its own, which owns nothing else",
}
MODES = ("off", "auto", "required")
PROC = ("self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "mounts", "sys", "cgroups")
"""The part of the machine's /proc that a bot may read: nothing about other processes."""


class Isolation(Struct, frozen=True):
    """The isolation that a run asks for: `off`, `auto` (what this machine offers), or `required`."""

    mode: str = "auto"
    required: tuple[tuple[str, str | None], ...] = ()
    """With `required`: guarantees that some layer must keep, each with the layer that it must be, or None."""
    readable: tuple[str, ...] = ()
    """More files and folders that bots may read."""
    writable: tuple[str, ...] = ()
    """Folders that bots may write to and that outlast them. A replay in one of them is not hidden."""


OFF = Isolation("off")


def isolation(text: str, option: str = "--isolation") -> Isolation:
    """Parses `off`, `auto`, `required`, or `required:files,memory=cgroup`. UsageError for anything else."""
    mode, colon, names = text.partition(":")
    if mode not in MODES or (colon and (mode != "required" or not names)):
        raise UsageError(f"{option} {text}: expected off, auto, required or required:NAME,NAME")
    required: list[tuple[str, str | None]] = []
    for name in names.split(",") if names else GUARANTEES if mode == "required" else ():
        guarantee, equals, layer = name.partition("=")
        if guarantee not in GUARANTEES:
            raise UsageError(f"{option} {text}: unknown guarantee {guarantee!r}; choose from {', '.join(GUARANTEES)}")
        if names or guarantee != "account":  # only root can give bots accounts, so it must be asked for by name
            required.append((guarantee, layer if equals else None))
    return Isolation(mode, tuple(required))


def layer_by_guarantee(isolation: Isolation) -> dict[str, str]:
    """Returns the layer that keeps each guarantee on this machine."""
    if isolation.mode == "off" or PORTABLE:
        return {
            "kill": "psutil" if PORTABLE else "subreaper",
            "memory": "poll",
            "processes": "poll",
            "cpu": "poll",
            "disk": "poll",
            **dict.fromkeys(("hidden", "files", "network", "peers", "privileges", "account"), NONE),
        }
    machine = probe()
    groups, namespace = machine.groups, machine.namespaces
    namespace_layer = "bwrap" if namespace == "bwrap" else "namespaces" if namespace else None
    landlock_layer = "landlock" if machine.landlock else None
    landlock_scope = landlock_layer if machine.landlock >= landlock.SCOPE_ABI else None
    seccomp_layer = "seccomp" if machine.has("seccomp") else NONE
    process_layer = "poll+rlimit" if namespace == "user" or machine.has("account") else "poll"
    return {
        "kill": "pidns" if namespace else "subreaper",
        "memory": "cgroup" if groups.has("memory") else "poll+data",
        "hidden": "cgroup" if groups.has("memory") else seccomp_layer if namespace or landlock_layer else NONE,
        "processes": "cgroup" if groups.has("pids") else process_layer,
        "cpu": "cgroup" if groups.has("cpu") else "poll",
        "disk": namespace_layer or "poll",
        "files": _joined(namespace_layer, landlock_layer),
        "network": namespace_layer or seccomp_layer,
        "peers": _joined(namespace_layer, landlock_scope),
        "privileges": seccomp_layer,
        "account": "own" if machine.has("account") else NONE,
    }


def _joined(*layers: str | None) -> str:
    return "+".join(filter(None, layers)) or NONE


def common_layers(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Returns, by guarantee, the layer that holds for all bots: NONE if one of them lacks it."""
    first, *others = [*tables] or [{}]
    common = dict(first)
    for layers in others:
        common |= {name: layer for name, layer in layers.items() if common.get(name) != NONE}
    return common


def unmet(isolation: Isolation, layers: Mapping[str, str] | None = None) -> list[str]:
    """Returns a line for each requirement that is not met. `layers`: those of one bot; default: this machine's."""
    if not isolation.required:
        return []
    layers = layer_by_guarantee(isolation) if layers is None else layers
    undecided = {} if isolation.mode == "off" else probe().undecided
    lines = [f"{layer}: {why_lost(layer)} ({why}); run the command again" for layer, why in undecided.items()]
    for guarantee, layer_name in isolation.required:
        layer = layers[guarantee]
        if layer == NONE:
            lines.append(f"{guarantee} ({GUARANTEES[guarantee]}): no layer of this machine keeps it")
        elif layer_name is not None and layer_name not in layer.split("+"):
            lines.append(f"{guarantee} ({GUARANTEES[guarantee]}): kept by {layer} here, not by {layer_name}")
    return lines


def lost_layers(isolation: Isolation) -> Mapping[str, str]:
    """Returns the layers that this machine may have and that no bot gets, with the reason."""
    if isolation.mode == "off":
        return {}
    machine = probe()
    return {layer: why for layer, why in machine.missing.items() if layer in (LAUNCHER, *machine.undecided)}


def warning(isolation: Isolation) -> str | None:
    """Returns what to say before bots are started without the layers that the launcher gives; None if it is there."""
    if isolation.mode == "off" or PORTABLE or (why := launcher_build.obstacle()) is None:
        return None
    return f"nothing keeps these bots apart: the sandbox launcher is missing ({why}); see `referee doctor`"


def why_lost(layer: str) -> str:
    """Returns why a lost layer is missing, as far as its name says it."""
    if layer == LAUNCHER:
        return "no layer that keeps bots apart works without it"
    return "its trial failed, perhaps because the machine was too busy"


class Sandbox(Struct, frozen=True):
    """The sandbox of one bot or build."""

    launcher: tuple[str, ...] = ()
    """The command line before the program: the sandbox launcher with its steps; () = nothing."""
    layers: Mapping[str, str] = {}
    """By guarantee, the layer that keeps it here."""
    group: Group | None = None
    owner: int | None = None
    """The account of its own; None = ours."""

    def remove(self) -> None:
        """Removes the control group once its processes have ended."""
        if self.group is not None:
            self.group.remove()


NO_SANDBOX = Sandbox()


class Image(Struct, frozen=True):
    """The part of a container image's configuration that its sandbox needs."""

    workdir: str
    """The working folder in the image."""
    variables: tuple[tuple[str, str], ...]
    """Environment variables. The sandbox launcher sets them inside: outside, they could change the launcher."""


class SandboxSpec(Struct, frozen=True):
    """The requirements for the sandboxes of one program."""

    named: Sequence[str]
    """Its command, without the words that a stranger has chosen: those show the bot no file, and change no layer."""
    cwd: Path
    path: str
    """Its PATH."""
    scratch: Path
    """The scratch folder of all bots, or what stands for it in the plan (`shares_scratch`)."""
    whole: tuple[str, ...]
    """Folders of builds, since a bot that needs a file of one may read all of it, and what its kind of player needs."""
    memory_bytes: int | None
    processes: int | None
    scratch_bytes: int | None
    """Limit for the size of the scratch folder."""
    hidden: HiddenFiles = HiddenFiles()
    submitted: tuple[str, ...] | None = None
    """The command of a bot whose author chose it: its files must be open, and never cost it its account."""
    image: Image | None = None
    """Of a bot in a container image, whose files lie in `cwd`."""


GROUP = "\0group"
"""Stands for the steps into a control group in the sandbox launcher's command line."""
GROUP_FOLDER = "\0folder"
"""With a number, stands for a folder of that group."""
NO_FOLDER = "/sys/fs/cgroup/none"
"""A folder that does not exist."""


class SandboxPlan(Struct, frozen=True):
    """All that the sandboxes of one program have in common. Made by `planned`."""

    scratch: Path
    """As in `SandboxSpec`."""
    limits: GroupLimits
    layers: Mapping[str, str]
    launcher: tuple[str, ...] = ()
    """The command line, with `GROUP`, `GROUP_FOLDER`, `account.ACCOUNT` and the scratch folder in it."""
    places: tuple[int, ...] = ()
    """Where these are in the command line."""
    groups: Groups = Groups(())
    forks: bool = False
    """Whether the sandbox launcher continues in a child."""
    accounts: bool = False
    """Whether every bot has an account of its own."""
    lists_entries: bool = False
    """Whether it names the entries of a folder, so that files made later are missing."""

    def make(self, scratch: Path, kept_group: Callable[[GroupLimits], Group | None]) -> Sandbox:
        """Makes one sandbox. OSError if it gets no kept control group and a new one cannot be made."""
        uid = account.draw() if self.accounts else None
        if uid is not None and not shares_scratch(self.layers):
            os.chown(scratch, uid, uid)
            os.chmod(scratch.parent, 0o711)
        group = kept_group(self.limits) or self.groups.make(self.limits)
        paths = [] if group is None else group.paths()
        words = [*self.launcher]
        for place in reversed(self.places):
            if words[place] == GROUP:
                words[place : place + 1] = () if group is None else group.steps(self.forks)
            elif words[place].startswith(GROUP_FOLDER):
                number = int(words[place].removeprefix(GROUP_FOLDER))
                words[place] = paths[number] if number < len(paths) else NO_FOLDER
            else:
                word = words[place].replace(account.ACCOUNT, str(uid))
                words[place] = str(scratch) if word == str(self.scratch) else word
        return Sandbox(tuple(words), self.layers, group, uid)


def vacate_cgroup(isolation: Isolation) -> AbstractContextManager[None]:
    """Wraps the starts of bots: our process may have to leave its control group for the block."""
    return nullcontext() if isolation.mode == "off" or PORTABLE or without("cgroup") else cgroups.vacate()


def shares_scratch(layers: Mapping[str, str]) -> bool:
    """Whether all bots may have the same scratch folder, because each sees an empty one of its own there."""
    return layers["disk"] != "poll"


def plan_sandbox(isolation: Isolation, spec: SandboxSpec) -> SandboxPlan:
    """Plans the sandboxes of a bot. NotIsolated if a requirement is not met, OSError if files cannot be listed."""
    layers, limits = layer_by_guarantee(isolation), GroupLimits(spec.memory_bytes, spec.processes)
    if spec.image is not None and (obstacle := obstacle_to_images(isolation)) is not None:
        raise RunError(f"an image runs in namespaces only; {obstacle}")
    if isolation.mode == "off" or not (machine := probe()).has(LAUNCHER):
        require(isolation, layers)
        return SandboxPlan(spec.scratch, limits, layers)
    files = _image_files(spec, machine) if spec.image is not None else _files(isolation, spec, machine)
    accounts, visible = files.owner is not None, files.visible
    if not accounts:
        layers["account"] = NONE
    require(isolation, layers)
    if spec.submitted is not None and accounts:
        _check_open(spec, visible)
    steps = program_steps(machine, files, str(spec.cwd) if spec.image is None else spec.image.workdir, spec.processes)
    for name, value in () if spec.image is None else spec.image.variables:
        steps += ["setenv", name, value]
    return planned(machine, limits, layers, files, steps)


def planned(
    machine: Machine, limits: GroupLimits, layers: Mapping[str, str], files: SandboxFiles, steps: Sequence[str]
) -> SandboxPlan:
    """Returns the plan of the sandboxes with these files; `steps`: the last ones, which the program itself takes."""
    group = [GROUP] if machine.groups.hierarchies else []
    command = sandbox_command(machine.namespaces, files, group, steps)
    places = [place for place, word in enumerate(command) if word == files.scratch or "\0" in word]
    return SandboxPlan(
        Path(files.scratch),
        limits,
        layers,
        (*command, "--"),
        tuple(places),
        machine.groups,
        forks=machine.namespaces in ("own", "user"),
        accounts=files.owner is not None,
        lists_entries=bool(files.visible.partial_folders),
    )


def _files(isolation: Isolation, spec: SandboxSpec, machine: Machine) -> SandboxFiles:
    paths = visible_paths.required_paths(tuple(spec.named), spec.cwd, spec.path, (*spec.whole, *isolation.readable))
    visible = select_visible(paths, isolation.writable, spec.hidden, can_empty=machine.namespaces is not None)
    return SandboxFiles(
        visible=visible,
        link_paths=_link_paths(isolation, spec),
        writable=isolation.writable,
        scratch=str(spec.scratch),
        scratch_bytes=spec.scratch_bytes,
        owner=account.ACCOUNT if _accounts(isolation, spec, machine, visible) else None,
        group_folders=group_folders(machine),
    )


def group_folders(machine: Machine) -> list[tuple[str, str]]:
    """Returns placeholders for the folders of a program's control group, and where they are shown."""
    hierarchies = machine.groups.hierarchies
    places = enumerate(cgroups.mount_places(hierarchies))
    folders = [(f"{GROUP_FOLDER}{number}", place) for number, place in places]
    return [*folders, *cgroups.processor_folders()] if folders else []


def _image_files(spec: SandboxSpec, machine: Machine) -> SandboxFiles:
    """Returns the files of a bot in an image. All of them are open to every account."""
    owner = account.ACCOUNT if machine.has("account") else None
    return SandboxFiles(
        visible=VisiblePaths(()),
        link_paths=(),
        writable=(),
        scratch=str(spec.scratch),
        scratch_bytes=spec.scratch_bytes,
        owner=owner,
        group_folders=group_folders(machine),
        root=str(spec.cwd),
    )


def obstacle_to_images(isolation: Isolation) -> str | None:
    """Returns why no bot can run in a container image here; None if it can."""
    if isolation.mode == "off":
        return "--isolation off switches them off"
    machine = probe()
    if machine.namespaces is None:
        needed = ("linux", LAUNCHER, "namespaces")
        why = next((machine.missing[layer] for layer in needed if layer in machine.missing), "refused")
        return f"this machine offers none ({why}); see `referee doctor`"
    return None


def require(isolation: Isolation, layers: Mapping[str, str]) -> None:
    """NotIsolated if a requirement is not met."""
    if lines := unmet(isolation, layers):
        raise NotIsolated("; ".join(lines))


def _link_paths(isolation: Isolation, spec: SandboxSpec) -> list[str]:
    files = [word for word in spec.named if word.startswith("/") and os.path.exists(word)]
    folders = [str(spec.cwd), *spec.path.split(os.pathsep)]
    return [*visible_paths.SYSTEM_FOLDERS, str(KITS), *files, *folders, *isolation.readable]


def _accounts(isolation: Isolation, spec: SandboxSpec, machine: Machine, visible: VisiblePaths) -> bool:
    """Whether each bot can have a new account: it must reach the bot's folder, and read what the user has named.

    What lies in the folder does not matter: it may be a stranger's, who would choose the account.
    """
    if not machine.has("account"):
        return False
    mounted = frozenset(visible.paths) if machine.namespaces else frozenset()
    # Not the whole package for a built-in bot.
    folder = os.path.realpath(spec.cwd if spec.cwd != HOME else spec.named[0])
    paths = [word for word in spec.named if word.startswith("/") and os.path.isfile(word)]
    made = machine.namespaces and folder in visible.partial_folders  # in the sandbox, open to the account
    if not made or visible_paths.is_inside(folder, map(os.path.realpath, isolation.writable)):
        paths += visible_paths.own_paths(folder)
    if not account.can_reach(paths, mounted):
        return False
    return all(account.is_open(path) for path in paths if spec.submitted is None or path != folder)


def _check_open(spec: SandboxSpec, visible: VisiblePaths) -> None:
    """RunError if a submitted bot's account could not read its folder or its program."""
    folder = os.path.realpath(spec.cwd)
    files = (os.path.realpath(os.path.join(folder, word)) for word in spec.submitted or () if "\0" not in word)
    paths = [path for path in files if os.path.isfile(path) and visible_paths.is_inside(path, [folder])]
    for path in paths if folder in visible.partial_folders else (folder, *paths):
        if not account.is_open(path):
            raise RunError(f"{path} is closed to the bot's own account; open it by chmod -R a+rX {folder}")


def program_steps(machine: Machine, files: SandboxFiles, folder: str, processes: int | None) -> list[str]:
    """Returns the last steps, by which the program's own process enters its folder and gives up its rights."""
    inside, is_build = machine.namespaces is not None, files.is_build
    steps = account.entry_steps(files.owner, folder, processes, machine.namespaces == "user")
    if machine.landlock:
        shown = [path for path in files.visible.paths if not os.path.islink(path)]  # a link needs no right
        shown += [folder for folder, _ in files.group_folders]
        # The kernel shows no process outside of Landlock's domain but its command.
        shown += ["/proc"] if is_build else [f"/proc/{name}" for name in PROC]
        in_memory = ["/tmp"] if inside else []
        in_memory += [namespaces.SHARED_MEMORY] if machine.namespaces in ("own", "user") else []  # of limited size
        steps += landlock.steps(
            read=["/"] if inside else shown,
            write=["/"] if inside and is_build else [files.scratch, *files.writable, *in_memory],  # mounts decide
            devices=(*namespaces.DEVICES, *(namespaces.TERMINALS if inside or is_build else ())),
            version=machine.landlock,
            listed=() if inside else files.visible.partial_folders,
            network=is_build,
        )
    if machine.has("seccomp"):
        local_sockets = inside or machine.landlock >= landlock.SCOPE_ABI
        steps += seccomp.steps(not inside and not machine.landlock, not inside, local_sockets, is_build)
    return [*steps, *account.name_steps(files.owner)]

"""Runs the command of a build under a supervisor, and holds it to its limits."""

import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.common.errors import NotIsolated, RunError
from referee.harness.isolation import job, plan
from referee.harness.isolation.build_plan import build_sandbox
from referee.harness.isolation.layers.cgroups import Group, GroupLimits
from referee.harness.languages import packages, toolchains
from referee.harness.process.core_wait import lacked_time
from referee.harness.process.limits import Limits, exit_words
from referee.harness.process.usage import Meter
from referee.harness.programs import build_files
from referee.harness.programs.build_cores import CoreLack
from referee.harness.programs.build_room import Room
from referee.protocol.text import mebibytes, printable

OUTPUT_LINES = 20
"""At most this many lines of a failed build's output are shown."""
NOT_FOUND = 127
"""A shell's exit code for a missing program."""
SIGNALLED = 128
"""A shell adds the signal that ended its last program to this number. A process that is killed has a negative code."""
DISK_FULL = b"No space left on device"
"""What build tools print on a full disk."""
LOW_SPACE_BYTES = 256 << 20
"""The message is believed if the disk has less room than this: a failing compiler removes what it has written."""

Progress = Callable[[str, float], None]
"""Receives what is being built, such as `my_bot (C++)`, and the seconds so far, repeatedly during a build."""


class BuildContext(Struct, frozen=True):
    """The limits of a build, and the receiver of its progress."""

    limits: Limits = Limits()
    progress: Progress | None = None
    name: str | None = None
    """The bot's name; None for a file that is built by itself."""
    on_output: Callable[[bytes], None] | None = None
    """Receives what a build prints, as it comes."""
    is_users: bool = False
    """Whether the bot is the user's own, whose `bundle` may lead to the current folder, and no submission."""

    def seeing(self, folder: Path) -> "BuildContext":
        """Returns the context of a build from an archive: it may read this folder, and is no bot of the user's."""
        isolation = self.limits.isolation
        isolation = msgspec.structs.replace(isolation, readable=(*isolation.readable, str(folder)))
        limits = msgspec.structs.replace(self.limits, isolation=isolation)
        return msgspec.structs.replace(self, limits=limits, is_users=False)


class Command(Struct, frozen=True):
    """One run of a build."""

    argv: Sequence[str]
    cwd: Path
    spec: str
    """The bot as the user named it; begins every error message."""
    name: str
    """The bot's name in progress messages."""
    sources: Sequence[str] = ()
    """The names of the source files. Their suffixes decide which tools have to work."""
    author_paths: Mapping[str, str] = {}
    """Paths in the output, and the author's own paths that replace them in error messages."""
    changed: Path | None = None
    """The folder that the build may change; None = `cwd`."""
    source: Path | None = None
    """A file of the user's that is compiled where it lies."""
    layers: Path | None = None
    """The folder that keeps what builds of this bot change in the caches of build tools; None = they see no caches."""


class BuildError(RunError):
    """The bot has no program, and that is the bot's fault: its build fails, exceeds a limit or makes no program."""

    def __init__(self, spec: str, reason: str, output: str = "") -> None:
        super().__init__(spec, reason, output)
        self.reason, self.output = reason, output

    def __str__(self) -> str:
        spec, reason, output = self.args
        return f"{spec}: {reason}\n{output}" if output else f"{spec}: {reason}"


class BuildTooLarge(BuildError):
    """The build takes too much space on the disk. The caller removes all that it has written."""


class Halted(RunError):
    """The machine has ended a build, or may have: nobody knows whether the bot is at fault."""


class DiskFull(Halted):
    """The disk was nearly full during a build. The caller removes all that it has written."""


class NoCore(Halted):
    """The time of a build ran out, and no core was free for much of it."""


class BuildFailed(BuildError):
    """The build command exited with an error code."""


def run_build(command: Command, context: BuildContext) -> None:
    """Runs a build in a sandbox, under a supervisor, as a bot: its author may be a stranger.

    The build is over when the command exits: nothing that it started survives it, or survives us.
    RunError with the output around its first error, unless it succeeds. NotIsolated if a requirement is not met.
    """
    limits = context.limits
    program = shutil.which(command.argv[0]) or command.argv[0]
    env = environment(toolchains.builders(command.sources))
    files = build_files.files_of(
        (program, *command.argv[1:]),
        command.cwd,
        command.changed or command.cwd,
        env,
        command.sources,
        command.source,
        command.layers,
    )
    group_limits = GroupLimits(limits.build_memory_bytes, limits.build_processes)
    room = Room(command.changed or command.cwd, command.layers, limits.build_disk_bytes)
    try:
        with (
            plan.vacate_cgroup(limits.isolation),
            build_sandbox(limits.isolation, files, group_limits, limits.build_network) as made,
        ):
            check = _checker(command, context, made.sandbox.group, room)
            env = {name: value for name, value in (env | dict(made.variables)).items() if value}
            done = job.run((program, *command.argv[1:]), command.cwd, env, check, made.sandbox, context.on_output)
    except NotIsolated as error:
        raise NotIsolated(f"{command.spec} is not built: {error}") from error
    except OSError as error:
        raise RunError(f"{command.spec}: the build cannot be started: {error}") from error
    if done.code is None:
        raise RunError(f"{command.spec}: the build did not finish: {excerpt(done.output)}")
    _check_room(command, room.exceeded())
    if done.code != 0:
        raise _failure(command, done.code, done.output)


def _check_room(command: Command, exceeded: str) -> None:
    if exceeded:
        raise BuildTooLarge(command.spec, f"the build {exceeded}")


def _failure(command: Command, code: int, output: bytes) -> RunError:
    printed = excerpt(output) or "it printed nothing"
    for path, replacement in command.author_paths.items():
        printed = printed.replace(path, replacement)
    missing = re.search(packages.SHELL_MISSES, printed, re.MULTILINE) if code == NOT_FOUND else None
    if missing is not None and shutil.which(missing[1]) is None:
        advice = packages.how_to_install([missing[1]])
        return RunError(f"{command.spec}: the build needs {missing[1]}, which is not on this machine{advice}")
    for place in (tempfile.gettempdir(), str(command.cwd)) if DISK_FULL in output else ():
        if shutil.disk_usage(place).free < LOW_SPACE_BYTES:
            return RunError(
                f"{command.spec}: the build failed because the disk of {place} is full; make room\n{printed}"
            )
    if lacking := packages.missing_in(output.decode("utf-8", "replace")):
        names = ", ".join(item.name for item in lacking)
        printed += f"\nnot found: {names}{packages.how_to_install(item.name for item in lacking)}"
    kind = BuildFailed if 0 < code < SIGNALLED else BuildError
    return kind(command.spec, f"the build failed with {exit_words(code)}", printed)


def _checker(command: Command, context: BuildContext, group: Group | None, room: Room) -> Callable[[int], None]:
    """Returns a function that measures the processes below a supervisor. It raises BuildError for an exceeded limit.

    Halted if the machine has caused the end, or may have.
    """
    limits, memory = context.limits, context.limits.build_memory_bytes
    name, language = printable(context.name or command.name), toolchains.language(command.sources)
    label, changed = f"{name} ({language})" if language else name, command.changed or command.cwd
    started, lack = time.monotonic(), CoreLack()
    meter: Meter | None = None

    def exceeded(what: str, option: str) -> BuildError:
        return BuildError(command.spec, f"the build {what}; {option} changes that limit")

    def check(root: int) -> None:
        nonlocal meter
        duration_s = time.monotonic() - started
        if context.progress is not None:
            context.progress(label, duration_s)
        lack.look(root)
        if duration_s > limits.build_s:
            if lacked_time(limits.build_s, lack.lacked_s):
                raise NoCore(
                    f"{command.spec}: the build did not finish within {limits.build_s:g} s, but no core was free for "
                    f"{lack.lacked_s:.1f} s of these; build it again when less runs, or raise --build time"
                )
            raise exceeded(f"did not finish within {limits.build_s:g} s", "--build time")
        _check_room(command, room.exceeded_now_and_then())
        if shutil.disk_usage(changed).free < LOW_SPACE_BYTES:
            left = f"less than {mebibytes(LOW_SPACE_BYTES)} left; make room"
            raise DiskFull(f"{command.spec}: the build was ended, since the disk of {changed} has {left}")
        out_of_memory = group is not None and group.out_of_memory()
        if root:  # 0 = no process has started
            meter = meter or Meter(root, root, memory)
            usage = meter.read_now()
            out_of_memory |= memory is not None and usage.memory_bytes > memory
            if limits.build_processes is not None and usage.processes > limits.build_processes:
                raise exceeded(f"ran more than {limits.build_processes} processes at once", "--build processes")
        if out_of_memory and memory is not None:
            raise exceeded(f"used more than {mebibytes(memory)} of memory", "--build memory")

    return check


def environment(tools: Iterable[str]) -> dict[str, str]:
    """Returns the variables of a build: the language, settings of compilers, and a PATH that finds working `tools`."""
    return toolchains.build_variables() | {"PATH": toolchains.search_path(tools)}


def excerpt(output: bytes) -> str:
    """Returns the part of a build's output around its first error, printable; the end if no line has an error."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.decode("utf-8", "backslashreplace"))
    lines = [printable(line.rstrip()) for line in text.strip().splitlines()]
    last = max(len(lines) - OUTPUT_LINES, 0)
    errors = (number for number, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE))
    start = min(max(next(errors, len(lines)) - OUTPUT_LINES // 4, 0), last)
    shown = lines[start : start + OUTPUT_LINES]
    return "\n".join([*shown, f"… {last - start} more lines"] if start < last else shown)

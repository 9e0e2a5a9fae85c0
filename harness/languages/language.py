"""The type of a language: how its bots are built, run and debugged. Standard library only, as this whole folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Protocol

from referee.harness.languages.items import Item, Toolchain

Argv = tuple[str, ...]


class SourceBuild(Protocol):
    """One source file, and what its language may ask for to build it. RunError if that fails."""

    source: Path

    @property
    def kit_sources(self) -> Path:
        """The folder of the language's starter kit, which nothing writes to."""

    @property
    def kit_identity(self) -> str:
        """A hash of the kit's files."""

    def need(self, program: str, must_work: bool = True) -> str:
        """Returns the first program of that name on PATH that works."""

    def need_all(self, toolchain: Toolchain) -> None:
        """Fails if something of a toolchain is missing here."""

    def kit(self, command: str) -> Path:
        """Returns a copy of the language's starter kit in which this shell command was run."""

    def compile(
        self, command: Callable[[Path], Sequence[str]], tools: Sequence[str], kit: str = "", link_name: str = ""
    ) -> Path:
        """Returns the folder into which `command` has compiled the source, as `build_source` does."""


@dataclass(frozen=True)
class Debugger:
    """How to look into a program that a language has made, and what to do about its crash by a signal."""

    attach: str
    """The command that attaches a debugger to the process `{pid}`."""
    crash: str
    """What to do about a crash by a signal."""
    runtimes: tuple[str, ...] = ()
    """The beginnings of the names of the programs that run the language."""
    marks: tuple[bytes, ...] = ()
    """Bytes that its linker or its standard library leaves in a program, one of which is enough."""
    uses_gdb: bool = False
    """Whether gdb finds the cause of a signal. Java and Node use some signals themselves."""
    listen_option: str = ""
    """The option that lets a debugger reach the program at a port, which follows; only for a runtime of that name."""
    dump_signal: Signals | None = None
    """The signal that makes a program show its stack; None if none does."""
    dump_options: Argv | None = None
    """Options with which the program writes its stack to standard error; None if only gdb shows it."""
    dump_start: str = ""
    """The beginning of the main thread's stack in what it writes."""


@dataclass(frozen=True)
class Language:
    """A language in which bots are written."""

    name: str
    suffixes: tuple[str, ...]
    """Of its source files."""
    run: Callable[[SourceBuild], Argv]
    """Builds a bot of one source file, and returns its command."""
    debugger: Debugger | None = None
    """None: its programs count as those of a compiler that is not known."""
    kit: str = ""
    """The folder of its starter kit. Builds of bots are named by the languages that have one."""
    aliases: tuple[str, ...] = ()
    """Other names of the kit at `referee new --lang`."""
    builders: tuple[str, ...] = ()
    """The programs that build its sources: if one changes, so does the build."""
    items: tuple[Item, ...] = ()
    """The parts of its toolchains, unless another language lists them."""
    toolchain: Toolchain | None = None
    """The needs of its kit; None if another language with this kit lists them, or if the referee has everything."""
    kit_mark: bytes = b""
    """Text in a source file that imports the kit, if only the referee can show it the kit."""
    memory_options: Callable[[int], Argv] | None = None
    """Returns the options of its runtime for a limit of the memory in bytes."""


def interpreted(program: str) -> Callable[[SourceBuild], Argv]:
    """Returns the function that runs a source file with an interpreter."""
    return lambda build: (build.need(program, must_work=False), str(build.source))

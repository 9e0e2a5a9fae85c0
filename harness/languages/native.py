"""What C and C++ have in common: compilers of GNU and clang, and programs that say nothing of their language."""

from collections.abc import Sequence
from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.language import Argv, Debugger, SourceBuild

NATIVE = Debugger(
    attach="gdb -p {pid}",
    crash="build it with `-g -fsanitize=address,undefined`, play again with `--memory none`, and standard error "
    "names the line",
    uses_gdb=True,
    dump_signal=SIGQUIT,
)
"""For every program of a compiler that leaves no mark."""


def compiled(compiler: Sequence[str], build: SourceBuild, *libraries: str) -> Argv:
    """Compiles a file with gcc or g++, and returns the command of the program."""

    def command(folder: Path) -> Argv:
        outputs = ("-MD", "-MF", str(folder / "inputs.d"), "-o", str(folder / "bot"))
        return (*compiler, *outputs, str(build.source), *libraries)

    return (str(build.compile(command, (Path(compiler[0]).name,)) / "bot"),)

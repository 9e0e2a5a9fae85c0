"""Go."""

from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild


def compiled(build: SourceBuild, program: str, *environment: str) -> Path:
    """Compiles the file as a part of the kit's module."""
    command = (*environment, build.need("go"), "build", "-C", str(build.kit_sources), "-buildvcs=false", "-o")
    made = build.compile(
        lambda folder: (*command, str(folder / program), str(build.source)), ("go",), build.kit_identity
    )
    return made / program


def _run(build: SourceBuild) -> Argv:
    return (str(compiled(build, "bot")),)


GO = Language(
    name="Go",
    suffixes=(".go",),
    run=_run,
    debugger=Debugger(
        attach="dlv attach {pid}",
        crash="start it as `cmd:'env GOTRACEBACK=all ./bot'`, and standard error shows every goroutine",
        runtimes=("dlv",),
        marks=(b"Go build ID:", b"Go buildinf:"),  # of its linker
        uses_gdb=True,
        dump_signal=SIGQUIT,
        dump_options=(),
        dump_start="goroutine 1 ",
    ),
    kit="go",
    aliases=("golang",),
    builders=("go",),
    items=(Item("go", "golang-go", "golang", "go", (1, 23), "version", download="https://go.dev/dl"),),
    toolchain=Toolchain("Go", ("go",)),
)

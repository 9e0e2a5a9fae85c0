"""Rust."""

from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild

RUSTUP = "https://rustup.rs"
LIBRARY = "cargo build --quiet --release --lib --target-dir target"
OPTIONS = ("--edition=2021", "--crate-name=bot", "-O")


def _run(build: SourceBuild) -> Argv:
    """Compiles with `rustc` against the kit's library. There is no `Cargo.toml`, hence no other crates."""
    rustc = build.need("rustc")
    build.need("cargo")
    kit = build.kit(LIBRARY) / "target" / "release"
    options = (*OPTIONS, "--extern", f"referee_kit={kit}/libreferee_kit.rlib", "-L", f"dependency={kit / 'deps'}")
    return (str(compiled(build, rustc, options, "bot")),)


def compiled(build: SourceBuild, rustc: str, options: Argv, program: str) -> Path:
    """Compiles the file with these options, and returns the program."""

    def command(folder: Path) -> Argv:
        outputs = f"--emit=link={folder / program},dep-info={folder / 'inputs.d'}"
        return (rustc, *options, outputs, "--out-dir", str(folder), str(build.source))

    return build.compile(command, ("rustc",)) / program


RUST = Language(
    name="Rust",
    suffixes=(".rs",),
    run=_run,
    debugger=Debugger(
        attach="gdb -p {pid}",
        crash="build it without `--release`, and play again: a debug build has line numbers and finds overflows",
        # The paths of the standard library's sources, which differ in Debian's Rust, and the variable that it reads.
        marks=(b"/rustc/", b"RUST_BACKTRACE"),
        uses_gdb=True,
        dump_signal=SIGQUIT,
    ),
    kit="rust",
    aliases=("rs",),
    builders=("cargo", "rustc"),
    items=(
        Item("cargo", "cargo", "cargo", "rust", (1, 63), download=RUSTUP),
        Item("rustc", "rustc", "rust", "rust", (1, 63), download=RUSTUP),
    ),
    toolchain=Toolchain("Rust", ("cargo", "rustc")),
)

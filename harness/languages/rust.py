"""Rust."""

from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild

RUSTUP = "https://rustup.rs"
WASM_TARGET = "wasm32-wasip1"
LIBRARY = "cargo build --quiet --release --lib --target-dir target"
OPTIONS = ("--edition=2021", "--crate-name=bot", "-O")


def _run(build: SourceBuild) -> Argv:
    """Compiles with `rustc` against the kit's library. There is no `Cargo.toml`, hence no other crates."""
    rustc = build.need("rustc")
    build.need("cargo")
    kit = build.kit(LIBRARY) / "target" / "release"
    options = (*OPTIONS, "--extern", f"referee_kit={kit}/libreferee_kit.rlib", "-L", f"dependency={kit / 'deps'}")
    return (str(_compiled(build, rustc, options, "bot")),)


def _wasm(build: SourceBuild) -> Path:
    build.need_wasm_toolchain()
    rustc = build.need("rustc")
    kit = build.kit(f"{LIBRARY} --target {WASM_TARGET}") / "target"
    release = kit / WASM_TARGET / "release"
    options = (*OPTIONS, "-C", "strip=debuginfo", "--target", WASM_TARGET)
    libraries = ("--extern", f"referee_kit={release}/libreferee_kit.rlib")
    search = ("-L", f"dependency={release / 'deps'}", "-L", f"dependency={kit / 'release' / 'deps'}")
    return _compiled(build, rustc, (*options, *libraries, *search), "bot.wasm")


def _compiled(build: SourceBuild, rustc: str, options: Argv, program: str) -> Path:
    def command(folder: Path) -> Argv:
        outputs = f"--emit=link={folder / program},dep-info={folder / 'inputs.d'}"
        return (rustc, *options, outputs, "--out-dir", str(folder), str(build.source))

    return build.compile(command, ("rustc",)) / program


RUST = Language(
    name="Rust",
    suffixes=(".rs",),
    run=_run,
    wasm=_wasm,
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
        Item(WASM_TARGET, "libstd-rust-dev-wasm32", "rust-std-static-wasm32-wasip1", "rust", ask=""),
    ),
    toolchain=Toolchain("Rust", ("cargo", "rustc")),
    wasm_toolchain=Toolchain("Rust to wasm", ("cargo", "rustc", WASM_TARGET)),
)

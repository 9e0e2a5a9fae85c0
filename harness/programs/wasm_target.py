"""Builds bots as modules of WebAssembly: `referee build --target wasm`."""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from referee.harness.errors import RunError, UsageError
from referee.harness.languages import packages, toolchains
from referee.harness.paths import KITS, expanded
from referee.harness.programs import webassembly
from referee.harness.programs.bot_file import build_bot, read_bot_file
from referee.harness.programs.build import BOT_FILE, build_source
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.source_file import build_kit, kit_archive, need

RUST_TARGET = "wasm32-wasip1"


def build_module(spec: str, context: BuildContext) -> Path:
    """Builds a bot's folder or source file as a module, and returns the file.

    UsageError for a bot that says nothing about WebAssembly, RunError for a failed build or a module that cannot play.
    """
    path = expanded(spec)
    if path.is_dir():
        path = path.resolve()
        bot = read_bot_file(path, spec)
        if bot.run and not bot.run[0].endswith(webassembly.SUFFIX):
            if bot.wasm is None:
                raise UsageError(
                    f"{spec}/{BOT_FILE} has no [wasm], which says how to build a module: a build and a run such as "
                    '["build/bot.wasm"]; `referee new` writes it for C, C++, Go, JavaScript and Rust'
                )
            bot = msgspec.structs.replace(bot, build=bot.wasm.build, run=bot.wasm.run)
        return webassembly.module_of(build_bot(bot, path, spec, context).argv)
    if not path.is_file():
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder")
    if path.suffix not in SOURCES:
        known = " ".join(sorted(SOURCES))
        raise UsageError(f"{spec}: expected a folder with bot.toml, or a source file with one of the suffixes {known}")
    module = SOURCES[path.suffix](path.resolve(), context)
    webassembly.command(module, context)
    return module


def wasm_bot_file(text: str) -> str:
    """Returns a kit's `bot.toml` for bots that are modules: what its [wasm] says is what it does."""
    wasm = tomllib.loads(text)["wasm"]
    run = ", ".join(f'"{word}"' for word in wasm["run"])
    return f'build = "{wasm["build"]}"\nrun = [{run}]\n'


def _need(kit: str, path: Path) -> None:
    """RunError if something is missing here that builds modules of a kit's bots."""
    if lacking := toolchains.missing(packages.WASM[kit]):
        words = ", ".join(f"{name} {lack}" for name, lack in lacking.items())
        raise RunError(f"{path.name}: {words}{packages.how_to_install(lacking)}")


def _go(path: Path, context: BuildContext) -> Path:
    _need("go", path)
    environment = ("/usr/bin/env", "GOOS=wasip1", "GOARCH=wasm")
    command = (*environment, need("go", path), "build", "-C", str(KITS / "go"), "-buildvcs=false", "-o")
    kit = kit_archive("go").identity
    made = build_source(path, lambda folder: (*command, str(folder / "bot.wasm"), str(path)), ("go",), context, kit)
    return made / "bot.wasm"


def _rust(path: Path, context: BuildContext) -> Path:
    _need("rust", path)
    rustc = need("rustc", path)
    build = f"cargo build --quiet --release --lib --target-dir target --target {RUST_TARGET}"
    kit = build_kit("rust", path, context, build) / "target"
    release = kit / RUST_TARGET / "release"
    options = ("--edition=2021", "--crate-name=bot", "-O", "-C", "strip=debuginfo", "--target", RUST_TARGET)
    libraries = ("--extern", f"referee_kit={release}/libreferee_kit.rlib")
    search = ("-L", f"dependency={release / 'deps'}", "-L", f"dependency={kit / 'release' / 'deps'}")

    def command(folder: Path) -> tuple[str, ...]:
        outputs = f"--emit=link={folder / 'bot.wasm'},dep-info={folder / 'inputs.d'}"
        return (rustc, *options, *libraries, *search, outputs, "--out-dir", str(folder), str(path))

    return build_source(path, command, ("rustc",), context) / "bot.wasm"


WASI = ("--target=wasm32-wasi", "-O2", "-msimd128", "-D_GNU_SOURCE", "-Wl,-z,stack-size=8388608,--stack-first")
"""Options of clang. A bot's stack has 8 MiB, as on Linux, and lies where an overflow traps."""


def _c(path: Path, context: BuildContext) -> Path:
    return _compiled(path, context, "c", "clang-19", ("-std=c11",), ("-lm",))


def _c_plus_plus(path: Path, context: BuildContext) -> Path:
    return _compiled(path, context, "cpp", "clang++-19", ("-std=c++17", "-DNDEBUG", "-fignore-exceptions"), ())


def _compiled(
    path: Path, context: BuildContext, kit: str, compiler: str, options: Sequence[str], libraries: tuple[str, ...]
) -> Path:
    """Compiles a file with clang. If it includes the kit, links its objects, which `wasm.sh` makes."""
    _need(kit, path)
    clang = need(compiler, path)
    linked: tuple[str, ...] = libraries
    if b"<referee/" in path.read_bytes():
        folder = build_kit(kit, path, context, "sh wasm.sh kit")
        objects = sorted(map(str, (folder / "build" / "wasm").glob("kit_*.o")))
        linked = ("-I", str(folder / "include"), "-idirafter", "/usr/include", *objects, *libraries)

    def command(out: Path) -> tuple[str, ...]:
        outputs = ("-MD", "-MF", str(out / "inputs.d"), "-o", str(out / "bot.wasm"))
        return (clang, *WASI, *options, *outputs, str(path), *linked)

    return build_source(path, command, (compiler,), context) / "bot.wasm"


def _javascript(path: Path, context: BuildContext) -> Path:
    """Puts the program into QuickJS, which the kit compiles once."""
    need("npm", path)
    need("clang-19", path)
    kit = build_kit("javascript", path, context, "./build.sh && sh wasm/build.sh")
    script = str(kit / "wasm" / "build.sh")

    def command(out: Path) -> tuple[str, ...]:
        return ("/bin/sh", script, str(path), str(out / "bot.wasm"))

    return build_source(path, command, ("node", "clang-19"), context, str(kit)) / "bot.wasm"


SOURCES: dict[str, Callable[[Path, BuildContext], Path]] = {
    ".c": _c,
    ".cpp": _c_plus_plus,
    ".cc": _c_plus_plus,
    ".go": _go,
    ".js": _javascript,
    ".mjs": _javascript,
    ".rs": _rust,
    ".ts": _javascript,
}
"""By the suffix of a source file, the function that compiles it."""


def save(module: Path, file: Path) -> None:
    """Copies a module. RunError if that fails."""
    try:
        file.write_bytes(module.read_bytes())
    except OSError as error:
        raise RunError(f"{file} cannot be written: {error.strerror}") from error

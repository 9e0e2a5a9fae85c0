"""How bots of one source file become modules of WebAssembly, and what that needs. Standard library only.

`tools/toolchains.py` reads the tables before anything is installed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.harness.languages import go, javascript, rust
from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, SourceBuild
from referee.harness.languages.packages import ITEMS

PLATFORM, RUST_PLATFORM = "wasm32-wasi", "wasm32-wasip1"
"""As clang names it, and as `rustc` does."""
CLANG = ("wasm-ld-19", "wasi/api.h", "libclang_rt")
"""What clang needs besides itself."""
OPTIONS = (f"--target={PLATFORM}", "-O2", "-msimd128", "-D_GNU_SOURCE", "-Wl,-z,stack-size=8388608,--stack-first")
"""Options of clang. A bot's stack has 8 MiB, as on Linux, and lies where an overflow traps."""
OWN_ITEMS = (
    Item("clang-19", "clang-19", "clang"),
    Item("clang++-19", "clang-19", "clang"),
    Item("wasm-ld-19", "lld-19", "lld"),
    Item("wasi/api.h", "wasi-libc", "wasi-libc-devel", ask="", platform=PLATFORM),
    Item("libclang_rt", "libclang-rt-19-dev-wasm32", "compiler-rt", platform=PLATFORM),
    Item("libc++", "libc++-19-dev-wasm32", "wasi-libc-devel", platform=PLATFORM),
    Item("libc++abi", "libc++abi-19-dev-wasm32", "wasi-libc-devel", platform=PLATFORM),
    Item(RUST_PLATFORM, "libstd-rust-dev-wasm32", "rust-std-static-wasm32-wasip1", "rust", ask="", is_rust_target=True),
)
ITEMS.update({item.name: item for item in OWN_ITEMS})


@dataclass(frozen=True)
class Recipe:
    """How the bots of a kit are built."""

    build: Callable[[SourceBuild], Path]
    """Builds a bot of one source file, and returns the module."""
    toolchain: Toolchain
    """What that needs, and what the kit's builds of modules need."""


def _by_clang(build: SourceBuild, toolchain: Toolchain, compiler: str, options: Argv, libraries: Argv = ()) -> Path:
    """Compiles a file with clang. If it includes the kit, links its objects, which `wasm.sh` makes."""
    build.need_all(toolchain)
    clang = build.need(compiler)
    linked = libraries
    if b"<referee/" in build.source.read_bytes():
        folder = build.kit("sh wasm.sh kit")
        objects = sorted(map(str, (folder / "build" / "wasm").glob("kit_*.o")))
        linked = ("-I", str(folder / "include"), "-idirafter", "/usr/include", *objects, *libraries)

    def command(out: Path) -> Argv:
        outputs = ("-MD", "-MF", str(out / "inputs.d"), "-o", str(out / "bot.wasm"))
        return (clang, *OPTIONS, *options, *outputs, str(build.source), *linked)

    return build.compile(command, (compiler,)) / "bot.wasm"


C = Toolchain("C to wasm", ("clang-19", *CLANG, "msgpack.h", "apt-get"))
CPP = Toolchain("C++ to wasm", ("clang++-19", *CLANG, "libc++", "libc++abi", "nlohmann/json.hpp"))
GO = Toolchain("Go to wasm", ("go",))
JAVASCRIPT = Toolchain("JavaScript to wasm", ("clang-19", *CLANG, *javascript.BUILDERS, "pip3"))
RUST = Toolchain("Rust to wasm", ("cargo", "rustc", RUST_PLATFORM))


def _c(build: SourceBuild) -> Path:
    return _by_clang(build, C, "clang-19", ("-std=c11",), ("-lm",))


def _cpp(build: SourceBuild) -> Path:
    return _by_clang(build, CPP, "clang++-19", ("-std=c++17", "-DNDEBUG", "-fignore-exceptions"))


def _go(build: SourceBuild) -> Path:
    build.need_all(GO)
    return go.compiled(build, "bot.wasm", "/usr/bin/env", "GOOS=wasip1", "GOARCH=wasm")


def _javascript(build: SourceBuild) -> Path:
    """Puts the program into QuickJS, which the kit compiles once."""
    build.need("npm")
    build.need("clang-19")
    kit = build.kit(f"{javascript.LIBRARY} && sh wasm/build.sh")
    script = str(kit / "wasm" / "build.sh")

    def command(out: Path) -> Sequence[str]:
        return ("/bin/sh", script, str(build.source), str(out / "bot.wasm"))

    return build.compile(command, ("node", "clang-19"), str(kit)) / "bot.wasm"


def _rust(build: SourceBuild) -> Path:
    build.need_all(RUST)
    rustc = build.need("rustc")
    kit = build.kit(f"{rust.LIBRARY} --target {RUST_PLATFORM}") / "target"
    release = kit / RUST_PLATFORM / "release"
    options = (*rust.OPTIONS, "-C", "strip=debuginfo", "--target", RUST_PLATFORM)
    libraries = ("--extern", f"referee_kit={release}/libreferee_kit.rlib")
    search = ("-L", f"dependency={release / 'deps'}", "-L", f"dependency={kit / 'release' / 'deps'}")
    return rust.compiled(build, rustc, (*options, *libraries, *search), "bot.wasm")


BY_KIT = {
    "c": Recipe(_c, C),
    "cpp": Recipe(_cpp, CPP),
    "go": Recipe(_go, GO),
    "rust": Recipe(_rust, RUST),
    "javascript": Recipe(_javascript, JAVASCRIPT),
}
"""By the names of the kits' folders."""

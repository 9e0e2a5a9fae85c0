"""What C and C++ have in common: compilers of GNU and clang, and programs that say nothing of their language."""

from collections.abc import Sequence
from pathlib import Path
from signal import SIGQUIT

from referee.harness.languages.items import Item
from referee.harness.languages.language import Argv, Debugger, SourceBuild

CLANG = ("wasm-ld-19", "wasi/api.h", "libclang_rt")
"""What clang needs for WebAssembly besides itself."""
CLANG_ITEMS = (
    Item("clang-19", "clang-19", "clang"),
    Item("clang++-19", "clang-19", "clang"),
    Item("wasm-ld-19", "lld-19", "lld"),
    Item("wasi/api.h", "wasi-libc", "wasi-libc-devel", ask="", wasi=True),
    Item("libclang_rt", "libclang-rt-19-dev-wasm32", "compiler-rt", wasi=True),
)
WASI = ("--target=wasm32-wasi", "-O2", "-msimd128", "-D_GNU_SOURCE", "-Wl,-z,stack-size=8388608,--stack-first")
"""Options of clang. A bot's stack has 8 MiB, as on Linux, and lies where an overflow traps."""

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


def compiled_to_wasm(build: SourceBuild, compiler: str, options: Argv, libraries: Argv = ()) -> Path:
    """Compiles a file with clang. If it includes the kit, links its objects, which `wasm.sh` makes."""
    build.need_wasm_toolchain()
    clang = build.need(compiler)
    linked = libraries
    if b"<referee/" in build.source.read_bytes():
        folder = build.kit("sh wasm.sh kit")
        objects = sorted(map(str, (folder / "build" / "wasm").glob("kit_*.o")))
        linked = ("-I", str(folder / "include"), "-idirafter", "/usr/include", *objects, *libraries)

    def command(out: Path) -> Argv:
        outputs = ("-MD", "-MF", str(out / "inputs.d"), "-o", str(out / "bot.wasm"))
        return (clang, *WASI, *options, *outputs, str(build.source), *linked)

    return build.compile(command, (compiler,)) / "bot.wasm"

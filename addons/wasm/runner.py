"""Metered bots: modules of WebAssembly, compiled in the cache and run by a program of ours."""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import msgspec

from referee.addons.wasm.frames import USES_EVERY
from referee.addons.wasm.measure import Metering
from referee.addons.wasm.options import MEMORY, PRICED, PULLEY, TARGET
from referee.addons.wasm.prices import GROWN_BYTE, HOST_BYTE, HOST_CALL, PRICES, UNITS_PER_MS, UNITS_PER_NS, VERSIONS
from referee.harness.common import installed
from referee.harness.common.errors import RunError
from referee.harness.common.paths import HOME
from referee.harness.isolation import c_programs
from referee.harness.programs import archive, build_cache
from referee.harness.programs.build import build_source
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant

COMPILER, RUNNER = (str(HOME / "addons" / "wasm" / name) for name in ("engine.py", "run.py"))
PYTHON = (sys.executable, "-P")
"""Python, which finds no modules in the folder of the program or of the bot."""
LIBRARY = "_libwasmtime.so"
CODE, MODULE = "bot.compiled", "bot.wasm"
"""In the folder of a build: what the engine runs, and the module that it was made from."""


def command(
    module: Path, context: BuildContext, arguments: Sequence[str] = (), target: str = "", prices: int = PRICES
) -> tuple[str, ...]:
    """Compiles a module, unless that was done before, and returns the command that runs it.

    `target`: another engine than the usual one. `prices`: an earlier version of the table; an unknown one is today's.
    RunError without wasmtime, or for a module that cannot play.
    """
    prices = prices if prices in VERSIONS else PRICES
    kit = f"{engine(module.name)}, prices {prices}"
    runner_in_c()  # takes a moment when it is compiled, which no match should wait for
    options = (*([TARGET + target] if target else ()), *([f"{PRICED}{prices}"] if prices != PRICES else ()))

    def compiler(folder: Path) -> tuple[str, ...]:
        return (*PYTHON, COMPILER, str(module), str(folder / CODE), str(folder / MODULE), *options)

    folder = build_source(module, compiler, (), context, kit)
    return (*PYTHON, RUNNER, *options, str(folder / CODE), *arguments)


@cache
def engine(name: str) -> str:
    """Returns the engine with its version. RunError for the bot of that name if it is not installed."""
    try:
        return f"wasmtime {metadata.version('wasmtime')}"
    except metadata.PackageNotFoundError:
        raise RunError(f"{name} needs wasmtime; to install it: {installed.extra_command('wasm')}") from None


def is_metered(argv: Sequence[str]) -> bool:
    """Whether a bot's command runs a module."""
    return tuple(argv[1:3]) == (*PYTHON[1:], RUNNER)


def module_of(argv: Sequence[str]) -> Path:
    """Returns the module that a metered bot's command runs."""
    code = next((word for word in argv[3:] if not word.startswith("--")), "")
    return Path(code, MODULE) if Path(code).name == "" else Path(code).with_name(MODULE)


def in_cache(argv: Sequence[str]) -> bool:
    """Whether a command, perhaps from somebody else's replay, runs a module that was built here and is still there."""
    if not is_metered(argv):
        return False
    module = module_of(argv).resolve()
    return module.is_relative_to(build_cache.root().resolve()) and module.is_file()


def arguments_of(argv: Sequence[str]) -> tuple[str, ...]:
    """Returns the arguments that a metered bot's command gives to its module."""
    after_code = next((place for place, word in enumerate(argv[3:], 1) if not word.startswith("--")), len(argv))
    return tuple(argv[3:][after_code:])


def is_interpreted(argv: Sequence[str]) -> bool:
    """Whether the interpreter runs a metered bot's module."""
    return f"{TARGET}{PULLEY}" in _options(argv)


def _options(argv: Sequence[str]) -> list[str]:
    """Returns the options of the program that runs a module, of a command."""
    return list(takewhile(lambda word: word.startswith("--"), argv[3:]))


def by_engine(bot: Entrant, context: BuildContext, target: str, prices: int = PRICES) -> Entrant:
    """Returns a metered bot whose module another engine runs, or at the prices of an earlier version."""
    words = command(module_of(bot.argv), context, (), target, prices)
    return msgspec.structs.replace(bot, argv=(*words, *arguments_of(bot.argv)), named=bot.named and words)


def metering(argv: Sequence[str]) -> Metering:
    """Returns what a replay says of a metered bot, given its command. RunError if its build is gone."""
    module = module_of(argv)
    options = _options(argv)
    target = next((word.removeprefix(TARGET) for word in options if word.startswith(TARGET)), "")
    prices = next((int(word.removeprefix(PRICED)) for word in options if word.startswith(PRICED)), PRICES)
    try:
        sha256 = archive.sha256(module)
    except OSError as error:
        raise RunError(f"{module} is gone; build the bot again") from error
    return Metering(sha256, " ".join(filter(None, (engine(module.name), target))), prices, UNITS_PER_MS)


def started(argv: tuple[str, ...], memory_bytes: int | None) -> tuple[str, ...]:
    """Returns the command that a metered bot is started with: it says where the memory ends.

    The runner in C takes the place of the one in Python, if there is a C compiler. It starts 30 times as fast. No wheel
    of ours can carry it: it is linked with the library in wasmtime's wheel, which differs by system and processor.
    """
    end = () if memory_bytes is None else (f"{MEMORY}{memory_bytes}",)
    runner = runner_in_c()
    return (*(argv[:3] if runner is None else (str(runner),)), *end, *argv[3:])


def runner_in_c() -> Path | None:
    """Returns the runner in C, compiled once per machine; None if it cannot be."""
    folders = libraries()
    if not folders:
        return None
    numbers = {
        "HOST_CALL": HOST_CALL,
        "HOST_BYTE": HOST_BYTE,
        "GROWN_BYTE": GROWN_BYTE,
        "UNITS_PER_NS": UNITS_PER_NS,
        "USES_EVERY": USES_EVERY,
    }
    defined = [f"-D{name}={value}" for name, value in numbers.items()]
    try:
        linked = [*defined, f"{folders[0]}/{LIBRARY}", f"-Wl,-rpath,{folders[0]}"]
        return c_programs.compiled(Path(RUNNER).with_suffix(".c"), "metered", linked)
    except OSError:
        return None


@cache
def libraries() -> tuple[str, ...]:
    """Returns the folder of the engine as a library, which its package for Python contains; empty if there is none."""
    package = find_spec("wasmtime")
    if package is None or package.origin is None:
        return ()
    return tuple([str(each.parent) for each in Path(package.origin).parent.glob(f"*/{LIBRARY}")][:1])

"""Metered bots: modules of WebAssembly, compiled in the cache and run by a program of ours."""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from referee.harness import installed
from referee.harness.adapters.wasm.metering import Metering
from referee.harness.adapters.wasm.options import MEMORY, TARGET
from referee.harness.adapters.wasm.prices import PRICES, UNITS_PER_MS
from referee.harness.errors import RunError
from referee.harness.paths import HOME
from referee.harness.programs import archive, build_cache
from referee.harness.programs.build import build_source
from referee.harness.programs.build_process import BuildContext

SUFFIX = ".wasm"
COMPILER, RUNNER = (str(HOME / "harness" / "adapters" / "wasm" / name) for name in ("engine.py", "run.py"))
PYTHON = (sys.executable, "-P")
"""Python, which finds no modules in the folder of the program or of the bot."""
CODE, MODULE = "bot.compiled", "bot.wasm"
"""In the folder of a build: what the engine runs, and the module that it was made from."""


def command(module: Path, context: BuildContext, arguments: Sequence[str] = (), target: str = "") -> tuple[str, ...]:
    """Compiles a module, unless that was done before, and returns the command that runs it.

    `target`: another engine than the usual one. RunError without wasmtime, or for a module that cannot play.
    """
    kit = f"{engine(module.name)}, prices {PRICES}"
    options = (target,) if target else ()

    def compiler(folder: Path) -> tuple[str, ...]:
        return (*PYTHON, COMPILER, str(module), str(folder / CODE), str(folder / MODULE), *options)

    folder = build_source(module, compiler, (), context, kit)
    return (*PYTHON, RUNNER, *(TARGET + each for each in options), str(folder / CODE), *arguments)


@cache
def engine(name: str) -> str:
    """Returns the engine with its version. RunError for the bot of that name if it is not installed."""
    try:
        return f"wasmtime {metadata.version('wasmtime')}"
    except metadata.PackageNotFoundError:
        raise RunError(f"{name} needs wasmtime: {installed.extra_command('wasm')}") from None


def is_metered(argv: Sequence[str]) -> bool:
    """Whether a bot's command runs a module."""
    return tuple(argv[1:3]) == (*PYTHON[1:], RUNNER)


def module_of(argv: Sequence[str]) -> Path:
    """Returns the module that a metered bot's command runs."""
    code = next((word for word in argv[3:] if not word.startswith("--")), "")
    return Path(code).with_name(MODULE)


def in_cache(argv: Sequence[str]) -> bool:
    """Whether a command, perhaps from somebody else's replay, runs a module that was built here and is still there."""
    if not is_metered(argv):
        return False
    module = module_of(argv).resolve()
    return module.is_relative_to(build_cache.root().resolve()) and module.is_file()


def arguments_of(argv: Sequence[str]) -> tuple[str, ...]:
    """Returns the arguments that a metered bot's command gives to its module."""
    return tuple(argv[3:][next(place for place, word in enumerate(argv[3:], 1) if not word.startswith("--")) :])


def metering(argv: Sequence[str]) -> Metering:
    """Returns what a replay says of a metered bot, given its command. RunError if its build is gone."""
    module = module_of(argv)
    target = next((word.removeprefix(TARGET) for word in argv[3:] if word.startswith(TARGET)), "")
    try:
        sha256 = archive.sha256(module)
    except OSError as error:
        raise RunError(f"{module} is gone; build the bot again") from error
    return Metering(sha256, " ".join(filter(None, (engine(module.name), target))), PRICES, UNITS_PER_MS)


def sized(argv: tuple[str, ...], memory_bytes: int | None) -> tuple[str, ...]:
    """Returns the command of a metered bot with the end of its memory."""
    return argv if memory_bytes is None else (*argv[:3], f"{MEMORY}{memory_bytes}", *argv[3:])

"""Builds bots as modules of WebAssembly: `referee build --target wasm`."""

import tomllib
from pathlib import Path

import msgspec

from referee.addons.wasm import runner
from referee.addons.wasm.kind import MODULE
from referee.addons.wasm.languages import BY_KIT
from referee.addons.wasm.target import WASM
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import expanded
from referee.harness.languages.registry import BY_SUFFIX
from referee.harness.programs.bot_file import build_bot, read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.source_file import CachedSourceBuild


def build_module(spec: str, context: BuildContext) -> Path:
    """Builds a bot's folder or source file as a module, and returns the file.

    UsageError for a bot that says nothing about WebAssembly, RunError for a failed build or a module that cannot play.
    """
    path = expanded(spec)
    if path.is_dir():
        path = path.resolve()
        bot = read_bot_file(path, spec)
        if not _names_module(bot.run):
            table = bot.table(WASM.name)
            if table is None:
                raise UsageError(
                    f"{spec}/{BOT_FILE} has no [wasm], which says how to build a module: a build and a run such as "
                    '["build/bot.wasm"]; `referee new` writes it for C, C++, Go, JavaScript and Rust'
                )
            if not _names_module(table.run):
                raise UsageError(
                    f"{spec}/{BOT_FILE}: run of [wasm] is {table.run}; expected the module and its arguments, such "
                    'as ["build/bot.wasm"]'
                )
            bot = msgspec.structs.replace(bot, build=table.build, run=table.run)
        return runner.module_of(build_bot(bot, path, spec, context).argv)
    if not path.is_file():
        raise UsageError(f"no bot at {spec!r}: there is no such file or folder")
    language = BY_SUFFIX.get(path.suffix)
    if language is None or language.kit not in BY_KIT:
        known = " ".join(sorted(suffix for suffix, each in BY_SUFFIX.items() if each.kit in BY_KIT))
        raise UsageError(f"{spec}: expected a folder with bot.toml, or a source file with one of the suffixes {known}")
    module = BY_KIT[language.kit].build(CachedSourceBuild(path.resolve(), language, context))
    runner.command(module, context)
    return module


def _names_module(words: list[str]) -> bool:
    return bool(words) and Path(words[0]).suffix == MODULE.suffix


def wasm_bot_file(text: str) -> str:
    """Returns a kit's `bot.toml` for bots that are modules: what its [wasm] says is what it does."""
    wasm = tomllib.loads(text)["wasm"]
    run = ", ".join(f'"{word}"' for word in wasm["run"])
    return f'build = "{wasm["build"]}"\nrun = [{run}]\n'

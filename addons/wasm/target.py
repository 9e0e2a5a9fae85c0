"""Modules of WebAssembly as a target of builds."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from referee.addons.wasm.languages import BY_KIT
from referee.harness.languages.items import Toolchain
from referee.harness.programs.targets import Target

if TYPE_CHECKING:
    from referee.harness.programs.build_process import BuildContext


class Wasm(Target):
    """`--target wasm`."""

    name, suffix = "wasm", ".wasm"
    help = (
        "a module of WebAssembly, whose time is fuel, the same on every machine; bot.toml has a table [wasm] for it, "
        "and a source file needs nothing."
    )

    def toolchain(self, kit: str) -> Toolchain | None:
        return BY_KIT[kit].toolchain if kit in BY_KIT else None

    def toolchains(self) -> Iterable[Toolchain]:
        return [recipe.toolchain for recipe in BY_KIT.values()]

    def build(self, spec: str, context: "BuildContext") -> Path:
        from referee.addons.wasm.build import build_module

        return build_module(spec, context)

    def bot_file(self, text: str) -> str:
        from referee.addons.wasm.build import wasm_bot_file

        return wasm_bot_file(text)


WASM = Wasm()

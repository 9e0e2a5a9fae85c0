"""Modules of WebAssembly as a kind of player."""

from pathlib import Path
from typing import TYPE_CHECKING

from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.programs.build_process import BuildContext
    from referee.harness.seats.start import Start


class Module(Kind):
    """A module of WebAssembly."""

    name, plural, place = "module", "modules of WebAssembly", 10
    rows = (("a [module of WebAssembly](../explanation/metered.md)", "`./mybot.wasm`"),)
    suffix = ".wasm"
    takes_variables = False

    def command(self, file: Path, context: "BuildContext") -> tuple[str, ...]:
        from referee.addons.wasm.runner import command

        return command(file, context)

    def start(self) -> "Start":
        from referee.addons.wasm.seat import ModuleStart

        return ModuleStart()


MODULE = Module()

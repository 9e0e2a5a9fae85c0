"""Modules of WebAssembly as a kind of player."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from referee.games.contract import Player
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.programs.build_process import BuildContext
    from referee.harness.replay.reader import Replay
    from referee.harness.seats.start import Start


class Module(Kind):
    """A module of WebAssembly."""

    name, plural, place = "module", "modules of WebAssembly", 10
    rows = (("a [module of WebAssembly](../explanation/metered.md)", "`./mybot.wasm`"),)
    suffix = kept_suffix = ".wasm"
    takes_variables = False

    def command(self, file: Path, context: "BuildContext") -> tuple[str, ...]:
        from referee.addons.wasm.runner import command

        return command(file, context)

    def start(self) -> "Start":
        from referee.addons.wasm.seat import ModuleStart

        return ModuleStart()

    def made(self, command: Sequence[str], folder: str) -> bool:
        from referee.addons.wasm.runner import is_metered

        return is_metered(command)

    def recorded(
        self, replay: "Replay", player: Player, command: Sequence[str], folder: str, context: "BuildContext"
    ) -> Entrant | None:
        from referee.addons.wasm.kept_modules import recorded_entrant

        return recorded_entrant(replay, player, command, folder, context)

    def keep(self, replay: "Replay") -> None:
        from referee.addons.wasm.kept_modules import keep_modules

        keep_modules(replay)


MODULE = Module()

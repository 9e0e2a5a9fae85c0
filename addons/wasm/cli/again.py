"""`referee replay verify --play`: metered bots play a match again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cyclopts import Parameter

from referee.addons.wasm.cli.engine import Engine, check_engine
from referee.addons.wasm.kept_modules import found_modules, module_entrant
from referee.addons.wasm.kind import MODULE
from referee.addons.wasm.options import PULLEY
from referee.addons.wasm.play_again import play_again
from referee.addons.wasm.prices import PRICES
from referee.addons.wasm.runner import by_engine
from referee.games.contract import Player
from referee.harness.cli.added import VerifyOptions
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import building, out
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError
from referee.harness.common.measures import measured
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.reader import Replay


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AgainOptions(VerifyOptions):
    """Whether metered bots play again."""

    play: bool = False
    """Also let the metered bots play again, and compare answers, faults and fuel. Bots with a build are built first,
    which needs a layer of isolation that hides your files."""
    engine: Engine = "wasmtime"
    recorded_limits: bool = False
    """With --play, accept limits of the replay that are wider than four times the defaults, such as those of memory."""

    def check(self, files: Sequence[Path]) -> bool:
        check_engine(self.engine, self.play)
        return self.play

    def after(self, replay: Replay, files: Sequence[Path]) -> int | None:
        return _play_again(replay, files, self.engine, self.recorded_limits) if self.play else None

    def able(self, programs: Mapping[str, Entrant]) -> dict[str, Entrant]:
        return {key: bot for key, bot in programs.items() if MODULE.plays(bot)}

    def again(self, replay: Replay, programs: Mapping[Player, Entrant], limits: Limits) -> None:
        metered, target = measured(replay.header, "metered"), PULLEY if self.engine == "pulley" else ""
        prices = {player: metered[player].prices if player in metered else PRICES for player in programs}
        again = {player: _compiled(bot, limits, target, prices[player]) for player, bot in programs.items()}
        run(play_again, replay, again, self.recorded_limits)


@cache
def _compiled(bot: Entrant, limits: Limits, target: str, prices: int) -> Entrant:
    return by_engine(bot, BuildContext(limits), target, prices)


def _play_again(replay: Replay, given: Sequence[Path], engine: Engine, wide_limits: bool) -> int:
    """Lets the metered bots of a replay play it again."""
    seats = sorted(measured(replay.header, "metered"))
    if given and len(given) != len(seats):
        named = f"{counted(len(given), 'module')} {'is' if len(given) == 1 else 'are'}"
        raise UsageError(f"{named} named for {counted(len(seats), 'metered seat')}")
    for module in given:
        if not module.is_file():
            raise UsageError(f"{module}: there is no such file; expected the module of a metered bot")
    modules = dict(zip(seats, given, strict=True)) if given else found_modules(replay)
    context = BuildContext(Limits(), building)
    target = PULLEY if engine == "pulley" else ""
    programs = {player: module_entrant(replay, player, each, context, target) for player, each in modules.items()}
    calls = run(play_again, replay, programs, wide_limits)
    names = ", ".join(printable(replay.header.setup.names[player]) for player in seats)
    out.print(f"{replay.path}: played again by {names}: {counted(calls, 'call')} with the same answers and fuel")
    return PLAYED

"""`referee replay verify --play`: metered bots play a match again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from referee.addons.wasm.cli.engine import Engine, check_engine
from referee.addons.wasm.options import PULLEY
from referee.harness.cli.added import VerifyOptions
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import building, out
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import BuildContext
from referee.harness.replay.reader import Replay


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AgainOptions(VerifyOptions):
    """Whether metered bots play again."""

    play: bool = False
    """Also let the metered bots play the match again, and compare answers, faults and fuel."""
    engine: Engine = "wasmtime"
    recorded_limits: bool = False
    """With --play, accept limits of the replay that are wider than four times the defaults, such as those of memory."""

    def check(self, files: Sequence[Path]) -> bool:
        check_engine(self.engine, self.play)
        return self.play

    def after(self, replay: Replay, files: Sequence[Path]) -> int | None:
        return _play_again(replay, files, self.engine, self.recorded_limits) if self.play else None


def _play_again(replay: Replay, given: Sequence[Path], engine: Engine, wide_limits: bool) -> int:
    """Lets the metered bots of a replay play it again."""
    from referee.addons.wasm.kept_modules import found_modules, module_entrant  # needed for --play alone
    from referee.addons.wasm.play_again import play_again

    seats = sorted(replay.header.metered)
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

"""The request for a check, and the commands that repeat parts of it."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.games.contract import Player
from referee.games.game import Game, TimeControl
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant


class Origin(Struct, frozen=True):
    """Where a bot comes from, for commands and for the lines of its files in findings."""

    spec: str
    """The bot spec."""
    folder: Path
    """The bot's folder, or that of its source file."""
    match_command: tuple[str, ...] = ()
    """The beginning of a command that plays one match, from `referee` on, without seed and bots; empty if unknown."""
    check_options: tuple[str, ...] = ()
    """Options of the check that a match does not have."""

    def check_command(self, seed: int, rule: str) -> tuple[str, ...]:
        """Returns the command that tries one rule again."""
        if not self.match_command:
            return ()
        words = *self.match_command[1:], *self.check_options
        return ("referee", "check", self.spec, *words, "--seed", str(seed), "--only", rule)

    def play_command(self, verdict: Verdict, seat: Player, rival: str) -> tuple[str, ...]:
        """Returns the command that plays a whole match again, with the bot at `seat`."""
        if not self.match_command:
            return ()
        bots = [rival] * len(verdict.seats)
        bots[seat] = self.spec
        return (*self.match_command, *bots, "--seed", str(verdict.seed))


class Check(Struct, frozen=True):
    """A check of one bot."""

    game: Game
    bot: Entrant
    seed: int
    options: Any
    """`game.options`."""
    limits: Limits
    time: TimeControl
    chaos: bool = False
    """Whether the whole matches send frames in unusual forms too."""
    origin: Origin | None = None
    only: frozenset[str] = frozenset()
    """Try only these rules; empty: all. The rules that other rules depend on are always tried."""
    build_s: float = 0.0
    """How long its build took; 0 if there was nothing to build."""
    missing: str = ""
    """Why nobody takes its folder as it is, such as a file that git LFS holds."""

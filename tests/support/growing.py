"""Replays that a test writes turn by turn, without bots."""

from pathlib import Path
from typing import Any

from referee.games import registry
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.common.records import NO_COST
from referee.harness.process.limits import Limits
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Header, Opening, state_hash
from referee.harness.replay.writer import ReplayWriter

NAMES = ("one", "two", "three", "four")


class Growing(ReplayWriter):
    """A random match whose replay grows."""

    def __init__(self, path: Path, game: str = "reantics", **options: Any) -> None:
        super().__init__(path, followed=True)
        self.game = registry.game(game)
        setup = Setup(3, NAMES[: self.game.seats.start], self.game.options(**options))
        self.state = self.game.new(setup)
        self.dice = Dice(1)
        self.write(Header(REPLAY_VERSION, game, self.game.version, setup, self.game.time, Limits(), ()))
        self.write(Opening(list(self.state.opening()), state_hash(self.state)))

    def play(self, turns: int) -> None:
        """Plays turns that a page sees at once."""
        for _ in range(turns):
            answers = {player: self.state.sample(player, self.dice) for player in self.state.awaited}
            self.turn(answers, self.state.apply(answers), [NO_COST] * 9, self.state)
        self.catch_up()

    def finish(self) -> None:
        """Plays to the end."""
        while self.state.awaited:
            self.play(1)
        self.write(Ending(self.state.result))
        self.catch_up()

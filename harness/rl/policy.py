"""A policy as a bot: in this process, as a function at a seat, or as a program."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import msgspec

from referee.games.contract import Call, Player
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.errors import UsageError
from referee.harness.opponents._follow import FOLLOWERS, Turn, follow
from referee.harness.opponents._serve import Handler, UnknownMethod, serve
from referee.harness.rl.encoding import Encoding, Observation, encoding_of
from referee.harness.seats.decision import Decision
from referee.protocol.messages import Initialize

Policy = Callable[[Observation], Any]
"""Takes what a seat sees and returns an action."""


class PolicyBot:
    """A bot that does what a policy says. A seat of `referee.play` takes it as it is; `run` makes it a program."""

    def __init__(self, policy: Policy, game: Game) -> None:
        self.policy, self.game = policy, game
        update_wrapper(self, policy, updated=())
        self.__name__ = getattr(policy, "__name__", type(policy).__name__)
        self._encoding: Encoding | None = None

    def __call__(self, decision: Decision) -> Any:
        """Returns the answer to a call."""
        if not isinstance(decision.options, self.game.options):
            raise ValueError(f"this policy plays {self.game.name} only")
        encoding = self._encoding
        if encoding is None or encoding.options != decision.options:
            self._encoding = encoding = encoding_of(self.game, decision.options)
        return self._answer(encoding, decision)

    def run(self) -> None:
        """Plays over standard input and output, match after match.

        UsageError for a game of another package, unless its calls show the position (`Encoding.shown`).
        """
        name = self.game.name
        if name not in FOLLOWERS and not self._is_shown():
            raise UsageError(f"{name}: a policy plays it inside `referee.play` only, not as a program")
        serve(self.__name__, {name: self._start})

    def _start(self, match: Initialize) -> Handler:
        encoding = encoding_of(self.game, msgspec.convert(match.options, self.game.options))

        def choose(position: Any, player: Player, dice: Dice) -> Any:
            method = position.method if isinstance(position, Turn) else position.awaited[player]
            return self._answer(encoding, Decision(position, Call(player, method, None), dice))

        return follow(choose)(match) if self.game.name in FOLLOWERS else self._answering(encoding, match)

    def _is_shown(self) -> bool:
        """Whether the calls of the game show the position."""
        try:
            return type(encoding_of(self.game, self.game.options())).shown is not Encoding.shown
        except UsageError:  # it has no arrays
            return False

    def _answering(self, encoding: Encoding, match: Initialize) -> Handler:
        """Returns the handler of a match whose calls show the position."""
        dice = Dice(match.seed)

        def handle(method: str, params: dict[str, Any]) -> Any:
            if method not in self.game.methods:
                raise UnknownMethod(method)
            params.pop("clock", None)
            call = Call(match.seat, self.game.methods[method], None)
            return self._answer(encoding, Decision(encoding.shown(params), call, dice))

        return handle

    def _answer(self, encoding: Encoding, decision: Decision) -> Any:
        return encoding.answer(self.policy(encoding.observation(decision.view, decision.player, decision)), decision)

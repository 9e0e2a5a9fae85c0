"""A policy as a bot: in this process, as a function at a seat, or as a program."""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any

import msgspec

from referee.addons.rl.encoding import Encoding, Observation, encoding_of
from referee.games.contract import Call, Player, in_json
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.opponents._follow import FOLLOWERS, Turn, follow
from referee.harness.opponents._serve import Handler, UnknownMethod, serve
from referee.harness.seats.decision import Decision
from referee.protocol.messages import Initialize

Policy = Callable[[Observation], Any]
"""Takes what a seat sees and returns an action."""


class PolicyBot:
    """A bot that does what a policy says. A seat of `referee.play` takes it as it is; `run` makes it a program."""

    def __init__(self, policy: Policy, game: Game, options: Mapping[str, Any] | None = None) -> None:
        """`options`: those that a match must have."""
        self.policy, self.game, self.options = policy, game, dict(options or {})
        update_wrapper(self, policy, updated=())
        self.__name__ = getattr(policy, "__name__", type(policy).__name__)
        self._encoding: Encoding | None = None
        self._arrays_for: tuple[Any, int] | None = None

    def __call__(self, decision: Decision) -> Any:
        """Returns the answer to a call."""
        if not isinstance(decision.options, self.game.options):
            raise ValueError(f"this policy plays {self.game.name} only")
        return self._answer(self._encoding_of(decision.options, decision.seats), decision)

    def run(self) -> None:
        """Plays over standard input and output, match after match.

        UsageError for a game of another package, unless its calls show the position (`Encoding.shown`).
        """
        name = self.game.name
        if name not in FOLLOWERS and not self._is_shown():
            raise UsageError(f"{name}: a policy plays it inside `referee.play` only, not as a program")
        serve(self.__name__, {name: self._start})

    def _start(self, match: Initialize) -> Handler:
        encoding = self._encoding_of(msgspec.convert(match.options, self.game.options), len(match.names))

        def choose(position: Any, player: Player, dice: Dice) -> Any:
            method = position.method if isinstance(position, Turn) else position.awaited[player]
            return self._answer(encoding, Decision(position, Call(player, method, None), dice))

        return follow(choose)(match) if self.game.name in FOLLOWERS else self._answering(encoding, match)

    def _encoding_of(self, options: Any, seats: int) -> Encoding:
        """Returns the arrays of a match, mostly the last one's. ValueError unless it has the policy's options."""
        if self._encoding is None or self._arrays_for != (options, seats):
            has = msgspec.to_builtins(options)
            for name, value in self.options.items():
                if has.get(name) != msgspec.to_builtins(value):
                    raise ValueError(
                        f"this policy plays matches with {name}={in_json(value)} only; this one has "
                        f"{in_json(has.get(name))}: start it with --set {name}={value}"
                    )
            self._encoding, self._arrays_for = encoding_of(self.game, options, seats), (options, seats)
        return self._encoding

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

"""Who plays a match on from one of its positions: a built-in bot at every seat, in this process.

Nothing that a replay names is started.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

import msgspec
from msgspec import Struct

from referee.games.contract import Call, Notice, Player, State
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.opponents import OPPONENTS, levels, opponent_named, opponents
from referee.protocol.messages import Encoding, Initialize, Limits

RANDOM = "random"
"""The bot that plays every game: each legal answer with the same probability."""
CALL_MS = 10_000
"""The time for a call that a bot reads in its greeting. Nobody measures it."""
Handler = Callable[[str, Any], Any]
"""A bot's program: takes the method and the params of a call or a notice, and returns the answer to a call."""


OWN = "referee."
"""Begins the modules that are known to play in this process, too. A stranger's bot may be any program."""


def known(game: Game) -> list[str]:
    """Returns the built-in bots that can play a match of the game on, from the weakest to the strongest."""
    bots = opponents(game.name)
    return [name for name in levels(game.name) if name == RANDOM or bots[name].path.startswith(OWN)]


class Policy(Struct, frozen=True):
    """A built-in bot that plays all seats."""

    game: Game
    name: str

    def __post_init__(self) -> None:
        if self.name.partition(":")[0] not in known(self.game):
            there = " ".join(f"@{each}" for each in known(self.game))
            raise UsageError(f"--with @{self.name}: expected a built-in bot that plays {self.game.name}: {there}")
        try:
            opponent_named(self.name, self.game.name)
        except ValueError as error:
            raise UsageError(f"--with {error}") from error

    def bots(self, state: State, told: Sequence[Sequence[Notice]], seed: int) -> "list[Bot]":
        """Returns a bot for each seat, which has had these notices."""
        bots = []
        for player, notices in enumerate(told):
            handle = None if self.name == RANDOM else self._handler(self._start(state, player, seed))
            bots.append(bot := Bot(state, Dice(derive_seed(seed, "random", player)), handle))
            for notice in notices:
                bot.told(notice)
        return bots

    def _handler(self, start: Initialize) -> Handler:
        opponent = opponent_named(self.name, self.game.name)
        assert opponent is not None
        module = import_module(opponent.path)
        if self.name in OPPONENTS:
            return cast(Handler, module.GAMES[self.game.name](start))
        return cast(Handler, module.handler(start, opponent.number))

    def _start(self, state: State, player: Player, seed: int) -> Initialize:
        setup = state.setup
        options = msgspec.to_builtins(setup.options)
        own = derive_seed(seed, "bot", player)
        return Initialize(1, self.game.name, options, player, setup.names, tuple(Encoding), Limits(CALL_MS), own)


class Bot:
    """A bot at a seat, from some position on."""

    def __init__(self, state: State, dice: Dice, handle: Handler | None) -> None:
        """`handle`: its program; None = it draws from the legal answers of `state`, which goes on."""
        self._state, self._dice, self._handle = state, dice, handle

    def told(self, notice: Notice) -> None:
        """Takes a notice."""
        if self._handle is not None:
            self._handle(notice.method, msgspec.to_builtins(notice.params))

    def answer(self, call: Call) -> Any:
        """Answers a call."""
        if self._handle is None:
            return self._state.sample(call.player, self._dice)
        return msgspec.to_builtins(self._handle(call.method.name, msgspec.to_builtins(call.params)))

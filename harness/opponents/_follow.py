"""Turns the calls of each game into positions, from which an opponent chooses its answers.

The calls of most games show the position. Those of the Arena's games do not: there each opponent keeps an engine, which
follows the events.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Method, Player, Setup
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, Start, UnknownMethod
from referee.protocol.messages import Initialize

Params = dict[str, Any]

Choose = Callable[[Any, Player, Dice], Any]
"""Takes the position as far as it is known, the opponent's seat and its dice; returns the answer."""

Inject = Callable[[Any, Player], list[dict[str, Any]]]
"""Takes the position and the opponent's seat; returns answers to play out of turn, or an empty list."""

Functions = dict[str, Callable[[Params], Any]]
"""For each method, a function that takes the params and returns the answer."""


class Match(Struct):
    """The start of a match, as its follower gets it."""

    rules: Any
    """The game's module. It is imported here: importing all would take longer than the rest of the start."""
    options: Any
    start: Initialize
    dice: Dice
    choose: Choose
    inject: Inject | None


def follow(choose: Choose, inject: Inject | None = None) -> Start:
    """Makes an opponent that answers with `choose`, in every game of `FOLLOWERS`. `inject` is for the Arena's games."""

    def start(message: Initialize) -> Handler:
        follower = FOLLOWERS[message.game]
        rules = import_module(f"referee.games.{message.game}")
        options = msgspec.convert(message.options, rules.Options)
        functions = follower(Match(rules, options, message, Dice(message.seed), choose, inject))

        def handle(method: str, params: Params) -> Any:
            if method not in functions:
                raise UnknownMethod(method)
            return functions[method](params)

        return handle

    return start


def _arena(match: Match) -> Functions:
    """Flips the table when the rules require it, without a call of `choose`."""
    from referee.games.arena import Battle, without_opening

    seat, inject = match.start.seat, match.inject
    position: Any = match.rules.GAME.new(without_opening(Setup(0, match.start.names, match.options)))
    assert isinstance(position, Battle)

    def play(params: Params) -> Any:
        if position.pending is not None:
            return next(position.legal(seat))  # the flip is the only legal answer
        return match.choose(position, seat, match.dice)

    def event(params: Params) -> None:
        side = params.get("player")
        if side is None:
            return
        mover = position.SIDES.index(side)
        answer = {name: value for name, value in params.items() if name != "player"}
        if mover in position.awaited:
            position.apply({mover: answer})
        elif position.result is None and position.pending is None:
            position.inject(mover, [answer])  # a cheat out of turn, or the referee's flip, which ends the battle

    functions: Functions = {"play": play, "event": event}
    if inject is not None:
        functions["inject"] = lambda params: [] if position.pending is not None else inject(position, seat)
    return functions


class Turn(Struct):
    """A call of AI Arena 21, which shows everything that the answer depends on."""

    rules: Any
    method: Method
    ground: Any
    params: Params
    options: Any

    @property
    def situation(self) -> Any:
        """The params as a `Situation`."""
        return msgspec.convert(self.params, self.method.params)

    def view(self, player: Player) -> Any:
        """The situation is what the seat may see."""
        return self.situation

    def legal(self, player: Player) -> Iterator[Any]:
        """Yields every legal answer."""
        me = msgspec.convert(self.params["me"], self.rules.Player)
        legal: Iterator[Any] = self.rules.legal_answers(self.method, self.ground, me)
        return legal

    def sample(self, player: Player, dice: Dice) -> Any:
        """Draws a legal answer, each with the same probability."""
        return dice.choice(list(self.legal(player)))


def _aiarena21(match: Match) -> Functions:
    """The position is a `Turn`."""
    rules, ground = match.rules, match.rules.ground_of(match.options)

    def function(method: Method) -> Callable[[Params], Any]:
        return lambda params: match.choose(
            Turn(rules, method, ground, params, match.options), match.start.seat, match.dice
        )

    return {name: function(method) for name, method in rules.METHODS.items() if method.result is not None}


def _aibg5(match: Match) -> Functions:
    def do_action(params: Params) -> Any:
        shown = msgspec.convert(params, match.rules.DoAction)
        player = shown.playerIdx - 1
        return match.choose(match.rules.from_view(shown.gameState, player, match.options), player, match.dice)

    return dict.fromkeys(match.rules.METHODS, _ignore) | {"doAction": do_action}


def _cardgame(match: Match) -> Functions:
    """Remembers whether the hero power was used, which the state does not show."""
    rules, seat, dice = match.rules, match.start.seat, match.dice
    power_used = False

    def play(params: Params) -> Any:
        nonlocal power_used
        view = msgspec.convert(params["state"], rules.GameState)
        answer = match.choose(rules.from_view(view, seat, power_used, dice.bits()), seat, dice)
        power_used = answer[0] == rules.HERO_POWER or (power_used and answer[0] != rules.END_TURN)
        return answer

    return dict.fromkeys(rules.METHODS, _ignore) | {"play": play}


def _reantics(match: Match) -> Functions:
    rules = match.rules

    def answer(params: Params) -> Any:
        view = msgspec.convert(params["currentState"], rules.GameState)
        attacking = msgspec.convert(params.get("attackingAnt"), rules.Ant | None)
        return match.choose(rules.from_view(view, match.options, attacking), match.start.seat, match.dice)

    functions: Functions = dict.fromkeys(rules.METHODS, answer)
    return functions | {"registerWin": _ignore}


def _ignore(params: Params) -> None:
    """Handles what needs no answer."""


FOLLOWERS: dict[str, Callable[[Match], Functions]] = {
    "aiarena21": _aiarena21,
    "aibg5": _aibg5,
    "cardgame": _cardgame,
    "connectfour": _arena,
    "quoridor": _arena,
    "reantics": _reantics,
    "tictactoe": _arena,
}

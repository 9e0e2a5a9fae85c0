"""Turns the calls of each game into positions, from which an opponent chooses its answers.

The calls of most games show the position. Those of the Arena's games do not: there each opponent keeps an engine, which
follows the events.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, Start, UnknownMethod
from referee.protocol.messages import Initialize

# Each game is imported when it is played: importing all of them would take longer than the rest of the start.

Params = dict[str, Any]

Choose = Callable[[Any, Player, Dice], Any]
"""Takes the position as far as it is known, the opponent's seat and its dice; returns the answer."""

Inject = Callable[[Any, Player], list[dict[str, Any]]]
"""Takes the position and the opponent's seat; returns answers to play out of turn, or an empty list."""

Functions = dict[str, Callable[[Params], Any]]
"""For each method, a function that takes the params and returns the answer."""


def follow(choose: Choose, inject: Inject | None = None) -> Start:
    """Makes an opponent that answers with `choose`, in every game of `FOLLOWERS`. `inject` is for the Arena's games."""

    def start(match: Initialize) -> Handler:
        functions = FOLLOWERS[match.game](match, choose) if inject is None else _arena(match, choose, inject)

        def handle(method: str, params: Params) -> Any:
            if method not in functions:
                raise UnknownMethod(method)
            return functions[method](params)

        return handle

    return start


def _arena(match: Initialize, choose: Choose, inject: Inject | None = None) -> Functions:
    """Flips the table when the rules require it, without a call of `choose`."""
    from referee.games import registry
    from referee.games.arena import Battle, without_opening
    from referee.games.contract import Setup

    game = registry.game(match.game)
    options: Any = msgspec.convert(match.options, game.options)
    position: Any = game.new(without_opening(Setup(0, match.names, options)))
    assert isinstance(position, Battle)
    dice = Dice(match.seed)

    def play(params: Params) -> Any:
        if position.pending is not None:
            return next(position.legal(match.seat))  # the flip is the only legal answer
        return choose(position, match.seat, dice)

    def event(params: Params) -> None:
        side = params.get("player")
        if side is None:
            return
        seat = position.SIDES.index(side)
        answer = {name: value for name, value in params.items() if name != "player"}
        if seat in position.awaited:
            position.apply({seat: answer})
        elif position.result is None and position.pending is None:
            position.inject(seat, [answer])  # a cheat out of turn, or the referee's flip, which ends the battle

    functions: Functions = {"play": play, "event": event}
    if inject is not None:
        functions["inject"] = lambda params: [] if position.pending is not None else inject(position, match.seat)
    return functions


def _aiarena21(match: Initialize, choose: Choose) -> Functions:
    """The position is a `Turn` of AI Arena 21: the call, and what it shows."""
    from referee.games.aiarena21 import METHODS, Options, ground_of
    from referee.harness.opponents._aiarena21 import Turn

    ground = ground_of(msgspec.convert(match.options, Options))
    dice = Dice(match.seed)

    def function(name: str) -> Callable[[Params], Any]:
        return lambda params: choose(Turn(name, ground, params), match.seat, dice)

    return {name: function(name) for name, method in METHODS.items() if method.result is not None}


def _aibg5(match: Initialize, choose: Choose) -> Functions:
    from referee.games.aibg5 import METHODS, DoAction, Options, from_view

    options = msgspec.convert(match.options, Options)
    dice = Dice(match.seed)

    def do_action(params: Params) -> Any:
        shown = msgspec.convert(params, DoAction)
        player = shown.playerIdx - 1
        return choose(from_view(shown.gameState, player, options), player, dice)

    return dict.fromkeys(METHODS, _ignore) | {"doAction": do_action}


def _cardgame(match: Initialize, choose: Choose) -> Functions:
    """Remembers whether the hero power was used, which the state does not show."""
    from referee.games.cardgame import END_TURN, HERO_POWER, METHODS, GameState, from_view

    dice = Dice(match.seed)
    power_used = False

    def play(params: Params) -> Any:
        nonlocal power_used
        view = msgspec.convert(params["state"], GameState)
        answer = choose(from_view(view, match.seat, power_used, dice.bits()), match.seat, dice)
        power_used = answer[0] == HERO_POWER or (power_used and answer[0] != END_TURN)
        return answer

    return dict.fromkeys(METHODS, _ignore) | {"play": play}


def _reantics(match: Initialize, choose: Choose) -> Functions:
    from referee.games.reantics import METHODS, Ant, GameState, Options, from_view

    options = msgspec.convert(match.options, Options)
    dice = Dice(match.seed)

    def answer(params: Params) -> Any:
        view = msgspec.convert(params["currentState"], GameState)
        attacking = msgspec.convert(params.get("attackingAnt"), Ant | None)
        return choose(from_view(view, options, attacking), match.seat, dice)

    functions: Functions = dict.fromkeys(METHODS, answer)
    return functions | {"registerWin": _ignore}


def _ignore(params: Params) -> None:
    """Handles what needs no answer."""


FOLLOWERS: dict[str, Callable[[Initialize, Choose], Functions]] = {
    "aiarena21": _aiarena21,
    "aibg5": _aibg5,
    "cardgame": _cardgame,
    "connectfour": _arena,
    "quoridor": _arena,
    "reantics": _reantics,
    "tictactoe": _arena,
}

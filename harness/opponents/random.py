"""`@random`: any legal answer, each as likely as the engine's `sample` makes it."""

from typing import Any

import msgspec

from referee.games.contract import Player, State
from referee.games.dice import Dice
from referee.harness.opponents._serve import Handler, Start, UnknownMethod, serve
from referee.protocol.messages import Initialize

# Each game is loaded when it is played: all of them take longer than the rest of the start.


def follow_aiarena21(match: Initialize) -> Handler:
    """Every call shows what the legal answers depend on."""
    from referee.games import aiarena21

    ground = aiarena21.ground_of(msgspec.convert(match.options, aiarena21.Options))
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in aiarena21.METHODS:
            raise UnknownMethod(method)
        me = msgspec.convert(params["me"], aiarena21.Player)
        return dice.choice(list(aiarena21.legal_answers(aiarena21.METHODS[method], ground, me)))

    return handle


def follow_reantics(match: Initialize) -> Handler:
    """Every call shows the whole position."""
    from referee.games import reantics

    options = msgspec.convert(match.options, reantics.Options)
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in reantics.METHODS:
            raise UnknownMethod(method)
        if method == "registerWin":
            return None
        view = msgspec.convert(params["currentState"], reantics.GameState)
        attacking = msgspec.convert(params.get("attackingAnt"), reantics.Ant | None)
        return reantics.from_view(view, options, attacking).sample(match.seat, dice)

    return handle


def follow_aibg5(match: Initialize) -> Handler:
    from referee.harness.opponents import _aibg5

    return _aibg5.follow(match, sample)


def follow_cardgame(match: Initialize) -> Handler:
    from referee.harness.opponents import _cardgame

    return _cardgame.follow(match, sample)


def follow_arena(match: Initialize) -> Handler:
    from referee.games import registry
    from referee.games.arena import Battle
    from referee.harness.opponents import _follow

    kind = registry.game(match.game).new
    assert isinstance(kind, type) and issubclass(kind, Battle)
    return _follow.follow(match, kind, sample)


def sample(position: State, player: Player, dice: Dice) -> Any:
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "aiarena21": follow_aiarena21,
    "aibg5": follow_aibg5,
    "cardgame": follow_cardgame,
    "connectfour": follow_arena,
    "quoridor": follow_arena,
    "reantics": follow_reantics,
    "tictactoe": follow_arena,
}


if __name__ == "__main__":
    serve("random", GAMES)

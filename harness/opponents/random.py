"""`@random`: any legal answer, each as likely as the engine's `sample` makes it."""

from typing import Any

import msgspec

from referee.games import aiarena21, reantics
from referee.games.aibg5 import AIBG5
from referee.games.api import Player
from referee.games.arena import Battle
from referee.games.cardgame import CardGame
from referee.games.connectfour import ConnectFour
from referee.games.dice import Dice
from referee.games.quoridor import Quoridor
from referee.games.reantics import Ant, GameState
from referee.games.tictactoe import TicTacToe
from referee.harness.opponents import _aibg5, _cardgame
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Handler, Start, UnknownMethod, serve
from referee.protocol.messages import Initialize


def follow_aiarena21(match: Initialize) -> Handler:
    """Every call shows what the legal answers depend on."""
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
    options = msgspec.convert(match.options, reantics.Options)
    dice = Dice(match.seed)

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method not in reantics.METHODS:
            raise UnknownMethod(method)
        if method == "registerWin":
            return None
        view = msgspec.convert(params["currentState"], GameState)
        attacking = msgspec.convert(params.get("attackingAnt"), Ant | None)
        return reantics.from_view(view, options, attacking).sample(match.seat, dice)

    return handle


def sample(position: AIBG5 | Battle | CardGame, player: Player, dice: Dice) -> Any:
    return position.sample(player, dice)


GAMES: dict[str, Start] = {
    "aiarena21": follow_aiarena21,
    "aibg5": lambda match: _aibg5.follow(match, sample),
    "cardgame": lambda match: _cardgame.follow(match, sample),
    "connectfour": lambda match: follow(match, ConnectFour, sample),
    "quoridor": lambda match: follow(match, Quoridor, sample),
    "reantics": follow_reantics,
    "tictactoe": lambda match: follow(match, TicTacToe, sample),
}


if __name__ == "__main__":
    serve("random", GAMES)

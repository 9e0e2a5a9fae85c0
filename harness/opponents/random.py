"""`@random`: any legal answer, with the probabilities of the engine's `sample`."""

from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.harness.opponents._follow import FOLLOWERS, follow
from referee.harness.opponents._serve import Start, serve


def sample(position: Any, player: Player, dice: Dice) -> Any:
    return position.sample(player, dice)


GAMES: dict[str, Start] = dict.fromkeys(FOLLOWERS, follow(sample))


if __name__ == "__main__":
    serve("random", GAMES)

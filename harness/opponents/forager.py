"""`@forager`: gathers food with three workers, and never leaves home."""

from typing import Any

from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.reantics import GET_ATTACK, GET_PLACEMENT, ReAntics
from referee.games.reantics.types import WORKER
from referee.harness.opponents import _reantics as ants
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve

WORKERS = 3


def gather(position: ReAntics, player: Player, dice: Dice) -> Any:
    """Moves the queen, then the workers; then builds a worker if there are too few, and ends the turn."""
    method = position.awaited[player]
    if method is GET_PLACEMENT:
        return ants.placement(position, player)
    if method is GET_ATTACK:
        return next(position.legal(player))
    few = ants.number_of(position, player, WORKER) < WORKERS
    return (
        ants.queens_move(position, player)
        or ants.gathering(position, player)
        or (ants.build(position, player, WORKER) if few else None)
        or ants.END_OF_TURN
    )


GAMES: dict[str, Start] = {"reantics": follow(gather)}


if __name__ == "__main__":
    serve("forager", GAMES)

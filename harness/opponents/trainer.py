"""`@trainer`: hunts the nearest player and shoots; it ignores items and the boss (aibg5.md, 13.4)."""

from typing import Any

from referee.games.aibg5 import AIBG5, CELLS
from referee.games.contract import Player
from referee.games.dice import Dice
from referee.games.hexgrid import distance
from referee.harness.opponents._aibg5 import first_step, named, step_to
from referee.harness.opponents._follow import follow
from referee.harness.opponents._serve import Start, serve


def hunt(position: AIBG5, player: Player, dice: Dice) -> Any:
    """Shoots at the nearest player, or moves towards it and shoots at asteroids in its way; else any legal action."""
    target = position.ships[nearest(position, player)].cell
    shot = named("attack", target)
    if shot in position.legal(player):
        return shot
    way = None if position.ships[player].trap else first_step(position, player, (target,))
    return position.sample(player, dice) if way is None else step_to(position, way[0])


def nearest(position: AIBG5, player: Player) -> Player:
    """Returns the nearest other player, the first of several."""
    place = CELLS[position.ships[player].cell]
    others = [seat for seat in position.seat_at.values() if seat != player]
    return min(others, key=lambda seat: (distance(place, CELLS[position.ships[seat].cell]), seat))


GAMES: dict[str, Start] = {"aibg5": follow(hunt)}


if __name__ == "__main__":
    serve("trainer", GAMES)

"""Makes positions of AIBG 5.0 from views."""

from operator import attrgetter

from referee.games.aibg5.board import INDEX, KINDS, PATTERNS, Ship
from referee.games.aibg5.rules import AIBG5
from referee.games.aibg5.types import DO_ACTION, GameState, Options, View
from referee.games.contract import Player as Seat
from referee.games.contract import Setup


def from_view(view: GameState, player: Seat, options: Options, seed: int = 0) -> AIBG5:
    """Returns the position of a call to `player`, so that it can search with the engine.

    Facts that no view has are assumed: no experience points, no finished round, and a boss at the start of its
    schedule.
    """
    position = _on_board(Setup(seed, _names(view), options), view)
    position.awaited = {player: DO_ACTION}
    return position


def position(setup: Setup, view: View) -> AIBG5:
    """Returns the position of a full view on the setup's map. ValueError if it is no position."""
    if not 0 <= view.bossStep < len(PATTERNS):
        raise ValueError(f"bossStep is {view.bossStep}; expected 0..{len(PATTERNS) - 1}")
    state = _on_board(setup, view.gameState)
    for ship, xp in zip(state.ships, view.xp, strict=True):
        ship.xp = xp
    state.messages, state.rounds = list(view.messages), view.rounds
    state.step_of_boss, state.idle, state.pause = view.bossStep, view.idle, view.pauseLength
    state.resume(view.standing)
    return state


def _names(view: GameState) -> tuple[str, ...]:
    return tuple([shown.name for shown in sorted(view.scoreBoard.players, key=attrgetter("playerIdx"))])


def _on_board(setup: Setup, view: GameState) -> AIBG5:
    """Returns a position with everything that all players see."""
    shown = {shown.playerIdx - 1: shown for shown in view.scoreBoard.players}
    position = AIBG5(setup)
    position.rows = tuple([tuple(row) for row in view.map.tiles])
    tiles = [tile for row in position.rows for tile in row]
    position.kinds = bytearray([KINDS.index(tile.entity.type) for tile in tiles])
    position.asteroids = {
        cell: tile.entity.health for cell, tile in enumerate(tiles) if isinstance(tile.entity.health, int)
    }
    for seat, seen in shown.items():
        out = (view.player1, view.player2, view.player3, view.player4)[seat] is None
        numbers = seen.health, seen.level, 0, seen.kills, seen.deaths, seen.score, seen.trapDuration
        position.ships[seat] = Ship(INDEX[seen.q, seen.r], *numbers, out)
    position.seat_at = {ship.cell: seat for seat, ship in enumerate(position.ships) if not ship.out}
    position.boss_action = view.boss.bossAction
    position.attacked = tuple([INDEX[tile.q, tile.r] for tile in view.boss.bossAttackedTiles])
    position.out = frozenset(seat for seat, ship in enumerate(position.ships) if ship.out)
    return position

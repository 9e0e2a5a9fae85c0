"""Helpers for tests of ReAntics: positions drawn as text, and moves. Tiles are in the absolute frame."""

from collections.abc import Mapping
from typing import Any

import msgspec

from referee.games.contract import Event, Player, Ruling, Setup
from referee.games.reantics import (
    ANTHILL,
    END,
    FOOD,
    GRASS,
    MOVE_ANT,
    PLAY_PHASE,
    QUEEN,
    TUNNEL,
    Ant,
    Construction,
    GameState,
    Inventory,
    Options,
    ReAntics,
    from_view,
)
from referee.games.reantics import BUILD as BUILD

Tile = tuple[int, int]

LETTERS = "QWDSR"
SIGNS = {"^": ANTHILL, "@": TUNNEL, ";": GRASS, "%": FOOD}
# Where a drawing leaves them out: far from everything, in two corners.
HILLS, TUNNELS = ((9, 0), (0, 9)), ((8, 0), (1, 9))
ENDED = {"moveType": END, "coordList": None, "buildType": None}

# A setup for whole matches; both players may give it, each in its own frame.
LAYOUT = [[0, 0], [5, 1], [0, 3], [1, 2], [2, 1], [3, 0], [0, 2], [1, 1], [2, 0], [0, 1], [1, 0]]
FOODS = [[4, 6], [5, 8]]


def turned(tile: Tile) -> Tile:
    """Returns the tile in the other frame, turned by 180 degrees (section 2)."""
    return 9 - tile[0], 9 - tile[1]


def own(seat: Player, tile: Tile) -> Tile:
    """Converts an absolute tile to the frame of `seat`, or back."""
    return turned(tile) if seat else tile


def drawn(
    text: str,
    mover: Player = 0,
    food: tuple[int, int] = (1, 1),
    health: Mapping[Tile, int] | None = None,
    carrying: set[Tile] | None = None,
    moved: set[Tile] | None = None,
    hill_health: tuple[int, int] = (3, 3),
    options: Options | None = None,
) -> ReAntics:
    """A position of the play phase. Rows are numbered, two letters a tile, as `str(state)` draws them.

    Ants Q W D S R, player two's in small letters; ^ anthill, @ tunnel, ; grass, % food. Rows and the ends of rows may
    be left out. A missing hill, tunnel or queen is in its corner (HILLS, TUNNELS; queens on their hills). Queens
    have ids 0 and 1, the others 2, 3 … in the order of reading.
    """
    pieces = _read(text)
    homes = _homes(pieces)
    ants = [(tile, letter) for tile, letter, _ in pieces if letter != "."]
    for seat, queen in enumerate("Qq"):
        if queen not in [letter for _, letter in ants]:
            ants.append((homes[ANTHILL][seat], queen))
    ids = iter(range(2, 100))
    seen: tuple[list[Ant], list[Ant]] = ([], [])
    for tile, letter in ants:
        seat, kind = int(letter.islower()), LETTERS.index(letter.upper())
        full = (10, (options or Options()).worker_health, 4, 8, 2)[kind]
        number = seat if kind == QUEEN else next(ids)
        points = (health or {}).get(tile, full)
        ant = Ant(number, own(mover, tile), kind, seat, points, tile in (carrying or ()), tile in (moved or ()))
        seen[seat].append(ant)
    inventories = []
    for seat in (0, 1):
        hill = Construction(own(mover, homes[ANTHILL][seat]), ANTHILL, 1, seat, hill_health[seat])
        tunnel = Construction(own(mover, homes[TUNNEL][seat]), TUNNEL, 1, seat, 2)
        inventories.append(Inventory(seat, food[seat], seen[seat], [hill, tunnel]))
    neutral = [
        Construction(own(mover, tile), SIGNS[sign], 2 if sign == ";" else 1) for tile, _, sign in pieces if sign in ";%"
    ]
    view = GameState(PLAY_PHASE, mover, (inventories[0], inventories[1], Inventory(2, 0, (), neutral)))
    return from_view(view, options)


def _read(text: str) -> list[tuple[Tile, str, str]]:
    """(tile, ant's letter, construction's sign) of every tile that is not empty."""
    pieces = []
    for row in text.split("\n"):
        if row.strip():
            number, *tiles = row.split()
            pieces += [((x, int(number)), *pair) for x, pair in enumerate(tiles) if pair != ".."]
    return pieces


def _homes(pieces: list[tuple[Tile, str, str]]) -> dict[int, list[Tile]]:
    """By type: the tiles of player one's and player two's building; rows 0-3 are player one's."""
    homes = {ANTHILL: list(HILLS), TUNNEL: list(TUNNELS)}
    for tile, _, sign in pieces:
        if sign in "^@":
            homes[SIGNS[sign]][tile[1] > 3] = tile
    return homes


def begun(options: Options | None = None, seed: int = 1) -> ReAntics:
    """A new match."""
    return ReAntics(Setup(seed, ("one", "two"), options or Options()))


def set_up(options: Options | None = None) -> ReAntics:
    """A match after the setup, LAYOUT and FOODS given by both."""
    state = begun(options)
    for answer in (LAYOUT, LAYOUT, FOODS, FOODS):
        assert not play(state, answer)
    return state


def play(state: ReAntics, answer: Any) -> list[Event]:
    """Plays the answer of the awaited player, in that player's own frame."""
    (player,) = state.awaited
    return state.apply({player: answer})


def walk(state: ReAntics, *path: Tile) -> list[Event]:
    """The mover moves an ant along absolute tiles."""
    (player,) = state.awaited
    return play(state, {"moveType": MOVE_ANT, "coordList": [own(player, tile) for tile in path], "buildType": None})


def attack(state: ReAntics, tile: Tile) -> list[Event]:
    (player,) = state.awaited
    return play(state, own(player, tile))


def build(state: ReAntics, kind: int) -> list[Event]:
    """The mover builds on its anthill."""
    (player,) = state.awaited
    hill = own(player, divmod(state.ground.hills[player], 10))
    return play(state, {"moveType": BUILD, "coordList": [hill], "buildType": kind})


def end(state: ReAntics) -> None:
    assert not play(state, ENDED)


def refusal(state: ReAntics, answer: Any) -> str | None:
    """Returns the refusal of `answer` by the awaited player; None = legal."""
    (player,) = state.awaited
    fault = state.check(player, answer)
    return None if fault is None else fault.detail


def path_refusal(state: ReAntics, *path: Tile) -> str | None:
    """The same for a path of absolute tiles."""
    (player,) = state.awaited
    return refusal(state, {"moveType": MOVE_ANT, "coordList": [own(player, tile) for tile in path]})


def asked(state: ReAntics) -> tuple[Player, str]:
    ((player, method),) = state.awaited.items()
    return player, method.name


def params(state: ReAntics) -> dict[str, Any]:
    """Returns the view of the awaited player as plain values."""
    (call,) = state.calls()
    shown: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(call.params))
    return shown


def open_view(state: ReAntics) -> GameState:
    """Returns everything on the board in the absolute frame, without the awaited call."""
    view = state.view(None)
    return GameState(view.phase, view.whoseTurn, view.inventories, view.board)


def ant_at(state: ReAntics, tile: Tile) -> Ant | None:
    """The ant on an absolute tile."""
    ants = [*state.view(None).inventories[0].ants, *state.view(None).inventories[1].ants]
    return next((ant for ant in ants if ant.coords == tile), None)


def rulings(events: list[Event]) -> list[tuple[Player, str]]:
    """Returns each player's penalty."""
    return [(event.player, event.penalty) for event in events if isinstance(event, Ruling)]

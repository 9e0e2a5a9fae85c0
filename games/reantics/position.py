"""A position of ReAntics: what it consists of, and how it is shown (reantics.md, sections 2, 7 and 8)."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Self

import msgspec
from msgspec import UNSET

from referee.games.contract import Method, Player, Setup, State
from referee.games.dice import Dice
from referee.games.ending import headline
from referee.games.reantics import board, types
from referee.games.reantics.board import COORDS, NOWHERE, UNITS, Ground, PlacedAnt
from referee.games.reantics.presentation import ENDINGS

_encode = msgspec.json.Encoder().encode


class Position(State):
    """A position, in absolute coordinates."""

    METHODS = types.METHODS
    CLOSING = types.REGISTER_WIN

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.options: types.Options = setup.options
        self.phase = types.SETUP_PHASE_1
        self.mover: Player = 0
        self.placed = 0
        """The pieces that `mover` has placed in this phase."""
        self.ground = Ground((NOWHERE, NOWHERE), (NOWHERE, NOWHERE), ())
        self.ants: tuple[dict[int, PlacedAnt], dict[int, PlacedAnt]] = ({}, {})
        """By seat: id -> ant, ids ascending. A queen's id is her seat (section 3)."""
        self.ant_at: dict[int, PlacedAnt] = {}
        """The same ants: tile -> ant."""
        self.next_id = 0
        self.food = [0, 0]
        self.hill_health = [board.HILL_HEALTH, board.HILL_HEALTH]
        self.tunnel_health = [board.TUNNEL_HEALTH, board.TUNNEL_HEALTH]
        self.attacker: PlacedAnt | None = None
        """The ant whose attack is due; `targets` are the tiles to choose from."""
        self.targets: tuple[int, ...] = ()
        self.ends = 0
        """END moves so far, of both players together."""
        self.awaited: Mapping[Player, Method] = {0: types.GET_PLACEMENT}

    def params(self, player: Player) -> types.GetPlacement | types.GetMove | types.GetAttack | types.RegisterWin:
        method = self.awaited[player]
        if method is types.GET_MOVE:
            return types.GetMove(self._view(player))
        if method is types.GET_PLACEMENT:
            return types.GetPlacement(self._view(player))
        if self.result is not None:
            return types.RegisterWin(self.result.scores[player] == 1.0)
        assert self.attacker is not None
        coords = COORDS[player]
        return types.GetAttack(
            self._view(player), _shown(self.attacker, coords), [coords[tile] for tile in self.targets]
        )

    def _view(self, player: Player) -> types.GameState:
        """In the player's frame. In phase 1 the rival's pieces are hidden."""
        ground = self.ground.on_side(player) if self.phase == types.SETUP_PHASE_1 else self.ground
        return types.GameState(self.phase, self.mover, *self._pieces(ground, player))

    def _full_view(self) -> types.View:
        """In the absolute frame."""
        return types.View(
            self.phase,
            self.mover,
            *self._pieces(self.ground, 0),
            placed=self.placed,
            nextId=self.next_id,
            ends=self.ends,
            attacker=None if self.attacker is None else self.attacker.id,
            standing=self.standing(),
        )

    def marks(self) -> dict[str, dict[str, list[tuple[int, int]]]]:
        """`reach`: the tiles that each ant can go to (5.1), by the id of every ant that has not moved in this turn.

        In the absolute frame.
        """
        if self.phase < types.PLAY_PHASE or self.result is not None:
            return {}
        still = [ant for seat in self.ants for ant in seat.values() if not ant.moved]
        reach = {ant.id: sorted({path[-1] for path in self.paths(ant, 0)} - {COORDS[0][ant.tile]}) for ant in still}
        return {"reach": {str(ant): tiles for ant, tiles in reach.items()}}

    def copy(self, seed: int | None = None) -> Self:
        """A seed changes the layouts that are still to be drawn, which is all the luck in this game."""
        twin = self._twin()
        twin.ants = (self.ants[0].copy(), self.ants[1].copy())
        twin.ant_at = self.ant_at.copy()
        twin.food = self.food.copy()
        twin.hill_health = self.hill_health.copy()
        twin.tunnel_health = self.tunnel_health.copy()
        if seed is not None:
            twin.dice = Dice(seed)
        return twin

    def key(self) -> bytes:
        """JSON. Dice and placed pieces decide nothing in the play phase."""
        setup = (self.dice.state, self.placed) if self.phase < types.PLAY_PHASE else ()
        return self.ground.key + _encode(
            (
                self.phase,
                self.mover,
                list(self.ants[0].values()),
                list(self.ants[1].values()),
                self.food,
                self.hill_health,
                self.tunnel_health,
                self.next_id,
                self.ends,
                self.attacker and self.attacker.id,
                self.result and self.result.scores,
                len(self.awaited),
                (*setup, *sorted(self.out)) if self.out else setup,
            )
        )

    def __str__(self) -> str:
        """The absolute frame, two letters a tile: ant (player one's in capitals), construction.

        Ants Q W D S R; constructions ^ anthill, @ tunnel, ; grass, % food.
        """
        return _drawing(self, self.ground)

    def shown_to(self, player: Player) -> str:
        """Phase 1 hides the rival's pieces (section 3)."""
        return _drawing(self, self.ground.on_side(player) if self.phase == types.SETUP_PHASE_1 else self.ground)

    # What the rules ask.

    def due(self) -> int:
        """Returns how many pieces `mover` still has to place in this phase."""
        return (len(board.PIECES) if self.phase == types.SETUP_PHASE_1 else board.FOOD_TILES) - self.placed

    def free(self, player: Player) -> list[int]:
        """Returns the tiles that a placement may name, x first in the player's frame."""
        side = board.OWN_SIDE if self.phase == types.SETUP_PHASE_1 else board.ENEMY_SIDE
        return [tile for tile in side[player] if self.ground.kind(tile) is None]

    def targets_of(self, ant: PlacedAnt) -> tuple[int, ...]:
        """Returns the tiles that `ant` can attack from its tile, oldest enemy first (5.2, section 7)."""
        unit = UNITS[ant.type]
        if not unit.attack:
            return ()
        away, reach = board.DISTANCE[ant.tile], unit.range
        return tuple([enemy.tile for enemy in self.ants[1 - ant.player].values() if away[enemy.tile] <= reach])

    def paths(self, ant: PlacedAnt, frame: Player) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yields the paths of `ant`, each from its own tile on. That tile alone is the first (5.1)."""
        coords, neighbours, at, unit = COORDS[frame], board.NEIGHBOURS[frame], self.ant_at, UNITS[ant.type]
        costs = board.LIGHT if unit.ignores_grass else self.ground.cost
        closed_rows = board.QUEENLESS_ROWS if ant.type == types.QUEEN else ()
        paths: list[tuple[tuple[tuple[int, int], ...], int, int]] = [((coords[ant.tile],), ant.tile, unit.moves)]
        while paths:
            path, tile, left = paths.pop()
            yield path
            for adjacent in reversed(neighbours[tile]):
                if adjacent not in at and costs[adjacent] <= left and adjacent % 10 not in closed_rows:
                    paths.append(((*path, coords[adjacent]), adjacent, left - costs[adjacent]))

    # Views.

    def _pieces(self, ground: Ground, frame: Player) -> tuple[Any, Any]:
        """Returns the inventories, and the board if the options ask for it."""
        inventories = (
            self._inventory(0, ground, frame),
            self._inventory(1, ground, frame),
            types.Inventory(2, 0, (), ground.neutral_shown[frame]),
        )
        return inventories, self._board(ground, frame) if self.options.board else UNSET

    def _inventory(self, seat: Player, ground: Ground, frame: Player) -> types.Inventory:
        """Ants and buildings are in the order of the absolute tile: x first, then y (section 7)."""
        coords = COORDS[frame]
        ants = []
        for ant in sorted(self.ants[seat].values(), key=_BY_TILE):  # without `_shown`: a call for every ant
            ants.append(types.Ant(ant.id, coords[ant.tile], ant.type, ant.player, ant.health, ant.carrying, ant.moved))
        hill, tunnel = ground.hills[seat], ground.tunnels[seat]
        buildings = []
        if hill != NOWHERE:
            buildings.append(types.Construction(coords[hill], types.ANTHILL, 1, seat, self.hill_health[seat]))
        if tunnel != NOWHERE:
            buildings.append(types.Construction(coords[tunnel], types.TUNNEL, 1, seat, self.tunnel_health[seat]))
            if tunnel < hill:
                buildings.reverse()
        return types.Inventory(seat, self.food[seat], ants, buildings)

    def _board(self, ground: Ground, frame: Player) -> Sequence[Sequence[types.Cell | None]]:
        """Columns without an ant belong to the ground and are shared by all views."""
        columns: list[Any] = list(ground.columns[frame])
        coords = COORDS[frame]
        for tile, ant in self.ant_at.items():
            x, y = coords[tile]
            column = columns[x]
            if type(column) is tuple:
                columns[x] = column = list(column)
            under = column[y]
            column[y] = types.Cell(ant.id) if under is None else types.Cell(ant.id, under.constr)
        return columns


_BY_TILE = attrgetter("tile")


def _shown(ant: PlacedAnt, coords: Sequence[tuple[int, int]]) -> types.Ant:
    """Returns the ant as sent to a bot, in the frame of `coords`."""
    return types.Ant(ant.id, coords[ant.tile], ant.type, ant.player, ant.health, ant.carrying, ant.moved)


# Drawings: two letters a tile, then what a board cannot show. Coordinates are absolute.


def _drawing(state: Position, ground: Ground) -> str:
    """Draws `state` with its ants on `ground`."""
    rows = ["    " + "  ".join(map(str, range(10)))]
    rows += [f" {y}  " + " ".join(_tile(state, 10 * x + y, ground) for x in range(10)) for y in range(10)]
    for seat, name in enumerate(("one", "two")):
        ants = ", ".join(map(_described, state.ants[seat].values())) or "no ants"
        rows.append(f"player {name}: food {state.food[seat]}, anthill {state.hill_health[seat]}; {ants}")
    rows.append(_situation(state))
    return "\n".join(rows)


def _tile(state: Position, tile: int, ground: Ground) -> str:
    ant, kind = state.ant_at.get(tile), ground.kind(tile)
    letter = "." if ant is None else "QWDSR"[ant.type] if ant.player == 0 else "qwdsr"[ant.type]
    return letter + ("." if kind is None else "^@;%"[kind])


def _situation(state: Position) -> str:
    turns = f"after {state.ends} END moves"
    name = ("one", "two")[state.mover]
    if state.result is not None:
        return f"{headline(ENDINGS, state.result, state.setup.names)}, {turns}"
    if state.phase < types.PLAY_PHASE:
        return f"setup phase {state.phase}: player {name} to place {state.due()}"
    if state.attacker is not None:
        return f"player {name} to attack with {_described(state.attacker)}, {turns}"
    return f"player {name} to move, {turns}"


def _described(ant: PlacedAnt) -> str:
    """Returns words such as `worker 2 at (4,8), health 4, carrying`."""
    x, y = COORDS[0][ant.tile]
    carrying, moved = ", carrying" * ant.carrying, ", moved" * ant.moved
    return f"{UNITS[ant.type].name} {ant.id} at ({x},{y}), health {ant.health}{carrying}{moved}"

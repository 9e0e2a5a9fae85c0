"""The rules of ReAntics in the order of reantics.md: setup, play, the end of a turn, winning.

Seat 0 is player one. The engine uses absolute coordinates; on the wire each player sees itself on top (section 2).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from operator import attrgetter
from typing import Any, Self

import msgspec
from msgspec import UNSET

from referee.games.contract import (
    Event,
    Fault,
    FaultKind,
    Method,
    Player,
    Result,
    Ruling,
    Setup,
    State,
    draw,
    win,
)
from referee.games.dice import Dice
from referee.games.reantics.board import (
    COORDS,
    DISTANCE,
    ENEMY_SIDE,
    FOOD_TILES,
    HILL_HEALTH,
    LIGHT,
    NEIGHBOURS,
    NOWHERE,
    OWN_SIDE,
    PIECES,
    QUEENLESS_ROWS,
    TUNNEL_HEALTH,
    UNITS,
    Ground,
    PlacedAnt,
    replaced,
    tile_at,
)
from referee.games.reantics.drawing import drawing
from referee.games.reantics.refusals import attack_refusal, move_refusal, placement_refusal
from referee.games.reantics.types import (
    ANTHILL,
    BUILD,
    END,
    FOOD,
    FOOD_GOAL,
    GET_ATTACK,
    GET_MOVE,
    GET_PLACEMENT,
    GRASS,
    METHODS,
    MOVE_ANT,
    PLAY_PHASE,
    QUEEN,
    R_SOLDIER,
    REGISTER_WIN,
    SETUP_PHASE_1,
    TUNNEL,
    WORKER,
    Ant,
    AnyMove,
    Cell,
    Construction,
    GameState,
    GetAttack,
    GetMove,
    GetPlacement,
    Inventory,
    Move,
    Options,
    RegisterWin,
    View,
)

_encode = msgspec.json.Encoder().encode

_PLACEMENT: tuple[Mapping[Player, Method], ...] = ({0: GET_PLACEMENT}, {1: GET_PLACEMENT})
_MOVE: tuple[Mapping[Player, Method], ...] = ({0: GET_MOVE}, {1: GET_MOVE})
_ATTACK: tuple[Mapping[Player, Method], ...] = ({0: GET_ATTACK}, {1: GET_ATTACK})
_OVER: Mapping[Player, Method] = {}
_ILLEGAL_REASONS = {"getPlacement": "illegal_placement", "getMove": "illegal_move", "getAttack": "illegal_attack"}


class ReAntics(State):
    """A position, in absolute coordinates."""

    METHODS = METHODS

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.options: Options = setup.options
        self.phase = SETUP_PHASE_1
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
        self.hill_health = [HILL_HEALTH, HILL_HEALTH]
        self.tunnel_health = [TUNNEL_HEALTH, TUNNEL_HEALTH]
        self.attacker: PlacedAnt | None = None
        """The ant whose attack is due; `targets` are the tiles to choose from."""
        self.targets: tuple[int, ...] = ()
        self.ends = 0
        """END moves so far, of both players together."""
        self.result: Result | None = None
        self.awaited = _PLACEMENT[0]
        self._draw_layouts()

    def params(self, player: Player) -> GetPlacement | GetMove | GetAttack | RegisterWin:
        method = self.awaited[player]
        if method is GET_MOVE:
            return GetMove(self._view(player))
        if method is GET_PLACEMENT:
            return GetPlacement(self._view(player))
        if self.result is not None:
            return RegisterWin(self.result.scores[player] == 1.0)
        assert self.attacker is not None
        coords = COORDS[player]
        return GetAttack(self._view(player), _shown(self.attacker, coords), [coords[tile] for tile in self.targets])

    def refusal(self, player: Player, answer: Any) -> str | None:
        """Names the first mistake, with coordinates in the bot's own frame."""
        method = self.awaited[player]
        if method is GET_MOVE:
            return move_refusal(self, player, answer)
        if method is GET_ATTACK:
            return attack_refusal(self, player, answer)
        if method is GET_PLACEMENT:
            return placement_refusal(self, player, answer)
        return None  # the answer to registerWin is ignored

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if self.result is not None:
            self.awaited = _OVER
            return [self.rule(seat, answer, "none") for seat, answer in answers.items() if isinstance(answer, Fault)]
        ((player, answer),) = answers.items()
        method = self.awaited[player]
        if isinstance(answer, Fault):
            illegal = answer.kind is FaultKind.ILLEGAL
            ruling = self.rule(player, answer, "loses")
            self._finish(win(1 - player, _ILLEGAL_REASONS[method.name] if illegal else answer.kind.value))
            return [ruling]
        if method is GET_MOVE:
            self._move(player, answer)
        elif method is GET_ATTACK:
            self._attack(player, answer)
        else:
            self._place(player, [tile_at(player, *coord) for coord in answer[: self.due()]])
            self._draw_layouts()
        return []

    def stop(self, reason: str) -> list[Event]:
        """A draw (assumed: the document knows no end from outside); `registerWin` follows, false for both."""
        self._finish(draw(reason))
        return []

    def _forfeited(self, faults: Mapping[Player, Fault]) -> list[Event]:
        """The other player wins, and `registerWin` says so."""
        self._finish(self._walkover(faults))
        return [Ruling(player, fault, "loses", True) for player, fault in faults.items()]

    def _legal(self, player: Player) -> Iterator[Any]:
        """In the player's own frame, coordinates as tuples.

        getMove: every path of every ant that can move, then BUILD by type, then END. Ants are in order of id. A path
        precedes its extensions, which go x-1, x+1, y-1, y+1. getAttack: the targets as offered. getPlacement: complete
        answers only (shorter and longer ones are legal too), in the order of `itertools.permutations` over the free
        tiles, x first. registerWin: None.
        """
        method, coords = self.awaited[player], COORDS[player]
        if method is GET_MOVE:
            yield from self._legal_moves(player)
        elif method is GET_ATTACK:
            yield from [coords[tile] for tile in self.targets]
        elif method is GET_PLACEMENT:
            yield from map(list, permutations([coords[tile] for tile in self._free(player)], self.due()))
        else:
            yield None

    def _sample(self, player: Player, dice: Dice) -> Any:
        if self.awaited[player] is GET_PLACEMENT:
            return [COORDS[player][tile] for tile in dice.sample(self._free(player), self.due())]
        return super()._sample(player, dice)

    def _view(self, player: Player) -> GameState:
        """In the player's frame. In phase 1 the rival's pieces are hidden."""
        ground = self.ground.on_side(player) if self.phase == SETUP_PHASE_1 else self.ground
        return GameState(self.phase, self.mover, *self._pieces(ground, player))

    def _full_view(self) -> View:
        """In the absolute frame."""
        return View(
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
        if self.phase < PLAY_PHASE or self.result is not None:
            return {}
        still = [ant for seat in self.ants for ant in seat.values() if not ant.moved]
        reach = {ant.id: sorted({path[-1] for path in self._paths(ant, 0)} - {COORDS[0][ant.tile]}) for ant in still}
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
        rest: tuple[int, ...] = (self.dice.state, self.placed) if self.phase < PLAY_PHASE else ()
        if self.out:
            rest += tuple(sorted(self.out))
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
                rest,
            )
        )

    def __str__(self) -> str:
        """The absolute frame, two letters a tile: ant (player one's in capitals), construction.

        Ants Q W D S R; constructions ^ anthill, @ tunnel, ; grass, % food.
        """
        return drawing(self, self.ground)

    def shown_to(self, player: Player) -> str:
        """Phase 1 hides the rival's pieces (section 3)."""
        return drawing(self, self.ground.on_side(player) if self.phase == SETUP_PHASE_1 else self.ground)

    def targets_of(self, ant: PlacedAnt) -> tuple[int, ...]:
        """Returns the tiles that `ant` can attack from its tile, oldest enemy first (5.2, section 7)."""
        unit = UNITS[ant.type]
        if not unit.attack:
            return ()
        away, reach = DISTANCE[ant.tile], unit.range
        return tuple([enemy.tile for enemy in self.ants[1 - ant.player].values() if away[enemy.tile] <= reach])

    # Setup (section 3).

    def due(self) -> int:
        """Returns how many pieces `mover` still has to place in this phase."""
        return (len(PIECES) if self.phase == SETUP_PHASE_1 else FOOD_TILES) - self.placed

    def _free(self, player: Player) -> list[int]:
        """Returns the tiles that a placement may name, x first in the player's frame."""
        side = OWN_SIDE if self.phase == SETUP_PHASE_1 else ENEMY_SIDE
        return [tile for tile in side[player] if self.ground.kind(tile) is None]

    def _place(self, player: Player, tiles: Sequence[int]) -> None:
        hills, tunnels, neutral = self.ground.hills, self.ground.tunnels, list(self.ground.neutral)
        for number, tile in enumerate(tiles, self.placed):
            piece = PIECES[number] if self.phase == SETUP_PHASE_1 else "food"
            if piece == "anthill":
                hills = replaced(hills, player, tile)
            elif piece == "tunnel":
                tunnels = replaced(tunnels, player, tile)
            else:
                neutral.append((GRASS if piece == "grass" else FOOD, tile))
        self.ground = Ground(hills, tunnels, tuple(neutral))
        self.placed += len(tiles)
        if self.due() == 0:
            self._next_setup_turn()

    def _next_setup_turn(self) -> None:
        """Passes the turn to player two, then to phase 2, then to the play phase."""
        self.placed = 0
        if self.mover == 1:
            self.phase += 1
        self.mover = 1 - self.mover
        self.awaited = _PLACEMENT[self.mover]
        if self.phase == PLAY_PHASE:
            self._begin_play()

    def _begin_play(self) -> None:
        for kind, homes in ((QUEEN, self.ground.hills), (WORKER, self.ground.tunnels)):
            for seat, tile in enumerate(homes):
                self._add_ant(seat, kind, tile, moved=False)
        self.food = [1, 1]
        self.awaited = _MOVE[0]

    def _draw_layouts(self) -> None:
        """Places pieces for seats with a random layout, while it is the turn of one (section 10)."""
        while self.phase < PLAY_PHASE and self.options.random_layout[self.mover]:
            dice = self.dice.fork("layout", self.mover, self.phase)
            self._place(self.mover, dice.sample(self._free(self.mover), self.due(), "layout"))

    # The play phase: moves.

    def _move(self, player: Player, move: AnyMove) -> None:
        kind = move.moveType
        if kind == MOVE_ANT:
            self._move_ant(player, move.coordList)
        elif kind == BUILD:
            self._build(player, move.buildType)
        else:
            self._end_turn(player)

    def _move_ant(self, player: Player, path: Sequence[tuple[int, int]]) -> None:
        """Moves the ant. If it can attack from its new tile, it must (5.2)."""
        ant = self.ant_at.pop(tile_at(player, *path[0]))
        tile = tile_at(player, *path[-1])
        ant = PlacedAnt(ant.id, tile, ant.type, player, ant.health, ant.carrying, True)
        self.ant_at[tile] = self.ants[player][ant.id] = ant
        targets = self.targets_of(ant)
        if targets:
            self.attacker, self.targets, self.awaited = ant, targets, _ATTACK[player]
        else:
            self._test_win()

    def _attack(self, player: Player, target: tuple[int, int]) -> None:
        assert self.attacker is not None
        tile = tile_at(player, *target)
        hit = self.ant_at.pop(tile)
        health = hit.health - UNITS[self.attacker.type].attack
        if health > 0:
            hurt = PlacedAnt(hit.id, tile, hit.type, hit.player, health, hit.carrying, hit.moved)
            self.ant_at[tile] = self.ants[hit.player][hit.id] = hurt
        else:
            del self.ants[hit.player][hit.id]
        self.attacker, self.targets, self.awaited = None, (), _MOVE[player]
        self._test_win()

    def _build(self, player: Player, kind: int) -> None:
        self.food[player] -= UNITS[kind].cost
        self._add_ant(player, kind, self.ground.hills[player], moved=True)
        self._test_win()

    def _end_turn(self, player: Player) -> None:
        """Captures buildings, picks up food and stores it (section 6); then the other player moves."""
        rival = 1 - player
        hills, tunnels = self.ground.hills, self.ground.tunnels
        ants = self.ants[player]
        for ant in list(ants.values()):
            tile, carrying = ant.tile, ant.carrying
            if tile == hills[rival]:
                self.hill_health[rival] -= 1
            elif tile == tunnels[rival]:
                self.tunnel_health[rival] -= 1
            elif tile in self.ground.foods:
                carrying = carrying or ant.type == WORKER
            elif carrying and (tile == hills[player] or tile == tunnels[player]):
                self.food[player] += 1
                carrying = False
            if ant.moved or carrying is not ant.carrying:
                ant = PlacedAnt(ant.id, tile, ant.type, player, ant.health, carrying, False)
                ants[ant.id] = self.ant_at[tile] = ant
        self.ends += 1
        self.mover, self.awaited = rival, _MOVE[rival]  # before the win test, so that a decided game shows it too (5.4)
        self._test_win()
        if self.result is None and self.ends >= self.options.draw_after:
            self._finish(draw("draw_limit"))

    def _test_win(self) -> None:
        """Tests player one, then player two, for each kind of win in the order of section 6."""
        for player in (0, 1):
            rival = 1 - player
            if rival not in self.ants[rival]:
                return self._finish(win(player, "queen_killed"))
            if self.hill_health[rival] <= 0:
                return self._finish(win(player, "anthill_captured"))
            if self.food[player] >= FOOD_GOAL:
                return self._finish(win(player, "food_goal"))
            if not self.food[rival] and len(self.ants[rival]) == 1:
                return self._finish(win(player, "starved"))
        return None

    def _finish(self, result: Result) -> None:
        """Calls `registerWin` on every player whose process still runs."""
        self.result = result
        self.awaited = {seat: REGISTER_WIN for seat in (0, 1) if seat not in self.out}

    # Ants, paths and views.

    def _add_ant(self, player: Player, kind: int, tile: int, moved: bool) -> None:
        health = self.options.worker_health if kind == WORKER else UNITS[kind].health
        ant = PlacedAnt(self.next_id, tile, kind, player, health, False, moved)
        self.ant_at[tile] = self.ants[player][ant.id] = ant
        self.next_id += 1

    def _legal_moves(self, player: Player) -> Iterator[Move]:
        for ant in self.ants[player].values():
            if not ant.moved:
                for path in self._paths(ant, player):
                    yield Move(MOVE_ANT, path)
        hill = self.ground.hills[player]
        if hill not in self.ant_at:
            for kind in range(WORKER, R_SOLDIER + 1):
                if UNITS[kind].cost <= self.food[player]:
                    yield Move(BUILD, (COORDS[player][hill],), kind)
        yield Move(END)

    def _paths(self, ant: PlacedAnt, frame: Player) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yields the paths of `ant`, each from its own tile on. That tile alone is the first (5.1)."""
        coords, neighbours, at, unit = COORDS[frame], NEIGHBOURS[frame], self.ant_at, UNITS[ant.type]
        costs = LIGHT if unit.ignores_grass else self.ground.cost
        paths: list[tuple[tuple[tuple[int, int], ...], int, int]] = [((coords[ant.tile],), ant.tile, unit.moves)]
        while paths:
            path, tile, left = paths.pop()
            yield path
            for adjacent in reversed(neighbours[tile]):
                blocked = adjacent in at or (ant.type == QUEEN and adjacent % 10 in QUEENLESS_ROWS)
                if not blocked and costs[adjacent] <= left:
                    paths.append(((*path, coords[adjacent]), adjacent, left - costs[adjacent]))

    def _pieces(self, ground: Ground, frame: Player) -> tuple[tuple[Inventory, Inventory, Inventory], Any]:
        """Returns the inventories, and the board if the options ask for it."""
        inventories = (
            self._inventory(0, ground, frame),
            self._inventory(1, ground, frame),
            Inventory(2, 0, (), ground.neutral_shown[frame]),
        )
        return inventories, self._board(ground, frame) if self.options.board else UNSET

    def _inventory(self, seat: Player, ground: Ground, frame: Player) -> Inventory:
        """Ants and buildings are in the order of the absolute tile: x first, then y (section 7)."""
        coords = COORDS[frame]
        ants = [_shown(ant, coords) for ant in sorted(self.ants[seat].values(), key=_BY_TILE)]
        hill, tunnel = ground.hills[seat], ground.tunnels[seat]
        buildings = []
        if hill != NOWHERE:
            buildings.append(Construction(coords[hill], ANTHILL, 1, seat, self.hill_health[seat]))
        if tunnel != NOWHERE:
            buildings.append(Construction(coords[tunnel], TUNNEL, 1, seat, self.tunnel_health[seat]))
            if tunnel < hill:
                buildings.reverse()
        return Inventory(seat, self.food[seat], ants, buildings)

    def _board(self, ground: Ground, frame: Player) -> Sequence[Sequence[Cell | None]]:
        """Columns without an ant belong to the ground and are shared by all views."""
        columns: list[Any] = list(ground.columns[frame])
        for tile, ant in self.ant_at.items():
            x, y = COORDS[frame][tile]
            column = columns[x]
            if type(column) is tuple:
                columns[x] = column = list(column)
            under = column[y]
            column[y] = Cell(ant.id) if under is None else Cell(ant.id, under.constr)
        return columns


# Small parts.

_BY_TILE = attrgetter("tile")


def _shown(ant: PlacedAnt, coords: Sequence[tuple[int, int]]) -> Ant:
    """Returns the ant as sent to a bot, in the frame of `coords`."""
    return Ant(ant.id, coords[ant.tile], ant.type, ant.player, ant.health, ant.carrying, ant.moved)

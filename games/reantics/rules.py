"""The rules of ReAntics in the order of reantics.md: setup, play, the end of a turn, winning.

At the end: positions from views. Seat 0 is player one. The engine uses absolute coordinates; on the wire each player
sees itself on top (section 2).
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from referee.games.contract import LOSES, Event, Fault, FaultKind, Player, Setup, draw, win
from referee.games.dice import Dice, derive_seed
from referee.games.reantics import types
from referee.games.reantics.answers import legal, refusal, sampled
from referee.games.reantics.board import (
    FOOD_TILES,
    NOWHERE,
    OWN_SIDE,
    PIECES,
    UNITS,
    Ground,
    PlacedAnt,
    replaced,
    tile_at,
)
from referee.games.reantics.position import Position

_ILLEGAL_REASONS = {"getPlacement": "illegal_placement", "getMove": "illegal_move", "getAttack": "illegal_attack"}


class ReAntics(Position):
    """A position with its rules."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self._draw_layouts()

    refusal = refusal
    _legal = legal
    _sample = sampled

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if self.result is not None:
            return self._closed(answers)
        ((player, answer),) = answers.items()
        method = self.awaited[player]
        if isinstance(answer, Fault):
            illegal = answer.kind is FaultKind.ILLEGAL
            ruling = self.rule(player, answer, LOSES)
            self.finish(win(1 - player, _ILLEGAL_REASONS[method.name] if illegal else answer.kind.value))
            return [ruling]
        if method is types.GET_MOVE:
            self._move(player, answer)
        elif method is types.GET_ATTACK:
            self._attack(player, answer)
        else:
            self._place(player, [tile_at(player, *coord) for coord in answer[: self.due()]])
            self._draw_layouts()
        return []

    # Setup (section 3).

    def _place(self, player: Player, tiles: Sequence[int]) -> None:
        hills, tunnels, neutral = self.ground.hills, self.ground.tunnels, list(self.ground.neutral)
        for number, tile in enumerate(tiles, self.placed):
            piece = PIECES[number] if self.phase == types.SETUP_PHASE_1 else "food"
            if piece == "anthill":
                hills = replaced(hills, player, tile)
            elif piece == "tunnel":
                tunnels = replaced(tunnels, player, tile)
            else:
                neutral.append((types.GRASS if piece == "grass" else types.FOOD, tile))
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
        self.awaited = {self.mover: types.GET_PLACEMENT}
        if self.phase < types.PLAY_PHASE:
            return
        for kind, homes in ((types.QUEEN, self.ground.hills), (types.WORKER, self.ground.tunnels)):
            for seat, tile in enumerate(homes):
                self._add_ant(seat, kind, tile, moved=False)
        self.food = [1, 1]
        self.awaited = {0: types.GET_MOVE}

    def _draw_layouts(self) -> None:
        """Places pieces for seats with a random layout, while it is the turn of one (section 10)."""
        while self.phase < types.PLAY_PHASE and self.options.random_layout[self.mover]:
            dice = self.dice.fork("layout", self.mover, self.phase)
            self._place(self.mover, dice.sample(self.free(self.mover), self.due(), "layout"))

    # The play phase (sections 5 and 6).

    def _move(self, player: Player, move: types.AnyMove) -> None:
        kind = move.moveType
        if kind == types.MOVE_ANT:
            self._move_ant(player, move.coordList)
        elif kind == types.BUILD:
            self.food[player] -= UNITS[move.buildType].cost
            self._add_ant(player, move.buildType, self.ground.hills[player], moved=True)
            self._test_win()
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
            self.attacker, self.targets, self.awaited = ant, targets, {player: types.GET_ATTACK}
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
        self.attacker, self.targets, self.awaited = None, (), {player: types.GET_MOVE}
        self._test_win()

    def _add_ant(self, player: Player, kind: int, tile: int, moved: bool) -> None:
        health = self.options.worker_health if kind == types.WORKER else UNITS[kind].health
        ant = PlacedAnt(self.next_id, tile, kind, player, health, False, moved)
        self.ant_at[tile] = self.ants[player][ant.id] = ant
        self.next_id += 1

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
                carrying = carrying or ant.type == types.WORKER
            elif carrying and (tile == hills[player] or tile == tunnels[player]):
                self.food[player] += 1
                carrying = False
            if ant.moved or carrying is not ant.carrying:
                ant = PlacedAnt(ant.id, tile, ant.type, player, ant.health, carrying, False)
                ants[ant.id] = self.ant_at[tile] = ant
        self.ends += 1
        # Before the win test, so that a decided game shows it too (5.4).
        self.mover, self.awaited = rival, {rival: types.GET_MOVE}
        self._test_win()
        if self.result is None and self.ends >= self.options.draw_after:
            self.finish(draw("draw_limit"))

    def _test_win(self) -> None:
        """Tests player one, then player two, for each kind of win in the order of section 6."""
        for player in (0, 1):
            rival = 1 - player
            if rival not in self.ants[rival]:
                reason = "queen_killed"
            elif self.hill_health[rival] <= 0:
                reason = "anthill_captured"
            elif self.food[player] >= types.FOOD_GOAL:
                reason = "food_goal"
            elif not self.food[rival] and len(self.ants[rival]) == 1:
                reason = "starved"
            else:
                continue
            self.finish(win(player, reason))
            return


# Positions from views.


def from_view(
    view: types.GameState, options: types.Options | None = None, attacking: types.Ant | None = None, seed: int = 0
) -> ReAntics:
    """Returns the position of a call, so that a bot can search with the engine.

    `attacking` is the `attackingAnt` of a `getAttack`. Facts that no view has are assumed: `seed` draws the pieces that
    the rival hides in phase 1, no END was played yet, and the next ant gets the id after the highest.
    """
    mover = view.whoseTurn
    position = _on_board(Setup(seed, ("one", "two"), options or types.Options()), view, mover)
    if view.phase < types.PLAY_PHASE:
        neutral = view.inventories[2].constrs
        position.placed = sum(constr.type == types.FOOD for constr in neutral) - FOOD_TILES * mover
        if view.phase == types.SETUP_PHASE_1:
            position.placed = len(view.inventories[mover].constrs) + len(neutral)
        position.awaited = {mover: types.GET_PLACEMENT}
        if view.phase == types.SETUP_PHASE_1 and mover == 1:
            hill, tunnel, *grass = Dice(derive_seed(seed, "hidden")).sample(OWN_SIDE[0], len(PIECES))
            ground = position.ground
            homes = replaced(ground.hills, 0, hill), replaced(ground.tunnels, 0, tunnel)
            position.ground = Ground(*homes, (*((types.GRASS, tile) for tile in grass), *ground.neutral))
    elif attacking is None:
        position.awaited = {mover: types.GET_MOVE}
    else:
        position.attacker = position.ant_at[tile_at(mover, *attacking.coords)]
        position.targets = position.targets_of(position.attacker)
        position.awaited = {mover: types.GET_ATTACK}
    return position


def rebuilt(setup: Setup, view: types.View) -> ReAntics:
    """Returns the position of a full view. ValueError if an attack is due from a missing ant."""
    state = _on_board(setup, view, 0)
    state.placed, state.next_id, state.ends = view.placed, view.nextId, view.ends
    if view.attacker is not None:
        found = [ants[view.attacker] for ants in state.ants if view.attacker in ants]
        if not found:
            raise ValueError(f"an attack of ant {view.attacker} is due, but there is no such ant")
        state.attacker = found[0]
        state.targets = state.targets_of(found[0])
    state.resume(view.standing)
    return state


def _on_board(setup: Setup, view: types.GameState, frame: Player) -> ReAntics:
    """Returns a position with the pieces and food of a view in that frame."""
    # No layout is drawn: the view has it.
    position = ReAntics(Setup(setup.seed, setup.names, replace(setup.options, random_layout=(False, False))))
    position.setup, position.options = setup, setup.options
    position.phase, position.mover = view.phase, view.whoseTurn
    seen = [*view.inventories[0].ants, *view.inventories[1].ants]
    for ant in sorted(seen, key=attrgetter("id")):
        tile = tile_at(frame, *ant.coords)
        inner = PlacedAnt(ant.id, tile, ant.type, ant.player, ant.health, ant.carrying, ant.hasMoved)
        position.ant_at[tile] = position.ants[ant.player][ant.id] = inner
        position.next_id = ant.id + 1
    position.food = [inventory.foodCount for inventory in view.inventories[:2]]
    homes = {types.ANTHILL: [NOWHERE, NOWHERE], types.TUNNEL: [NOWHERE, NOWHERE]}
    for seat in (0, 1):
        for building in view.inventories[seat].constrs:
            homes[building.type][seat] = tile_at(frame, *building.coords)
            if building.captureHealth is not UNSET:
                health = position.hill_health if building.type == types.ANTHILL else position.tunnel_health
                health[seat] = building.captureHealth
    (hill, other_hill), (tunnel, other_tunnel) = homes.values()
    neutral = tuple((constr.type, tile_at(frame, *constr.coords)) for constr in view.inventories[2].constrs)
    position.ground = Ground((hill, other_hill), (tunnel, other_tunnel), neutral)
    return position

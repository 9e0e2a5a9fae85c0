"""Makes positions of ReAntics from views."""

from operator import attrgetter

from msgspec import UNSET
from msgspec.structs import replace

from referee.games.contract import Player, Setup
from referee.games.dice import Dice, derive_seed
from referee.games.reantics.board import FOOD_TILES, NOWHERE, OWN_SIDE, PIECES, Ground, PlacedAnt, replaced, tile_at
from referee.games.reantics.rules import ReAntics
from referee.games.reantics.types import (
    ANTHILL,
    FOOD,
    GET_ATTACK,
    GET_MOVE,
    GET_PLACEMENT,
    GRASS,
    PLAY_PHASE,
    SETUP_PHASE_1,
    Ant,
    GameState,
    Options,
    View,
)


def from_view(view: GameState, options: Options | None = None, attacking: Ant | None = None, seed: int = 0) -> ReAntics:
    """Returns the position of a call, so that a bot can search with the engine.

    `attacking` is the `attackingAnt` of a `getAttack`. Facts that no view has are assumed: `seed` draws the pieces that
    the rival hides in phase 1, no END was played yet, and the next ant gets the id after the highest.
    """
    mover = view.whoseTurn
    position = _on_board(Setup(seed, ("one", "two"), options or Options()), view, mover)
    if view.phase < PLAY_PHASE:
        position.placed = _placed(view)
        position.awaited = {mover: GET_PLACEMENT}
        if view.phase == SETUP_PHASE_1 and mover == 1:
            position.ground = _with_hidden(position.ground, Dice(derive_seed(seed, "hidden")))
    elif attacking is None:
        position.awaited = {mover: GET_MOVE}
    else:
        position.attacker = position.ant_at[tile_at(mover, *attacking.coords)]
        position.targets = position.targets_of(position.attacker)
        position.awaited = {mover: GET_ATTACK}
    return position


def position(setup: Setup, view: View) -> ReAntics:
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


def _on_board(setup: Setup, view: GameState, frame: Player) -> ReAntics:
    """Returns a position with the pieces and food of a view in that frame."""
    # No layout is drawn: the view has it.
    position = ReAntics(Setup(setup.seed, setup.names, replace(setup.options, random_layout=(False, False))))
    position.setup, position.options = setup, setup.options
    position.phase, position.mover = view.phase, view.whoseTurn
    position.ground = _ground(view, frame)
    seen = [*view.inventories[0].ants, *view.inventories[1].ants]
    for ant in sorted(seen, key=attrgetter("id")):
        tile = tile_at(frame, *ant.coords)
        inner = PlacedAnt(ant.id, tile, ant.type, ant.player, ant.health, ant.carrying, ant.hasMoved)
        position.ant_at[tile] = position.ants[ant.player][ant.id] = inner
        position.next_id = ant.id + 1
    position.food = [inventory.foodCount for inventory in view.inventories[:2]]
    for seat in (0, 1):
        for building in view.inventories[seat].constrs:
            if building.captureHealth is not UNSET:
                health = position.hill_health if building.type == ANTHILL else position.tunnel_health
                health[seat] = building.captureHealth
    return position


def _ground(view: GameState, frame: Player) -> Ground:
    hills, tunnels = (NOWHERE, NOWHERE), (NOWHERE, NOWHERE)
    for seat in (0, 1):
        for building in view.inventories[seat].constrs:
            tile = tile_at(frame, *building.coords)
            if building.type == ANTHILL:
                hills = replaced(hills, seat, tile)
            else:
                tunnels = replaced(tunnels, seat, tile)
    neutral = tuple((constr.type, tile_at(frame, *constr.coords)) for constr in view.inventories[2].constrs)
    return Ground(hills, tunnels, neutral)


def _placed(view: GameState) -> int:
    """Returns how many pieces of this phase the player to move has placed."""
    neutral = view.inventories[2].constrs
    if view.phase == SETUP_PHASE_1:
        return len(view.inventories[view.whoseTurn].constrs) + len(neutral)
    return sum(constr.type == FOOD for constr in neutral) - FOOD_TILES * view.whoseTurn


def _with_hidden(ground: Ground, dice: Dice) -> Ground:
    """Adds player one's eleven pieces, drawn at random."""
    hill, tunnel, *grass = dice.sample(OWN_SIDE[0], len(PIECES))
    neutral = (*((GRASS, tile) for tile in grass), *ground.neutral)
    return Ground(replaced(ground.hills, 0, hill), replaced(ground.tunnels, 0, tunnel), neutral)

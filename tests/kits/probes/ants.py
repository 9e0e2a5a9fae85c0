"""Says of every position what the kit's functions for ReAntics make of it: to standard error, one line a function."""

from referee_kit.ants import (
    UNIT_STATS,
    create_path_toward,
    get_constr_at,
    get_curr_player_inventory,
    get_curr_player_queen,
    get_next_state,
    get_next_state_adversarial,
    get_winner,
    list_all_legal_moves,
    list_all_movement_paths,
    list_attackable,
    list_reachable_adjacent,
    steps_to_reach,
)
from referee_kit.reantics import Move, MoveType, ReAnticsBot, run

EVERY = 5  # each fifth move is looked ahead of, and each build


class Ants(ReAnticsBot):
    def get_move(self, current_state):
        print("\n".join(report(current_state)), "\n=", flush=True)
        return Move(MoveType.END)


def report(state):
    """The lines, in the order in which the probes of all languages have them."""
    me = get_curr_player_inventory(state)
    winner, queen = get_winner(state), get_curr_player_queen(state)
    yield f"winner {-1 if winner is None else winner}"
    yield f"queen {tile(queen.coords) if queen else '-'}"
    yield f"health {' '.join(str(stats.health) for stats in UNIT_STATS)}"
    goals = [constr.coords for inventory in state.inventories for constr in inventory.constrs][::4]
    for ant in me.ants:
        movement, light = UNIT_STATS[ant.type].movement, UNIT_STATS[ant.type].ignores_grass
        under = get_constr_at(state, ant.coords)
        yield f"ant {tile(ant.coords)} {int(under.type) if under else 'none'}"
        yield f"steps {' '.join(str(steps_to_reach(state, ant.coords, (i // 10, i % 10))) for i in range(0, 100, 7))}"
        yield f"near {tiles(list_reachable_adjacent(state, ant.coords, movement, light))}"
        yield f"range {tiles(list_attackable(ant.coords, UNIT_STATS[ant.type].range))}"
        yield f"toward {';'.join(tiles(create_path_toward(state, ant.coords, goal, movement)) for goal in goals)}"
        paths = list_all_movement_paths(state, ant.coords, movement, light)
        yield f"paths {len(paths)} {tiles(paths[len(paths) // 2])}"
    moves = list_all_legal_moves(state)
    for number, move in enumerate(moves):
        yield f"move {move.move_type} {tiles(move.coord_list or [])} {move.build_type or 0}"
        if number % EVERY == 0 or move.move_type == MoveType.BUILD:
            yield f"next {position(get_next_state(state, move))}"
            yield f"then {position(get_next_state_adversarial(state, move))}"


def tile(coords):
    return f"{coords[0]},{coords[1]}"


def tiles(path):
    return " ".join(map(tile, path))


def position(state):
    """Whose turn it is, and what both have."""
    parts = [f"{state.whose_turn}"]
    for inventory in state.inventories[:2]:
        parts.append(f" food {inventory.food_count}")
        for ant in inventory.ants:
            parts.append(
                f" {tile(ant.coords)} {ant.id} {ant.type} {ant.player} {ant.health}"
                f"{' carrying' if ant.carrying else ''}{' moved' if ant.has_moved else ''}"
            )
        for constr in inventory.constrs:
            parts.append(f" {tile(constr.coords)} {constr.type} {constr.capture_health}")
    return "".join(parts)


if __name__ == "__main__":
    run(Ants)

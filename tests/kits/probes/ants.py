"""Says of every position what the kit's functions for ReAntics make of it: to standard error, one line a function."""

from referee_kit.reantics import *

EVERY = 5  # each fifth move is looked ahead of, and each BUILD


class Ants(ReAnticsBot):
    def getMove(self, currentState):
        print("\n".join(report(currentState)), "\n=", flush=True)
        return Move(END)


def report(state):
    """The lines, in the order in which the probes of all languages have them."""
    me = getCurrPlayerInventory(state)
    winner, queen = getWinner(state), getCurrPlayerQueen(state)
    yield f"winner {-1 if winner is None else winner}"
    yield f"queen {tile(queen.coords) if queen else '-'}"
    yield f"health {' '.join(str(stats[HEALTH]) for stats in UNIT_STATS)}"
    goals = [constr.coords for inventory in state.inventories for constr in inventory.constrs][::4]
    for ant in me.ants:
        movement, light = UNIT_STATS[ant.type][MOVEMENT], UNIT_STATS[ant.type][IGNORES_GRASS]
        under = getConstrAt(state, ant.coords)
        yield f"ant {tile(ant.coords)} {under.type if under else 'none'}"
        yield f"steps {' '.join(str(stepsToReach(state, ant.coords, (i // 10, i % 10))) for i in range(0, 100, 7))}"
        yield f"near {tiles(listReachableAdjacent(state, ant.coords, movement, light))}"
        yield f"range {tiles(listAttackable(ant.coords, UNIT_STATS[ant.type][RANGE]))}"
        yield f"toward {';'.join(tiles(createPathToward(state, ant.coords, goal, movement)) for goal in goals)}"
        paths = listAllMovementPaths(state, ant.coords, movement, light)
        yield f"paths {len(paths)} {tiles(paths[len(paths) // 2])}"
    moves = listAllLegalMoves(state)
    for number, move in enumerate(moves):
        yield f"move {move.moveType} {tiles(move.coordList or [])} {0 if move.buildType is None else move.buildType}"
        if number % EVERY == 0 or move.moveType == BUILD:
            yield f"next {position(getNextState(state, move))}"
            yield f"then {position(getNextStateAdversarial(state, move))}"


def tile(coords):
    return f"{coords[0]},{coords[1]}"


def tiles(path):
    return " ".join(map(tile, path))


def position(state):
    """Whose turn it is, and what both have."""
    parts = [f"{state.whoseTurn}"]
    for inventory in state.inventories[:2]:
        parts.append(f" food {inventory.foodCount}")
        for ant in inventory.ants:
            parts.append(
                f" {tile(ant.coords)} {ant.id} {ant.type} {ant.player} {ant.health}"
                f"{' carrying' if ant.carrying else ''}{' moved' if ant.hasMoved else ''}"
            )
        for constr in inventory.constrs:
            parts.append(f" {tile(constr.coords)} {constr.type} {constr.captureHealth}")
    return "".join(parts)


if __name__ == "__main__":
    run(Ants)

// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
import * as ants from "referee-kit/ants";
import { BUILD, END, ReAnticsBot, run } from "referee-kit/reantics";

const EVERY = 5;

class Ants extends ReAnticsBot {
    getMove(currentState) {
        console.log([...report(currentState), "="].join("\n"));
        return { moveType: END };
    }
}

function* report(state) {
    const queen = ants.getCurrPlayerQueen(state);
    yield `winner ${ants.getWinner(state) ?? -1}`;
    yield `queen ${queen ? tile(queen.coords) : "-"}`;
    yield `health ${ants.UNIT_STATS.map(({ health }) => health).join(" ")}`;
    const goals = state.inventories.flatMap(({ constrs }) => constrs.map(({ coords }) => coords)).filter((_, i) => i % 4 === 0);
    for (const { coords, type } of ants.getCurrPlayerInventory(state).ants) {
        const { movement, ignoresGrass, range } = ants.UNIT_STATS[type];
        yield `ant ${tile(coords)} ${ants.getConstrAt(state, coords)?.type ?? "none"}`;
        const costs = Array.from({ length: 15 }, (_, i) => {
            return ants.stepsToReach(state, coords, [Math.floor((7 * i) / 10), (7 * i) % 10]);
        });
        yield `steps ${costs.join(" ")}`;
        yield `near ${tiles(ants.listReachableAdjacent(state, coords, movement, ignoresGrass))}`;
        yield `range ${tiles(ants.listAttackable(coords, range))}`;
        yield `toward ${goals.map((goal) => tiles(ants.createPathToward(state, coords, goal, movement))).join(";")}`;
        const paths = ants.listAllMovementPaths(state, coords, movement, ignoresGrass);
        yield `paths ${paths.length} ${tiles(paths[Math.floor(paths.length / 2)])}`;
    }
    for (const [number, move] of ants.listAllLegalMoves(state).entries()) {
        yield `move ${move.moveType} ${tiles(move.coordList ?? [])} ${move.buildType ?? 0}`;
        if (number % EVERY === 0 || move.moveType === BUILD) {
            yield `next ${position(ants.getNextState(state, move))}`;
            yield `then ${position(ants.getNextStateAdversarial(state, move))}`;
        }
    }
}

const tile = ([x, y]) => `${x},${y}`;
const tiles = (path) => path.map(tile).join(" ");

function position({ whoseTurn, inventories }) {
    const parts = [`${whoseTurn}`];
    for (const { foodCount, ants, constrs } of inventories.slice(0, 2)) {
        parts.push(`food ${foodCount}`);
        for (const { coords, id, type, player, health, carrying, hasMoved } of ants) {
            parts.push(`${tile(coords)} ${id} ${type} ${player} ${health}`);
            if (carrying) parts.push("carrying");
            if (hasMoved) parts.push("moved");
        }
        for (const { coords, type, captureHealth } of constrs) parts.push(`${tile(coords)} ${type} ${captureHealth}`);
    }
    return parts.join(" ");
}

run(Ants);

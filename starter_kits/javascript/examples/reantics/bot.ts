// Gathers food and defends.
//
// Two workers walk between the nearest food and the nearest anthill or tunnel; the queen steps aside, so that the
// anthill can build, and guards it; soldiers and drones are built when enemies come, and hunt them on this side of the board.

import {
    type Ant, ANTHILL, BUILD, type Construction, Coord, DRONE, END, FOOD, type GameState, type Inventory, type Move,
    MOVE_ANT, QUEEN, R_SOLDIER, ReAnticsBot, run, SETUP_PHASE_1, SOLDIER, TUNNEL, WORKER,
} from "referee-kit/reantics";

// By the ant's type: queen, worker, drone, soldier, ranged soldier.
const MOVES = [2, 2, 3, 2, 1];
const ATTACK = [4, 0, 2, 4, 3];
const RANGE = [1, 0, 1, 1, 3];
const COST = [0, 1, 2, 2, 2];
const IGNORES_GRASS = [DRONE, R_SOLDIER];
const FIGHTERS = [DRONE, SOLDIER, R_SOLDIER];

const TILES = Array.from({ length: 100 }, (_, i) => new Coord(Math.floor(i / 10), i % 10)); // by x, then y
const NEIGHBOURS = new Map(TILES.map((tile) => [tile, TILES.filter((other) => distance(tile, other) === 1)]));
const FENCE = [0, 1, 2, 3, 4, 6, 7, 8, 9].map((x) => new Coord(x, 3)); // of grass
const LAYOUT = [new Coord(2, 1), new Coord(7, 1), ...FENCE]; // anthill, tunnel, fence
const WORKERS_WANTED = 2;
const UNREACHED = 99; // more than any way costs

class Forager extends ReAnticsBot {
    getPlacement(currentState: GameState): Coord[] {
        if (currentState.phase === SETUP_PHASE_1) return LAYOUT;
        const board = new Board(currentState);
        const buildings = board.enemy.constrs.filter(({ type }) => type === ANTHILL || type === TUNNEL);
        const walks = buildings.map(({ coords }) => board.costs(coords, WORKER));
        const way = (tile: Coord) => Math.min(...walks.map((walk) => walk.get(tile) ?? UNREACHED));
        const free = TILES.filter((tile) => tile.y >= 6 && !board.constrs.has(tile));
        return sortedBy(free, (tile) => -way(tile)).slice(0, 2);
    }

    /** The first ant that has something to do does it; then the anthill builds; then the turn ends. */
    getMove(currentState: GameState): Move {
        const board = new Board(currentState);
        for (const ant of board.me.ants) {
            const path = ant.hasMoved ? undefined : this.path(board, ant);
            if (path !== undefined) return { moveType: MOVE_ANT, coordList: path };
        }
        return this.build(board) ?? { moveType: END };
    }

    /** The queen if she is there; else an ant that dies of it, fighters before workers; else the weakest. */
    getAttack(currentState: GameState, attackingAnt: Ant, enemyLocations: Coord[]): Coord {
        const { ants } = new Board(currentState);
        const damage = ATTACK[attackingAnt.type];
        const worth = (tile: Coord) => {
            const { type, health } = ants.get(tile)!;
            const [queen, dies, fights] = [type === QUEEN, health <= damage, type !== WORKER].map(Number);
            return 1000 * queen + 200 * dies + 100 * fights - health;
        };
        return sortedBy(enemyLocations, (tile) => -worth(tile))[0];
    }

    /** Where the ant goes now, its own tile first; undefined: it stays and does nothing. */
    private path(board: Board, ant: Ant): Coord[] | undefined {
        if (ant.type === WORKER) return board.walk(ant, this.errand(board, ant));
        if (board.enemy.ants.some((enemy) => near(ant, enemy))) return [ant.coords]; // stand and attack
        if (ant.type === QUEEN) return board.walk(ant, board.post());
        const intruders = board.intruders().map((enemy) => enemy.coords);
        return board.walk(ant, intruders.length > 0 ? intruders : board.front());
    }

    /** Home with the food; else the food from which the whole way, there and home, is shortest. */
    private errand(board: Board, worker: Ant): Coord[] {
        if (worker.carrying) return board.homes;
        const here = board.costs(worker.coords, WORKER, true);
        const homeward = board.homes.map((home) => board.costs(home, WORKER));
        const home = (food: Coord) => Math.min(...homeward.map((costs) => costs.get(food) ?? UNREACHED));
        const way = (food: Coord) => here.get(food)! + home(food);
        return sortedBy(board.foods.filter((food) => here.has(food)), way).slice(0, 1);
    }

    /**
     * A worker while there are too few; a soldier, or a drone where haste matters, for each fighter that comes. A unit
     * of food is kept for a new worker: the queen alone without food has lost.
     */
    private build(board: Board): Move | undefined {
        if (board.ants.has(board.anthill)) return undefined;
        const built = (buildType: number): Move => ({ moveType: BUILD, coordList: [board.anthill], buildType });
        const { ants, foodCount } = board.me;
        const workers = ants.filter(({ type }) => type === WORKER);
        const fighters = ants.filter(({ type }) => FIGHTERS.includes(type));
        if (workers.length < WORKERS_WANTED && foodCount >= COST[WORKER]) return built(WORKER);
        const coming = board.enemy.ants.filter(({ type, coords }) => FIGHTERS.includes(type) && coords.y <= 6);
        const threats = Math.max(coming.length, board.intruders().length);
        if (threats <= fighters.length || foodCount <= COST[SOLDIER]) return undefined;
        return built(coming.length > 0 ? SOLDIER : DRONE); // workers alone are hunted down
    }
}

/** A state, looked at as a map. */
class Board {
    readonly me: Inventory;
    readonly enemy: Inventory;
    readonly ants: Map<Coord, Ant>;
    readonly constrs: Map<Coord, Construction>;
    readonly homes: Coord[];
    readonly anthill: Coord;
    readonly foods: Coord[];

    constructor({ inventories, whoseTurn }: GameState) {
        this.me = inventories[whoseTurn];
        this.enemy = inventories[1 - whoseTurn];
        this.ants = new Map([...this.me.ants, ...this.enemy.ants].map((ant) => [ant.coords, ant]));
        const constrs = inventories.flatMap((side) => side.constrs);
        this.constrs = new Map(constrs.map((constr) => [constr.coords, constr]));
        this.homes = this.me.constrs.map((constr) => constr.coords);
        this.anthill = this.me.constrs.find(({ type }) => type === ANTHILL)?.coords ?? TILES[0];
        this.foods = constrs.filter(({ type }) => type === FOOD).map((constr) => constr.coords);
    }

    /** The enemies on this side of the board, or about to enter it. */
    intruders(): Ant[] {
        return this.enemy.ants.filter(({ coords }) => coords.y <= 4);
    }

    /** The queen's place: next to the anthill, away from the enemy, on nobody's way. */
    post(): Coord[] {
        const beside = neighbours(this.anthill).filter((tile) => tile.y <= 3 && !this.constrs.has(tile));
        return sortedBy(beside, (tile) => tile.y).slice(0, 1);
    }

    /** The fighters' place: two or three tiles from the anthill on this side, nearest to the enemy. */
    front(): Coord[] {
        const around = TILES.filter((tile) => tile.y <= 3 && [2, 3].includes(distance(tile, this.anthill)));
        const front = Math.max(...around.map((tile) => tile.y));
        return around.filter((tile) => tile.y === front);
    }

    /** This turn's part of the way to the nearest goal; undefined when there, or when there is no step to take. */
    walk(ant: Ant, goals: Coord[]): Coord[] | undefined {
        if (goals.includes(ant.coords)) return undefined;
        const way = this.way(ant, goals, true) ?? this.way(ant, goals, false) ?? [];
        const path = [ant.coords];
        let left = MOVES[ant.type];
        for (const tile of way) {
            left -= this.cost(tile, ant.type);
            if (left < 0 || this.ants.has(tile)) break;
            path.push(tile);
        }
        return path.length > 1 ? path : undefined;
    }

    /** The cheapest way from the ant to one of the goals, its own tile left out; undefined if there is none. */
    private way(ant: Ant, goals: Coord[], aroundAnts: boolean): Coord[] | undefined {
        const before = new Map<Coord, Coord>();
        const costs = this.costs(ant.coords, ant.type, aroundAnts, before);
        const ends = goals.flatMap((goal) => this.ends(goal)).filter((tile) => costs.has(tile));
        if (ends.length === 0) return undefined;
        const way: Coord[] = [];
        let tile = sortedBy(ends, (end) => 100 * costs.get(end)! + TILES.indexOf(end))[0];
        for (; tile !== ant.coords; tile = before.get(tile)!) way.unshift(tile);
        return way;
    }

    /** An enemy's own tile cannot be entered: a neighbouring tile is near enough. */
    private ends(goal: Coord): Coord[] {
        const ant = this.ants.get(goal);
        return ant !== undefined && this.enemy.ants.includes(ant) ? neighbours(goal) : [goal];
    }

    /** What an ant of this kind pays from `start` to every tile that it can reach; `before` gets the ways. */
    costs(start: Coord, kind: number, aroundAnts = false, before = new Map<Coord, Coord>()): Map<Coord, number> {
        const costs = new Map<Coord, number>();
        const queues: [tile: Coord, previous: Coord][][] = [[[start, start]]]; // by what was paid
        for (let paid = 0; paid < queues.length; ++paid) {
            for (const [tile, previous] of queues[paid] ?? []) {
                if (costs.has(tile)) continue;
                costs.set(tile, paid);
                before.set(tile, previous);
                for (const beside of neighbours(tile)) {
                    if ((aroundAnts && this.ants.has(beside)) || (kind === QUEEN && beside.y > 3)) continue;
                    (queues[paid + this.cost(beside, kind)] ??= []).push([beside, tile]);
                }
            }
        }
        return costs;
    }

    private cost(tile: Coord, kind: number): number {
        return IGNORES_GRASS.includes(kind) ? 1 : (this.constrs.get(tile)?.movementCost ?? 1);
    }
}

function neighbours(tile: Coord): Coord[] {
    return NEIGHBOURS.get(tile)!;
}

function distance(one: Coord, other: Coord): number {
    return Math.abs(one.x - other.x) + Math.abs(one.y - other.y);
}

function near(ant: Ant, enemy: Ant): boolean {
    return distance(ant.coords, enemy.coords) <= RANGE[ant.type];
}

/** A sorted copy, least first; equals stay in their order. */
function sortedBy<T>(items: readonly T[], key: (item: T) => number): T[] {
    return [...items].sort((one, other) => key(one) - key(other));
}

run(Forager);

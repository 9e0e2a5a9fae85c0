// Gathers food and defends.
//
// Two workers walk between the nearest food and the nearest anthill or tunnel; the queen steps aside, so that the
// anthill can build, and guards it; soldiers and drones are built when enemies come, and hunt them on this side of the board.

import {
  type Ant,
  ANTHILL,
  type AntType,
  BUILD,
  type Construction,
  type Coord,
  DRONE,
  END,
  FOOD,
  type GameState,
  type Inventory,
  type Move,
  MOVE_ANT,
  QUEEN,
  R_SOLDIER,
  ReAnticsBot,
  run,
  SETUP_PHASE_1,
  SOLDIER,
  TUNNEL,
  WORKER,
} from "referee-kit/reantics";

// By the ant's type: queen, worker, drone, soldier, ranged soldier.
const MOVES = [2, 2, 3, 2, 1];
const ATTACK = [4, 0, 2, 4, 3];
const RANGE = [1, 0, 1, 1, 3];
const COST = [0, 1, 2, 2, 2];
const IGNORES_GRASS: readonly AntType[] = [DRONE, R_SOLDIER];
const FIGHTERS: readonly AntType[] = [DRONE, SOLDIER, R_SOLDIER];

/** 10 x + y */
type Tile = number;
const TILES = Array.from({ length: 100 }, (_, tile): Tile => tile);
const NEIGHBOURS = TILES.map((tile) => TILES.filter((other) => distance(tile, other) === 1));
const FENCE = [0, 1, 2, 3, 4, 6, 7, 8, 9].map((x): Coord => [x, 3]); // of grass
const LAYOUT: Coord[] = [[2, 1], [7, 1], ...FENCE]; // anthill, tunnel, fence
const WORKERS_WANTED = 2;
const UNREACHED = 99; // more than any way costs

class Forager extends ReAnticsBot {
  getPlacement(currentState: GameState): Coord[] {
    if (currentState.phase === SETUP_PHASE_1) return LAYOUT;
    const board = new Board(currentState);
    const buildings = board.enemy.constrs.filter(({ type }) => type === ANTHILL || type === TUNNEL);
    const walks = buildings.map(({ coords }) => board.costs(tileOf(coords), WORKER));
    const way = (tile: Tile) => Math.min(...walks.map((walk) => walk.get(tile) ?? UNREACHED));
    const free = TILES.filter((tile) => rowOf(tile) >= 6 && !board.constrs.has(tile));
    return sortedBy(free, (tile) => -way(tile))
      .slice(0, 2)
      .map(coordOf);
  }

  /** The first ant that has something to do does it; then the anthill builds; then the turn ends. */
  getMove(currentState: GameState): Move {
    const board = new Board(currentState);
    for (const ant of board.me.ants) {
      const path = ant.hasMoved ? undefined : this.path(board, ant);
      if (path !== undefined) return { moveType: MOVE_ANT, coordList: path.map(coordOf) };
    }
    return this.build(board) ?? { moveType: END };
  }

  /** The queen if she is there; else an ant that dies of it, fighters before workers; else the weakest. */
  getAttack(currentState: GameState, attackingAnt: Ant, enemyLocations: Coord[]): Coord {
    const { ants } = new Board(currentState);
    const damage = ATTACK[attackingAnt.type];
    const worth = (coords: Coord) => {
      const { type, health } = ants.get(tileOf(coords))!;
      const [queen, dies, fights] = [type === QUEEN, health <= damage, type !== WORKER].map(Number);
      return 1000 * queen + 200 * dies + 100 * fights - health;
    };
    return sortedBy(enemyLocations, (coords) => -worth(coords))[0];
  }

  /** Where the ant goes now, its own tile first; undefined: it stays and does nothing. */
  private path(board: Board, ant: Ant): Tile[] | undefined {
    if (ant.type === WORKER) return board.walk(ant, this.errand(board, ant));
    if (board.enemy.ants.some((enemy) => near(ant, enemy))) return [tileOf(ant.coords)]; // stand and attack
    if (ant.type === QUEEN) return board.walk(ant, board.post());
    const intruders = board.intruders().map((enemy) => tileOf(enemy.coords));
    return board.walk(ant, intruders.length > 0 ? intruders : board.front());
  }

  /** Home with the food; else the food from which the whole way, there and home, is shortest. */
  private errand(board: Board, worker: Ant): Tile[] {
    if (worker.carrying) return board.homes;
    const here = board.costs(tileOf(worker.coords), WORKER, true);
    const homeward = board.homes.map((home) => board.costs(home, WORKER));
    const home = (food: Tile) => Math.min(...homeward.map((costs) => costs.get(food) ?? UNREACHED));
    const way = (food: Tile) => here.get(food)! + home(food);
    return sortedBy(
      board.foods.filter((food) => here.has(food)),
      way,
    ).slice(0, 1);
  }

  /**
   * A worker while there are too few; a soldier, or a drone where haste matters, for each fighter that comes. A unit
   * of food is kept for a new worker: the queen alone without food has lost.
   */
  private build(board: Board): Move | undefined {
    if (board.ants.has(board.anthill)) return undefined;
    const built = (buildType: AntType): Move => ({
      moveType: BUILD,
      coordList: [coordOf(board.anthill)],
      buildType,
    });
    const { ants, foodCount } = board.me;
    const workers = ants.filter(({ type }) => type === WORKER);
    const fighters = ants.filter(({ type }) => FIGHTERS.includes(type));
    if (workers.length < WORKERS_WANTED && foodCount >= COST[WORKER]) return built(WORKER);
    const coming = board.enemy.ants.filter(({ type, coords }) => FIGHTERS.includes(type) && coords[1] <= 6);
    const threats = Math.max(coming.length, board.intruders().length);
    if (threats <= fighters.length || foodCount <= COST[SOLDIER]) return undefined;
    return built(coming.length > 0 ? SOLDIER : DRONE); // workers alone are hunted down
  }
}

/** A state, looked at as a map. */
class Board {
  readonly me: Inventory;
  readonly enemy: Inventory;
  readonly ants: Map<Tile, Ant>;
  readonly constrs: Map<Tile, Construction>;
  readonly homes: Tile[];
  readonly anthill: Tile;
  readonly foods: Tile[];

  constructor({ inventories, whoseTurn }: GameState) {
    this.me = inventories[whoseTurn];
    this.enemy = inventories[1 - whoseTurn];
    this.ants = new Map([...this.me.ants, ...this.enemy.ants].map((ant) => [tileOf(ant.coords), ant]));
    const constrs = inventories.flatMap((side) => side.constrs);
    this.constrs = new Map(constrs.map((constr) => [tileOf(constr.coords), constr]));
    this.homes = this.me.constrs.map((constr) => tileOf(constr.coords));
    const anthill = this.me.constrs.find(({ type }) => type === ANTHILL);
    this.anthill = anthill ? tileOf(anthill.coords) : TILES[0];
    this.foods = constrs.filter(({ type }) => type === FOOD).map((constr) => tileOf(constr.coords));
  }

  /** The enemies on this side of the board, or about to enter it. */
  intruders(): Ant[] {
    return this.enemy.ants.filter(({ coords }) => coords[1] <= 4);
  }

  /** The queen's place: next to the anthill, away from the enemy, on nobody's way. */
  post(): Tile[] {
    const beside = NEIGHBOURS[this.anthill].filter((tile) => rowOf(tile) <= 3 && !this.constrs.has(tile));
    return sortedBy(beside, rowOf).slice(0, 1);
  }

  /** The fighters' place: two or three tiles from the anthill on this side, nearest to the enemy. */
  front(): Tile[] {
    const around = TILES.filter((tile) => rowOf(tile) <= 3 && [2, 3].includes(distance(tile, this.anthill)));
    const front = Math.max(...around.map(rowOf));
    return around.filter((tile) => rowOf(tile) === front);
  }

  /** This turn's part of the way to the nearest goal; undefined when there, or when there is no step to take. */
  walk(ant: Ant, goals: Tile[]): Tile[] | undefined {
    const start = tileOf(ant.coords);
    if (goals.includes(start)) return undefined;
    const way = this.way(ant, goals, true) ?? this.way(ant, goals, false) ?? [];
    const path = [start];
    let left = MOVES[ant.type];
    for (const tile of way) {
      left -= this.cost(tile, ant.type);
      if (left < 0 || this.ants.has(tile)) break;
      path.push(tile);
    }
    return path.length > 1 ? path : undefined;
  }

  /** The cheapest way from the ant to one of the goals, its own tile left out; undefined if there is none. */
  private way(ant: Ant, goals: Tile[], aroundAnts: boolean): Tile[] | undefined {
    const start = tileOf(ant.coords);
    const before = new Map<Tile, Tile>();
    const costs = this.costs(start, ant.type, aroundAnts, before);
    const ends = goals.flatMap((goal) => this.ends(goal)).filter((tile) => costs.has(tile));
    if (ends.length === 0) return undefined;
    const way: Tile[] = [];
    let tile = sortedBy(ends, (end) => 100 * costs.get(end)! + end)[0];
    for (; tile !== start; tile = before.get(tile)!) way.unshift(tile);
    return way;
  }

  /** An enemy's own tile cannot be entered: a neighbouring tile is near enough. */
  private ends(goal: Tile): Tile[] {
    const ant = this.ants.get(goal);
    return ant !== undefined && this.enemy.ants.includes(ant) ? NEIGHBOURS[goal] : [goal];
  }

  /** What an ant of this kind pays from `start` to every tile that it can reach; `before` gets the ways. */
  costs(start: Tile, kind: AntType, aroundAnts = false, before = new Map<Tile, Tile>()): Map<Tile, number> {
    const costs = new Map<Tile, number>();
    const queues: [tile: Tile, previous: Tile][][] = [[[start, start]]]; // by what was paid
    for (let paid = 0; paid < queues.length; ++paid) {
      for (const [tile, previous] of queues[paid] ?? []) {
        if (costs.has(tile)) continue;
        costs.set(tile, paid);
        before.set(tile, previous);
        for (const beside of NEIGHBOURS[tile]) {
          if ((aroundAnts && this.ants.has(beside)) || (kind === QUEEN && rowOf(beside) > 3)) continue;
          (queues[paid + this.cost(beside, kind)] ??= []).push([beside, tile]);
        }
      }
    }
    return costs;
  }

  private cost(tile: Tile, kind: AntType): number {
    return IGNORES_GRASS.includes(kind) ? 1 : (this.constrs.get(tile)?.movementCost ?? 1);
  }
}

function tileOf([x, y]: Coord): Tile {
  return 10 * x + y;
}

function coordOf(tile: Tile): Coord {
  return [Math.floor(tile / 10), rowOf(tile)];
}

function rowOf(tile: Tile): number {
  return tile % 10;
}

function distance(one: Tile, other: Tile): number {
  const [x, y] = coordOf(one);
  return Math.abs(x - coordOf(other)[0]) + Math.abs(y - rowOf(other));
}

function near(ant: Ant, enemy: Ant): boolean {
  return distance(tileOf(ant.coords), tileOf(enemy.coords)) <= RANGE[ant.type];
}

/** A sorted copy, least first; equals stay in their order. */
function sortedBy<T>(items: readonly T[], key: (item: T) => number): T[] {
  return [...items].sort((one, other) => key(one) - key(other));
}

run(Forager);

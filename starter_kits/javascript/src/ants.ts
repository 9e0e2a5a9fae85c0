// What a bot asks of a position of ReAntics, under the names that the original gave its agents (rules, section 11.3).
//
// The functions look at the inventories and never at `board`. Orders, and paths that come twice, are part of what is
// promised.

import {
  type Ant,
  ANTHILL,
  BOARD_LENGTH,
  BUILD,
  type Construction,
  type Coord,
  DRONE,
  END,
  FOOD,
  FOOD_GOAL,
  type GameState,
  type Inventory,
  type Move,
  MOVE_ANT,
  QUEEN,
  R_SOLDIER,
  SOLDIER,
  TUNNEL,
  WORKER,
} from "./reantics.js";
import { onMatch } from "./wire.js";

/** What an ant of a type can do. */
export interface UnitStats {
  readonly movement: number;
  readonly health: number;
  readonly attack: number;
  readonly range: number;
  /** in food; a queen cannot be built */
  readonly cost: number;
  readonly ignoresGrass: boolean;
}

const worker = { movement: 2, health: 4, attack: 0, range: 1, cost: 1, ignoresGrass: false };

/**
 * By type of ant: QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER. The kit sets a worker's health to the option `worker_health`
 * when a match begins, before the bot is made.
 */
export const UNIT_STATS: readonly UnitStats[] = [
  { movement: 2, health: 10, attack: 4, range: 1, cost: 0, ignoresGrass: false },
  worker,
  { movement: 3, health: 4, attack: 2, range: 1, cost: 2, ignoresGrass: true },
  { movement: 2, health: 8, attack: 4, range: 1, cost: 2, ignoresGrass: false },
  { movement: 1, health: 2, attack: 3, range: 3, cost: 2, ignoresGrass: true },
];

onMatch(({ options }) => {
  worker.health = typeof options.worker_health === "number" ? options.worker_health : 4;
});

/** The index of the inventory that holds grass and food. */
export const NEUTRAL = 2;

/** By column, then row. */
const TILES = Array.from({ length: BOARD_LENGTH ** 2 }, (_, i): Coord => {
  return Object.freeze([Math.floor(i / BOARD_LENGTH), i % BOARD_LENGTH] as const);
});
const NEIGHBOURS = TILES.map(([x, y]) => {
  const beside = [
    [x - 1, y],
    [x + 1, y],
    [x, y - 1],
    [x, y + 1],
  ].filter(([x, y]) => isOnBoard(x, y));
  return beside.map(([x, y]) => TILES[x * BOARD_LENGTH + y]);
});

function isOnBoard(x: number, y: number): boolean {
  return x >= 0 && x < BOARD_LENGTH && y >= 0 && y < BOARD_LENGTH;
}

/** A whole number of its own for each tile of the board, from 0 to 99: by column, then row. */
export function indexOf([x, y]: Coord): number {
  return x * BOARD_LENGTH + y;
}

/** Whether two coordinates are equal. */
export function isSame([x, y]: Coord, other: Coord): boolean {
  return x === other[0] && y === other[1];
}

// What stands where.

/** Whether that is a tile of the board. */
export function legalCoord(tile: Coord): boolean {
  return isOnBoard(...tile);
}

/** The ant on a tile. */
export function getAntAt(state: GameState, tile: Coord): Ant | undefined {
  for (const { ants } of state.inventories) for (const ant of ants) if (isSame(ant.coords, tile)) return ant;
  return undefined;
}

/** The construction on a tile. */
export function getConstrAt(state: GameState, tile: Coord): Construction | undefined {
  for (const { constrs } of state.inventories) {
    for (const constr of constrs) if (isSame(constr.coords, tile)) return constr;
  }
  return undefined;
}

/** What the player to move has. */
export function getCurrPlayerInventory(state: GameState): Inventory {
  return state.inventories[state.whoseTurn];
}

/** What the opponent of the player to move has. */
export function getEnemyInv(state: GameState): Inventory {
  return state.inventories[1 - state.whoseTurn];
}

/** The queen of the player to move. */
export function getCurrPlayerQueen(state: GameState): Ant | undefined {
  return getQueen(getCurrPlayerInventory(state));
}

/** The queen of a side. */
export function getQueen({ ants }: Inventory): Ant | undefined {
  return ants.find(({ type }) => type === QUEEN);
}

/** The anthill of a side. */
export function getAnthill({ constrs }: Inventory): Construction | undefined {
  return constrs.find(({ type }) => type === ANTHILL);
}

/** The tunnels of a side. */
export function getTunnels({ constrs }: Inventory): Construction[] {
  return constrs.filter(({ type }) => type === TUNNEL);
}

/** 1 if the player to move has won, 0 if its opponent has, else undefined (section 6). */
export function getWinner(state: GameState): 0 | 1 | undefined {
  if (hasWon(state, state.whoseTurn)) return 1;
  return hasWon(state, 1 - state.whoseTurn) ? 0 : undefined;
}

function hasWon(state: GameState, player: number): boolean {
  const [own, enemy] = [state.inventories[player], state.inventories[1 - player]];
  if (!getQueen(enemy) || (getAnthill(enemy)?.captureHealth ?? 1) <= 0) return true;
  return own.foodCount >= FOOD_GOAL || (enemy.foodCount === 0 && enemy.ants.length === 1);
}

// Distances and ways.

/** Columns plus rows between two tiles. */
export function approxDist([x, y]: Coord, other: Coord): number {
  return Math.abs(x - other[0]) + Math.abs(y - other[1]);
}

/** The tiles left, right, above and below, in this order, as far as they are on the board. */
export function listAdjacent(tile: Coord): Coord[] {
  return legalCoord(tile) ? [...NEIGHBOURS[indexOf(tile)]] : [];
}

/** The tiles at a distance of 1 to `reach`, by column and then by row. */
export function listAttackable(tile: Coord, reach = 1): Coord[] {
  const found = [];
  for (let dx = -reach; dx <= reach; ++dx) {
    const rest = reach - Math.abs(dx);
    for (let dy = -rest; dy <= rest; ++dy) {
      const [x, y] = [tile[0] + dx, tile[1] + dy];
      if ((dx !== 0 || dy !== 0) && isOnBoard(x, y)) found.push(TILES[x * BOARD_LENGTH + y]);
    }
  }
  return found;
}

/** What a walker has to know of a state, gathered once for many questions. */
class Ground {
  readonly #occupied = new Uint8Array(TILES.length);
  readonly #costs = new Uint8Array(TILES.length).fill(1);

  constructor({ inventories }: GameState) {
    for (const { ants, constrs } of inventories) {
      for (const { coords } of ants) this.#occupied[indexOf(coords)] = 1;
      for (const { coords, movementCost } of constrs) this.#costs[indexOf(coords)] = movementCost;
    }
  }

  cost(tile: Coord): number {
    return this.#costs[indexOf(tile)];
  }

  /** What is left of the movement when a tile has been entered; negative: it cannot be. */
  left(tile: Coord, movement: number, ignoresGrass: boolean): number {
    const index = indexOf(tile);
    return this.#occupied[index] ? -1 : movement - (ignoresGrass ? 1 : this.#costs[index]);
  }

  /** Adds every path that goes on from the end of `way` to `found`. */
  paths(way: readonly Coord[], movement: number, ignoresGrass: boolean, found: Coord[][]): Coord[][] {
    if (movement <= 0) return found;
    const from = found.length;
    const lefts = [];
    for (const near of NEIGHBOURS[indexOf(way[way.length - 1])]) {
      const left = this.left(near, movement, ignoresGrass);
      if (left < 0) continue;
      lefts.push(left);
      found.push([...way, near]);
    }
    for (let i = 0; i < lefts.length; ++i) this.paths(found[from + i], lefts[i], ignoresGrass, found);
    found.push([...way]);
    return found;
  }

  toward(tile: Coord, goal: Coord, movement: number, ignoresGrass: boolean): [Coord[], number] {
    const distance = approxDist(tile, goal);
    let best: [Coord[], number] = [[tile], distance];
    if (distance === 0 || movement <= 0) return best;
    for (const near of NEIGHBOURS[indexOf(tile)]) {
      const left = this.left(near, movement, ignoresGrass);
      if (left < 0) continue;
      const [path, rest] = this.toward(near, goal, left, ignoresGrass);
      if (rest >= best[1]) continue;
      best = [[tile, ...path], rest];
      if (rest === 0 || rest === distance - movement) break;
    }
    return best;
  }
}

/** The neighbours without an ant that cost at most `movement` to enter. */
export function listReachableAdjacent(state: GameState, tile: Coord, movement: number, ignoresGrass = false): Coord[] {
  const ground = new Ground(state);
  return listAdjacent(tile).filter((near) => ground.left(near, movement, ignoresGrass) >= 0);
}

/**
 * Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
 * paths come more than once, since each step may be followed by staying. A queen's may leave her home.
 */
export function listAllMovementPaths(state: GameState, tile: Coord, movement: number, ignoresGrass = false): Coord[][] {
  return new Ground(state).paths([tile], movement, ignoresGrass, []);
}

/**
 * About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile. Each tile is
 * looked at once, in the order found: the way that is found first through grass may not be the cheapest.
 */
export function stepsToReach(state: GameState, from: Coord, to: Coord): number {
  if (!legalCoord(from) || !legalCoord(to)) return -1;
  const ground = new Ground(state);
  const costs = new Map([[indexOf(from), 0]]);
  const queue = [from];
  for (const here of queue) {
    const spent = costs.get(indexOf(here))!;
    if (isSame(here, to)) return spent;
    for (const near of NEIGHBOURS[indexOf(here)]) {
      const cost = spent + ground.cost(near);
      const known = costs.get(indexOf(near));
      if (known === undefined) queue.push(near);
      if (known === undefined || cost < known) costs.set(indexOf(near), cost);
    }
  }
  return -1;
}

/**
 * The path that brings the ant on a tile nearest to another within `movement`, the first of equals. Each step is taken
 * for the distance alone, so that it may stay where a way round would help.
 */
export function createPathToward(state: GameState, from: Coord, to: Coord, movement: number): Coord[] {
  const ant = getAntAt(state, from);
  return new Ground(state).toward(from, to, movement, ant !== undefined && UNIT_STATS[ant.type].ignoresGrass)[0];
}

// Moves.

/** Whether a path keeps out of the two rows in the middle. */
export function isPathOkForQueen(path: readonly Coord[]): boolean {
  return path.every(([, y]) => y !== 4 && y !== 5);
}

/** A MOVE_ANT for every path of every ant of the player to move that has not moved yet. */
export function listAllMovementMoves(state: GameState): Move[] {
  const ground = new Ground(state);
  const moves: Move[] = [];
  for (const { coords, hasMoved, type } of getCurrPlayerInventory(state).ants) {
    if (hasMoved) continue;
    const { movement, ignoresGrass } = UNIT_STATS[type];
    for (const coordList of ground.paths([coords], movement, ignoresGrass, [])) {
      if (type !== QUEEN || isPathOkForQueen(coordList)) moves.push({ moveType: MOVE_ANT, coordList });
    }
  }
  return moves;
}

/** A BUILD for every ant that the player to move can pay, if its anthill is free. */
export function listAllBuildMoves(state: GameState): Move[] {
  const own = getCurrPlayerInventory(state);
  const hill = getAnthill(own);
  if (!hill || getAntAt(state, hill.coords)) return [];
  const moves: Move[] = [];
  for (const buildType of [WORKER, DRONE, SOLDIER, R_SOLDIER] as const) {
    if (own.foodCount < UNIT_STATS[buildType].cost) continue;
    moves.push({ moveType: BUILD, coordList: [hill.coords], buildType });
  }
  return moves;
}

/** All that the player to move may do: its ants' paths, what it can build, and END. */
export function listAllLegalMoves(state: GameState): Move[] {
  return [...listAllMovementMoves(state), ...listAllBuildMoves(state), { moveType: END }];
}

// Looking ahead.

/** A copy whose ants, constructions and inventories are its own, without `board`. */
export function clone({ phase, whoseTurn, inventories }: GameState): GameState {
  return {
    phase,
    whoseTurn,
    inventories: inventories.map(({ player, foodCount, ants, constrs }) => ({
      player,
      foodCount,
      ants: ants.map((ant) => ({ ...ant })),
      constrs: constrs.map((constr) => ({ ...constr })),
    })),
  };
}

/**
 * About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
 * attacks the first enemy that it finds. END changes nothing.
 */
export function getNextState(state: GameState, move: Move): GameState {
  const after = clone(state);
  const [own, enemy] = [getCurrPlayerInventory(after), getEnemyInv(after)];
  for (const hill of own.constrs) {
    const isTaken = hill.type === ANTHILL && enemy.ants.some(({ coords }) => isSame(coords, hill.coords));
    if (isTaken && hill.captureHealth !== undefined) --hill.captureHealth;
  }
  const path = move.coordList ?? [];
  if (path.length === 0) return after;
  if (move.moveType === BUILD) {
    const type = move.buildType ?? WORKER;
    const id = 1 + Math.max(-1, ...after.inventories.flatMap(({ ants }) => ants.map((ant) => ant.id)));
    const { health, cost } = UNIT_STATS[type];
    own.ants.push({ id, coords: path[0], type, player: after.whoseTurn, health, carrying: false, hasMoved: false });
    own.foodCount -= cost;
  } else if (move.moveType === MOVE_ANT) {
    const ant = own.ants.find(({ coords }) => isSame(coords, path[0]));
    if (ant) {
      ant.coords = path[path.length - 1];
      ant.hasMoved = false;
      carry(after, own, ant);
      attack(enemy, ant);
    }
  }
  return after;
}

function carry(state: GameState, own: Inventory, ant: Ant): void {
  const under = getConstrAt(state, ant.coords);
  if (!under) return;
  if (ant.carrying && under.player === own.player && (under.type === ANTHILL || under.type === TUNNEL)) {
    ant.carrying = false;
    ++own.foodCount;
  }
  if (!ant.carrying && ant.type === WORKER && under.type === FOOD) ant.carrying = true;
}

function attack(enemy: Inventory, ant: Ant): void {
  const { attack, range } = UNIT_STATS[ant.type];
  for (const tile of listAttackable(ant.coords, range)) {
    const target = enemy.ants.find(({ coords }) => isSame(coords, tile));
    if (!target) continue;
    target.health -= attack;
    if (target.health <= 0) enemy.ants.splice(enemy.ants.indexOf(target), 1);
    return;
  }
}

/**
 * As `getNextState`, for searches over several turns: an ant that moves has moved, and END passes the turn on. The
 * board is not turned: coordinates stay those of the player whose turn it was.
 */
export function getNextStateAdversarial(state: GameState, move: Move): GameState {
  const after = getNextState(state, move);
  const { ants } = getCurrPlayerInventory(after);
  const end = move.coordList?.at(-1);
  if (move.moveType === MOVE_ANT && end) {
    const ant = ants.find(({ coords }) => isSame(coords, end));
    if (ant) ant.hasMoved = true;
  } else if (move.moveType === END) {
    for (const ant of ants) ant.hasMoved = false;
    after.whoseTurn = 1 - after.whoseTurn;
  }
  return after;
}

// The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0).

import {
  type Action,
  ATTACK_RANGE,
  type EntityType,
  type GameState,
  type Player,
  RADIUS,
  SIZE,
  type Tile,
} from "./aibg5.js";

/** A cell, or the way from one to another. */
export interface Cell {
  readonly q: number;
  readonly r: number;
}

export const CENTRE: Cell = { q: 0, r: 0 };

/** East, south-east, south-west, west, north-west, north-east. */
export const DIRECTIONS: readonly Cell[] = [
  { q: 1, r: 0 },
  { q: 0, r: 1 },
  { q: -1, r: 1 },
  { q: -1, r: 0 },
  { q: 0, r: -1 },
  { q: 1, r: -1 },
];

export function plus(cell: Cell, way: Cell): Cell {
  return { q: cell.q + way.q, r: cell.r + way.r };
}

export function isSame(one: Cell, other: Cell): boolean {
  return one.q === other.q && one.r === other.r;
}

/** A whole number of its own for each cell of the board, from 0 on and below SIZE². */
export function indexOf(cell: Cell): number {
  return (cell.r + RADIUS) * SIZE + cell.q + RADIUS;
}

/** Steps from one cell to the other; from CENTRE, the cell's ring. */
export function distance(one: Cell, other: Cell): number {
  const [dq, dr] = [other.q - one.q, other.r - one.r];
  return Math.max(Math.abs(dq), Math.abs(dr), Math.abs(dq + dr));
}

export function isOnBoard(cell: Cell): boolean {
  return distance(CENTRE, cell) <= RADIUS;
}

/** The cells of the board at most so far from this one, row by row. */
export function within(middle: Cell, steps: number): Cell[] {
  const cells: Cell[] = [];
  for (let r = middle.r - steps; r <= middle.r + steps; r++) {
    for (let q = middle.q - steps; q <= middle.q + steps; q++) {
      if (isOnBoard({ q, r }) && distance(middle, { q, r }) <= steps) cells.push({ q, r });
    }
  }
  return cells;
}

/** All cells, row by row. */
export const CELLS: readonly Cell[] = within(CENTRE, RADIUS);

/** The neighbouring cells on the board, in the order of DIRECTIONS. */
export function neighbours(cell: Cell): Cell[] {
  return DIRECTIONS.map((way) => plus(cell, way)).filter(isOnBoard);
}

/** The cells of a ring around the centre, clockwise from (0, -radius). */
export function ring(radius: number): Cell[] {
  if (radius === 0) return [CENTRE];
  const cells: Cell[] = [];
  let cell: Cell = { q: 0, r: -radius };
  for (const way of DIRECTIONS) {
    for (let step = 0; step < radius; step++) {
      cells.push(cell);
      cell = plus(cell, way);
    }
  }
  return cells;
}

/** The cells strictly between, nearest first. */
export function lineOfFire(shooter: Cell, target: Cell): Cell[] {
  const steps = distance(shooter, target);
  const line: Cell[] = [];
  for (let i = 1; i < steps; i++) {
    line.push(plus(shooter, rounded((target.q - shooter.q) * i, (target.r - shooter.r) * i, steps)));
  }
  return line;
}

/** The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected. */
function rounded(q: number, r: number, steps: number): Cell {
  const exact = [q, r, -q - r];
  const near = exact.map((part) => Math.floor((2 * part + steps) / (2 * steps)));
  const errors = near.map((whole, index) => Math.abs(whole * steps - exact[index]));
  if (errors[0] > errors[1] && errors[0] > errors[2]) return { q: -near[1] - near[2], r: near[1] };
  return { q: near[0], r: errors[1] > errors[2] ? -near[0] - near[2] : near[1] };
}

export function move(cell: Cell): Action {
  return { action: `move,${cell.q},${cell.r}` };
}

export function attack(cell: Cell): Action {
  return { action: `attack,${cell.q},${cell.r}` };
}

/** What a call shows. */
export class Board {
  /** Without the disqualified. */
  readonly players: readonly Player[];
  private readonly rows: readonly (readonly Tile[])[];

  constructor(state: GameState) {
    const { player1, player2, player3, player4 } = state;
    this.players = [player1, player2, player3, player4].filter((player) => player !== undefined);
    this.rows = state.map.tiles;
  }

  /** `cell` is on the board. */
  tile(cell: Cell): Tile {
    return this.rows[cell.r + RADIUS][cell.q - Math.max(-RADIUS, -RADIUS - cell.r)];
  }

  /** The type of the tile's entity. */
  type(cell: Cell): EntityType {
    return this.tile(cell).entity.type;
  }

  playerOn(cell: Cell): Player | undefined {
    return this.players.find((player) => isSame(player, cell));
  }

  /** Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board. */
  mayEnter(cell: Cell): boolean {
    if (!isOnBoard(cell)) return false;
    return this.tile(cell).tileType === "NORMAL" && this.type(cell) !== "WORMHOLE" && !this.playerOn(cell);
  }

  /** A player, an asteroid or the boss is there; false off the board, too. */
  isTarget(cell: Cell): boolean {
    if (!isOnBoard(cell)) return false;
    return this.playerOn(cell) !== undefined || this.type(cell) === "ASTEROID" || this.type(cell) === "BOSS";
  }

  /** The cell that an attack on `target` really hits; undefined if the attack is not legal. */
  hit(shooter: Cell, target: Cell): Cell | undefined {
    const steps = distance(shooter, target);
    const isInRange = isOnBoard(shooter) && 0 < steps && steps <= ATTACK_RANGE;
    if (!isInRange || !this.isTarget(target)) return undefined;
    for (const cell of lineOfFire(shooter, target)) {
      if (this.isTarget(cell)) return cell;
      if (this.type(cell) === "BLACKHOLE" || this.type(cell) === "WORMHOLE") return undefined;
    }
    return target;
  }

  /** The cells that may be attacked, row by row. */
  targets(shooter: Cell): Cell[] {
    return within(shooter, ATTACK_RANGE).filter((cell) => this.hit(shooter, cell) !== undefined);
  }
}

// A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.
//
// A table is a list of rows: `table[row][col]`, as `items` and `heatmap` are.

import { BIKE_STEPS, BLOCK_CHAR, type Location, type Map as GameMap, type Player } from "./aiarena21.js";

/** The distance of a cell to which no path leads. */
export const FAR = 1_000_000;

/** Made from the `game_map` of any call: it is the same throughout a match. */
export class Grid {
  readonly rows: number;
  readonly cols: number;
  /** All free cells, row by row. */
  readonly free: readonly Location[];
  readonly #isFree: boolean[][];
  readonly #neighbours: (readonly Location[])[][];

  constructor({ rows, cols, cells }: GameMap) {
    this.rows = rows;
    this.cols = cols;
    this.#isFree = cells.map((line) => Array.from(line, (sign) => sign !== BLOCK_CHAR));
    const all = this.#isFree.map((line, row) => line.map((_, col): Location => Object.freeze([row, col] as const)));
    this.free = all.flat().filter((cell) => this.isFree(cell));
    this.#neighbours = all.map((line) => line.map((cell) => this.#beside(cell)));
  }

  /** False off the map, too. */
  isFree([row, col]: Location): boolean {
    return this.#isFree[row]?.[col] ?? false;
  }

  /** The free cells above, to the left, to the right and below. */
  neighbours(cell: Location): readonly Location[] {
    return this.#neighbours[cell[0]]?.[cell[1]] ?? this.#beside(cell);
  }

  /** A table: how many steps each cell is from the nearest of `starts`, or FAR. A start that is not free counts for
   * nothing. */
  distances(starts: readonly Location[]): number[][] {
    const table = Array.from({ length: this.rows }, () => Array<number>(this.cols).fill(FAR));
    const queue = starts.filter((start) => this.isFree(start));
    for (const [row, col] of queue) table[row][col] = 0;
    for (const cell of queue) {
      const [fromRow, fromCol] = cell;
      for (const beside of this.neighbours(cell)) {
        const [row, col] = beside;
        if (table[row][col] !== FAR) continue;
        table[row][col] = table[fromRow][fromCol] + 1;
        queue.push(beside);
      }
    }
    return table;
  }

  /** A shortest path, both ends included; empty if there is none. */
  path(start: Location, target: Location): Location[] {
    const table = this.distances([start]);
    const steps = ([row, col]: Location) => table[row][col];
    if (!this.isFree(target) || steps(target) === FAR) return [];
    const path = [target];
    while (steps(path[0]) > 0) {
      path.unshift(this.neighbours(path[0]).find((cell) => steps(cell) < steps(path[0]))!);
    }
    return path;
  }

  /** Where `play_turn` may go, row by row; to stay is allowed. */
  reach(player: Player): readonly Location[] {
    if (player.portal_gun) return this.free;
    const steps = this.distances([player.location]);
    return this.free.filter(([row, col]) => steps[row][col] <= speed(player));
  }

  #beside([row, col]: Location): Location[] {
    const around: Location[] = [
      [row - 1, col],
      [row, col - 1],
      [row, col + 1],
      [row + 1, col],
    ];
    return around.filter((cell) => this.isFree(cell));
  }
}

/** How many steps it may take in a turn. */
export function speed(player: Player): number {
  return player.bike ? BIKE_STEPS : 1;
}

/** The cell as an answer, "row,col": also a key for a Set or a Map of cells. */
export function name([row, col]: Location): string {
  return `${row},${col}`;
}

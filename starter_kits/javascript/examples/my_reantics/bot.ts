// A bot to fill in. It plays random legal moves as it stands: it places its pieces anywhere, and any ant takes any step
// until the turn ends; make it win. `this.match.random` is seeded: the same match gives the same luck.

import {
  type Ant,
  type Coord,
  END,
  type GameState,
  type Move,
  MOVE_ANT,
  QUEEN,
  ReAnticsBot,
  run,
  SETUP_PHASE_1,
} from "referee-kit/reantics";

class MyBot extends ReAnticsBot {
  /** The anthill, the tunnel and nine grass on our side; later two foods on the enemy's. */
  getPlacement(currentState: GameState): Coord[] {
    const [top, count] = currentState.phase === SETUP_PHASE_1 ? [0, 11] : [6, 2];
    const constrs = currentState.inventories.flatMap((inventory) => inventory.constrs);
    const taken = new Set(constrs.map((constr) => String(constr.coords))); // "x,y"
    const side = Array.from({ length: 40 }, (_, i): Coord => [i % 10, top + Math.floor(i / 10)]);
    const free = side.filter((tile) => !taken.has(String(tile)));
    return Array.from({ length: count }, () => free.splice(this.below(free.length), 1)[0]);
  }

  getMove(currentState: GameState): Move {
    const me = currentState.inventories[currentState.whoseTurn];
    console.log(`I have ${me.foodCount} food`); // goes to standard error: print as you like
    // A path may be longer:     { moveType: MOVE_ANT, coordList: [coords, tile, next] }
    // The anthill builds:       { moveType: BUILD, coordList: [[2, 1]], buildType: WORKER }
    const taken = new Set(currentState.inventories.flatMap(({ ants }) => ants.map((ant) => String(ant.coords))));
    const moves: Move[] = [{ moveType: END }];
    for (const { coords, type, hasMoved } of me.ants) {
      const last = type === QUEEN ? 3 : 9; // she stays on our side
      for (const [right, down] of [
        [-1, 0],
        [1, 0],
        [0, -1],
        [0, 1],
      ]) {
        const [x, y] = [coords[0] + right, coords[1] + down];
        const isOnBoard = x >= 0 && x <= 9 && y >= 0 && y <= last;
        if (!hasMoved && isOnBoard && !taken.has(`${x},${y}`)) {
          moves.push({ moveType: MOVE_ANT, coordList: [coords, [x, y]] });
        }
      }
    }
    return moves[this.below(moves.length)];
  }

  getAttack(_currentState: GameState, _attackingAnt: Ant, enemyLocations: Coord[]): Coord {
    return enemyLocations[this.below(enemyLocations.length)];
  }

  override registerWin(hasWon: boolean): void {
    console.log(hasWon ? "won" : "did not win");
  }

  /** A random whole number from 0 up to `count` - 1. */
  private below(count: number): number {
    return Math.floor(this.match.random() * count);
  }
}

run(MyBot);

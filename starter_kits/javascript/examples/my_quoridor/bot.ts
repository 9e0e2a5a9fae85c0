// A bot to fill in. It plays random legal moves of its pawn as it stands, puts no wall and does not see when to flip
// the table; make it win. `this.match.random` is seeded: the same match gives the same luck.

import { type Action, type ArenaEvent, QuoridorBot, run } from "referee-kit/quoridor";

const SIDES = ["first", "second"];
// a1 = 0, b1 = 1, a2 = 9
const SQUARES = Array.from("123456789", (row) => Array.from("abcdefghi", (column) => column + row)).flat();
const [UP, RIGHT, DOWN, LEFT] = [9, 1, -9, -1]; // what a step adds to a square
const NOWHERE = -1;

class MyBot extends QuoridorBot {
  private me = 0; // first is 0, second is 1
  private readonly pawns = [SQUARES.indexOf("e1"), SQUARES.indexOf("e9")];
  private readonly up = SQUARES.map((_, square) => square < 72); // whether the step up, or right, is open
  private readonly right = SQUARES.map((_, square) => square % 9 < 8);

  /** Every answer comes here, your own too. A rival may send anything: look before you trust `position`. */
  override event(event: ArenaEvent): void {
    const position = typeof event.position === "string" ? event.position : "";
    const square = SQUARES.indexOf(position.slice(0, 2));
    if (event.player === undefined) {
      if (event.youAre !== undefined) this.me = SIDES.indexOf(event.youAre);
    } else if (event.action === "move" && square !== NOWHERE) {
      this.pawns[SIDES.indexOf(event.player)] = square;
    } else if (event.action === "putWall" && square !== NOWHERE && square < 72) {
      if (position.slice(2) === "h") this.up[square] = this.up[square + 1] = false;
      else this.right[square] = this.right[square + 9] = false;
    }
  }

  play(_id: string): Action {
    // A wall: { action: "putWall", position: "e3h" }. After an invalid answer of the rival: { action: FLIP }
    const targets = this.targets();
    return { action: "move", position: SQUARES[targets[Math.floor(this.match.random() * targets.length)]] };
  }

  /** The squares that your pawn may move to: one step on, or past the rival's pawn. */
  private targets(): number[] {
    const [own, rival] = [this.pawns[this.me], this.pawns[1 - this.me]];
    const found: number[] = [];
    for (const step of [UP, RIGHT, DOWN, LEFT]) {
      let target = this.beside(own, step);
      if (target === rival) {
        target = this.beside(rival, step); // the jump
        if (target === NOWHERE) {
          // to the sides then
          const aside = step === UP || step === DOWN ? RIGHT : UP;
          found.push(this.beside(rival, aside), this.beside(rival, -aside));
        }
      }
      found.push(target);
    }
    return found.filter((target) => target !== NOWHERE);
  }

  /** The square one step on; NOWHERE behind a wall or the edge. */
  private beside(square: number, step: number): number {
    const steps = step === UP || step === DOWN ? this.up : this.right;
    return steps[Math.min(square, square + step)] ? square + step : NOWHERE;
  }
}

run(MyBot);

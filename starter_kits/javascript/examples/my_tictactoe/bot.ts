// A bot to fill in. It plays random legal moves as it stands, and does not see when it should flip the table; make it
// win. `this.match.random` is seeded: the same match gives the same luck.

import { type Action, type ArenaEvent, CELLS, run, TicTacToeBot } from "referee-kit/tictactoe";

class MyBot extends TicTacToeBot {
  private readonly taken = new Set<unknown>();

  /** Every move comes here, your own too. A rival may send anything: look before you trust `position`. */
  override event(event: ArenaEvent): void {
    if (event.player !== undefined && event.action === "putSymbol") this.taken.add(event.position);
  }

  play(_id: string): Action {
    // After an invalid move of the rival, flip the table and win: { action: FLIP }
    const empty = CELLS.filter((cell) => !this.taken.has(cell));
    return { action: "putSymbol", position: empty[Math.floor(this.match.random() * empty.length)] };
  }
}

run(MyBot);

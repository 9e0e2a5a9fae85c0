// A bot to fill in. It plays random legal moves as it stands, and does not see when it should flip the table; make it
// win. `this.match.random` is seeded: the same match gives the same luck.

import { type Action, type ArenaEvent, COLUMNS, ConnectFourBot, ROWS, run } from "referee-kit/connectfour";

class MyBot extends ConnectFourBot {
  private readonly filled = new Map<unknown, number>();

  /** Every move comes here, your own too. A rival may send anything: look before you trust `column`. */
  override event(event: ArenaEvent): void {
    if (event.player === undefined || event.action !== "putToken") return;
    this.filled.set(event.column, (this.filled.get(event.column) ?? 0) + 1);
  }

  play(_id: string): Action {
    // After an invalid move of the rival, flip the table and win: { action: FLIP }
    const open = COLUMNS.filter((column) => (this.filled.get(column) ?? 0) < ROWS);
    return { action: "putToken", column: open[Math.floor(this.match.random() * open.length)] };
  }
}

run(MyBot);

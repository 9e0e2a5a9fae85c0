// A bot to fill in. It plays random legal moves as it stands; make it win. `this.match.random` is seeded: the same match
// gives the same luck.

import { type Action, AIBG5Bot, type GameState, run } from "referee-kit/aibg5";
import { attack, Board, move, neighbours } from "referee-kit/hexgrid";

class MyBot extends AIBG5Bot {
  doAction(playerIdx: number, gameState: GameState, _message: string | undefined): Action {
    const board = new Board(gameState);
    const here = board.players.find((player) => player.playerIdx === playerIdx)!;
    const actions = [
      ...neighbours(here)
        .filter((cell) => board.mayEnter(cell))
        .map(move),
      ...board.targets(here).map(attack),
    ];
    if (actions.length === 0) return move(here); // nothing is legal: it costs a tenth of the health
    return actions[Math.floor(this.match.random() * actions.length)];
  }
}

run(MyBot);

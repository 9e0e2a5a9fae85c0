// A bot that takes if it can, and else moves its first pawn that is free to move.

import { Bot, run } from "referee-kit";

class First extends Bot {
  static game = "@game@";

  answer(method, params) {
    if (method !== "play") return super.answer(method, params);
    const { board, sign } = params;
    let forward = null;
    for (let row = 0; row < board.length; ++row) {
      const ahead = sign === "o" ? row - 1 : row + 1;
      for (let column = 0; column < board[row].length; ++column) {
        if (board[row][column] !== sign) continue;
        const move = (to) => ({ pawn: square(column, row), to: square(to, ahead) });
        for (const to of [column - 1, column + 1]) {
          const there = board[ahead]?.[to];
          if (there !== undefined && there !== sign && there !== ".") return move(to);
        }
        if (board[ahead]?.[column] === ".") forward ??= move(column);
      }
    }
    return forward;
  }
}

function square(column, row) {
  return `${"abcdefg"[column]}${3 - row}`;
}

run(First);

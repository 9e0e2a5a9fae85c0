import { type Answers, Fault, type Members, Rules, Turn } from "referee-kit/rules";

/** The whole position: schemas/position.json. */
export interface Position {
  /** The rows from the top. */
  board: string[];
  turn: number;
}

/** A move: schemas/move.json. */
export interface Move {
  pawn: string;
  to: string;
}

const SIGNS = "ox";
const ROWS = 3;

/** The rules. They keep nothing between two requests. */
export class Hexapawn extends Rules<Position, Move> {
  readonly game = "@game@";

  start(options: Members): Turn<Position> {
    const width = Number(options.width);
    return asking({ board: ["x", ".", "o"].map((sign) => sign.repeat(width)), turn: 0 });
  }

  step(position: Position, answers: Answers<Move>): Turn<Position> {
    const seat = position.turn;
    const move = answers[seat];
    if (move instanceof Fault) return lost(position, seat, move.kind).punish(seat);
    const { pawn, to } = move;
    if (!moves(position).some((each) => each.pawn === pawn && each.to === to)) {
      return lost(position, seat, "illegal").refuse(seat, `${pawn} to ${to} is no move now`);
    }
    const board = withSign(withSign(position.board, pawn, "."), to, SIGNS[seat]);
    return asking({ board, turn: 1 - seat }).notice("moved", { seat, pawn, to });
  }

  override legal(position: Position, _seat: number, most: number): Move[] {
    return moves(position).slice(0, most);
  }
}

/** The turn of a position: the next call, or the result. */
function asking(position: Position): Turn<Position> {
  const { board, turn: seat } = position;
  const turn = new Turn(position, board.join("\n"));
  if (board[seat === 0 ? ROWS - 1 : 0].includes(SIGNS[1 - seat])) return turn.end(won(1 - seat, "far_row"));
  if (moves(position).length === 0) return turn.end(won(1 - seat, "no_move"));
  return turn.ask(seat, "play", { board, sign: SIGNS[seat] });
}

/** The turn in which a seat loses by a fault. */
function lost(position: Position, seat: number, reason: string): Turn<Position> {
  return new Turn(position, position.board.join("\n")).end(won(1 - seat, reason));
}

function won(winner: number, reason: string) {
  return winner === 0 ? { ranks: [1, 2], scores: [1, 0], reason } : { ranks: [2, 1], scores: [0, 1], reason };
}

/** The moves of the player to move, pawn by pawn from the top left. */
function moves({ board, turn }: Position): Move[] {
  const [own, rival] = [SIGNS[turn], SIGNS[1 - turn]];
  const found: Move[] = [];
  for (let row = 0; row < ROWS; ++row) {
    const ahead = turn === 0 ? row - 1 : row + 1;
    for (let column = 0; column < board[row].length; ++column) {
      if (board[row][column] !== own) continue;
      for (const to of [column - 1, column, column + 1]) {
        const needed = to === column ? "." : rival;
        if (board[ahead]?.[to] === needed) found.push({ pawn: square(column, row), to: square(to, ahead) });
      }
    }
  }
  return found;
}

/** The name of a square. Row 0 is the top one. */
function square(column: number, row: number): string {
  return `${"abcdefg"[column]}${ROWS - row}`;
}

/** The board with another sign on a square. */
function withSign(board: string[], name: string, sign: string): string[] {
  const [column, at] = ["abcdefg".indexOf(name[0]), ROWS - Number(name[1])];
  return board.map((row, i) => (i === at ? row.slice(0, column) + sign + row.slice(column + 1) : row));
}

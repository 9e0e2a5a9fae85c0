// Looks six plies ahead, and flips the table when, and only when, the rival's move was invalid or out of turn.

import { type Action, type ArenaEvent, COLUMNS, ConnectFourBot, FLIP, RED, ROWS, run, YELLOW } from "referee-kit/connectfour";

const DEPTH = 6;
const ORDER = [3, 2, 4, 1, 5, 0, 6]; // the columns from the middle outwards
const STEPS = [[0, 1], [1, -1], [1, 0], [1, 1]]; // the four directions: columns, rows

/** Column by column, each from its lowest cell on: what lies there. */
class Board {
    readonly columns: string[][] = COLUMNS.map(() => []);

    hasRoom(column: number): boolean {
        return this.columns[column]!.length < ROWS;
    }

    drop(column: number, token: string): void {
        this.columns[column]!.push(token);
    }

    takeBack(column: number): void {
        this.columns[column]!.pop();
    }

    /** Whether the uppermost token of a column is in a line of four. */
    hasFour(column: number): boolean {
        const row = this.columns[column]!.length - 1;
        const token = this.columns[column]![row];
        return STEPS.some(([over, up]) => {
            let count = 1;
            for (const sign of [1, -1]) {
                const [x, y] = [over! * sign, up! * sign];
                for (let far = 1; far < 4 && this.columns[column + far * x]?.[row + far * y] === token; ++far) ++count;
            }
            return count >= 4;
        });
    }
}

class Dropper extends ConnectFourBot {
    private me = "";
    private readonly board = new Board();
    private toMove = RED as string;
    private rivalWasInvalid = false;

    override event(event: ArenaEvent): void {
        if (event.player === undefined) {
            this.me = event.youAre ?? this.me;
            return;
        }
        const column = typeof event.column === "string" ? COLUMNS.indexOf(event.column) : -1;
        const isMove = event.action === "putToken" && column >= 0 && this.board.hasRoom(column);
        if (isMove && event.player === this.toMove) {
            this.board.drop(column, event.player);
            this.toMove = other(this.toMove);
        } else if (event.player !== this.me) {
            this.rivalWasInvalid = true; // a flip too: had it been right, nobody would ask us again
        }
    }

    play(_id: string): Action {
        if (this.rivalWasInvalid) return { action: FLIP };
        return { action: "putToken", column: COLUMNS[best(this.board, this.me, DEPTH, -DEPTH, DEPTH).column] };
    }
}

interface Outcome {
    /** above 0 it wins, the sooner the higher; below 0 it loses */
    value: number;
    column: number;
}

/** The mover's best move within `depth` plies, the first of several. Only values from `low` to `high` matter. */
function best(board: Board, mover: string, depth: number, low: number, high: number): Outcome {
    let found = { value: -Infinity, column: -1 };
    for (const column of depth > 0 ? ORDER : []) {
        if (!board.hasRoom(column)) continue;
        board.drop(column, mover);
        const floor = Math.max(low, found.value);
        const value = board.hasFour(column) ? depth : -best(board, other(mover), depth - 1, -high, -floor).value;
        board.takeBack(column);
        if (value > found.value) found = { value, column };
        if (value >= high) break;
    }
    return found.column < 0 ? { value: 0, column: 0 } : found; // a full board, or the end of what it looks at
}

function other(token: string): string {
    return token === RED ? YELLOW : RED;
}

run(Dropper);

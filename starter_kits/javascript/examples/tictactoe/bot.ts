// Plays tic-tac-toe perfectly, and flips the table when, and only when, the rival's move was invalid or out of turn.

import { type Action, type ArenaEvent, CELLS, FLIP, run, TicTacToeBot } from "referee-kit/tictactoe";

const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

class Perfect extends TicTacToeBot {
    private me = "";
    private board = ".".repeat(9);
    private toMove = "O";
    private rivalWasInvalid = false;

    override event(event: ArenaEvent): void {
        if (event.player === undefined) {
            this.me = event.youAre ?? this.me;
            return;
        }
        const cell = typeof event.position === "string" ? CELLS.indexOf(event.position) : -1;
        if (event.action === "putSymbol" && this.board[cell] === "." && event.player === this.toMove) {
            this.board = put(this.board, cell, event.player);
            this.toMove = other(this.toMove);
        } else if (event.player !== this.me) {
            this.rivalWasInvalid = true; // a flip too: had it been right, nobody would ask us again
        }
    }

    play(_id: string): Action {
        if (this.rivalWasInvalid) return { action: FLIP };
        return { action: "putSymbol", position: CELLS[best(this.board, this.me).cell] };
    }
}

interface Outcome {
    /** 1 wins, 0 draws, -1 loses */
    value: number;
    cell: number;
}

const known = new Map<string, Outcome>();

/** The mover's best move, the first of several. */
function best(board: string, mover: string): Outcome {
    const key = board + mover;
    let found = known.get(key);
    if (found === undefined) {
        found = { value: -2, cell: -1 };
        for (let cell = 0; cell < 9; ++cell) {
            if (board[cell] !== ".") continue;
            const reached = value(put(board, cell, mover), mover);
            if (reached > found.value) found = { value: reached, cell };
        }
        known.set(key, found);
    }
    return found;
}

/** The position after `mover` moved, for the mover. */
function value(board: string, mover: string): number {
    if (LINES.some((line) => line.every((cell) => board[cell] === mover))) return 1;
    return board.includes(".") ? -best(board, other(mover)).value : 0;
}

function put(board: string, cell: number, symbol: string): string {
    return board.slice(0, cell) + symbol + board.slice(cell + 1);
}

function other(symbol: string): string {
    return symbol === "O" ? "X" : "O";
}

run(Perfect);

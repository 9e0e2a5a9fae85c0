//! A perfect player: keeps its own board from the events, looks ahead to the end of the game, and flips the table when,
//! and only when, the rival's move was invalid or out of turn.

use referee_kit::tictactoe::*;
use referee_kit::Match;

const LINES: [[usize; 3]; 8] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

/// Nine cells in the order of `Cell::ALL`: 0 empty, +1 mine, -1 the rival's.
type Board = [i32; 9];

fn has_line(board: &Board, side: i32) -> bool {
    LINES.iter().any(|line| line.iter().all(|&cell| board[cell] == side))
}

/// How the game ends for `side`, who is to move, when both play well, and the cell that leads there: above 0 a win, the
/// sooner the higher; below 0 a loss.
fn solve(board: &mut Board, side: i32) -> (i32, usize) {
    let empty: Vec<usize> = (0..9).filter(|&cell| board[cell] == 0).collect();
    if has_line(board, -side) {
        return (-1 - empty.len() as i32, 0);
    }
    let mut best = (if empty.is_empty() { 0 } else { -100 }, 0);
    for cell in empty {
        board[cell] = side;
        let value = -solve(board, -side).0;
        board[cell] = 0;
        if value > best.0 {
            best = (value, cell);
        }
    }
    best
}

struct Perfect {
    me: Option<Symbol>,
    to_move: Symbol,
    board: Board,
    rival_was_invalid: bool,
}

impl TicTacToeBot for Perfect {
    fn new(_info: Match) -> Self {
        Perfect { me: None, to_move: Symbol::O, board: [0; 9], rival_was_invalid: false }
    }

    fn play(&mut self, _id: String) -> Action {
        if self.rival_was_invalid {
            return Action::new(ActionType::Flip);
        }
        let (_, cell) = solve(&mut self.board, 1);
        Action { position: Some(Cell::ALL[cell]), ..Action::new(ActionType::PutSymbol) }
    }

    /// `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may
    /// well be called `winner`.
    fn event(&mut self, event: ArenaEvent) {
        let player = match event.player {
            Some(player) => player,
            None => {
                self.me = self.me.or(event.you_are);
                return;
            }
        };
        let side = if Some(player) == self.me { 1 } else { -1 };
        let filled = self.empty_cell(ActionType::of(&event.action), Cell::of(&event.position));
        let cell = filled.filter(|_| player == self.to_move);
        if let Some(cell) = cell {
            self.board[cell] = side;
            self.to_move = if self.to_move == Symbol::O { Symbol::X } else { Symbol::O };
        }
        if side == -1 {
            self.rival_was_invalid = cell.is_none();
        }
    }
}

impl Perfect {
    /// The cell that a legal move fills; none for every other answer.
    fn empty_cell(&self, action: Option<ActionType>, position: Option<Cell>) -> Option<usize> {
        let cell = position? as usize;
        (action == Some(ActionType::PutSymbol) && self.board[cell] == 0).then_some(cell)
    }
}

fn main() {
    run::<Perfect>("Perfect (Rust)");
}

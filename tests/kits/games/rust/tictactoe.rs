//! Tic-tac-toe (tictactoe.md), as games/tictactoe.py has it.

mod arena;
mod json;
mod rules;

use arena::{as_printed, is, Battle, Game, Position, UNKNOWN_ACTION};
use json::{object, Json};
use rules::{draw, win, Outcome};

const CELLS: [&str; 9] = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"];
const LINES: [[usize; 3]; 8] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

struct TicTacToe;

fn cell(answer: &Json) -> Option<usize> {
    CELLS.iter().position(|name| is(answer, "position", name))
}

impl Game for TicTacToe {
    const NAME: &'static str = "tictactoe";
    const SIDES: [&'static str; 2] = ["O", "X"];
    const WINS: [&'static str; 2] = ["O_WIN", "X_WIN"];
    const SIGNS: [char; 2] = ['O', 'X'];

    fn begin(&self, _options: &Json) -> Result<Position, String> {
        Ok(Position::new(3, 3, 3))
    }

    fn malformed(&self, _position: &Position, answer: &Json) -> Option<String> {
        if !is(answer, "action", "putSymbol") {
            return Some(UNKNOWN_ACTION.to_owned());
        }
        let bad = cell(answer).is_none();
        bad.then(|| format!("{} is not a valid position", as_printed(answer, "position")))
    }

    fn forbidden(&self, position: &Position, answer: &Json) -> Option<String> {
        let cell = cell(answer)?;
        (position.board[cell] != '.').then(|| format!("location {},{} is not empty", cell % 3, cell / 3))
    }

    fn play(&self, position: &mut Position, player: i64, answer: &Json) -> Option<Outcome> {
        let own = Self::SIGNS[player as usize];
        position.board[cell(answer)?] = own;
        if LINES.iter().any(|line| line.iter().all(|&cell| position.board[cell] == own)) {
            return Some(win(player, Self::WINS[player as usize]));
        }
        (!position.board.contains(&'.')).then(|| draw("DRAW"))
    }

    fn moves(&self, position: &Position) -> Vec<Json> {
        let free = CELLS.iter().zip(&position.board).filter(|(_, &sign)| sign == '.');
        free.map(|(&name, _)| object([("action", "putSymbol".into()), ("position", name.into())])).collect()
    }

    fn drawn(&self, position: &Position) -> String {
        position.lines()
    }
}

fn main() {
    rules::run(Battle(TicTacToe));
}

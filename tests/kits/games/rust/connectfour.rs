//! Connect Four (connectfour.md), as games/connectfour.py has it.

mod arena;
mod json;
mod rules;

use arena::{as_printed, is, Battle, Game, Position, UNKNOWN_ACTION};
use json::{object, Json};
use rules::{draw, win, Outcome};

const NAMES: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];

struct ConnectFour;

fn column(position: &Position, answer: &Json) -> Option<usize> {
    NAMES[..position.columns].iter().position(|name| is(answer, "column", name))
}

/// How many tokens of the same side follow one in a direction.
fn run(position: &Position, x: usize, y: usize, dx: i64, dy: i64) -> usize {
    let at = |i: i64, j: i64| {
        let inside = (0..position.columns as i64).contains(&i) && (0..position.rows as i64).contains(&j);
        inside.then(|| position.board[j as usize * position.columns + i as usize])
    };
    let own = at(x as i64, y as i64);
    (1..).take_while(|&n| at(x as i64 + n * dx, y as i64 + n * dy) == own).count()
}

impl Game for ConnectFour {
    const NAME: &'static str = "connectfour";
    const SIDES: [&'static str; 2] = ["🔴", "🟡"];
    const WINS: [&'static str; 2] = ["RED_WIN", "YELLOW_WIN"];
    const SIGNS: [char; 2] = ['R', 'Y'];

    fn begin(&self, options: &Json) -> Result<Position, String> {
        let [columns, rows, inarow] = ["columns", "rows", "inarow"].map(|name| options.number(name) as usize);
        if inarow > columns.max(rows) {
            let size = format!("{columns} columns and {rows} rows");
            return Err(format!("inarow={inarow} does not fit on {size}: nobody could win"));
        }
        Ok(Position::new(columns, rows, inarow))
    }

    fn malformed(&self, position: &Position, answer: &Json) -> Option<String> {
        if !is(answer, "action", "putToken") {
            return Some(UNKNOWN_ACTION.to_owned());
        }
        let bad = column(position, answer).is_none();
        bad.then(|| format!("{} is not a valid column", as_printed(answer, "column")))
    }

    fn forbidden(&self, position: &Position, answer: &Json) -> Option<String> {
        let column = column(position, answer)?;
        (position.board[column] != '.').then(|| format!("Column {} is full", NAMES[column]))
    }

    fn play(&self, position: &mut Position, player: i64, answer: &Json) -> Option<Outcome> {
        let x = column(position, answer)?;
        let y = (0..position.rows).rev().find(|row| position.board[row * position.columns + x] == '.')?;
        position.board[y * position.columns + x] = Self::SIGNS[player as usize];
        for (dx, dy) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            if 1 + run(position, x, y, dx, dy) + run(position, x, y, -dx, -dy) >= position.inarow {
                let line = format!("LINE: {}", position.inarow);
                let reason = if position.inarow == 4 { Self::WINS[player as usize] } else { &line };
                return Some(win(player, reason));
            }
        }
        (!position.board.contains(&'.')).then(|| draw("DRAW"))
    }

    fn moves(&self, position: &Position) -> Vec<Json> {
        let free = NAMES[..position.columns].iter().zip(&position.board).filter(|(_, &sign)| sign == '.');
        free.map(|(&name, _)| object([("action", "putToken".into()), ("column", name.into())])).collect()
    }

    fn drawn(&self, position: &Position) -> String {
        format!("{}\n{}", position.lines(), NAMES[..position.columns].concat())
    }
}

fn main() {
    rules::run(Battle(ConnectFour));
}

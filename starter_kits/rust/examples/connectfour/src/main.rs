//! Looks six plies ahead on a board that it keeps from the events, and flips the table when, and only when, the rival's
//! move was invalid or out of turn.

use referee_kit::connectfour::*;
use referee_kit::{Match, Value};

const DEPTH: i32 = 6;
const ORDER: [usize; 7] = [3, 2, 4, 1, 5, 0, 6]; // the columns from the middle outwards
const STRIDE: usize = ROWS as usize + 1;

/// Seven bits a column from its lowest cell on, the seventh always 0. So two cells that are neighbours in a direction
/// are the same number of bits apart everywhere, and no line runs over the edge.
type Cells = u64;

/// The lowest free cell of a column; none if it is full.
fn landing(taken: Cells, column: usize) -> Cells {
    let lowest = 1 << (STRIDE * column);
    (taken + lowest) & ((lowest << ROWS) - lowest)
}

fn has_four(tokens: Cells) -> bool {
    [1, STRIDE - 1, STRIDE, STRIDE + 1].iter().any(|&step| {
        let pairs = tokens & tokens >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

/// What the owner of `own`, who is to move, can reach within `depth` plies, and the column that leads there: above 0 a
/// win, the sooner the higher; below 0 a loss. Only what lies between `low` and `high` matters.
fn solve(own: Cells, rival: Cells, depth: i32, low: i32, high: i32) -> (i32, usize) {
    let mut best = (-DEPTH - 1, 0);
    if depth == 0 {
        return (0, 0);
    }
    for &column in &ORDER {
        let cell = landing(own | rival, column);
        if cell == 0 {
            continue;
        }
        let value =
            if has_four(own | cell) { depth } else { -solve(rival, own | cell, depth - 1, -high, -low.max(best.0)).0 };
        if value > best.0 {
            best = (value, column);
        }
        if value >= high {
            break;
        }
    }
    if best.0 < -DEPTH {
        return (0, 0); // a full board
    }
    best
}

struct Dropper {
    me: String,
    to_move: &'static str,
    mine: Cells,
    theirs: Cells,
    rival_was_invalid: bool,
}

impl ConnectFourBot for Dropper {
    fn new(_info: Match) -> Self {
        Dropper { me: String::new(), to_move: RED, mine: 0, theirs: 0, rival_was_invalid: false }
    }

    fn play(&mut self, _id: String) -> Action {
        if self.rival_was_invalid {
            return Action::new(FLIP);
        }
        let (_, column) = solve(self.mine, self.theirs, DEPTH, -DEPTH, DEPTH);
        Action { column: Some(COLUMNS[column].to_owned()), ..Action::new("putToken") }
    }

    /// `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may
    /// well be called `winner`.
    fn event(&mut self, event: ArenaEvent) {
        let player = match event.player {
            Some(player) => player,
            None => {
                if let Some(me) = event.you_are {
                    self.me = me;
                }
                return;
            }
        };
        let cell = if player == self.to_move { self.filled(event.action, event.column) } else { 0 };
        if cell != 0 {
            self.to_move = if self.to_move == RED { YELLOW } else { RED };
        }
        if player == self.me {
            self.mine |= cell;
        } else {
            self.theirs |= cell;
            self.rival_was_invalid = cell == 0;
        }
    }
}

impl Dropper {
    /// The cell that a legal move fills; none for every other answer.
    fn filled(&self, action: Option<Value>, column: Option<Value>) -> Cells {
        match (action, column) {
            (Some(action), Some(column)) if action == "putToken" => {
                let found = COLUMNS.iter().position(|&name| column == name);
                found.map_or(0, |column| landing(self.mine | self.theirs, column))
            }
            _ => 0,
        }
    }
}

fn main() {
    run::<Dropper>("Dropper (Rust)");
}

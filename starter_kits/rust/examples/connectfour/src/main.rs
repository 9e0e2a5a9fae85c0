//! Looks six plies ahead on a board that it keeps from the events, and flips the table when, and only when, the rival's
//! move was invalid or out of turn.

use referee_kit::connectfour::*;
use referee_kit::Match;

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
    me: Option<Side>,
    to_move: Side,
    mine: Cells,
    theirs: Cells,
    rival_was_invalid: bool,
}

impl ConnectFourBot for Dropper {
    fn new(_info: Match) -> Self {
        Dropper { me: None, to_move: Side::Red, mine: 0, theirs: 0, rival_was_invalid: false }
    }

    fn play(&mut self, _id: String) -> Action {
        if self.rival_was_invalid {
            return Action::new(ActionType::Flip);
        }
        let (_, column) = solve(self.mine, self.theirs, DEPTH, -DEPTH, DEPTH);
        Action { column: Some(Column::ALL[column]), ..Action::new(ActionType::PutToken) }
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
        let filled = self.filled(ActionType::of(&event.action), Column::of(&event.column));
        let cell = if player == self.to_move { filled } else { 0 };
        if cell != 0 {
            self.to_move = if self.to_move == Side::Red { Side::Yellow } else { Side::Red };
        }
        if Some(player) == self.me {
            self.mine |= cell;
        } else {
            self.theirs |= cell;
            self.rival_was_invalid = cell == 0;
        }
    }
}

impl Dropper {
    /// The cell that a legal move fills; none for every other answer.
    fn filled(&self, action: Option<ActionType>, column: Option<Column>) -> Cells {
        match (action, column) {
            (Some(ActionType::PutToken), Some(column)) => landing(self.mine | self.theirs, column as usize),
            _ => 0,
        }
    }
}

fn main() {
    run::<Dropper>("Dropper (Rust)");
}

//! The boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause.

use referee_kit::aibg5::AttackedTile;
use referee_kit::hexgrid::{distance, ring, Cell, CENTRE};

/// Up to here the boss hits in every round; only from here can it be hit.
pub const DIRECT_RING: i64 = 4;
const SHORTEST_PAUSE: i64 = 3; // rounds without a pattern

pub struct Schedule {
    next: Vec<Cell>,
    ring: i64,
    wait: i64, // rounds that are sure to have no pattern
}

impl Schedule {
    pub fn new() -> Self {
        Schedule { next: pattern_1(0), ring: 6, wait: 2 } // a match begins with one, and none is over yet
    }

    /// Sees the boss's last turn: to be called once in every round.
    pub fn watch(&mut self, attacked: &[AttackedTile]) {
        let mut pattern = attacked.iter().map(Cell::from).filter(|&cell| distance(CENTRE, cell) > DIRECT_RING);
        let first = match pattern.next() {
            Some(cell) => cell,
            None => {
                self.wait -= 1;
                return;
            }
        };
        let steps = -first.r / 2; // of pattern 1: its first cell is in row -2, -4 or -6
        if pattern.count() >= 8 {
            self.ring = if self.ring == 10 { 6 } else { self.ring + 2 };
            self.next = pattern_1(0);
            self.wait = SHORTEST_PAUSE;
        } else if steps < 3 {
            self.next = pattern_1(steps);
            self.wait = 0;
        } else {
            self.next = ring(self.ring);
            self.wait = SHORTEST_PAUSE;
        }
    }

    /// The cells that the boss may strike after this round, beside those near it.
    pub fn struck(&self) -> &[Cell] {
        if self.wait <= 0 {
            &self.next
        } else {
            &[]
        }
    }
}

/// The eight cells of a step: 0, 1 or 2.
fn pattern_1(step: i64) -> Vec<Cell> {
    let left = [Cell::new(-6 + 2 * step, -2 - 2 * step), Cell::new(-5 + 2 * step, -3 - 2 * step)];
    let four: Vec<Cell> = left.into_iter().chain(left.map(|cell| Cell::new(-cell.q, -cell.r))).collect();
    four.iter().copied().chain(four.iter().map(|cell| Cell::new(-cell.q - cell.r, cell.r))).collect()
}

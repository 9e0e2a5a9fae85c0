//! Pawns and walls. A player is a seat: 0 is first, 1 is second. A square is a number: a1 = 0, b1 = 1, a2 = 9.

use referee_kit::quoridor::{ActionType, WALLS_EACH};
use referee_kit::Value;

const UP: i32 = 9; // what a step adds to a square
const RIGHT: i32 = 1;
const STEPS: [i32; 4] = [UP, RIGHT, -UP, -RIGHT];

/// More steps than any way has.
pub const SHUT_IN: i32 = 1000;

/// None for what names no square.
fn square_of(name: &str) -> Option<i32> {
    match *name.as_bytes() {
        [column @ b'a'..=b'i', row @ b'1'..=b'9'] => Some(9 * i32::from(row - b'1') + i32::from(column - b'a')),
        _ => None,
    }
}

pub fn name_of(square: i32) -> String {
    format!("{}{}", char::from(b'a' + square as u8 % 9), square / 9 + 1)
}

/// `square` is the one to the lower left of its middle.
#[derive(Clone, Copy)]
pub struct Wall {
    square: i32,
    horizontal: bool,
}

impl Wall {
    pub fn all() -> impl Iterator<Item = Wall> {
        let squares = (0..72).filter(|square| square % 9 < 8);
        squares.flat_map(|square| [true, false].map(|horizontal| Wall { square, horizontal }))
    }

    pub fn name(self) -> String {
        format!("{}{}", name_of(self.square), if self.horizontal { 'h' } else { 'v' })
    }

    fn named(name: &str) -> Option<Wall> {
        let horizontal = match name.get(2..)? {
            "h" => true,
            "v" => false,
            _ => return None,
        };
        let square = square_of(name.get(..2)?)?;
        (square < 72 && square % 9 < 8).then_some(Wall { square, horizontal })
    }
}

pub struct Board {
    up: [bool; 81], // whether the step up from a square is open
    right: [bool; 81],
    middles: [bool; 81], // whether a wall has its middle at the square's upper right corner
    pawns: [i32; 2],
    walls_left: [i64; 2],
}

impl Board {
    pub fn new() -> Self {
        let mut board = Board {
            up: [true; 81],
            right: [true; 81],
            middles: [false; 81],
            pawns: [4, 76], // e1 and e9
            walls_left: [WALLS_EACH; 2],
        };
        for square in 0..81 {
            board.up[square] = square < 72;
            board.right[square] = square % 9 < 8;
        }
        board
    }

    pub fn has_walls(&self, player: usize) -> bool {
        self.walls_left[player] > 0
    }

    /// The squares that the pawn may move to.
    pub fn targets(&self, player: usize) -> Vec<i32> {
        let rival = self.pawns[1 - player];
        let mut found = Vec::new();
        for step in STEPS {
            match self.beside(self.pawns[player], step) {
                Some(target) if target == rival => match self.beside(rival, step) {
                    Some(jump) => found.push(jump),
                    None => {
                        let aside = if step.abs() == UP { RIGHT } else { UP };
                        found.extend(self.beside(rival, aside));
                        found.extend(self.beside(rival, -aside));
                    }
                },
                target => found.extend(target),
            }
        }
        found
    }

    /// How many steps it is from each square to the player's goal row; pawns are in nobody's way.
    pub fn ways(&self, player: usize) -> [i32; 81] {
        let goal = if player == 0 { 72..81 } else { 0..9 };
        let mut ways = [SHUT_IN; 81];
        let mut queue: Vec<i32> = goal.collect();
        for &square in &queue {
            ways[square as usize] = 0;
        }
        let mut next = 0;
        while next < queue.len() {
            let square = queue[next];
            next += 1;
            for target in STEPS.into_iter().filter_map(|step| self.beside(square, step)) {
                if ways[target as usize] == SHUT_IN {
                    ways[target as usize] = ways[square as usize] + 1;
                    queue.push(target);
                }
            }
        }
        ways
    }

    /// The steps from each pawn to its goal.
    pub fn both_ways(&self) -> [i32; 2] {
        [0, 1].map(|player| self.ways(player)[self.pawns[player] as usize])
    }

    /// Both players' ways if this wall stood, which fits; none if it would shut a pawn in.
    pub fn ways_behind(&mut self, wall: Wall) -> Option<[i32; 2]> {
        self.put(wall, true);
        let ways = self.both_ways();
        self.put(wall, false);
        (!ways.contains(&SHUT_IN)).then_some(ways)
    }

    /// Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps.
    pub fn fits(&self, wall: Wall) -> bool {
        let square = wall.square as usize;
        let open = if wall.horizontal {
            self.up[square] && self.up[square + 1]
        } else {
            self.right[square] && self.right[square + 9]
        };
        open && !self.middles[square]
    }

    /// Makes a legal move; false for anything else.
    pub fn apply(&mut self, player: usize, action: Option<Value>, position: Option<Value>) -> bool {
        let made = match (ActionType::of(&action), position.as_ref().and_then(Value::as_str)) {
            (Some(ActionType::Move), Some(name)) => self.make_step(player, name),
            (Some(ActionType::PutWall), Some(name)) => self.build(player, name),
            _ => None,
        };
        made.is_some()
    }

    fn make_step(&mut self, player: usize, name: &str) -> Option<()> {
        let square = square_of(name).filter(|square| self.targets(player).contains(square))?;
        self.pawns[player] = square;
        Some(())
    }

    fn build(&mut self, player: usize, name: &str) -> Option<()> {
        let wall = Wall::named(name).filter(|&wall| self.walls_left[player] > 0 && self.fits(wall))?;
        self.ways_behind(wall)?;
        self.put(wall, true);
        self.walls_left[player] -= 1;
        Some(())
    }

    /// The square one step on; none behind a wall or the edge.
    fn beside(&self, square: i32, step: i32) -> Option<i32> {
        let lower = usize::try_from(square.min(square + step)).ok()?;
        let open = if step.abs() == UP { self.up[lower] } else { self.right[lower] };
        open.then_some(square + step)
    }

    /// Puts a wall that fits, or takes it away again.
    fn put(&mut self, wall: Wall, stands: bool) {
        let square = wall.square as usize;
        if wall.horizontal {
            self.up[square..square + 2].fill(!stands);
        } else {
            self.right[square] = !stands;
            self.right[square + 9] = !stands;
        }
        self.middles[square] = stands;
    }
}

//! Your Quoridor bot: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. The types
//! are in `referee_kit::quoridor`.

use referee_kit::quoridor::*;
use referee_kit::{Match, Rng, Value};

const UP: i32 = 9; // what a step adds to a square
const RIGHT: i32 = 1;

/// a1 = 0, b1 = 1, a2 = 9; none for what names no square.
fn square_of(name: &str) -> Option<i32> {
    match *name.as_bytes() {
        [column @ b'a'..=b'i', row @ b'1'..=b'9'] => Some(9 * i32::from(row - b'1') + i32::from(column - b'a')),
        _ => None,
    }
}

fn name_of(square: i32) -> String {
    format!("{}{}", char::from(b'a' + square as u8 % 9), square / 9 + 1)
}

struct MyBot {
    luck: Rng,
    me: usize, // first is 0, second is 1
    pawns: [i32; 2],
    up: [bool; 81], // whether the step up from a square is open
    right: [bool; 81],
}

impl QuoridorBot for MyBot {
    fn new(info: Match) -> Self {
        let luck = Rng::with_seed(info.seed);
        let mut bot = MyBot { luck, me: 0, pawns: [4, 76], up: [true; 81], right: [true; 81] };
        bot.up[72..].fill(false);
        bot.right.iter_mut().skip(8).step_by(9).for_each(|open| *open = false);
        bot
    }

    fn play(&mut self, _id: String) -> Action {
        // A wall: Action { position: Some("e3h".to_owned()), ..Action::new(ActionType::PutWall) }.
        // After an invalid answer of the rival the one right answer is Action::new(ActionType::Flip): it wins.
        let targets = self.targets();
        let target = targets[self.luck.usize(..targets.len())];
        Action { position: Some(name_of(target)), ..Action::new(ActionType::Move) }
    }

    // Every answer is shown here, the rival's and your own, as it was sent: look before you trust `position`.
    fn event(&mut self, event: ArenaEvent) {
        let player = match event.player {
            Some(player) => player as usize,
            None => {
                if let Some(side) = event.you_are {
                    self.me = side as usize;
                }
                return;
            }
        };
        let name = event.position.as_ref().and_then(Value::as_str).unwrap_or("");
        let square = match name.get(..2).and_then(square_of) {
            Some(square) => square,
            None => return,
        };
        match ActionType::of(&event.action) {
            Some(ActionType::Move) => self.pawns[player] = square,
            Some(ActionType::PutWall) if square < 72 => self.put_wall(square as usize, name.ends_with('h')),
            _ => {}
        }
    }
}

impl MyBot {
    fn put_wall(&mut self, square: usize, horizontal: bool) {
        let (steps, next) = if horizontal { (&mut self.up, square + 1) } else { (&mut self.right, square + 9) };
        steps[square] = false;
        steps[next] = false;
    }

    /// The squares that your pawn may move to: one step on, or past the rival's pawn.
    fn targets(&self) -> Vec<i32> {
        let rival = self.pawns[1 - self.me];
        let mut found = Vec::new();
        for step in [UP, RIGHT, -UP, -RIGHT] {
            match self.beside(self.pawns[self.me], step) {
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

    /// The square one step on; none behind a wall or the edge.
    fn beside(&self, square: i32, step: i32) -> Option<i32> {
        let lower = usize::try_from(square.min(square + step)).ok()?;
        let open = if step.abs() == UP { self.up[lower] } else { self.right[lower] };
        open.then_some(square + step)
    }
}

fn main() {
    run::<MyBot>("My Quoridor bot");
}

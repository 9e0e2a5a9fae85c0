//! Mason steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the
//! table when, and only when, the rival's answer was invalid.

mod board;

use board::{name_of, Board, Wall};
use referee_kit::quoridor::*;
use referee_kit::Match;

struct Mason {
    me: usize,
    board: Board,
    to_move: usize,
    rival_was_invalid: bool,
}

impl QuoridorBot for Mason {
    fn new(_info: Match) -> Self {
        Mason { me: 0, board: Board::new(), to_move: 0, rival_was_invalid: false }
    }

    fn play(&mut self, _id: String) -> Action {
        if self.rival_was_invalid {
            return Action::new(ActionType::Flip);
        }
        let ways = self.board.ways(self.me);
        let targets = self.board.targets(self.me).into_iter();
        let target = targets.min_by_key(|&square| ways[square as usize]).expect("a pawn is never shut in");
        let wall = if ways[target as usize] > 0 { self.best_wall() } else { None };
        match wall {
            Some(wall) => Action { position: Some(wall.name()), ..Action::new(ActionType::PutWall) },
            None => Action { position: Some(name_of(target)), ..Action::new(ActionType::Move) },
        }
    }

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
        if player == self.to_move && self.board.apply(player, event.action, event.position) {
            self.to_move = 1 - player;
        } else if player != self.me {
            self.rival_was_invalid = true; // a flip too: had it been right, nobody would ask us again
        }
    }
}

impl Mason {
    /// The wall that lengthens the rival's way most, beside our own. None: ours is shorter, or a step is as good.
    fn best_wall(&mut self) -> Option<Wall> {
        let (me, rival) = (self.me, 1 - self.me);
        let now = self.board.both_ways();
        if now[rival] > now[me] || !self.board.has_walls(me) {
            return None;
        }
        let mut best = None;
        let mut most = if now[rival] == 1 { 0 } else { 1 }; // a step gains 1; who is about to win must be held up
        for wall in Wall::all() {
            if !self.board.fits(wall) {
                continue;
            }
            if let Some(ways) = self.board.ways_behind(wall) {
                let gain = ways[rival] - now[rival] - (ways[me] - now[me]);
                if gain > most {
                    best = Some(wall);
                    most = gain;
                }
            }
        }
        best
    }
}

fn main() {
    run::<Mason>("Mason (Rust)");
}

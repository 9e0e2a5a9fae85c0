//! Your AIBG 5 bot: it plays random legal moves as it stands; make it win. The types are in `referee_kit::aibg5`, what
//! helps on the board is in `referee_kit::hexgrid`.

use referee_kit::aibg5::*;
use referee_kit::hexgrid::{attack, go, neighbours, Board, Cell};
use referee_kit::{Match, Rng};

struct MyBot {
    luck: Rng,
}

impl AIBG5Bot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { luck: Rng::with_seed(info.seed) }
    }

    fn do_action(&mut self, index: i64, state: GameState, _message: Option<String>) -> Action {
        let board = Board::new(&state);
        let here = Cell::from(board.player(index).expect("who is asked is not disqualified"));
        let mut actions: Vec<Action> = neighbours(here).filter(|&cell| board.may_enter(cell)).map(go).collect();
        actions.extend(board.targets(here).into_iter().map(attack));
        if actions.is_empty() {
            return go(here); // nothing is legal: it costs a tenth of the health
        }
        actions.swap_remove(self.luck.usize(..actions.len()))
    }
}

fn main() {
    run::<MyBot>("My AIBG 5 bot");
}

//! Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in
//! `referee_kit::tictactoe`.

use referee_kit::tictactoe::*;
use referee_kit::{Match, Rng};

struct MyBot {
    free: Vec<Cell>,
    luck: Rng,
}

impl TicTacToeBot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { free: Cell::ALL.to_vec(), luck: Rng::with_seed(info.seed) }
    }

    fn play(&mut self, _id: String) -> Action {
        // After an invalid move of the rival the one right answer is Action::new(ActionType::Flip): it wins.
        let cell = self.free[self.luck.usize(..self.free.len())];
        Action { position: Some(cell), ..Action::new(ActionType::PutSymbol) }
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    fn event(&mut self, event: ArenaEvent) {
        if let (Some(ActionType::PutSymbol), Some(taken)) = (ActionType::of(&event.action), Cell::of(&event.position)) {
            self.free.retain(|&cell| cell != taken);
        }
    }
}

fn main() {
    run::<MyBot>("My tic-tac-toe bot");
}

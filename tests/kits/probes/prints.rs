//! Prints before it plays, or uses the kit without playing.

use referee_kit::tictactoe::*;
use referee_kit::Match;
use std::env::var_os;

struct Prints;

impl TicTacToeBot for Prints {
    fn new(_info: Match) -> Self {
        Prints
    }

    fn play(&mut self, _id: String) -> Action {
        Action::new(ActionType::Flip)
    }
}

fn main() {
    print!("buffered");
    if var_os("AT_ONCE").is_some() {
        println!("+ at once");
    }
    if var_os("ONLY_USES_THE_KIT").is_none() {
        run::<Prints>("Prints");
    }
}

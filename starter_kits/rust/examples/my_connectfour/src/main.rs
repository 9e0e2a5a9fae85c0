//! Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
//! `referee_kit::connectfour`.

use referee_kit::connectfour::*;
use referee_kit::{Match, Rng};

struct MyBot {
    filled: [i64; Column::ALL.len()],
    luck: Rng,
}

impl ConnectFourBot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { filled: Default::default(), luck: Rng::with_seed(info.seed) }
    }

    fn play(&mut self, _id: String) -> Action {
        // After an invalid move of the rival the one right answer is Action::new(ActionType::Flip): it wins.
        let mut open = Column::ALL.to_vec();
        open.retain(|&column| self.filled[column as usize] < ROWS);
        let column = open[self.luck.usize(..open.len())];
        Action { column: Some(column), ..Action::new(ActionType::PutToken) }
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    fn event(&mut self, event: ArenaEvent) {
        if let (Some(ActionType::PutToken), Some(column)) = (ActionType::of(&event.action), Column::of(&event.column)) {
            self.filled[column as usize] += 1;
        }
    }
}

fn main() {
    run::<MyBot>("My Connect Four bot");
}

//! Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
//! `referee_kit::connectfour`.

use referee_kit::connectfour::*;
use referee_kit::{Match, Rng};

struct MyBot {
    filled: [i64; COLUMNS.len()],
    luck: Rng,
}

impl ConnectFourBot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { filled: Default::default(), luck: Rng::with_seed(info.seed) }
    }

    fn play(&mut self, _id: String) -> Action {
        // After an invalid move of the rival the one right answer is Action::new(FLIP): it wins.
        let open: Vec<usize> = (0..COLUMNS.len()).filter(|&column| self.filled[column] < ROWS).collect();
        let column = COLUMNS[open[self.luck.usize(..open.len())]];
        Action { column: Some(column.to_owned()), ..Action::new("putToken") }
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    fn event(&mut self, event: ArenaEvent) {
        if let (Some(action), Some(column)) = (event.action, event.column) {
            for (index, &name) in COLUMNS.iter().enumerate() {
                self.filled[index] += i64::from(action == "putToken" && column == name);
            }
        }
    }
}

fn main() {
    run::<MyBot>("My Connect Four bot");
}

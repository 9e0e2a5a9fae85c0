//! Answers with the members of the last event; - for an absent one.

use referee_kit::tictactoe::*;
use referee_kit::{json, Match, Value};

struct Spy {
    heard: String,
}

impl TicTacToeBot for Spy {
    fn new(_info: Match) -> Self {
        Spy { heard: String::new() }
    }

    fn event(&mut self, e: ArenaEvent) {
        let any = |member: Option<Value>| member.map(|value| value.to_string());
        let symbol = |member: Option<Symbol>| member.map(|symbol| format!("{symbol:?}"));
        let winner = e.winner.map(|winner| json!(winner).as_str().unwrap().to_owned());
        let heard = [symbol(e.you_are), e.id, symbol(e.player), any(e.action), any(e.position), winner];
        self.heard = heard.map(|member| member.unwrap_or("-".to_owned())).join(" ");
    }

    fn play(&mut self, _id: String) -> Action {
        std::panic::panic_any(self.heard.clone())
    }
}

fn main() {
    run::<Spy>("Spy");
}

//! Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.

use referee_kit::aibg5::*;
use referee_kit::hexgrid::*;
use referee_kit::Match;

struct Hexes;

impl AIBG5Bot for Hexes {
    fn new(_info: Match) -> Self {
        Hexes
    }

    fn do_action(&mut self, _index: i64, state: GameState, _message: Option<String>) -> Action {
        let (board, me) = (Board::new(&state), state.player1.as_ref().expect("it plays"));
        let (here, there) = (Cell::from(me), Cell::new(me.kills, me.deaths));
        let says = [
            distance(here, there).to_string(),
            flag(is_on_board(here)) + &flag(is_on_board(there)),
            listed(neighbours(here)),
            listed(within(here, me.level)),
            listed(ring(me.level)),
            listed(line_of_fire(here, there)),
            flag(board.may_enter(there)) + &flag(board.is_target(there)),
            board.hit(here, there).map_or("-".to_string(), |cell| listed([cell])),
            listed(board.targets(here)),
        ];
        Action::new(says.join(";"))
    }
}

fn flag(value: bool) -> String {
    if value { "yes " } else { "no " }.to_string()
}

fn listed(cells: impl IntoIterator<Item = Cell>) -> String {
    cells.into_iter().map(|cell| format!("{},{}", cell.q, cell.r)).collect::<Vec<_>>().join(" ")
}

fn main() {
    run::<Hexes>("Hexes");
}

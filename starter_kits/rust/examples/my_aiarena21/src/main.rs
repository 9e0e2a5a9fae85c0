//! Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types are in
//! `referee_kit::aiarena21`, what helps on the map is in `referee_kit::grid`.

use referee_kit::aiarena21::*;
use referee_kit::grid::{name, Grid};
use referee_kit::{Match, Rng};

struct MyBot {
    luck: Rng,
}

impl AIArena21Bot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { luck: Rng::with_seed(info.seed) }
    }

    fn play_powerup(
        &mut self,
        _game_map: Map,
        _me: Player,
        _opponent: Player,
        _items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> PowerUp {
        PowerUp::None // or PowerUp::Bike, or PowerUp::PortalGun
    }

    fn play_turn(
        &mut self,
        game_map: Map,
        me: Player,
        _opponent: Player,
        _items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> String {
        name(self.any(&Grid::new(&game_map).reach(&me)))
    }

    fn play_auction(
        &mut self,
        _game_map: Map,
        me: Player,
        _opponent: Player,
        _items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> i64 {
        self.luck.i64(0..=me.score)
    }

    fn play_transport(
        &mut self,
        game_map: Map,
        _me: Player,
        _opponent: Player,
        _items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> String {
        name(self.any(&Grid::new(&game_map).free))
    }
}

impl MyBot {
    fn any(&mut self, cells: &[Location]) -> Location {
        cells[self.luck.usize(..cells.len())]
    }
}

fn main() {
    run::<MyBot>("My AI Arena 21 bot");
}

//! Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.

use referee_kit::aiarena21::*;
use referee_kit::grid::{name, Grid};
use referee_kit::Match;

struct Grids;

impl AIArena21Bot for Grids {
    fn new(_info: Match) -> Self {
        Grids
    }

    fn play_powerup(
        &mut self,
        _: Map,
        _: Player,
        _: Player,
        _: Vec<Vec<i64>>,
        _: Vec<Vec<Vec<Item>>>,
        _: Vec<Vec<f64>>,
        _: i64,
    ) -> PowerUp {
        PowerUp::None
    }

    fn play_turn(
        &mut self,
        map: Map,
        me: Player,
        opponent: Player,
        _: Vec<Vec<i64>>,
        _: Vec<Vec<Vec<Item>>>,
        _: Vec<Vec<f64>>,
        _: i64,
    ) -> String {
        let (grid, here, there) = (Grid::new(&map), me.location, opponent.location);
        let table = grid.distances(&[here, there, here]);
        let rows = table.iter().map(|row| row.iter().map(i64::to_string).collect::<Vec<_>>().join(" "));
        let says = [
            flag(grid.is_free(here)) + &flag(grid.is_free(there)),
            listed(&grid.free),
            listed(&grid.neighbours(here)),
            rows.collect::<Vec<_>>().join("/"),
            listed(&grid.path(here, there)),
            listed(&grid.reach(&me)),
        ];
        says.join(";")
    }

    fn play_auction(
        &mut self,
        _: Map,
        _: Player,
        _: Player,
        _: Vec<Vec<i64>>,
        _: Vec<Vec<Vec<Item>>>,
        _: Vec<Vec<f64>>,
        _: i64,
    ) -> i64 {
        0
    }

    fn play_transport(
        &mut self,
        _: Map,
        _: Player,
        _: Player,
        _: Vec<Vec<i64>>,
        _: Vec<Vec<Vec<Item>>>,
        _: Vec<Vec<f64>>,
        _: i64,
    ) -> String {
        String::new()
    }
}

fn flag(value: bool) -> String {
    if value { "yes " } else { "no " }.to_string()
}

fn listed(cells: &[Location]) -> String {
    cells.iter().map(|&cell| name(cell)).collect::<Vec<_>>().join(" ")
}

fn main() {
    run::<Grids>("Grids");
}

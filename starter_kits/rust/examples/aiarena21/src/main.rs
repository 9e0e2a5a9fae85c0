//! Picker walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies,
//! to the heat of what comes next. It buys a bike when it collects more than it costs, and bids what lies on the cell.

use referee_kit::aiarena21::*;
use referee_kit::grid::{at, name, speed, Grid, FAR};
use referee_kit::Match;

struct Picker {
    grid: Option<Grid>,
}

impl AIArena21Bot for Picker {
    fn new(_info: Match) -> Self {
        Picker { grid: None }
    }

    fn play_powerup(
        &mut self,
        game_map: Map,
        me: Player,
        _opponent: Player,
        items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        heatmap: Vec<Vec<f64>>,
        remaining_turns: i64,
    ) -> PowerUp {
        if me.bike || me.score < BIKE_COST {
            return PowerUp::None;
        }
        let plan = Plan { grid: self.walkable(&game_map), worth: points(&items), heat: &heatmap };
        let turns = BIKE_TURNS.min(remaining_turns);
        let gain = plan.harvest(me.location, turns, BIKE_STEPS) - plan.harvest(me.location, turns, 1);
        if gain > BIKE_COST as f64 {
            PowerUp::Bike
        } else {
            PowerUp::None
        }
    }

    fn play_turn(
        &mut self,
        game_map: Map,
        me: Player,
        _opponent: Player,
        items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> String {
        let grid = self.walkable(&game_map);
        let target = |worth| Plan { grid, worth, heat: &heatmap }.target(me.location, speed(&me));
        let target = target(points(&items)).or_else(|| target(heatmap.clone())).unwrap_or(me.location);
        let path = grid.path(me.location, target);
        name(path[(path.len() - 1).min(speed(&me) as usize)])
    }

    /// What lies here, and one more for the place: the winner pays half of both bids.
    fn play_auction(
        &mut self,
        _game_map: Map,
        me: Player,
        _opponent: Player,
        items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> i64 {
        me.score.min(at(&items, me.location) + 1)
    }

    /// The cell that is the longest walk from any fruit; where none lies, from us.
    fn play_transport(
        &mut self,
        game_map: Map,
        me: Player,
        _opponent: Player,
        items: Vec<Vec<i64>>,
        _new_items: Vec<Vec<Vec<Item>>>,
        _heatmap: Vec<Vec<f64>>,
        _remaining_turns: i64,
    ) -> String {
        let grid = self.walkable(&game_map);
        let mut fruit: Vec<Location> = grid.free.iter().copied().filter(|&cell| at(&items, cell) > 0).collect();
        if fruit.is_empty() {
            fruit.push(me.location);
        }
        let steps = grid.distances(&fruit);
        let farthest = grid.free.iter().copied().min_by_key(|&cell| -at(&steps, cell)); // the first of equals
        name(farthest.expect("a map has free cells"))
    }
}

impl Picker {
    fn walkable(&mut self, game_map: &Map) -> &Grid {
        self.grid.get_or_insert_with(|| Grid::new(game_map))
    }
}

fn points(items: &[Vec<i64>]) -> Vec<Vec<f64>> {
    items.iter().map(|row| row.iter().map(|&points| points as f64).collect()).collect()
}

/// Where to go on a board on which `worth` lies: a table of points, or of heat.
struct Plan<'a> {
    grid: &'a Grid,
    worth: Vec<Vec<f64>>,
    heat: &'a [Vec<f64>],
}

impl Plan<'_> {
    /// The cell that brings most a turn; then the hotter, the nearer, the first one. None: nothing is in reach.
    fn target(&self, start: Location, steps_a_turn: i64) -> Option<Location> {
        let table = self.grid.distances(&[start]);
        let mut best = None;
        for &cell in &self.grid.free {
            let (worth, steps) = (at(&self.worth, cell), at(&table, cell));
            if worth == 0.0 || steps == FAR {
                continue;
            }
            let key = (worth / turns_for(steps, steps_a_turn) as f64, at(self.heat, cell), -steps);
            if best.map_or(true, |(most, _)| key > most) {
                best = Some((key, cell));
            }
        }
        best.map(|(_, cell)| cell)
    }

    /// What going from target to target brings in so many turns; of one that is too far, the part of the way.
    fn harvest(&self, mut start: Location, mut turns: i64, steps_a_turn: i64) -> f64 {
        let mut plan = Plan { worth: self.worth.clone(), ..*self };
        let mut brought = 0.0;
        while turns > 0 {
            let target = match plan.target(start, steps_a_turn) {
                Some(target) => target,
                None => break,
            };
            let needed = turns_for(at(&self.grid.distances(&[start]), target), steps_a_turn);
            brought += at(&plan.worth, target) * turns.min(needed) as f64 / needed as f64;
            plan.worth[target.row as usize][target.col as usize] = 0.0;
            start = target;
            turns -= needed;
        }
        brought
    }
}

/// How long the way takes; to stay takes a turn too.
fn turns_for(steps: i64, steps_a_turn: i64) -> i64 {
    1.max((steps + steps_a_turn - 1) / steps_a_turn)
}

fn main() {
    run::<Picker>("Picker (Rust)");
}

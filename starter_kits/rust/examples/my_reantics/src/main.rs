//! Your ReAntics bot: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
//! takes any step until the turn ends. The types are in `referee_kit::reantics`.

use referee_kit::reantics::*;
use referee_kit::{Match, Rng};

struct MyBot {
    luck: Rng,
}

impl ReAnticsBot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { luck: Rng::with_seed(info.seed) }
    }

    /// The anthill, the tunnel and nine grass on our side; later two foods on the enemy's.
    fn get_placement(&mut self, state: GameState) -> Vec<Coord> {
        let rows = if state.phase == Phase::SetupPhase1 { 0..=3 } else { 6..=9 };
        let tiles = rows.flat_map(|y| (0..BOARD_LENGTH).map(move |x| Coord::new(x, y)));
        let mut free: Vec<Coord> = tiles.filter(|&tile| is_free(&state, tile)).collect();
        self.luck.shuffle(&mut free);
        free // the first eleven count, later the first two
    }

    fn get_move(&mut self, state: GameState) -> Move {
        // Move an ant: Move { coord_list: Some(vec![from, …, to]), ..Move::new(MoveType::MoveAnt) }.
        // Build one:
        // Move { coord_list: Some(vec![anthill]), build_type: Some(AntType::Worker), ..Move::new(MoveType::Build) }.
        let mut moves = vec![Move::new(MoveType::End)];
        for ant in state.inventories[state.whose_turn as usize].ants.iter().filter(|ant| !ant.has_moved) {
            let Coord { x, y } = ant.coords;
            for tile in [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)].map(Coord::from) {
                if may_enter(&state, ant, tile) {
                    moves.push(Move { coord_list: Some(vec![ant.coords, tile]), ..Move::new(MoveType::MoveAnt) });
                }
            }
        }
        moves.swap_remove(self.luck.usize(..moves.len()))
    }

    fn get_attack(&mut self, _state: GameState, _ant: Ant, enemies: Vec<Coord>) -> Coord {
        enemies[self.luck.usize(..enemies.len())]
    }
}

fn is_free(state: &GameState, tile: Coord) -> bool {
    state.inventories.iter().flat_map(|inventory| &inventory.constrs).all(|constr| constr.coords != tile)
}

/// The queen stays on our side, and every ant on the board and off the others' tiles.
fn may_enter(state: &GameState, ant: &Ant, tile: Coord) -> bool {
    let last = if ant.r#type == AntType::Queen { 3 } else { BOARD_LENGTH - 1 };
    let is_on_board = (0..BOARD_LENGTH).contains(&tile.x) && (0..=last).contains(&tile.y);
    is_on_board && state.inventories.iter().flat_map(|inventory| &inventory.ants).all(|other| other.coords != tile)
}

fn main() {
    run::<MyBot>("My ReAntics bot");
}

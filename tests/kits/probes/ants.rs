//! Says of every position what the kit's functions for ReAntics make of it: as ants.py.

use referee_kit::ants::*;
use referee_kit::reantics::*;
use referee_kit::Match;

const EVERY: usize = 5;

struct Ants;

impl ReAnticsBot for Ants {
    fn new(_info: Match) -> Self {
        Ants
    }
    fn get_placement(&mut self, _state: GameState) -> Vec<Coord> {
        Vec::new()
    }
    fn get_attack(&mut self, _state: GameState, _ant: Ant, enemies: Vec<Coord>) -> Coord {
        enemies[0]
    }
    fn get_move(&mut self, state: GameState) -> Move {
        println!("{}\n=", report(&state).join("\n"));
        Move::new(MoveType::End)
    }
}

fn report(state: &GameState) -> Vec<String> {
    let queen = get_curr_player_queen(state).map_or("-".to_owned(), |queen| tile(&queen.coords));
    let mut lines = vec![format!("winner {}", get_winner(state).unwrap_or(-1)), format!("queen {queen}")];
    let healths = AntType::ALL.map(|kind| stats_of(kind).health.to_string());
    lines.push(format!("health {}", healths.join(" ")));
    let constrs = state.inventories.iter().flat_map(|inventory| &inventory.constrs);
    let goals: Vec<Coord> = constrs.map(|constr| constr.coords).step_by(4).collect();
    for ant in &get_curr_player_inventory(state).ants {
        let (stats, at) = (stats_of(ant.r#type), ant.coords);
        let under = get_constr_at(state, at).map_or("none".to_owned(), |under| i64::from(under.r#type).to_string());
        let steps = (0..100).step_by(7).map(|i| steps_to_reach(state, at, Coord::new(i / 10, i % 10)).unwrap_or(-1));
        let ways: Vec<String> =
            goals.iter().map(|&goal| tiles(&create_path_toward(state, at, goal, stats.movement))).collect();
        let paths = list_all_movement_paths(state, at, stats.movement, stats.ignores_grass);
        lines.push(format!("ant {} {under}", tile(&at)));
        lines.push(format!("steps {}", steps.map(|step| step.to_string()).collect::<Vec<_>>().join(" ")));
        lines.push(format!("near {}", tiles(&list_reachable_adjacent(state, at, stats.movement, stats.ignores_grass))));
        lines.push(format!("range {}", tiles(&list_attackable(at, stats.range))));
        lines.push(format!("toward {}", ways.join(";")));
        lines.push(format!("paths {} {}", paths.len(), tiles(&paths[paths.len() / 2])));
    }
    for (number, order) in list_all_legal_moves(state).iter().enumerate() {
        let path = order.coord_list.as_deref().unwrap_or(&[]);
        let kind = order.build_type.map_or(0, i64::from);
        lines.push(format!("move {} {} {kind}", i64::from(order.move_type), tiles(path)));
        if number % EVERY == 0 || order.move_type == MoveType::Build {
            lines.push(format!("next {}", position(&get_next_state(state, order))));
            lines.push(format!("then {}", position(&get_next_state_adversarial(state, order))));
        }
    }
    lines
}

fn tile(at: &Coord) -> String {
    format!("{},{}", at.x, at.y)
}

fn tiles(path: &[Coord]) -> String {
    path.iter().map(tile).collect::<Vec<_>>().join(" ")
}

fn position(state: &GameState) -> String {
    let mut parts = vec![state.whose_turn.to_string()];
    for inventory in &state.inventories[..2] {
        parts.push(format!("food {}", inventory.food_count));
        for Ant { coords, id, r#type, player, health, carrying, has_moved } in &inventory.ants {
            parts.push(format!("{} {id} {} {player} {health}", tile(coords), i64::from(*r#type)));
            if *carrying {
                parts.push("carrying".to_owned());
            }
            if *has_moved {
                parts.push("moved".to_owned());
            }
        }
        for constr in &inventory.constrs {
            let left = constr.capture_health.unwrap_or(-1);
            parts.push(format!("{} {} {left}", tile(&constr.coords), i64::from(constr.r#type)));
        }
    }
    parts.join(" ")
}

fn main() {
    run::<Ants>("Ants");
}

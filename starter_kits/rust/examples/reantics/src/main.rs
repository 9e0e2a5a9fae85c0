//! Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are
//! built when enemies come near.
//!
//! It keeps nothing between calls. Each getMove looks at the state afresh and gives one order to one ant that has not
//! moved yet; when there is nothing left to order, the turn ends.

mod board;
mod ways;

use board::{find, is_fighter, is_queen, is_worker, near_enemies, Board};
use referee_kit::reantics::*;
use referee_kit::Match;
use ways::Ways;

const RANGE: [i64; AntType::ALL.len()] = [1, 0, 1, 1, 3]; // by type of ant
const ATTACK: [i64; AntType::ALL.len()] = [4, 0, 2, 4, 3];
const COST: [i64; AntType::ALL.len()] = [0, 1, 2, 2, 2];
const WORKERS: usize = 2;
const FRAIL: i64 = 4; // a queen with so little health left runs away

struct Forager;

impl ReAnticsBot for Forager {
    fn new(_info: Match) -> Self {
        Forager
    }

    /// Anthill and tunnel share our side, so that no tile of it is far from both; the grass lies where food would be
    /// farthest.
    fn get_placement(&mut self, state: GameState) -> Vec<Coord> {
        if state.phase == Phase::SetupPhase1 {
            let homes = [(2, 1), (7, 1)];
            let grass = [(0, 3), (4, 3), (5, 3), (9, 3), (0, 0), (9, 0), (4, 0), (5, 0), (1, 3)];
            return homes.into_iter().chain(grass).map(Coord::from).collect();
        }
        far_from_home(&Board::new(&state))
    }

    fn get_move(&mut self, state: GameState) -> Move {
        let board = Board::new(&state);
        let enemies = near_enemies(&board);
        let foods = find(&state.inventories[2].constrs, &[ConstructionType::Food]);
        for ant in board.mine.ants.iter().filter(|ant| !ant.has_moved) {
            let order = match ant.r#type {
                AntType::Queen => rule(&board, ant, &enemies),
                AntType::Worker => work(&board, ant, &foods),
                _ => fight(&board, ant, &enemies),
            };
            if let Some(order) = order {
                return order;
            }
        }
        step_aside(&board).or_else(|| build(&board, enemies.len())).unwrap_or_else(|| Move::new(MoveType::End))
    }

    /// An ant that one blow kills, then one on our buildings, then the weakest.
    fn get_attack(&mut self, state: GameState, attacker: Ant, enemies: Vec<Coord>) -> Coord {
        let board = Board::new(&state);
        best(&enemies, |tile| {
            let enemy = board.theirs.ants.iter().find(|ant| ant.coords == tile).expect("an enemy is there");
            let survives = enemy.health > ATTACK[attacker.r#type as usize];
            (!is_queen(enemy), survives, board.at(tile) != Some(ConstructionType::Anthill), enemy.health)
        })
    }
}

/// The two free tiles of the enemy's side that are the longest way from its anthill and its tunnel.
fn far_from_home(board: &Board) -> Vec<Coord> {
    let homes = find(&board.theirs.constrs, &[ConstructionType::Anthill, ConstructionType::Tunnel]);
    let ways: Vec<Ways> = homes.into_iter().map(|home| Ways::new(board, home, AntType::Worker)).collect();
    let tiles = (0..BOARD_LENGTH).flat_map(|x| (6..BOARD_LENGTH).map(move |y| Coord::new(x, y)));
    let mut tiles: Vec<Coord> = tiles.filter(|&tile| board.at(tile).is_none()).collect();
    tiles.sort_by_key(|&tile| std::cmp::Reverse(ways.iter().map(|home| home.arrival(tile)).min()));
    tiles.truncate(2);
    tiles
}

/// The tile with the least `rank`; the first of equals. `tiles` is not empty.
fn best<Rank: Ord>(tiles: &[Coord], mut rank: impl FnMut(Coord) -> Rank) -> Coord {
    *tiles.iter().min_by_key(|&&tile| rank(tile)).expect("there are tiles")
}

fn walk(ways: &Ways, to: Coord) -> Move {
    Move { coord_list: Some(ways.path(to)), ..Move::new(MoveType::MoveAnt) }
}

/// The same, unless the ant would stay where it is.
fn walk_on(ways: &Ways, to: Coord) -> Option<Move> {
    let path = ways.path(to);
    (path.len() > 1).then(|| Move { coord_list: Some(path), ..Move::new(MoveType::MoveAnt) })
}

fn distance(a: Coord, b: Coord) -> i64 {
    (a.x - b.x).abs() + (a.y - b.y).abs()
}

/// A move that attacks one of `targets` in this turn: from the tile that is quickest to reach.
fn attack_now(ways: &Ways, ant: &Ant, targets: &[Coord]) -> Option<Move> {
    let in_range = |tile: Coord| targets.iter().any(|&target| distance(tile, target) <= RANGE[ant.r#type as usize]);
    let stands: Vec<Coord> = ways.now().into_iter().filter(|&tile| in_range(tile)).collect();
    (!stands.is_empty()).then(|| walk(ways, best(&stands, |tile| ways.arrival(tile))))
}

/// A worker goes for food, or home with it, to whichever is reached first.
fn work(board: &Board, worker: &Ant, foods: &[Coord]) -> Option<Move> {
    let homes = find(&board.mine.constrs, &[ConstructionType::Anthill, ConstructionType::Tunnel]);
    let goals = if worker.carrying { &homes } else { foods };
    if goals.is_empty() {
        return None;
    }
    let ways = Ways::new(board, worker.coords, AntType::Worker);
    walk_on(&ways, best(goals, |goal| ways.arrival(goal)))
}

/// Two workers that got no work and block each other: the first steps aside.
fn step_aside(board: &Board) -> Option<Move> {
    let waiting: Vec<&Ant> = board.mine.ants.iter().filter(|ant| is_worker(ant) && !ant.has_moved).collect();
    if waiting.len() < 2 {
        return None;
    }
    let from = waiting[0].coords;
    let ways = Ways::new(board, from, AntType::Worker);
    walk_on(&ways, best(&ways.now(), |tile| (tile == from, ways.arrival(tile))))
}

/// A fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that the
/// workers need.
fn fight(board: &Board, fighter: &Ant, enemies: &[Coord]) -> Option<Move> {
    let ways = Ways::new(board, fighter.coords, fighter.r#type);
    if let Some(attack) = attack_now(&ways, fighter, enemies) {
        return Some(attack);
    }
    if !enemies.is_empty() {
        return walk_on(&ways, best(enemies, |enemy| ways.arrival(enemy)));
    }
    if board.at(fighter.coords).is_none() && fighter.coords.y >= 3 {
        return None;
    }
    let tiles = (0..BOARD_LENGTH).flat_map(|x| [Coord::new(x, 3), Coord::new(x, 4)]);
    let posts: Vec<Coord> = tiles.filter(|&tile| board.at(tile).is_none()).collect();
    if posts.is_empty() {
        return None;
    }
    walk_on(&ways, best(&posts, |post| ways.arrival(post)))
}

/// The queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
fn rule(board: &Board, queen: &Ant, enemies: &[Coord]) -> Option<Move> {
    let ways = Ways::new(board, queen.coords, AntType::Queen);
    let frail = queen.health <= FRAIL;
    let tiles = ways.now();
    if !frail || tiles.len() == 1 {
        if let Some(attack) = attack_now(&ways, queen, enemies) {
            return Some(attack);
        }
    }
    let danger = |tile: Coord| -> i64 {
        let fighters = board.theirs.ants.iter().filter(|ant| is_fighter(ant));
        fighters.map(|enemy| (8 - distance(tile, enemy.coords)).max(0)).sum()
    };
    let to = best(&tiles, |tile| {
        let in_the_way = !matches!(board.at(tile), None | Some(ConstructionType::Grass));
        (in_the_way, if frail { danger(tile) } else { 0 }, tile.y)
    });
    walk_on(&ways, to)
}

/// What the anthill should make now, if anything: soldiers against enemies that are near, else the second worker.
fn build(board: &Board, enemies: usize) -> Option<Move> {
    let workers = board.mine.ants.iter().filter(|ant| is_worker(ant)).count();
    let fighters = board.mine.ants.iter().filter(|ant| is_fighter(ant)).count();
    let wanted = match (workers, fighters) {
        (0, _) => AntType::Worker,
        (_, fighters) if fighters < enemies => AntType::Soldier,
        (workers, _) if workers < WORKERS => AntType::Worker,
        _ => return None,
    };
    let hill = find(&board.mine.constrs, &[ConstructionType::Anthill])[0];
    let can = !board.has_ant(hill) && board.mine.food_count >= COST[wanted as usize];
    can.then(|| Move { coord_list: Some(vec![hill]), build_type: Some(wanted), ..Move::new(MoveType::Build) })
}

fn main() {
    run::<Forager>("Forager (Rust)");
}

//! What a bot asks of a position of ReAntics, under the names that the original gave its agents (rules, section 11.3):
//! `listAllLegalMoves` is [`list_all_legal_moves`].
//!
//! The functions look at the inventories and never at `board`. Orders, and paths that come twice, are part of what is
//! promised.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::reantics::*;

/// What an ant of a type can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitStats {
    pub movement: i64,
    pub health: i64,
    pub attack: i64,
    pub range: i64,
    /// In food; a queen cannot be built.
    pub cost: i64,
    pub ignores_grass: bool,
}

const fn unit(movement: i64, health: i64, attack: i64, range: i64, cost: i64, ignores_grass: bool) -> UnitStats {
    UnitStats { movement, health, attack, range, cost, ignores_grass }
}

/// A worker's health in the current match.
static WORKER_HEALTH: AtomicI64 = AtomicI64::new(4);

/// Sets what depends on the options of a match, before its bot is made.
pub(crate) fn follow(info: &crate::Match) {
    let health = info.options.get("worker_health").and_then(crate::Value::as_i64);
    WORKER_HEALTH.store(health.unwrap_or(4), Ordering::Relaxed);
}

/// The index of the inventory that holds grass and food.
pub const NEUTRAL: usize = 2;

const STEPS: [(i64, i64); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];

/// What an ant of this type can do. A worker's health is the option `worker_health` of the current match.
pub fn stats_of(kind: AntType) -> UnitStats {
    match kind {
        AntType::Queen => unit(2, 10, 4, 1, 0, false),
        AntType::Worker => unit(2, WORKER_HEALTH.load(Ordering::Relaxed), 0, 1, 1, false),
        AntType::Drone => unit(3, 4, 2, 1, 2, true),
        AntType::Soldier => unit(2, 8, 4, 1, 2, false),
        AntType::RSoldier => unit(1, 2, 3, 3, 2, true),
    }
}

// What stands where.

/// Whether that is a tile of the board.
pub fn legal_coord(tile: Coord) -> bool {
    (0..BOARD_LENGTH).contains(&tile.x) && (0..BOARD_LENGTH).contains(&tile.y)
}

/// The ant on a tile.
pub fn get_ant_at(state: &GameState, tile: Coord) -> Option<&Ant> {
    state.inventories.iter().flat_map(|inventory| &inventory.ants).find(|ant| ant.coords == tile)
}

/// The construction on a tile.
pub fn get_constr_at(state: &GameState, tile: Coord) -> Option<&Construction> {
    state.inventories.iter().flat_map(|inventory| &inventory.constrs).find(|constr| constr.coords == tile)
}

/// What the player to move has.
pub fn get_curr_player_inventory(state: &GameState) -> &Inventory {
    &state.inventories[state.whose_turn as usize]
}

/// What the opponent of the player to move has.
pub fn get_enemy_inv(state: &GameState) -> &Inventory {
    &state.inventories[1 - state.whose_turn as usize]
}

/// The queen of the player to move.
pub fn get_curr_player_queen(state: &GameState) -> Option<&Ant> {
    queen_of(get_curr_player_inventory(state))
}

/// A player's queen, unless she is dead or not yet placed.
pub fn queen_of(inventory: &Inventory) -> Option<&Ant> {
    inventory.ants.iter().find(|ant| ant.r#type == AntType::Queen)
}

/// A player's anthill, once it is placed.
pub fn anthill_of(inventory: &Inventory) -> Option<&Construction> {
    inventory.constrs.iter().find(|constr| constr.r#type == ConstructionType::Anthill)
}

/// 1 if the player to move has won, 0 if its opponent has, else none (section 6).
pub fn get_winner(state: &GameState) -> Option<i64> {
    if has_won(state, state.whose_turn) {
        return Some(1);
    }
    has_won(state, 1 - state.whose_turn).then_some(0)
}

fn has_won(state: &GameState, player: i64) -> bool {
    let (own, enemy) = (&state.inventories[player as usize], &state.inventories[1 - player as usize]);
    let captured = anthill_of(enemy).and_then(|hill| hill.capture_health).map_or(false, |left| left <= 0);
    queen_of(enemy).is_none()
        || captured
        || own.food_count >= FOOD_GOAL
        || enemy.food_count == 0 && enemy.ants.len() == 1
}

// Distances and ways.

/// Columns plus rows between two tiles.
pub fn approx_dist(one: Coord, other: Coord) -> i64 {
    (one.x - other.x).abs() + (one.y - other.y).abs()
}

/// The tiles left, right, above and below, in this order, as far as they are on the board.
pub fn list_adjacent(tile: Coord) -> Vec<Coord> {
    if !legal_coord(tile) {
        return Vec::new();
    }
    beside(tile).collect()
}

fn beside(tile: Coord) -> impl Iterator<Item = Coord> {
    STEPS.iter().map(move |(dx, dy)| Coord::new(tile.x + dx, tile.y + dy)).filter(|&near| legal_coord(near))
}

/// The tiles at a distance of 1 to `reach`, by column and then by row.
pub fn list_attackable(tile: Coord, reach: i64) -> Vec<Coord> {
    let columns = (-reach..=reach).map(|dx| (dx, reach - dx.abs()));
    let tiles = columns.flat_map(|(dx, rest)| (-rest..=rest).map(move |dy| Coord::new(tile.x + dx, tile.y + dy)));
    tiles.filter(|&near| near != tile && legal_coord(near)).collect()
}

/// What a walker has to know of a state, gathered once for many questions.
struct Ground {
    occupied: [[bool; BOARD_LENGTH as usize]; BOARD_LENGTH as usize],
    costs: [[i64; BOARD_LENGTH as usize]; BOARD_LENGTH as usize],
}

impl Ground {
    fn new(state: &GameState) -> Self {
        let costs = [[1; BOARD_LENGTH as usize]; BOARD_LENGTH as usize];
        let mut ground = Ground { occupied: Default::default(), costs };
        for inventory in &state.inventories {
            for ant in &inventory.ants {
                ground.occupied[ant.coords.x as usize][ant.coords.y as usize] = true;
            }
            for constr in &inventory.constrs {
                ground.costs[constr.coords.x as usize][constr.coords.y as usize] = constr.movement_cost;
            }
        }
        ground
    }

    fn cost(&self, tile: Coord) -> i64 {
        self.costs[tile.x as usize][tile.y as usize]
    }

    /// The neighbours that can be entered, each with what is left of `movement`.
    fn steps(&self, tile: Coord, movement: i64, ignores_grass: bool) -> impl Iterator<Item = (Coord, i64)> + '_ {
        let free = beside(tile).filter(|near| !self.occupied[near.x as usize][near.y as usize]);
        let left = free.map(move |near| (near, movement - if ignores_grass { 1 } else { self.cost(near) }));
        left.filter(|&(_, left)| left >= 0)
    }

    fn paths(&self, tile: Coord, movement: i64, ignores_grass: bool) -> Vec<Vec<Coord>> {
        let mut found = Vec::new();
        self.add_paths(&mut vec![tile], movement, ignores_grass, &mut found);
        found
    }

    /// Adds every path that goes on from the end of `way`.
    fn add_paths(&self, way: &mut Vec<Coord>, movement: i64, ignores_grass: bool, found: &mut Vec<Vec<Coord>>) {
        if movement <= 0 {
            return;
        }
        let end = way[way.len() - 1];
        for (near, _) in self.steps(end, movement, ignores_grass) {
            let mut path = Vec::with_capacity(way.len() + 1);
            path.extend_from_slice(way);
            path.push(near);
            found.push(path);
        }
        for (near, left) in self.steps(end, movement, ignores_grass) {
            way.push(near);
            self.add_paths(way, left, ignores_grass, found);
            way.pop();
        }
        found.push(way.clone());
    }

    fn toward(&self, tile: Coord, goal: Coord, movement: i64, ignores_grass: bool) -> (Vec<Coord>, i64) {
        let distance = approx_dist(tile, goal);
        let mut best = (vec![tile], distance);
        if distance == 0 || movement <= 0 {
            return best;
        }
        for (near, left) in self.steps(tile, movement, ignores_grass) {
            let (path, rest) = self.toward(near, goal, left, ignores_grass);
            if rest < best.1 {
                best = (std::iter::once(tile).chain(path).collect(), rest);
                if rest == 0 || rest == distance - movement {
                    break;
                }
            }
        }
        best
    }
}

/// The neighbours without an ant that cost at most `movement` to enter.
pub fn list_reachable_adjacent(state: &GameState, tile: Coord, movement: i64, ignores_grass: bool) -> Vec<Coord> {
    Ground::new(state).steps(tile, movement, ignores_grass).map(|(near, _)| near).collect()
}

/// Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
/// paths come more than once, since each step may be followed by staying. A queen's may leave her home.
pub fn list_all_movement_paths(state: &GameState, tile: Coord, movement: i64, ignores_grass: bool) -> Vec<Vec<Coord>> {
    Ground::new(state).paths(tile, movement, ignores_grass)
}

/// About what it costs to walk from one tile to another, grass at 2, ants not counted; none for no tile. Each tile is
/// looked at once, in the order found: the way that is found first through grass may not be the cheapest.
pub fn steps_to_reach(state: &GameState, from: Coord, to: Coord) -> Option<i64> {
    if !legal_coord(from) || !legal_coord(to) {
        return None;
    }
    let ground = Ground::new(state);
    let mut costs = [[None; BOARD_LENGTH as usize]; BOARD_LENGTH as usize];
    costs[from.x as usize][from.y as usize] = Some(0);
    let mut queue = vec![from];
    let mut next = 0;
    while next < queue.len() && queue[next] != to {
        let here = queue[next];
        next += 1;
        let spent = costs[here.x as usize][here.y as usize].unwrap_or(0);
        for near in beside(here) {
            let cost = spent + ground.cost(near);
            let known: &mut Option<i64> = &mut costs[near.x as usize][near.y as usize];
            if known.is_none() {
                queue.push(near);
            }
            *known = Some(known.map_or(cost, |known| known.min(cost)));
        }
    }
    costs[to.x as usize][to.y as usize]
}

/// The path that brings the ant on a tile nearest to another within `movement`, the first of equals. Each step is taken
/// for the distance alone, so that it may stay where a way round would help.
pub fn create_path_toward(state: &GameState, from: Coord, to: Coord, movement: i64) -> Vec<Coord> {
    let ignores_grass = get_ant_at(state, from).map_or(false, |ant| stats_of(ant.r#type).ignores_grass);
    Ground::new(state).toward(from, to, movement, ignores_grass).0
}

// Moves.

/// Whether a path keeps out of the two rows in the middle.
pub fn is_path_ok_for_queen(path: &[Coord]) -> bool {
    path.iter().all(|tile| tile.y != 4 && tile.y != 5)
}

/// A `MoveAnt` for every path of every ant of the player to move that has not moved yet.
pub fn list_all_movement_moves(state: &GameState) -> Vec<Move> {
    let ground = Ground::new(state);
    let mut moves = Vec::new();
    for ant in get_curr_player_inventory(state).ants.iter().filter(|ant| !ant.has_moved) {
        let stats = stats_of(ant.r#type);
        let paths = ground.paths(ant.coords, stats.movement, stats.ignores_grass).into_iter();
        let legal = paths.filter(|path| ant.r#type != AntType::Queen || is_path_ok_for_queen(path));
        moves.extend(legal.map(|path| Move { coord_list: Some(path), ..Move::new(MoveType::MoveAnt) }));
    }
    moves
}

/// A `Build` for every ant that the player to move can pay, if its anthill is free.
pub fn list_all_build_moves(state: &GameState) -> Vec<Move> {
    let own = get_curr_player_inventory(state);
    let hill = match anthill_of(own) {
        Some(hill) if get_ant_at(state, hill.coords).is_none() => hill.coords,
        _ => return Vec::new(),
    };
    let kinds = [AntType::Worker, AntType::Drone, AntType::Soldier, AntType::RSoldier].into_iter();
    let affordable = kinds.filter(|&kind| own.food_count >= stats_of(kind).cost);
    let build = |kind| Move { coord_list: Some(vec![hill]), build_type: Some(kind), ..Move::new(MoveType::Build) };
    affordable.map(build).collect()
}

/// All that the player to move may do: its ants' paths, what it can build, and `End`.
pub fn list_all_legal_moves(state: &GameState) -> Vec<Move> {
    let mut moves = list_all_movement_moves(state);
    moves.extend(list_all_build_moves(state));
    moves.push(Move::new(MoveType::End));
    moves
}

// Looking ahead.

/// A copy without `board`.
pub fn fastclone(state: &GameState) -> GameState {
    let GameState { phase, whose_turn, ref inventories, .. } = *state;
    GameState { phase, whose_turn, inventories: inventories.clone(), board: None }
}

/// About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
/// attacks the first enemy that it finds. `End` changes nothing.
pub fn get_next_state(state: &GameState, order: &Move) -> GameState {
    let mut after = fastclone(state);
    let me = after.whose_turn as usize;
    let enemies: Vec<Coord> = after.inventories[1 - me].ants.iter().map(|ant| ant.coords).collect();
    for hill in after.inventories[me].constrs.iter_mut().filter(|constr| constr.r#type == ConstructionType::Anthill) {
        if let (Some(left), true) = (hill.capture_health, enemies.contains(&hill.coords)) {
            hill.capture_health = Some(left - 1);
        }
    }
    let (from, to) = match order.coord_list.as_deref() {
        Some([from, .., to]) => (*from, *to),
        Some([tile]) => (*tile, *tile),
        _ => return after,
    };
    if let (MoveType::Build, Some(kind)) = (order.move_type, order.build_type) {
        let ids = after.inventories.iter().flat_map(|inventory| &inventory.ants).map(|ant| ant.id);
        let id = ids.max().unwrap_or(-1) + 1;
        let (player, stats) = (after.whose_turn, stats_of(kind));
        let ant =
            Ant { id, coords: from, r#type: kind, player, health: stats.health, carrying: false, has_moved: false };
        after.inventories[me].ants.push(ant);
        after.inventories[me].food_count -= stats.cost;
    } else if order.move_type == MoveType::MoveAnt {
        let under = get_constr_at(&after, to).map(|constr| (constr.r#type, constr.player));
        if let Some(index) = after.inventories[me].ants.iter().position(|ant| ant.coords == from) {
            let own = &mut after.inventories[me];
            let ant = &mut own.ants[index];
            ant.coords = to;
            ant.has_moved = false;
            let kind = ant.r#type;
            match under {
                Some((ConstructionType::Anthill | ConstructionType::Tunnel, Some(player)))
                    if ant.carrying && player == own.player =>
                {
                    ant.carrying = false;
                    own.food_count += 1;
                }
                Some((ConstructionType::Food, _)) if kind == AntType::Worker => ant.carrying = true,
                _ => {}
            }
            attack(&mut after.inventories[1 - me].ants, kind, to);
        }
    }
    after
}

fn attack(enemies: &mut Vec<Ant>, kind: AntType, from: Coord) {
    let stats = stats_of(kind);
    for tile in list_attackable(from, stats.range) {
        if let Some(index) = enemies.iter().position(|enemy| enemy.coords == tile) {
            enemies[index].health -= stats.attack;
            if enemies[index].health <= 0 {
                enemies.remove(index);
            }
            return;
        }
    }
}

/// As [`get_next_state`], for searches over several turns: an ant that moves has moved, and `End` passes the turn on. The
/// board is not turned: coordinates stay those of the player whose turn it was.
pub fn get_next_state_adversarial(state: &GameState, order: &Move) -> GameState {
    let mut after = get_next_state(state, order);
    let own = &mut after.inventories[state.whose_turn as usize].ants;
    if let (MoveType::MoveAnt, Some(Some(&to))) = (order.move_type, order.coord_list.as_ref().map(|path| path.last())) {
        if let Some(ant) = own.iter_mut().find(|ant| ant.coords == to) {
            ant.has_moved = true;
        }
    } else if order.move_type == MoveType::End {
        for ant in own {
            ant.has_moved = false;
        }
        after.whose_turn = 1 - after.whose_turn;
    }
    after
}

//! The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//!
//! A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
//! hexagon is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0).

use crate::aibg5::{Action, AttackedTile, EntityType, GameState, Player, Tile, TileType, ATTACK_RANGE, RADIUS};

/// A cell, or the way from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    pub q: i64,
    pub r: i64,
}

impl Cell {
    pub const fn new(q: i64, r: i64) -> Self {
        Self { q, r }
    }

    pub const fn plus(self, way: Cell) -> Self {
        Self { q: self.q + way.q, r: self.r + way.r }
    }
}

impl From<&Player> for Cell {
    fn from(player: &Player) -> Self {
        Self::new(player.q, player.r)
    }
}

impl From<&AttackedTile> for Cell {
    fn from(tile: &AttackedTile) -> Self {
        Self::new(tile.q, tile.r)
    }
}

pub const CENTRE: Cell = Cell::new(0, 0);

/// East, south-east, south-west, west, north-west, north-east.
pub const DIRECTIONS: [Cell; 6] =
    [Cell::new(1, 0), Cell::new(0, 1), Cell::new(-1, 1), Cell::new(-1, 0), Cell::new(0, -1), Cell::new(1, -1)];

/// Steps from one cell to the other; from `CENTRE`, the cell's ring.
pub fn distance(one: Cell, other: Cell) -> i64 {
    let (dq, dr) = (other.q - one.q, other.r - one.r);
    dq.abs().max(dr.abs()).max((dq + dr).abs())
}

pub fn is_on_board(cell: Cell) -> bool {
    distance(CENTRE, cell) <= RADIUS
}

/// The cells of the board at most so far from this one, row by row.
pub fn within(middle: Cell, steps: i64) -> Vec<Cell> {
    let offsets = (-steps..=steps).flat_map(|r| (-steps..=steps).map(move |q| Cell::new(q, r)));
    let near = offsets.filter(|&offset| distance(CENTRE, offset) <= steps);
    near.map(|offset| middle.plus(offset)).filter(|&cell| is_on_board(cell)).collect()
}

/// All cells, row by row.
pub fn cells() -> Vec<Cell> {
    within(CENTRE, RADIUS)
}

/// The neighbouring cells on the board, in the order of `DIRECTIONS`.
pub fn neighbours(cell: Cell) -> impl Iterator<Item = Cell> {
    DIRECTIONS.into_iter().map(move |way| cell.plus(way)).filter(|&beside| is_on_board(beside))
}

/// The cells of a ring around the centre, clockwise from (0, -radius).
pub fn ring(radius: i64) -> Vec<Cell> {
    if radius == 0 {
        return vec![CENTRE];
    }
    let mut cells = Vec::new();
    let mut cell = Cell::new(0, -radius);
    for way in DIRECTIONS {
        for _ in 0..radius {
            cells.push(cell);
            cell = cell.plus(way);
        }
    }
    cells
}

/// The cells strictly between, nearest first.
pub fn line_of_fire(shooter: Cell, target: Cell) -> Vec<Cell> {
    let steps = distance(shooter, target);
    let (dq, dr) = (target.q - shooter.q, target.r - shooter.r);
    (1..steps).map(|i| shooter.plus(rounded(dq * i, dr * i, steps))).collect()
}

/// The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected.
fn rounded(q: i64, r: i64, steps: i64) -> Cell {
    let exact = [q, r, -q - r];
    let near = exact.map(|part| (2 * part + steps).div_euclid(2 * steps));
    let errors = [0, 1, 2].map(|i| (near[i] * steps - exact[i]).abs());
    if errors[0] > errors[1] && errors[0] > errors[2] {
        return Cell::new(-near[1] - near[2], near[1]);
    }
    Cell::new(near[0], if errors[1] > errors[2] { -near[0] - near[2] } else { near[1] })
}

/// The answer that goes there.
pub fn go(cell: Cell) -> Action {
    Action::new(format!("move,{},{}", cell.q, cell.r))
}

/// The answer that shoots there.
pub fn attack(cell: Cell) -> Action {
    Action::new(format!("attack,{},{}", cell.q, cell.r))
}

/// What a call shows.
pub struct Board<'a> {
    /// Without the disqualified.
    pub players: Vec<&'a Player>,
    rows: &'a [Vec<Tile>],
}

impl<'a> Board<'a> {
    pub fn new(state: &'a GameState) -> Self {
        let players = [&state.player1, &state.player2, &state.player3, &state.player4];
        Self { players: players.into_iter().flatten().collect(), rows: &state.map.tiles }
    }

    /// None: disqualified.
    pub fn player(&self, index: i64) -> Option<&'a Player> {
        self.players.iter().find(|player| player.player_idx == index).copied()
    }

    pub fn player_on(&self, cell: Cell) -> Option<&'a Player> {
        self.players.iter().find(|&&player| Cell::from(player) == cell).copied()
    }

    /// `cell` is on the board.
    pub fn tile(&self, cell: Cell) -> &'a Tile {
        let column = cell.q - (-RADIUS).max(-RADIUS - cell.r);
        &self.rows[(cell.r + RADIUS) as usize][column as usize]
    }

    /// The type of the tile's entity.
    pub fn kind(&self, cell: Cell) -> EntityType {
        self.tile(cell).entity.r#type
    }

    /// Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board.
    pub fn may_enter(&self, cell: Cell) -> bool {
        if !is_on_board(cell) {
            return false;
        }
        let is_open = self.tile(cell).tile_type == TileType::Normal && self.kind(cell) != EntityType::Wormhole;
        is_open && self.player_on(cell).is_none()
    }

    /// A player, an asteroid or the boss is there; false off the board, too.
    pub fn is_target(&self, cell: Cell) -> bool {
        if !is_on_board(cell) {
            return false;
        }
        self.player_on(cell).is_some() || matches!(self.kind(cell), EntityType::Asteroid | EntityType::Boss)
    }

    /// The cell that an attack on `target` really hits; none if the attack is not legal.
    pub fn hit(&self, shooter: Cell, target: Cell) -> Option<Cell> {
        let is_in_range = is_on_board(shooter) && (1..=ATTACK_RANGE).contains(&distance(shooter, target));
        if !is_in_range || !self.is_target(target) {
            return None;
        }
        for cell in line_of_fire(shooter, target) {
            if self.is_target(cell) {
                return Some(cell);
            }
            if matches!(self.kind(cell), EntityType::Blackhole | EntityType::Wormhole) {
                return None;
            }
        }
        Some(target)
    }

    /// The cells that may be attacked, row by row.
    pub fn targets(&self, shooter: Cell) -> Vec<Cell> {
        within(shooter, ATTACK_RANGE).into_iter().filter(|&cell| self.hit(shooter, cell).is_some()).collect()
    }
}

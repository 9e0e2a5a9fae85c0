//! The state, laid out by tile.

use referee_kit::reantics::*;

const NEAR: i64 = 5; // an enemy is near when its y is at most this: our side and the middle

/// One value a tile: `tiles[x][y]`.
pub type Tiles<T> = [[T; BOARD_LENGTH as usize]; BOARD_LENGTH as usize];

pub struct Board<'a> {
    pub mine: &'a Inventory,
    pub theirs: &'a Inventory,
    constr: Tiles<Option<ConstructionType>>,
    ants: Tiles<bool>,
}

impl<'a> Board<'a> {
    pub fn new(state: &'a GameState) -> Self {
        let seat = state.whose_turn as usize;
        let mut board = Board {
            mine: &state.inventories[seat],
            theirs: &state.inventories[1 - seat],
            constr: Default::default(),
            ants: Default::default(),
        };
        for inventory in &state.inventories {
            for there in &inventory.constrs {
                *on(&mut board.constr, there.coords) = Some(there.r#type);
            }
            for there in &inventory.ants {
                *on(&mut board.ants, there.coords) = true;
            }
        }
        board
    }

    /// The construction's type, if one is there.
    pub fn at(&self, tile: Coord) -> Option<ConstructionType> {
        self.constr[tile.x as usize][tile.y as usize]
    }

    pub fn has_ant(&self, tile: Coord) -> bool {
        self.ants[tile.x as usize][tile.y as usize]
    }
}

pub fn on<T>(tiles: &mut Tiles<T>, tile: Coord) -> &mut T {
    &mut tiles[tile.x as usize][tile.y as usize]
}

pub fn is_queen(ant: &Ant) -> bool {
    ant.r#type == AntType::Queen
}

pub fn is_worker(ant: &Ant) -> bool {
    ant.r#type == AntType::Worker
}

pub fn is_fighter(ant: &Ant) -> bool {
    !is_queen(ant) && !is_worker(ant)
}

/// The tiles of these types of constructions.
pub fn find(constrs: &[Construction], types: &[ConstructionType]) -> Vec<Coord> {
    constrs.iter().filter(|constr| types.contains(&constr.r#type)).map(|constr| constr.coords).collect()
}

pub fn near_enemies(board: &Board) -> Vec<Coord> {
    board.theirs.ants.iter().map(|enemy| enemy.coords).filter(|tile| tile.y <= NEAR).collect()
}

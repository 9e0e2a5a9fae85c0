//! A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.
//!
//! A table is a list of rows, as `items` and `heatmap` are: [`at`] looks into it.

use crate::aiarena21::{Location, Map, Player, BIKE_STEPS, BLOCK_CHAR};

/// The distance of a cell to which no path leads.
pub const FAR: i64 = 1_000_000;

/// Made from the `game_map` of any call: it is the same throughout a match.
pub struct Grid {
    pub rows: i64,
    pub cols: i64,
    /// All free cells, row by row.
    pub free: Vec<Location>,
    cells: Vec<String>,
}

impl Grid {
    pub fn new(map: &Map) -> Self {
        let mut grid = Grid { rows: map.rows, cols: map.cols, free: Vec::new(), cells: map.cells.clone() };
        let cells = (0..map.rows).flat_map(|row| (0..map.cols).map(move |col| Location::new(row, col)));
        grid.free = cells.filter(|&cell| grid.is_free(cell)).collect();
        grid
    }

    /// False off the map, too.
    pub fn is_free(&self, cell: Location) -> bool {
        let is_on_map = (0..self.rows).contains(&cell.row) && (0..self.cols).contains(&cell.col);
        is_on_map && !self.cells[cell.row as usize][cell.col as usize..].starts_with(BLOCK_CHAR)
    }

    /// The free cells above, to the left, to the right and below.
    pub fn neighbours(&self, cell: Location) -> Vec<Location> {
        let Location { row, col } = cell;
        let around = [(row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col)];
        around.into_iter().map(Location::from).filter(|&beside| self.is_free(beside)).collect()
    }

    /// A table: how many steps each cell is from the nearest of `starts`, or FAR. A start that is not free counts for
    /// nothing.
    pub fn distances(&self, starts: &[Location]) -> Vec<Vec<i64>> {
        let mut table = vec![vec![FAR; self.cols as usize]; self.rows as usize];
        let mut queue: Vec<Location> = starts.iter().copied().filter(|&start| self.is_free(start)).collect();
        for cell in &queue {
            table[cell.row as usize][cell.col as usize] = 0;
        }
        let mut next = 0;
        while next < queue.len() {
            let cell = queue[next];
            next += 1;
            for beside in self.neighbours(cell) {
                if at(&table, beside) == FAR {
                    table[beside.row as usize][beside.col as usize] = at(&table, cell) + 1;
                    queue.push(beside);
                }
            }
        }
        table
    }

    /// A shortest path, both ends included; empty if there is none.
    pub fn path(&self, start: Location, target: Location) -> Vec<Location> {
        let steps = self.distances(&[start]);
        let mut path = Vec::new();
        let mut next = Some(target).filter(|&cell| self.is_free(cell) && at(&steps, cell) != FAR);
        while let Some(cell) = next {
            path.push(cell);
            next = self.neighbours(cell).into_iter().find(|&beside| at(&steps, beside) < at(&steps, cell));
        }
        path.reverse();
        path
    }

    /// Where `play_turn` may go, row by row; to stay is allowed.
    pub fn reach(&self, player: &Player) -> Vec<Location> {
        if player.portal_gun {
            return self.free.clone();
        }
        let steps = self.distances(&[player.location]);
        self.free.iter().copied().filter(|&cell| at(&steps, cell) <= speed(player)).collect()
    }
}

/// What the table says of the cell, which is on the map.
pub fn at<T: Copy>(table: &[Vec<T>], cell: Location) -> T {
    table[cell.row as usize][cell.col as usize]
}

/// How many steps it may take in a turn.
pub fn speed(player: &Player) -> i64 {
    if player.bike {
        BIKE_STEPS
    } else {
        1
    }
}

/// The cell as an answer: "row,col".
pub fn name(cell: Location) -> String {
    format!("{},{}", cell.row, cell.col)
}

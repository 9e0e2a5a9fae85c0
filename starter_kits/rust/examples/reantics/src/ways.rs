//! The quickest ways of one kind of ant from one tile to all others. A tile with an ant on it can be entered a turn
//! later at the earliest, so the part of a way that is walked in this turn is always free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use referee_kit::reantics::*;

use crate::board::{on, Board, Tiles};

const MOVES: [i64; AntType::ALL.len()] = [2, 2, 3, 2, 1]; // by type of ant

/// When an ant can be somewhere: after how many more ENDs, and how many of its moves it has then spent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    turns: i64,
    spent: i64,
}

const NEVER: Arrival = Arrival { turns: 1000, spent: 0 };

pub struct Ways<'a> {
    board: &'a Board<'a>,
    from: Coord,
    kind: AntType,
    arrival: Tiles<Arrival>,
    before: Tiles<Coord>,
}

impl<'a> Ways<'a> {
    pub fn new(board: &'a Board, from: Coord, kind: AntType) -> Self {
        let mut ways = Ways { board, from, kind, arrival: [[NEVER; 10]; 10], before: [[from; 10]; 10] };
        let here = Arrival { turns: 0, spent: 0 };
        *on(&mut ways.arrival, from) = here;
        let mut open = BinaryHeap::from([Reverse((here, from))]);
        while let Some(Reverse((arrival, tile))) = open.pop() {
            if ways.arrival(tile) < arrival {
                continue; // a quicker way was found meanwhile
            }
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                let next = Coord::new(tile.x + dx, tile.y + dy);
                if !ways.may_enter(next) {
                    continue;
                }
                let then = ways.enter(next, arrival);
                if then < ways.arrival(next) {
                    *on(&mut ways.arrival, next) = then;
                    *on(&mut ways.before, next) = tile;
                    open.push(Reverse((then, next)));
                }
            }
        }
        ways
    }

    pub fn arrival(&self, tile: Coord) -> Arrival {
        self.arrival[tile.x as usize][tile.y as usize]
    }

    /// All tiles where the ant can be in this turn, its own first.
    pub fn now(&self) -> Vec<Coord> {
        let tiles = (0..BOARD_LENGTH).flat_map(|x| (0..BOARD_LENGTH).map(move |y| Coord::new(x, y)));
        let others = tiles.filter(|&tile| tile != self.from && self.arrival(tile).turns == 0);
        std::iter::once(self.from).chain(others).collect()
    }

    /// This turn's part of the way to `to`, the ant's own tile first.
    pub fn path(&self, to: Coord) -> Vec<Coord> {
        let mut tiles = Vec::new();
        let mut tile = if self.arrival(to) < NEVER { to } else { self.from };
        while tile != self.from {
            if self.arrival(tile).turns == 0 {
                tiles.push(tile);
            }
            tile = self.before[tile.x as usize][tile.y as usize];
        }
        tiles.push(self.from);
        tiles.reverse();
        tiles
    }

    fn may_enter(&self, tile: Coord) -> bool {
        let board = 0..BOARD_LENGTH;
        board.contains(&tile.x)
            && board.contains(&tile.y)
            && !(self.kind == AntType::Queen && (4..=5).contains(&tile.y))
    }

    fn enter(&self, tile: Coord, before: Arrival) -> Arrival {
        let wades = !matches!(self.kind, AntType::Drone | AntType::RSoldier);
        let slow = wades && self.board.at(tile) == Some(ConstructionType::Grass);
        let cost = if slow { 2 } else { 1 };
        let moves = MOVES[self.kind as usize];
        if self.board.has_ant(tile) {
            return Arrival { turns: before.turns + 1, spent: cost };
        }
        if before.spent + cost <= moves {
            return Arrival { turns: before.turns, spent: before.spent + cost };
        }
        Arrival { turns: before.turns + 1, spent: cost.min(moves) }
    }
}

//! Duellist does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed;
//! shoots players and takes items, which is experience; and keeps out of the boss's next pattern.

mod schedule;

use std::collections::HashMap;

use referee_kit::aibg5::*;
use referee_kit::hexgrid::{attack, cells, distance, go, neighbours, Board, Cell, CENTRE};
use referee_kit::{Match, Value};
use schedule::{Schedule, DIRECT_RING};

const ROUNDS: i64 = 300; // how long a match is expected to be if nothing is said
const LEVEL_WORTH: i64 = 14; // points a turn: half of what a level brings, which must be reached first
const DETOUR: i64 = 3; // steps that it is worth going to keep out of a pattern
const HIT_XP: f64 = 30.0;
const KILL_XP: f64 = 100.0;
const EXPERIENCE_XP: f64 = 100.0;
const ASTEROID_XP: f64 = 20.0;
const KILL_SCORE: f64 = 50.0;

/// What can be done now, and how many points a turn it brings.
struct Turn<'a> {
    board: Board<'a>,
    me: &'a Player,
    here: Cell,
    struck: &'a [Cell],
    xp_worth: f64,
    turns: HashMap<Cell, i64>,  // to each cell that can be reached
    first: HashMap<Cell, Cell>, // the first cell of the way there
}

impl<'a> Turn<'a> {
    fn new(state: &'a GameState, index: i64, struck: &'a [Cell], rounds_left: i64) -> Self {
        let board = Board::new(state);
        let me = board.player(index).expect("who is asked is not disqualified");
        let grows = me.level < POWER.len() as i64;
        let xp_worth = if grows { (LEVEL_WORTH * rounds_left) as f64 / LEVEL_XP as f64 } else { 0.0 };
        Turn { board, me, here: me.into(), struck, xp_worth, turns: HashMap::new(), first: HashMap::new() }
    }

    fn best(mut self) -> Action {
        let mut worth = 0.0;
        let mut action = None;
        for target in self.board.targets(self.here) {
            let mut brings = self.worth_of_hitting(self.board.hit(self.here, target).unwrap_or(target));
            if self.struck.contains(&self.here) {
                brings -= self.me.power as f64; // with as much health the boss could be shot once more
            }
            if brings > worth {
                worth = brings;
                action = Some(attack(target));
            }
        }
        self.find_ways();
        for cell in cells() {
            let brings = self.turns.get(&cell).map_or(0.0, |&turns| self.worth_of_going(cell, turns));
            if brings > worth {
                worth = brings;
                action = Some(self.step(self.first[&cell]));
            }
        }
        action.unwrap_or_else(|| self.any_action())
    }

    fn worth_of_hitting(&self, cell: Cell) -> f64 {
        match (self.board.player_on(cell), self.shots_at(cell)) {
            (Some(player), _) if player.health <= self.me.power => (HIT_XP + KILL_XP) * self.xp_worth + KILL_SCORE,
            (Some(_), _) => HIT_XP * self.xp_worth,
            (None, 0) => self.me.power as f64, // the boss
            (None, shots) => ASTEROID_XP * self.xp_worth / shots as f64,
        }
    }

    /// For the item that is there, or to shoot the boss from there until the end.
    fn worth_of_going(&self, cell: Cell, turns: i64) -> f64 {
        let (mut worth, mut shots) = (0.0, 0);
        match self.board.kind(cell) {
            EntityType::Experience => worth = EXPERIENCE_XP * self.xp_worth / turns as f64,
            EntityType::Health => shots = (MAX_HEALTH[self.me.level as usize - 1] - self.me.health) / BOSS_POWER,
            _ => {}
        }
        if self.can_hit_boss(cell) {
            shots = shots.max((self.me.health - 1) / BOSS_POWER);
        }
        f64::max(worth, (shots * self.me.power) as f64 / (turns + shots) as f64)
    }

    fn can_hit_boss(&self, cell: Cell) -> bool {
        let hits_boss = |target| self.board.hit(cell, target).map(|hit| self.board.kind(hit)) == Some(EntityType::Boss);
        distance(CENTRE, cell) <= DIRECT_RING && neighbours(CENTRE).any(hits_boss)
    }

    /// Fills `turns` and `first`. A cell comes again when a quicker way to it is found.
    fn find_ways(&mut self) {
        let mut queue = vec![self.here];
        let mut next = 0;
        while next < queue.len() {
            let cell = queue[next];
            next += 1;
            let now = cell == self.here;
            for beside in neighbours(cell) {
                if !self.is_open(beside) {
                    continue;
                }
                let turns = self.turns.get(&cell).unwrap_or(&0) + self.turns_into(beside, now);
                if self.turns.get(&beside).map_or(true, |&known| turns < known) {
                    let first = if now { beside } else { self.first[&cell] };
                    self.turns.insert(beside, turns);
                    self.first.insert(beside, first);
                    queue.push(beside);
                }
            }
        }
    }

    /// A way may lead there. Asteroids can be shot.
    fn is_open(&self, cell: Cell) -> bool {
        let kind = self.board.kind(cell);
        kind == EntityType::Asteroid || (kind != EntityType::Blackhole && self.board.may_enter(cell))
    }

    fn turns_into(&self, cell: Cell, now: bool) -> i64 {
        let detour = if now && self.struck.contains(&cell) { DETOUR } else { 0 };
        1 + self.shots_at(cell) + detour
    }

    /// How many an asteroid takes, if there is one.
    fn shots_at(&self, cell: Cell) -> i64 {
        (self.board.tile(cell).entity.health.unwrap_or(0) + self.me.power - 1) / self.me.power
    }

    fn step(&self, cell: Cell) -> Action {
        if self.shots_at(cell) > 0 {
            attack(cell)
        } else {
            go(cell)
        }
    }

    /// A legal one, where there is one.
    fn any_action(&self) -> Action {
        match (neighbours(self.here).find(|&cell| self.board.may_enter(cell)), self.board.targets(self.here).first()) {
            (Some(free), _) => go(free),
            (None, Some(&target)) => attack(target),
            (None, None) => go(self.here),
        }
    }
}

struct Duellist {
    schedule: Schedule,
    rounds_left: i64,
}

impl AIBG5Bot for Duellist {
    fn new(info: Match) -> Self {
        let rounds = info.options.get("rounds").and_then(Value::as_i64);
        Duellist { schedule: Schedule::new(), rounds_left: rounds.unwrap_or(ROUNDS) }
    }

    fn do_action(&mut self, index: i64, state: GameState, _message: Option<String>) -> Action {
        self.schedule.watch(&state.boss.boss_attacked_tiles);
        self.rounds_left = 0.max(self.rounds_left - 1);
        Turn::new(&state, index, self.schedule.struck(), self.rounds_left).best()
    }
}

fn main() {
    run::<Duellist>("Duellist (Rust)");
}

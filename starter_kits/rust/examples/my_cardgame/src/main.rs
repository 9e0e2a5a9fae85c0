//! Your card game bot: it plays random legal actions as it stands; make it win. The types are in
//! `referee_kit::cardgame`.

use referee_kit::cardgame::*;
use referee_kit::{Match, Rng};

struct MyBot {
    luck: Rng,
    power_used: bool, // in this turn; the state does not tell
}

impl CardGameBot for MyBot {
    fn new(info: Match) -> Self {
        MyBot { luck: Rng::with_seed(info.seed), power_used: false }
    }

    fn play(&mut self, state: GameState) -> Action {
        let mut actions = self.legal(&state);
        let answer = actions.swap_remove(self.luck.usize(..actions.len()));
        self.power_used =
            answer.action == ActionType::HeroPower || (self.power_used && answer.action != ActionType::EndTurn);
        answer
    }
}

impl MyBot {
    /// All that may be done now. Target 0 is the enemy hero, 1 the first enemy minion.
    fn legal(&self, state: &GameState) -> Vec<Action> {
        let has_room = (state.player_target.len() as i64) < BOARD_SIZE + 1; // the hero is among them
        let targets = 0..state.opponent_target.len() as i64;
        let mut actions = vec![Action::new(ActionType::EndTurn)];
        let mut add = |action, arguments| actions.push(Action { action, arguments: Some(arguments) });
        if state.player_mana >= HERO_POWER_COST && !self.power_used {
            add(ActionType::HeroPower, vec![]);
        }
        for (index, card) in (0..).zip(&state.player_hand) {
            match card {
                Card::Minion(minion) if minion.cost <= state.player_mana && has_room => {
                    add(ActionType::PlaceMinion, vec![index])
                }
                Card::Spell(spell) if spell.cost <= state.player_mana => match spell.id {
                    CardId::ArcaneShot | CardId::Fireball | CardId::KillCommand => {
                        targets.clone().for_each(|target| add(ActionType::PlaySpell, vec![index, target]));
                    }
                    CardId::Hounds if !has_room => {}
                    _ if targets.end == 1 => {} // nobody but the hero
                    _ => add(ActionType::PlaySpell, vec![index]),
                },
                _ => {}
            }
        }
        for (source, minion) in (0..).zip(&state.player_target) {
            if matches!(minion, Target::Minion(minion) if minion.can_attack) {
                targets.clone().for_each(|target| add(ActionType::Attack, vec![source, target]));
            }
        }
        actions
    }
}

fn main() {
    run::<MyBot>("My card game bot");
}

//! Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
//! mana before it attacks: auras and charge help at once.

use referee_kit::cardgame::*;
use referee_kit::Match;

// Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
// hand for each mana that it costs are worth.
const STRENGTH: i64 = 10;
const EXISTENCE: i64 = 5;
const HERO_HEALTH: i64 = 4;
const MANA: i64 = 7;
const CUB_WORTH: i64 = 4 * STRENGTH + EXISTENCE;
const HOUND_WORTH: i64 = 2 * STRENGTH + EXISTENCE;

struct Trader {
    power_used: bool, // in this turn; the state does not tell
}

impl CardGameBot for Trader {
    fn new(_info: Match) -> Self {
        Trader { power_used: false }
    }

    fn play(&mut self, state: GameState) -> Action {
        let turn = Turn::new(&state, self.power_used);
        let answer = turn.lethal().unwrap_or_else(|| turn.best());
        self.power_used =
            answer.action == ActionType::HeroPower || (self.power_used && answer.action != ActionType::EndTurn);
        answer
    }
}

/// What an action gains, in points, and the action.
type Choice = (i64, Action);

/// What hurts the enemy hero for mana.
struct Burn {
    cost: i64,
    damage: i64,
    answer: Action,
}

/// What can be done now.
struct Turn<'a> {
    mana: i64,
    has_power: bool,
    hero_health: i64,
    hand: &'a [Card],
    own: Vec<&'a Minion>,
    enemies: Vec<&'a Minion>,
    room: i64,
}

impl<'a> Turn<'a> {
    fn new(state: &'a GameState, power_used: bool) -> Self {
        let own = minions(&state.player_target);
        Turn {
            mana: state.player_mana,
            has_power: !power_used && state.player_mana >= HERO_POWER_COST,
            hero_health: state.opponent_health,
            hand: &state.player_hand,
            room: BOARD_SIZE - own.len() as i64,
            own,
            enemies: minions(&state.opponent_target),
        }
    }

    /// The next step of a turn that kills for certain: what costs mana first, then all attacks.
    fn lethal(&self) -> Option<Action> {
        let attackers: Vec<_> = self.own.iter().filter(|minion| minion.can_attack).collect();
        let missing = self.hero_health - attackers.iter().map(|minion| minion.atk).sum::<i64>();
        if missing <= 0 {
            return Some(action(ActionType::Attack, &[attackers[0].zone_position, 0]));
        }
        let burn = self.burn();
        for chosen in 1..1 << burn.len() {
            let parts: Vec<_> = (0..burn.len()).filter(|bit| chosen >> bit & 1 == 1).map(|bit| &burn[bit]).collect();
            let cost: i64 = parts.iter().map(|part| part.cost).sum();
            let damage: i64 = parts.iter().map(|part| part.damage).sum();
            if cost <= self.mana && damage >= missing {
                return Some(parts[0].answer.clone());
            }
        }
        None
    }

    fn burn(&self) -> Vec<Burn> {
        let mut found = Vec::new();
        if self.has_power {
            found.push(Burn {
                cost: HERO_POWER_COST,
                damage: HERO_POWER_DAMAGE,
                answer: Action::new(ActionType::HeroPower),
            });
        }
        for (index, card) in (0..).zip(self.hand) {
            if let Card::Spell(spell) = card {
                let damage = self.damage(spell);
                if damage > 0 {
                    found.push(Burn { cost: spell.cost, damage, answer: action(ActionType::PlaySpell, &[index, 0]) });
                }
            }
        }
        found
    }

    /// What gains most, the first of several.
    fn best(&self) -> Action {
        for choices in [self.purchases(), self.attacks()] {
            let mut best = (0, Action::new(ActionType::EndTurn));
            for choice in choices {
                if choice.0 > best.0 {
                    best = choice;
                }
            }
            if best.0 > 0 {
                return best.1;
            }
        }
        Action::new(ActionType::EndTurn)
    }

    /// All that the mana buys.
    fn purchases(&self) -> Vec<Choice> {
        let mut found = Vec::new();
        if self.has_power {
            found.push((HERO_POWER_DAMAGE * HERO_HEALTH, Action::new(ActionType::HeroPower)));
        }
        for (index, card) in (0..).zip(self.hand) {
            match card {
                Card::Minion(minion) if minion.cost <= self.mana && self.room > 0 => {
                    found.push((worth(minion) - MANA * minion.cost, action(ActionType::PlaceMinion, &[index])));
                }
                Card::Spell(spell) if spell.cost <= self.mana => found.extend(self.castings(spell, index)),
                _ => {}
            }
        }
        found
    }

    fn castings(&self, spell: &Spell, index: i64) -> Vec<Choice> {
        let (price, count, damage) = (MANA * spell.cost, self.enemies.len() as i64, self.damage(spell));
        if damage > 0 {
            let gain = |enemy: &Minion| hurt(enemy, damage) - price;
            let cast = |enemy: &Minion| action(ActionType::PlaySpell, &[index, enemy.zone_position]);
            return self.enemies.iter().map(|enemy| (gain(enemy), cast(enemy))).collect();
        }
        if spell.id == CardId::DeadlyShot && count > 0 {
            let all: i64 = self.enemies.iter().map(|enemy| loss(enemy)).sum(); // it kills any of them
            return vec![(all / count - price, action(ActionType::PlaySpell, &[index]))];
        }
        if spell.id == CardId::Hounds && count > 0 && self.room > 0 {
            return vec![(count.min(self.room) * HOUND_WORTH - price, action(ActionType::PlaySpell, &[index]))];
        }
        vec![]
    }

    fn attacks(&self) -> Vec<Choice> {
        let mut found = Vec::new();
        for minion in self.own.iter().filter(|minion| minion.can_attack) {
            let source = minion.zone_position;
            found.push((minion.atk * HERO_HEALTH, action(ActionType::Attack, &[source, 0])));
            for enemy in &self.enemies {
                let gain = struck(enemy, minion) - struck(minion, enemy);
                found.push((gain, action(ActionType::Attack, &[source, enemy.zone_position])));
            }
        }
        found
    }

    /// What the spell does to one target; 0 where it is another kind of spell.
    fn damage(&self, spell: &Spell) -> i64 {
        match spell.id {
            CardId::ArcaneShot => 2,
            CardId::Fireball => 6,
            CardId::KillCommand if self.own.is_empty() => 3,
            CardId::KillCommand => 5,
            _ => 0,
        }
    }
}

fn action(action: ActionType, arguments: &[i64]) -> Action {
    Action { action, arguments: Some(arguments.to_vec()) }
}

fn minions(targets: &[Target]) -> Vec<&Minion> {
    let mut found = Vec::new();
    for target in targets {
        if let Target::Minion(minion) = target {
            found.push(minion);
        }
    }
    found
}

fn worth(minion: &Minion) -> i64 {
    STRENGTH * (minion.atk + minion.health) + EXISTENCE
}

/// What its owner loses when it dies: of a Highmane two cubs are left.
fn loss(minion: &Minion) -> i64 {
    worth(minion) - if minion.id == CardId::Highmane { 2 * CUB_WORTH } else { 0 }
}

/// What its owner loses by so much damage.
fn hurt(minion: &Minion, damage: i64) -> i64 {
    if damage >= minion.health {
        loss(minion)
    } else {
        STRENGTH * damage
    }
}

/// What its owner loses in a fight.
fn struck(minion: &Minion, by: &Minion) -> i64 {
    if by.poisonous {
        loss(minion)
    } else {
        hurt(minion, by.atk)
    }
}

fn main() {
    run::<Trader>("Trader (Rust)");
}

//! The card game (cardgame.md), as games/cardgame has it.

mod json;
mod rules;

use json::{list, object, Json};
use rules::{draw, win, Answers, Fault, Faults, Luck, Outcome, Rules, Turn};

const HERO_POWER: i64 = 0;
const PLACE_MINION: i64 = 1;
const PLAY_SPELL: i64 = 2;
const ATTACK: i64 = 3;
const END_TURN: i64 = 4;
const COBRA: i64 = 1;
const DEADLY_SHOT: i64 = 2;
const ARCANE_SHOT: i64 = 3;
const RHINO: i64 = 5;
const TIMBER_WOLF: i64 = 7;
const FIREBALL: i64 = 9;
const SCAVENGER: i64 = 11;
const KILL_COMMAND: i64 = 12;
const HOUNDS: i64 = 13;
const HIGHMANE: i64 = 14;
const ALPHA: i64 = 15;
const HOUND: i64 = 16;
const CUB: i64 = 17;
const BOARD_SIZE: usize = 7;
const HAND_SIZE: usize = 10;
const START_HEALTH: i64 = 30;
const MAX_MANA: i64 = 10;

/// Label, copies, cost, attack and health of each card. Health 0: a spell.
const PRINTS: [(&str, usize, i64, i64, i64); 18] = [
    ("Mole", 2, 1, 1, 3),
    ("Cobra", 2, 3, 2, 3),
    ("Deadly Shot", 2, 3, 0, 0),
    ("Arcane Shot", 1, 2, 0, 0),
    ("Hatchling", 1, 1, 1, 1),
    ("Rhino", 1, 5, 2, 5),
    ("Snapjaw", 2, 4, 2, 7),
    ("Timber Wolf", 2, 1, 1, 1),
    ("Raptor", 2, 2, 3, 2),
    ("Fireball", 1, 4, 0, 0),
    ("Ultrasaur", 2, 10, 7, 14),
    ("Scavenger", 1, 2, 2, 2),
    ("Kill Command", 1, 3, 0, 0),
    ("Hounds", 1, 3, 0, 0),
    ("Highmane", 2, 6, 6, 5),
    ("Alpha", 2, 2, 2, 2),
    ("Hound", 0, 1, 1, 1),
    ("Cub", 0, 2, 2, 2),
];

fn label(card: i64) -> &'static str {
    PRINTS[card as usize].0
}

fn cost(card: i64) -> i64 {
    PRINTS[card as usize].2
}

fn is_minion(card: i64) -> bool {
    PRINTS[card as usize].4 > 0
}

fn is_aimed(card: i64) -> bool {
    [ARCANE_SHOT, FIREBALL, KILL_COMMAND].contains(&card)
}

#[derive(Clone, Default)]
struct Placed {
    id: i64,
    damage: i64,
    growth: i64,
    turns_in_play: i64,
    attacks: i64,
}

impl Placed {
    fn new(id: i64) -> Placed {
        Placed { id, ..Placed::default() }
    }

    fn max_health(&self) -> i64 {
        PRINTS[self.id as usize].4 + self.growth
    }

    fn destroy(&mut self) {
        self.damage = self.max_health();
    }
}

#[derive(Default)]
struct Side {
    deck: Vec<i64>,
    hand: Vec<i64>,
    burnt: Vec<i64>,
    board: Vec<Placed>,
    health: i64,
    max_mana: i64,
    mana: i64,
    power_used: bool,
    fatigue: i64,
    timeouts: i64,
}

impl Side {
    fn read(json: &Json) -> Side {
        let placed = |values: &Json| {
            let values: Vec<i64> = values.items().iter().filter_map(Json::int).collect();
            let [id, damage, growth, turns_in_play, attacks] = values[..] else { panic!("a minion of {values:?}") };
            Placed { id, damage, growth, turns_in_play, attacks }
        };
        Side {
            deck: json.numbers("deck"),
            hand: json.numbers("hand"),
            burnt: json.numbers("burnt"),
            board: json.get("board").items().iter().map(placed).collect(),
            health: json.number("health"),
            max_mana: json.number("max_mana"),
            mana: json.number("mana"),
            power_used: json.truth("power_used"),
            fatigue: json.number("fatigue"),
            timeouts: json.number("timeouts"),
        }
    }

    /// Everything but the board.
    fn members(&self) -> Json {
        object([
            ("deck", list(self.deck.clone())),
            ("hand", list(self.hand.clone())),
            ("burnt", list(self.burnt.clone())),
            ("health", self.health.into()),
            ("max_mana", self.max_mana.into()),
            ("mana", self.mana.into()),
            ("power_used", self.power_used.into()),
            ("fatigue", self.fatigue.into()),
            ("timeouts", self.timeouts.into()),
        ])
    }

    fn sent(&self) -> Json {
        let mut json = self.members();
        let board = self.board.iter().map(|m| list([m.id, m.damage, m.growth, m.turns_in_play, m.attacks]));
        json.set("board", Json::List(board.collect()));
        json
    }

    fn attack_of(&self, index: usize) -> i64 {
        let minion = &self.board[index];
        let auras = (0..self.board.len()).filter(|&place| self.board[place].id != RHINO && self.reaches(place, index));
        PRINTS[minion.id as usize].3 + 2 * minion.growth + auras.count() as i64
    }

    fn reaches(&self, place: usize, index: usize) -> bool {
        match self.board[place].id {
            TIMBER_WOLF => place != index,
            ALPHA => place.abs_diff(index) == 1,
            RHINO => true,
            _ => false,
        }
    }

    fn ready(&self, index: usize) -> bool {
        let minion = &self.board[index];
        let rhino = self.board.iter().any(|other| other.id == RHINO);
        minion.attacks == 0 && (minion.turns_in_play > 0 || minion.id == HOUND || rhino)
    }

    fn hit(&mut self, target: usize, damage: i64) {
        if target == 0 {
            self.health = (self.health - damage).max(0);
        } else {
            self.board[target - 1].damage += damage;
        }
    }

    fn summon(&mut self, card: i64, count: usize) {
        let count = count.min(BOARD_SIZE - self.board.len());
        self.board.extend(vec![Placed::new(card); count]);
    }

    fn minion(&self, index: usize, own_turn: bool) -> Json {
        let m = &self.board[index];
        let buff = |card: i64, attack: i64, health: i64, charge: bool| {
            let id = ("id", card.into());
            object([id, ("atk", attack.into()), ("health", health.into()), ("charge", charge.into())])
        };
        let mut buffs: Vec<Json> = (0..m.growth).map(|_| buff(SCAVENGER, 2, 1, false)).collect();
        for (_, other) in self.board.iter().enumerate().filter(|&(place, _)| self.reaches(place, index)) {
            buffs.push(buff(other.id, i64::from(other.id != RHINO), 0, other.id == RHINO));
        }
        object([
            ("type", "minion".into()),
            ("id", m.id.into()),
            ("atk", self.attack_of(index).into()),
            ("health", (m.max_health() - m.damage).into()),
            ("max_health", m.max_health().into()),
            ("damaged", (m.damage > 0).into()),
            ("cost", cost(m.id).into()),
            ("poisonous", (m.id == COBRA).into()),
            ("buffs", Json::List(buffs)),
            ("turns_in_play", m.turns_in_play.into()),
            ("zone_position", (index + 1).into()),
            ("cant_attack", false.into()),
            ("powered_up", false.into()),
            ("can_attack", (own_turn && self.ready(index)).into()),
        ])
    }

    fn minions(&self, own_turn: bool) -> Vec<Json> {
        (0..self.board.len()).map(|index| self.minion(index, own_turn)).collect()
    }

    fn targets(&self, own_turn: bool) -> Json {
        let hero = object([
            ("type", "hero".into()),
            ("id", "HERO_05".into()),
            ("health", self.health.into()),
            ("damaged", (self.health < START_HEALTH).into()),
            ("dead", (self.health == 0).into()),
            ("zone_position", 0i64.into()),
        ]);
        Json::List([vec![hero], self.minions(own_turn)].concat())
    }
}

fn card_shown(card: i64, index: usize) -> Json {
    let place = Json::from(index + 1);
    if !is_minion(card) {
        let id = ("id", card.into());
        return object([("type", "spell".into()), id, ("cost", cost(card).into()), ("zone_position", place)]);
    }
    let alone = Side { board: vec![Placed::new(card)], ..Side::default() };
    let mut shown = alone.minion(0, false);
    shown.set("atk", PRINTS[card as usize].3.into());
    shown.set("buffs", Json::List(Vec::new()));
    shown.set("zone_position", place);
    shown
}

struct Position {
    phase: String, // start, play, end, over
    turn: i64,
    active: i64,
    sides: Vec<Side>,
    out: Vec<i64>,
    result: Option<Outcome>,
    timeouts_allowed: i64,
}

impl Position {
    fn read(json: &Json) -> Position {
        let reason = json.get("reason").text().map(str::to_owned);
        let result = reason.map(|reason| match json.number("best") {
            -1 => draw(&reason),
            seat => win(seat, &reason),
        });
        Position {
            phase: json.get("phase").text().unwrap_or("").to_owned(),
            turn: json.number("turn"),
            active: json.number("active"),
            sides: json.get("sides").items().iter().map(Side::read).collect(),
            out: json.numbers("out"),
            result,
            timeouts_allowed: json.number("timeouts_allowed"),
        }
    }

    fn sent(&self) -> Json {
        let best = self.result.as_ref().map(|outcome| match outcome.ranks {
            [1, 1] => -1i64,
            [1, _] => 0,
            _ => 1,
        });
        object([
            ("phase", (&self.phase).into()),
            ("turn", self.turn.into()),
            ("active", self.active.into()),
            ("sides", Json::List(self.sides.iter().map(Side::sent).collect())),
            ("out", list(self.out.clone())),
            ("best", best.into()),
            ("reason", self.result.as_ref().map(|outcome| &outcome.reason).into()),
            ("timeouts_allowed", self.timeouts_allowed.into()),
        ])
    }

    fn plays(&self, seat: i64) -> bool {
        self.phase == "play" && self.active == seat
    }

    /// The sides of a player and of the rival.
    fn pair(&mut self, player: i64) -> (&mut Side, &mut Side) {
        let [first, second] = &mut self.sides[..] else { panic!("there are two sides") };
        if player == 0 {
            (first, second)
        } else {
            (second, first)
        }
    }

    fn seen_by(&self, seat: i64) -> Json {
        let (side, rival) = (&self.sides[seat as usize], &self.sides[1 - seat as usize]);
        let hand = side.hand.iter().enumerate().map(|(index, &card)| card_shown(card, index));
        object([
            ("player_hand", Json::List(hand.collect())),
            ("player_target", side.targets(self.plays(seat))),
            ("opponent_target", rival.targets(false)),
            ("hero_health", side.health.into()),
            ("player_health", side.health.into()),
            ("opponent_health", rival.health.into()),
            ("player_mana", side.mana.into()),
            ("opponent_mana", rival.mana.into()),
            ("n_opponent_hand", rival.hand.len().into()),
        ])
    }

    fn owned(&self, seat: i64) -> Json {
        let side = &self.sides[seat as usize];
        let mut owned = side.members();
        owned.set("board", Json::List(side.minions(self.plays(seat))));
        owned.set("attacks", list(side.board.iter().map(|m| m.attacks)));
        owned
    }

    fn drawn(&self, seat: Option<i64>) -> String {
        let labels = |cards: &[i64]| or_dash(cards.iter().map(|&card| label(card).to_owned()).collect());
        let situation = match self.phase.as_str() {
            "start" => "both to start".to_owned(),
            "play" => format!("seat {} to play", self.active),
            _ => "over".to_owned(),
        };
        let mut lines = vec![format!("turn {}, {situation}", self.turn)];
        for (player, side) in (0i64..).zip(&self.sides) {
            let power = if side.power_used { ", power used" } else { "" };
            let fatigue = if side.fatigue > 0 { format!(", fatigue {}", side.fatigue) } else { String::new() };
            let (health, mana, max_mana) = (side.health, side.mana, side.max_mana);
            lines.push(format!("{player}: health {health}, mana {mana}/{max_mana}{power}{fatigue}"));
            let minions = side.board.iter().enumerate().map(|(index, m)| {
                let can = if self.plays(player) && side.ready(index) { "*" } else { "" };
                format!("{} {}/{}{can}", label(m.id), side.attack_of(index), m.max_health() - m.damage)
            });
            lines.push(format!("  board {}", or_dash(minions.collect())));
            let hand = seat.is_none() || seat == Some(player);
            let counted = |cards: &[i64]| format!("{} cards", cards.len());
            lines.push(format!("  hand  {}", if hand { labels(&side.hand) } else { counted(&side.hand) }));
            lines.push(format!("  deck  {}", if seat.is_none() { labels(&side.deck) } else { counted(&side.deck) }));
        }
        lines.join("\n")
    }
}

fn or_dash(words: Vec<String>) -> String {
    if words.is_empty() {
        "-".to_owned()
    } else {
        words.join(", ")
    }
}

// Answers.

fn in_brief(value: &Json) -> String {
    match value {
        Json::List(items) if items.is_empty() => "an empty list".to_owned(),
        Json::List(items) => format!("a list of {}", items.len()),
        Json::Object(_) => "an object".to_owned(),
        Json::Text(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

fn wanted(count: usize, place: &str, first: usize) -> String {
    if count == 0 {
        format!("{place} is empty")
    } else {
        format!("wanted {first}..{}", first + count - 1)
    }
}

fn index_of(value: &Json, what: &str) -> Result<i64, String> {
    value.int().ok_or_else(|| format!("the {what} is {}; wanted an integer", in_brief(value)))
}

fn target_of(value: &Json, enemies: usize) -> Result<usize, String> {
    let target = index_of(value, "target index")?;
    if (0..=enemies as i64).contains(&target) {
        return Ok(target as usize);
    }
    Err(format!("the target index is {}; wanted 0..{enemies}, 0 is the enemy hero", in_brief(value)))
}

/// An action with its two indices.
type Move = (i64, usize, usize);

fn read_move(side: &Side, rival: &Side, answer: &Json) -> Result<Move, String> {
    let [action, rest @ ..] = answer.items() else {
        return Err(format!("the answer is {}; wanted [action, [arguments]]", in_brief(answer)));
    };
    let arguments = rest.first().unwrap_or(&json::NOTHING);
    match action.int() {
        Some(END_TURN) => Ok((END_TURN, 0, 0)),
        Some(HERO_POWER) if side.power_used => Err("the hero power was used in this turn".to_owned()),
        Some(HERO_POWER) if side.mana < 2 => Err(format!("the hero power costs 2 mana; you have {}", side.mana)),
        Some(HERO_POWER) => Ok((HERO_POWER, 0, 0)),
        Some(ATTACK) => attack_move(side, rival, arguments),
        Some(action @ (PLACE_MINION | PLAY_SPELL)) => card_move(side, rival, action, arguments),
        _ => Err(format!(
            "the action is {}; wanted 0 hero power, 1 place minion, 2 play spell, 3 attack or 4 end turn",
            in_brief(action)
        )),
    }
}

fn card_move(side: &Side, rival: &Side, action: i64, arguments: &Json) -> Result<Move, String> {
    let first = if arguments.is_list() { arguments.items().first().unwrap_or(&json::NOTHING) } else { arguments };
    let index = index_of(first, "hand index")?;
    let Some(&card) = usize::try_from(index).ok().and_then(|index| side.hand.get(index)) else {
        return Err(format!("the hand index is {}; {}", in_brief(first), wanted(side.hand.len(), "your hand", 0)));
    };
    let (name, mana) = (label(card), side.mana);
    if action == PLACE_MINION && !is_minion(card) {
        return Err(format!("card {index} of your hand is {name}, a spell; action 1 places minions"));
    }
    if action == PLAY_SPELL && is_minion(card) {
        return Err(format!("card {index} of your hand is {name}, a minion; action 2 plays spells"));
    }
    if cost(card) > mana {
        return Err(format!("{name} costs {} mana; you have {mana}", cost(card)));
    }
    if (action == PLACE_MINION || card == HOUNDS) && side.board.len() >= BOARD_SIZE {
        return Err(format!("no room for {name}: your board is full"));
    }
    if action == PLAY_SPELL && is_aimed(card) {
        let [_, target, ..] = arguments.items() else {
            return Err(format!("{name} needs a target index; wanted [hand index, target index]"));
        };
        return Ok((action, index as usize, target_of(target, rival.board.len())?));
    }
    if action == PLAY_SPELL && rival.board.is_empty() {
        return Err(format!("{name} needs an enemy minion; there is none"));
    }
    Ok((action, index as usize, 0))
}

fn attack_move(side: &Side, rival: &Side, arguments: &Json) -> Result<Move, String> {
    let [first, second, ..] = arguments.items() else {
        return Err(format!("the arguments are {}; wanted [source index, target index]", in_brief(arguments)));
    };
    let source = index_of(first, "source index")?;
    if source == 0 {
        return Err("source index 0 is your hero, who cannot attack".to_owned());
    }
    let count = side.board.len();
    if !(1..=count as i64).contains(&source) {
        return Err(format!("the source index is {}; {}", in_brief(first), wanted(count, "your board", 1)));
    }
    let source = source as usize;
    if !side.ready(source - 1) {
        let minion = &side.board[source - 1];
        let attacked = minion.attacks > 0;
        let why = if attacked { "has attacked in this turn" } else { "has to wait for your next turn" };
        return Err(format!("your minion {source}, {}, {why}", label(minion.id)));
    }
    Ok((ATTACK, source, target_of(second, rival.board.len())?))
}

// Turns.

/// A position and its turn while they change.
struct Playing {
    position: Position,
    turn: Turn,
}

impl Playing {
    fn new(position: &Json) -> Playing {
        Playing { position: Position::read(position), turn: Turn::default() }
    }

    /// Asks the awaited seats.
    fn sent(mut self) -> Json {
        let position = &mut self.position;
        position.out.sort_unstable();
        self.turn.out.clone_from(&position.out);
        self.turn.result.clone_from(&position.result);
        self.turn.text = position.drawn(None);
        for seat in 0..2 {
            if position.phase == "start" {
                self.turn.ask(seat, "start", object([]));
            } else if position.plays(seat) {
                self.turn.ask(seat, "play", object([("state", position.seen_by(seat))]));
            } else if position.phase == "end" && !position.out.contains(&seat) {
                let victory = position.result.as_ref().is_some_and(|outcome| outcome.scores[seat as usize] == 1.0);
                self.turn.ask(seat, "end", object([("victory", victory.into())]));
            }
        }
        self.turn.sent(self.position.sent())
    }

    fn punish(&mut self, seat: i64, fault: &Fault, penalty: &str) {
        if fault.fatal() {
            self.position.out.push(seat);
        }
        self.turn.punish(seat, penalty);
    }

    fn finish(&mut self, outcome: Outcome) {
        self.position.result = Some(outcome);
        self.position.phase = if self.position.out.len() == 2 { "over" } else { "end" }.to_owned();
    }

    /// Ends the match when these seats have lost.
    fn walkover(&mut self, lost: &[i64], reason: &str) {
        self.finish(if lost.len() == 2 { draw("no_winner") } else { win(1 - lost[0], reason) });
    }

    fn started(&mut self, answers: Answers) {
        let faults: Vec<(i64, Fault)> =
            answers.into_iter().filter_map(|(seat, answer)| answer.err().map(|fault| (seat, fault))).collect();
        for (seat, fault) in &faults {
            self.punish(*seat, fault, "loses");
        }
        match faults.first() {
            Some((_, first)) => {
                let lost: Vec<i64> = faults.iter().map(|(seat, _)| *seat).collect();
                self.walkover(&lost, &first.kind);
            }
            None => {
                self.position.phase = "play".to_owned();
                self.begin_turn(self.position.active);
            }
        }
    }

    fn begin_turn(&mut self, player: i64) {
        let position = &mut self.position;
        position.turn += 1;
        position.active = player;
        for minion in position.sides.iter_mut().flat_map(|side| &mut side.board) {
            minion.turns_in_play += 1;
            minion.attacks = 0;
        }
        let side = &mut position.sides[player as usize];
        side.max_mana = MAX_MANA.min(side.max_mana + 1);
        side.mana = side.max_mana;
        side.power_used = false;
        if side.deck.is_empty() {
            side.fatigue += 1;
            side.health = (side.health - side.fatigue).max(0);
        } else {
            let card = side.deck.remove(0);
            if side.hand.len() < HAND_SIZE {
                side.hand.push(card)
            } else {
                side.burnt.push(card)
            }
        }
        if side.health == 0 {
            self.finish(win(1 - player, "fatigue"));
        }
    }

    fn play(&mut self, player: i64, answer: &Json, luck: &mut Luck) {
        let (side, rival) = self.position.pair(player);
        let (action, first, second) = match read_move(side, rival, answer) {
            Ok(found) => found,
            Err(detail) => {
                let fault = Fault { kind: "illegal".to_owned(), detail, answer: Json::Null };
                let penalty = self.cost(player, &fault);
                self.turn.refuse(player, &fault.detail, &penalty);
                return;
            }
        };
        match action {
            END_TURN => return self.begin_turn(1 - player),
            PLACE_MINION => {
                take(side, first);
                return;
            }
            HERO_POWER => {
                side.mana -= 2;
                side.power_used = true;
                rival.hit(0, 2);
            }
            PLAY_SPELL => cast(side, rival, first, second, luck),
            _ => fight(side, rival, first - 1, second),
        }
        self.bury(player);
    }

    /// What a fault in `play` costs.
    fn cost(&mut self, player: i64, fault: &Fault) -> String {
        let allowed = self.position.timeouts_allowed;
        let side = &mut self.position.sides[player as usize];
        let mut penalty = "turn ends".to_owned();
        if fault.kind == "timeout" {
            side.timeouts += 1;
            penalty += &format!(", time-out {} of {allowed}", side.timeouts);
        }
        if fault.fatal() || side.timeouts >= allowed {
            if fault.fatal() {
                self.position.out.push(player);
            }
            self.finish(win(1 - player, &fault.kind));
            return "loses".to_owned();
        }
        self.begin_turn(1 - player);
        penalty
    }

    fn bury(&mut self, player: i64) {
        let mut dead = Vec::new();
        for side in &mut self.position.sides {
            let (gone, left): (Vec<Placed>, Vec<Placed>) =
                side.board.drain(..).partition(|m| m.damage >= m.max_health());
            side.board = left;
            dead.push(gone);
        }
        if self.position.sides[1 - player as usize].health == 0 {
            return self.finish(win(player, "hero_dead"));
        }
        for (side, gone) in self.position.sides.iter_mut().zip(dead) {
            for card in gone.iter().map(|m| m.id) {
                for scavenger in side.board.iter_mut().filter(|m| m.id == SCAVENGER) {
                    scavenger.growth += 1;
                }
                if card == HIGHMANE {
                    side.summon(CUB, 2);
                }
            }
        }
    }
}

fn take(side: &mut Side, index: usize) -> i64 {
    let card = side.hand.remove(index);
    side.mana -= cost(card);
    if is_minion(card) {
        side.board.push(Placed::new(card));
    }
    card
}

fn cast(side: &mut Side, rival: &mut Side, index: usize, target: usize, luck: &mut Luck) {
    match take(side, index) {
        DEADLY_SHOT => {
            let victim = luck.below(rival.board.len());
            rival.board[victim].destroy();
        }
        HOUNDS => side.summon(HOUND, rival.board.len()),
        ARCANE_SHOT => rival.hit(target, 2),
        FIREBALL => rival.hit(target, 6),
        _ => rival.hit(target, if side.board.is_empty() { 3 } else { 5 }),
    }
}

fn fight(side: &mut Side, rival: &mut Side, index: usize, target: usize) {
    let attack = side.attack_of(index);
    let defence = if target > 0 { rival.attack_of(target - 1) } else { 0 };
    rival.hit(target, attack);
    let attacker = &mut side.board[index];
    attacker.damage += defence;
    attacker.attacks += 1;
    if target > 0 {
        let defender = &mut rival.board[target - 1];
        if attacker.id == COBRA {
            defender.destroy();
        }
        if defender.id == COBRA {
            attacker.destroy();
        }
    }
}

struct CardGame;

impl Rules for CardGame {
    const GAME: &'static str = "cardgame";
    const REQUESTS: &'static [&'static str] = &["view", "legal", "forfeit", "stop", "deal"];

    fn start(&self, options: &Json, luck: &mut Luck) -> Result<Json, String> {
        let mut sides = Vec::new();
        for hand in [3, 4] {
            let copies = (0i64..).zip(&PRINTS).flat_map(|(card, print)| vec![card; print.1]);
            let mut side = Side { deck: copies.collect(), health: START_HEALTH, ..Side::default() };
            luck.shuffle(&mut side.deck);
            side.hand = side.deck.drain(..hand).collect();
            sides.push(side);
        }
        let active = options.number("first");
        if active == 1 {
            sides.reverse();
        }
        let timeouts_allowed = options.number("timeouts");
        let (phase, out) = ("start".to_owned(), Vec::new());
        let position = Position { phase, turn: 0, active, sides, out, result: None, timeouts_allowed };
        Ok(Playing { position, turn: Turn::default() }.sent())
    }

    fn step(&self, position: &Json, answers: Answers, luck: &mut Luck) -> Json {
        let mut playing = Playing::new(position);
        match playing.position.phase.as_str() {
            "start" => playing.started(answers),
            "end" => {
                playing.position.phase = "over".to_owned();
                for (seat, answer) in answers {
                    if let Err(fault) = answer {
                        playing.punish(seat, &fault, "none");
                    }
                }
            }
            _ => match answers.into_iter().next().expect("a seat was called") {
                (player, Ok(answer)) => playing.play(player, &answer, luck),
                (player, Err(fault)) => {
                    let penalty = playing.cost(player, &fault);
                    playing.turn.punish(player, &penalty);
                }
            },
        }
        playing.sent()
    }

    fn view(&self, position: &Json, seat: Option<i64>) -> Json {
        let position = Position::read(position);
        match seat {
            Some(own) => object([("view", position.seen_by(own)), ("text", position.drawn(seat).into())]),
            None => {
                let players = Json::List(vec![position.owned(0), position.owned(1)]);
                let turn = ("turn", position.turn.into());
                object([("view", object([turn, ("active", position.active.into()), ("players", players)]))])
            }
        }
    }

    fn legal(&self, position: &Json, seat: i64) -> Vec<Json> {
        let mut position = Position::read(position);
        if position.phase != "play" {
            return vec![Json::Null];
        }
        let (side, rival) = position.pair(seat);
        let (targets, room) = (rival.board.len() + 1, side.board.len() < BOARD_SIZE);
        let action = |action: i64, indices: &[usize]| Json::List(vec![action.into(), list(indices.to_vec())]);
        let mut found = Vec::new();
        if side.mana >= 2 && !side.power_used {
            found.push(action(HERO_POWER, &[]));
        }
        let hand: Vec<(usize, i64)> = side.hand.iter().copied().enumerate().collect();
        let affordable = hand.iter().filter(|(_, card)| cost(*card) <= side.mana);
        for &(index, _) in affordable.clone().filter(|(_, card)| room && is_minion(*card)) {
            found.push(action(PLACE_MINION, &[index]));
        }
        for &(index, card) in affordable.filter(|(_, card)| !is_minion(*card)) {
            if is_aimed(card) {
                found.extend((0..targets).map(|target| action(PLAY_SPELL, &[index, target])));
            } else if targets > 1 && (card != HOUNDS || room) {
                found.push(action(PLAY_SPELL, &[index]));
            }
        }
        for index in (0..side.board.len()).filter(|&index| side.ready(index)) {
            found.extend((0..targets).map(|target| action(ATTACK, &[index + 1, target])));
        }
        found.push(action(END_TURN, &[]));
        found
    }

    fn forfeit(&self, position: &Json, faults: Faults) -> Json {
        let mut playing = Playing::new(position);
        for &seat in faults.keys() {
            playing.position.out.push(seat);
            playing.turn.punish(seat, "loses");
        }
        let lost = playing.position.out.clone();
        let first = faults.values().next().expect("a seat is lost");
        playing.walkover(&lost, &first.kind);
        playing.sent()
    }

    fn stop(&self, position: &Json, reason: &str) -> Json {
        let mut playing = Playing::new(position);
        playing.finish(draw(reason));
        playing.sent()
    }

    fn deal(&self, position: &Json, luck: &mut Luck) -> Json {
        let mut playing = Playing::new(position);
        for seat in 0..2 {
            let hand_too = playing.position.plays(1 - seat);
            let side = &mut playing.position.sides[seat as usize];
            let (hand, deck) = (if hand_too { side.hand.len() } else { 0 }, side.deck.len());
            let mut hidden = [&side.deck[..], &side.burnt[..], &side.hand[..hand]].concat();
            hidden.sort_unstable();
            luck.shuffle(&mut hidden);
            if hand_too {
                side.hand = hidden[..hand].to_vec();
            }
            side.deck = hidden[hand..hand + deck].to_vec();
            side.burnt = hidden[hand + deck..].to_vec();
        }
        playing.sent()
    }
}

fn main() {
    rules::run(CardGame);
}

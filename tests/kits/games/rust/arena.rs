//! What the Arena's games share: the flipped table (tictactoe.md, A4-B1), as games/arena.py has it.

use crate::json::{object, Json};
use crate::rules::{draw, win, Answers, Fault, Faults, Luck, Outcome, Rules, Turn};

const FLIP: &str = "(╯°□°)╯︵ ┻━┻";
pub const UNKNOWN_ACTION: &str = "unknown action type";
const OUT_OF_TIME: &str = "You ran out of time";

#[derive(Clone, Default)]
pub struct Position {
    pub board: Vec<char>,
    to_move: Option<i64>,
    pending: Option<i64>,
    reason: String,
    id: String,
    auto_flip: bool,
    pub columns: usize,
    pub rows: usize,
    pub inarow: usize,
}

impl Position {
    /// An empty board.
    pub fn new(columns: usize, rows: usize, inarow: usize) -> Position {
        Position { board: vec!['.'; columns * rows], columns, rows, inarow, ..Position::default() }
    }

    fn read(json: &Json) -> Position {
        let text = |name| json.get(name).text().unwrap_or("").to_owned();
        Position {
            board: text("board").chars().collect(),
            to_move: json.get("to_move").int(),
            pending: json.get("pending").int(),
            reason: text("reason"),
            id: text("id"),
            auto_flip: json.truth("auto_flip"),
            columns: json.number("columns") as usize,
            rows: json.number("rows") as usize,
            inarow: json.number("inarow") as usize,
        }
    }

    fn sent(&self) -> Json {
        object([
            ("board", self.shown().into()),
            ("to_move", self.to_move.into()),
            ("pending", self.pending.into()),
            ("reason", (&self.reason).into()),
            ("id", (&self.id).into()),
            ("auto_flip", self.auto_flip.into()),
            ("columns", self.columns.into()),
            ("rows", self.rows.into()),
            ("inarow", self.inarow.into()),
        ])
    }

    fn shown(&self) -> String {
        self.board.iter().collect()
    }

    /// The rows of the board.
    pub fn lines(&self) -> String {
        let rows: Vec<String> = self.board.chunks(self.columns).map(|row| row.iter().collect()).collect();
        rows.join("\n")
    }
}

/// One of the Arena's games.
pub trait Game {
    const NAME: &'static str;
    const SIDES: [&'static str; 2];
    const WINS: [&'static str; 2];
    const SIGNS: [char; 2];

    fn begin(&self, options: &Json) -> Result<Position, String>;
    fn malformed(&self, position: &Position, answer: &Json) -> Option<String>;
    fn forbidden(&self, position: &Position, answer: &Json) -> Option<String>;
    fn play(&self, position: &mut Position, player: i64, answer: &Json) -> Option<Outcome>;
    fn moves(&self, position: &Position) -> Vec<Json>;
    fn drawn(&self, position: &Position) -> String;
}

/// A member as the original's messages print it.
pub fn as_printed(answer: &Json, name: &str) -> String {
    match answer.member(name) {
        None => "undefined".to_owned(),
        Some(Json::Text(text)) => text.chars().take(100).collect(),
        Some(value) => value.to_string().chars().take(100).collect(),
    }
}

pub fn is(answer: &Json, name: &str, text: &str) -> bool {
    answer.get(name).text() == Some(text)
}

/// A position and its turn while they change.
struct Playing<'a, G: Game> {
    game: &'a G,
    position: Position,
    turn: Turn,
}

impl<G: Game> Playing<'_, G> {
    fn show(&mut self, player: i64, answer: &Json, alias: bool) {
        let mut shown = answer.clone();
        shown.set("player", G::SIDES[player as usize].into());
        if alias && is(answer, "action", "flipTable") {
            shown.set("action", FLIP.into());
        }
        self.turn.notice("event", shown, None);
    }

    fn finish(&mut self, outcome: Outcome) {
        let winner = match outcome.ranks {
            [1, 1] => "draw",
            [1, _] => G::SIDES[0],
            _ => G::SIDES[1],
        };
        self.turn.notice("event", object([("winner", winner.into())]), None);
        self.position.to_move = None;
        self.turn.result = Some(outcome);
    }

    fn flip(&mut self, winner: i64, reason: &str, answer: &Json) {
        self.show(winner, answer, true);
        self.finish(win(winner, &format!("FLIPPED: {reason}")));
    }

    fn rule(&mut self, player: i64, detail: &str, penalty: &str, given: bool) {
        if given {
            self.turn.punish(player, penalty);
        } else {
            self.turn.refuse(player, detail, penalty);
        }
    }

    fn lose(&mut self, player: i64, fault: &Fault, given: bool) {
        self.rule(player, &fault.detail, "loses", given);
        if fault.fatal() {
            self.turn.out.push(player);
        }
        self.flip(1 - player, &reason_of(fault), &flips());
    }

    /// An invalid move waits for the rival's flip. A second one, in answer to it, loses.
    fn refuse(&mut self, player: i64, answer: &Json, detail: &str, given: bool) {
        self.show(player, answer, !detail.split('\n').any(|reason| reason == UNKNOWN_ACTION));
        if self.position.pending.is_some() || self.position.auto_flip {
            self.rule(player, detail, "loses", given);
            self.flip(1 - player, detail, &flips());
        } else {
            self.rule(player, detail, "the rival may flip the table and win", given);
            self.position.pending = Some(player);
            self.position.reason = detail.to_owned();
            self.position.to_move = Some(1 - player);
        }
    }

    fn sent(mut self) -> Json {
        self.turn.text = self.game.drawn(&self.position);
        if let Some(seat) = self.position.to_move {
            self.turn.ask(seat, "play", object([("id", (&self.position.id).into())]));
            if let Some(pending) = self.position.pending {
                let sign = G::SIGNS[pending as usize];
                self.turn.text += &format!("\n{sign}'s invalid move waits for a flip");
            }
        }
        self.turn.sent(self.position.sent())
    }
}

fn flips() -> Json {
    object([("action", FLIP.into())])
}

fn reason_of(fault: &Fault) -> String {
    let detail = &fault.detail;
    if detail.starts_with("game already started") || detail.starts_with("didnt start game with ") {
        return detail.clone();
    }
    let words = match fault.kind.as_str() {
        "timeout" if detail.ends_with(&format!("\n{OUT_OF_TIME}")) => detail,
        "timeout" => OUT_OF_TIME,
        "protocol" => "protocol error",
        "illegal" => "invalid action",
        _ => "crashed",
    };
    words.to_owned()
}

pub struct Battle<G>(pub G);

impl<G: Game> Battle<G> {
    fn playing(&self, position: &Json) -> Playing<'_, G> {
        Playing { game: &self.0, position: Position::read(position), turn: Turn::default() }
    }

    fn refusal(&self, position: &Position, answer: &Json) -> Option<String> {
        if !answer.is_object() {
            return Some("the answer is not an object; wanted one with an action".to_owned());
        }
        if is(answer, "action", FLIP) || is(answer, "action", "flipTable") {
            let unasked = position.pending.is_none();
            return unasked.then(|| "You are not supposed to flip the table now".to_owned());
        }
        let malformed = self.0.malformed(position, answer);
        let forbidden = if malformed.is_none() { self.0.forbidden(position, answer) } else { None };
        if position.pending.is_none() {
            return malformed.or(forbidden);
        }
        let late = Some("You should have flipped the table now".to_owned());
        Some([malformed, late, forbidden].into_iter().flatten().collect::<Vec<_>>().join("\n"))
    }
}

impl<G: Game> Rules for Battle<G> {
    const GAME: &'static str = G::NAME;
    const REQUESTS: &'static [&'static str] = &["view", "legal", "forfeit", "stop"];

    fn start(&self, options: &Json, luck: &mut Luck) -> Result<Json, String> {
        let mut position = self.0.begin(options)?;
        let d = format!("{:016x}{:016x}", luck.bits(), luck.bits());
        let variant = "89ab".as_bytes()[usize::from_str_radix(&d[16..17], 16).expect("a digit") & 3] as char;
        position.id = format!("{}-{}-4{}-{}{}-{}", &d[..8], &d[8..12], &d[13..16], variant, &d[17..20], &d[20..]);
        position.to_move = Some(0);
        position.auto_flip = is(options, "flip", "auto");
        let mut playing = Playing { game: &self.0, position, turn: Turn::default() };
        for seat in 0..2 {
            let greeting = [("youAre", G::SIDES[seat as usize].into()), ("id", (&playing.position.id).into())];
            playing.turn.notice("event", object(greeting), Some(seat));
        }
        Ok(playing.sent())
    }

    fn step(&self, position: &Json, answers: Answers, _luck: &mut Luck) -> Json {
        let mut playing = self.playing(position);
        let (player, answer) = answers.into_iter().next().expect("a seat was called");
        match answer {
            Err(fault) if fault.answer.is_object() => playing.refuse(player, &fault.answer, &fault.detail, true),
            Err(fault) => playing.lose(player, &fault, true),
            Ok(answer) => match self.refusal(&playing.position, &answer) {
                Some(detail) if answer.is_object() => playing.refuse(player, &answer, &detail, false),
                Some(detail) => {
                    let fault = Fault { kind: "illegal".to_owned(), detail, answer: Json::Null };
                    playing.lose(player, &fault, false);
                }
                None if playing.position.pending.is_some() => {
                    let reason = playing.position.reason.clone();
                    playing.flip(player, &reason, &answer);
                }
                None => {
                    playing.show(player, &answer, true);
                    playing.position.to_move = Some(1 - player);
                    if let Some(outcome) = self.0.play(&mut playing.position, player, &answer) {
                        playing.finish(outcome);
                    }
                }
            },
        }
        playing.sent()
    }

    fn view(&self, position: &Json, seat: Option<i64>) -> Json {
        let position = Position::read(position);
        let side = |of: Option<i64>| Json::from(of.map(|seat| G::SIDES[seat as usize]));
        let mut view = object([
            ("board", position.shown().into()),
            ("to_move", side(position.to_move)),
            ("pending", side(position.pending)),
        ]);
        if seat.is_none() {
            view.set("pending_reason", position.reason.into());
        }
        object([("view", view)])
    }

    fn legal(&self, position: &Json, _seat: i64) -> Vec<Json> {
        let position = Position::read(position);
        if position.pending.is_some() {
            vec![flips()]
        } else {
            self.0.moves(&position)
        }
    }

    fn forfeit(&self, position: &Json, faults: Faults) -> Json {
        let mut playing = self.playing(position);
        for &seat in faults.keys() {
            playing.turn.out.push(seat);
            playing.turn.punish(seat, "loses");
        }
        if faults.len() == 2 {
            playing.finish(draw("no_winner"));
        } else if let Some((loser, fault)) = faults.iter().next() {
            playing.flip(1 - loser, &reason_of(fault), &flips());
        }
        playing.sent()
    }

    fn stop(&self, position: &Json, reason: &str) -> Json {
        let mut playing = self.playing(position);
        playing.finish(draw(reason));
        playing.sent()
    }
}

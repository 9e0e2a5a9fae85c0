//! The conversation of SPEC.md, part two, in JSON lines.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use crate::json::{list, object, Json};

/// The luck of one step: SplitMix64.
pub struct Luck(u64);

impl Luck {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[allow(dead_code)] // not every game draws
    pub fn below(&mut self, n: usize) -> usize {
        let spare = (1u128 << 64) % n as u128;
        loop {
            let value = u128::from(self.bits());
            if value < (1u128 << 64) - spare {
                return (value % n as u128) as usize;
            }
        }
    }

    #[allow(dead_code)]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[derive(Clone)]
pub struct Fault {
    pub kind: String,
    pub detail: String,
    #[allow(dead_code)] // the card game shows it to nobody
    pub answer: Json,
}

impl Fault {
    pub fn fatal(&self) -> bool {
        !["timeout", "error", "illegal"].contains(&self.kind.as_str())
    }
}

/// The answer of a seat, or what stands for it.
pub type Answers = BTreeMap<i64, Result<Json, Fault>>;
pub type Faults = BTreeMap<i64, Fault>;

/// How a match ended, in the order of the seats.
#[derive(Clone)]
pub struct Outcome {
    pub ranks: [i64; 2],
    pub scores: [f64; 2],
    pub reason: String,
}

pub fn win(seat: i64, reason: &str) -> Outcome {
    let reason = reason.to_owned();
    if seat == 0 {
        Outcome { ranks: [1, 2], scores: [1.0, 0.0], reason }
    } else {
        Outcome { ranks: [2, 1], scores: [0.0, 1.0], reason }
    }
}

pub fn draw(reason: &str) -> Outcome {
    Outcome { ranks: [1, 1], scores: [0.5, 0.5], reason: reason.to_owned() }
}

/// What follows from a position.
#[derive(Default)]
pub struct Turn {
    calls: Vec<(String, Json)>,
    notices: Vec<Json>,
    rulings: Vec<Json>,
    pub out: Vec<i64>,
    pub result: Option<Outcome>,
    pub text: String,
}

impl Turn {
    pub fn ask(&mut self, seat: i64, method: &str, params: Json) {
        self.calls.push((seat.to_string(), object([("method", method.into()), ("params", params)])));
    }

    #[allow(dead_code)] // the card game tells nothing
    pub fn notice(&mut self, method: &str, params: Json, to: Option<i64>) {
        let mut notice = object([("method", method.into()), ("params", params)]);
        if let Some(seat) = to {
            notice.set("to", list([seat]));
        }
        self.notices.push(notice);
    }

    pub fn refuse(&mut self, seat: i64, detail: &str, penalty: &str) {
        self.punish(seat, penalty);
        let ruling = self.rulings.last_mut().expect("it was just made");
        ruling.set("kind", "illegal".into());
        ruling.set("detail", detail.into());
    }

    pub fn punish(&mut self, seat: i64, penalty: &str) {
        let after = self.notices.len();
        self.rulings.push(object([("seat", seat.into()), ("penalty", penalty.into()), ("after", after.into())]));
    }

    pub fn sent(self, position: Json) -> Json {
        let mut turn = object([
            ("position", position),
            ("calls", Json::Object(self.calls)),
            ("notices", Json::List(self.notices)),
            ("rulings", Json::List(self.rulings)),
            ("out", list(self.out)),
            ("text", self.text.into()),
        ]);
        if let Some(Outcome { ranks, scores, reason }) = self.result {
            let result = object([("ranks", list(ranks)), ("scores", list(scores)), ("reason", reason.into())]);
            turn.set("result", result);
        }
        turn
    }
}

/// The rules of a game. A turn comes with its position; an error of `start` says what is wrong with the options.
pub trait Rules {
    const GAME: &'static str;
    const REQUESTS: &'static [&'static str];

    fn start(&self, options: &Json, luck: &mut Luck) -> Result<Json, String>;
    fn step(&self, position: &Json, answers: Answers, luck: &mut Luck) -> Json;
    fn view(&self, position: &Json, seat: Option<i64>) -> Json;
    fn legal(&self, position: &Json, seat: i64) -> Vec<Json>;
    fn forfeit(&self, position: &Json, faults: Faults) -> Json;
    fn stop(&self, position: &Json, reason: &str) -> Json;
    fn deal(&self, _position: &Json, _luck: &mut Luck) -> Json {
        Json::Null
    }
}

/// Serves the rules until the referee ends the program.
pub fn run<R: Rules>(rules: R) {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request = Json::parse(&line.expect("the referee writes UTF-8")).expect("the referee writes JSON");
        if *request.get("method") == Json::from("exit") {
            return;
        }
        let (member, value) = match answer(&rules, request.get("method").text().unwrap_or(""), request.get("params")) {
            Ok(result) => ("result", result),
            Err((code, message)) => ("error", object([("code", code.into()), ("message", message.into())])),
        };
        let answer = object([("jsonrpc", "2.0".into()), ("id", request.get("id").clone()), (member, value)]);
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return; // the referee is gone
        }
    }
}

fn answer<R: Rules>(rules: &R, method: &str, params: &Json) -> Result<Json, (i64, String)> {
    let luck = &mut Luck(u64::from_str_radix(params.get("luck").text().unwrap_or("0"), 16).unwrap_or(0));
    let position = params.get("position");
    match method {
        "initialize" => Ok(object([
            ("name", R::GAME.into()),
            ("encoding", "json".into()),
            ("requests", list(R::REQUESTS.iter().copied())),
        ])),
        "start" => rules.start(params.get("options"), luck).map_err(|words| (-32602, words)),
        "step" => {
            let given = params.get("answers").members().iter();
            let mut answers: Answers = given.map(|(seat, value)| (seat_of(seat), Ok(value.clone()))).collect();
            answers.extend(faults(params).into_iter().map(|(seat, fault)| (seat, Err(fault))));
            Ok(rules.step(position, answers, luck))
        }
        "view" => Ok(rules.view(position, params.get("seat").int())),
        "legal" => {
            let mut answers = rules.legal(position, params.number("seat"));
            answers.truncate(params.number("most") as usize);
            Ok(Json::List(answers))
        }
        "forfeit" => Ok(rules.forfeit(position, faults(params))),
        "stop" => Ok(rules.stop(position, params.get("reason").text().unwrap_or(""))),
        "deal" if R::REQUESTS.contains(&"deal") => Ok(rules.deal(position, luck)),
        _ => Err((-32601, format!("unknown request {method}"))),
    }
}

fn seat_of(name: &str) -> i64 {
    name.parse().expect("seats are numbers")
}

fn faults(params: &Json) -> Faults {
    let members = params.get("faults").members().iter();
    members
        .map(|(seat, fault)| {
            let text = |name| fault.get(name).text().unwrap_or("").to_owned();
            (seat_of(seat), Fault { kind: text("kind"), detail: text("detail"), answer: fault.get("answer").clone() })
        })
        .collect()
}

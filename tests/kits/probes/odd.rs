//! Tells what it knows, and fails in the ways of a program in Rust.

use referee_kit::{json, run, Bot, Error, Match, Params, Value};
use std::io::Read;
use std::process::Command;

struct Odd(Match, usize);

impl Bot for Odd {
    const GAME: &'static str = "odd";
    const VERSION: &'static str = "2.1";

    fn new(info: Match) -> Self {
        assert!(info.seat != 7, "no seat {}", info.seat);
        Odd(info, 0)
    }

    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error> {
        self.1 += 1;
        let (m, l) = (&self.0, &self.0.limits);
        match method {
            "match" => Ok(json!([
                m.game, m.seat, m.names, m.options["deep"], l.startup_ms, l.call_ms, l.processes, l.scratch_bytes, m.seed
            ])),
            "alive" => Ok(json!(self.1)),
            "error" => Ok(json!("x".parse::<i64>()?)),
            "index" => Ok(json!([1][params.get::<usize>("at").unwrap_or(3)])),
            "missing" => Ok(json!(params.get::<usize>("at")?)),
            "number" => std::panic::panic_any(5),
            "stdin" => Ok(json!(std::io::stdin().read(&mut [0])?)),
            "child" => {
                Ok(json!(Command::new("sh").args(["-c", "echo a child; ls /dev/fd/ | wc -l"]).status()?.code()))
            }
            _ => Err(Error::UnknownMethod(method.to_owned())),
        }
    }

    fn notice(&mut self, method: &str, _params: &Params) -> Result<(), Error> {
        panic!("in {method}");
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        println!("dropped seat {}", self.0.seat);
    }
}

fn main() {
    print!("early "); // a whole line would be on the wire
    run::<Odd>("Odd");
}

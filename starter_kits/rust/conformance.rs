//! The bot that shows that the library keeps the wire's rules: it plays the pseudo-game "conformance", whose methods
//! are the cases of protocol/vectors.

use referee_kit::{run, sent, Bot, Error, Match, Params, Value};

struct Conformance {
    info: Match,
    notes: Vec<Value>,
}

impl Bot for Conformance {
    const GAME: &'static str = "conformance";

    fn new(info: Match) -> Self {
        Conformance { info, notes: Vec::new() }
    }

    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error> {
        match method {
            "echo" => params.get("value"),
            "fail" => Err(params.get::<String>("message")?.into()),
            "print" => {
                println!("{}", params.get::<String>("text")?);
                Ok(Value::Null)
            }
            "nothing" => Ok(Value::Null),
            "notes" => sent(std::mem::take(&mut self.notes)),
            "clock" => sent(self.info.clock()),
            _ => Err(Error::UnknownMethod(method.to_owned())),
        }
    }

    fn notice(&mut self, method: &str, params: &Params) -> Result<(), Error> {
        if method == "note" {
            self.notes.push(params.get("value")?);
        }
        Ok(())
    }
}

fn main() {
    run::<Conformance>("conformance");
}

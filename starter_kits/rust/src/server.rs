//! Answers the referee until it says `exit` or goes away.

use std::any::Any;
use std::collections::HashMap;
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::exit;

use serde::Serialize;

use crate::pipes::{self, Pipes};
use crate::wire::{Encoding, Params, Raw, Reader};
use crate::{json, Bot, Error, Match, Value};

/// Plays with bots of type `B`, a new one for each match, until the referee ends the program.
pub fn run<B: Bot + 'static>(name: &str) -> ! {
    serve(Program { name, version: B::VERSION, game: B::GAME, fresh: |info| Box::new(B::new(info)) })
}

/// What a program is: from here on nothing is compiled for each bot anew.
struct Program<'a> {
    name: &'a str,
    version: &'static str,
    game: &'static str,
    fresh: fn(Match) -> Box<dyn Playing>,
}

/// A `Bot` of whatever type.
trait Playing {
    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error>;
    fn notice(&mut self, method: &str, params: &Params) -> Result<(), Error>;
}

impl<B: Bot> Playing for B {
    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error> {
        Bot::answer(self, method, params)
    }

    fn notice(&mut self, method: &str, params: &Params) -> Result<(), Error> {
        Bot::notice(self, method, params)
    }
}

#[inline(never)]
fn serve(program: Program) -> ! {
    let server = Server { program, playing: None, agreed: None };
    match pipes::take().map_err(Error::from).and_then(|pipes| server.serve(pipes)) {
        Ok(()) => exit(0),
        Err(error) => {
            say(&format!("not a frame of the protocol: {error}"));
            exit(1)
        }
    }
}

struct Server<'a> {
    program: Program<'a>,
    playing: Option<(Match, Box<dyn Playing>)>,
    /// From the first match on, as long as the process lives.
    agreed: Option<Encoding>,
}

/// An answer. Just one of `result` and `error` is there.
#[derive(Serialize)]
struct Answer {
    jsonrpc: &'static str,
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[derive(Serialize)]
struct Failure {
    code: i32,
    message: String,
}

impl Server<'_> {
    /// Returns at the end of the matches. The error is a frame that is none.
    fn serve(mut self, Pipes { input, mut output }: Pipes) -> Result<(), Error> {
        let mut reader = Reader::new(input);
        loop {
            let encoding = self.agreed.unwrap_or(Encoding::Json);
            let Message { method, id, params } = match reader.next(encoding) {
                Some(frame) => Message::read(frame)?,
                None => break,
            };
            if method == "exit" {
                break;
            }
            match id {
                None => drop(attempt(&method, || self.notice(&method, params))),
                Some(id) => {
                    let (result, error) = match attempt(&method, || self.answer(&method, params)) {
                        Ok(result) => (Some(result), None),
                        Err(failure) => (None, Some(failure)),
                    };
                    let frame = encoding.encode(&Answer { jsonrpc: "2.0", id, result, error })?;
                    if output.write_all(&frame).is_err() {
                        break; // the referee is gone
                    }
                }
            }
        }
        let last = self.playing;
        let _ = attempt("exit", || {
            drop(last);
            Ok(())
        });
        Ok(())
    }

    fn answer(&mut self, method: &str, params: Raw) -> Result<Value, Error> {
        let params = Params::new(params)?;
        if method == "initialize" {
            return self.initialize(&params);
        }
        let (info, bot) = self.playing.as_mut().ok_or_else(|| format!("{method} came before initialize"))?;
        info.set_clock(params.optional("clock").unwrap_or_default());
        bot.answer(method, &params)
    }

    fn notice(&mut self, method: &str, params: Raw) -> Result<(), Error> {
        match &mut self.playing {
            Some((_, bot)) => bot.notice(method, &Params::new(params)?),
            None => Ok(()),
        }
    }

    fn initialize(&mut self, params: &Params) -> Result<Value, Error> {
        let protocol = params.optional("protocol").unwrap_or(json!(1));
        if protocol != 1 {
            return Err(format!("protocol {protocol} is unknown here; this is 1").into());
        }
        let info: Match = params.whole()?;
        if info.game != self.program.game {
            return Err(format!("this bot plays {}, not {}", self.program.game, info.game).into());
        }
        let encoding = match self.agreed {
            Some(encoding) => encoding,
            None => choose(params.optional("encodings"))?,
        };
        self.playing = None; // the last match's bot ends before the next begins
        #[cfg(feature = "reantics")]
        crate::ants::follow(&info);
        self.playing = Some((info.clone(), (self.program.fresh)(info)));
        self.agreed = Some(encoding);
        let Program { name, version, .. } = self.program;
        Ok(json!({"name": name, "version": version, "encoding": encoding.name(), "reuse": true}))
    }
}

/// The first of the offered encodings that is spoken here.
fn choose(offered: Option<Vec<String>>) -> Result<Encoding, Error> {
    let offered = offered.unwrap_or_else(|| vec!["json".to_owned()]);
    let spoken = offered.iter().find_map(|name| Encoding::named(name));
    spoken.ok_or_else(|| format!("this bot speaks json and msgpack, and was offered {offered:?}").into())
}

/// A frame of the referee.
struct Message<'a> {
    method: String,
    id: Option<Value>,
    params: Raw<'a>,
}

impl<'a> Message<'a> {
    fn read(frame: Raw<'a>) -> Result<Self, Error> {
        let members: HashMap<String, Raw> = frame.members()?;
        let none: &[u8] = if frame.encoding == Encoding::Json { b"{}" } else { b"\x80" };
        Ok(Message {
            method: members.get("method").ok_or("it has no method")?.read()?,
            id: members.get("id").map(|id| id.read()).transpose()?,
            params: members.get("params").copied().unwrap_or(Raw { bytes: none, ..frame }),
        })
    }
}

/// What `work` gives, or the words of its error or its panic, which go to standard error too.
fn attempt<T>(method: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            say(&format!("{method}: {error}"));
            let code = if matches!(error, Error::UnknownMethod(_)) { -32601 } else { -32000 };
            Err(Failure { code, message: error.to_string() })
        }
        // Rust's own hook has said it already, with file and line.
        Err(panic) => Err(Failure { code: -32000, message: words(&*panic) }),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().cloned();
    words.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_else(|| "panicked".to_owned())
}

/// `eprintln!` would panic where standard error is closed.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

//! A bot in Rust: the wire is hidden, the games have types.
//!
//! A bot implements the trait of its game, such as [`reantics::ReAnticsBot`], and its `main` is
//! `run::<MyBot>("its name")`. Each game is a feature. This file is what a bot sees; `wire.rs` cuts and decodes frames, `server.rs` answers them,
//! `pipes.rs` keeps prints off the wire, `error.rs` is what can go wrong, `games/` is generated, `grid.rs` helps on the map of AI Arena 21.

#[cfg(feature = "reantics")]
pub mod ants;
mod error;
mod games;
#[cfg(feature = "aiarena21")]
pub mod grid;
#[cfg(feature = "aibg5")]
pub mod hexgrid;
mod pipes;
mod server;
#[cfg(all(test, feature = "reantics", feature = "tictactoe"))]
mod tests;
mod wire;

use std::sync::{Arc, Mutex};

/// For the bot's own luck: `Rng::with_seed(info.seed)`.
pub use fastrand::Rng;
#[allow(unused_imports)] // with no game
pub use games::*;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::Serialize;
pub use serde_json::{json, Value};
pub use server::run;
pub use wire::Params;

pub use error::Error;

/// The limits of a match; `None` is no such limit.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Limits {
    pub startup_ms: Option<u64>,
    pub call_ms: Option<u64>,
    /// In the opening, where it is another than later.
    pub opening_ms: Option<u64>,
    /// For a call after the result.
    pub closing_ms: Option<u64>,
    /// From exit to the program's end.
    pub exit_ms: Option<u64>,
    /// The bank of time that the bot starts with.
    pub initial_ms: Option<u64>,
    /// Added to it after every answer.
    pub increment_ms: Option<u64>,
    pub cpu_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    /// That live at a time.
    pub processes: Option<u64>,
    /// One frame of the bot's.
    pub frame_bytes: Option<u64>,
    /// Standard output in one call.
    pub call_output_bytes: Option<u64>,
    /// Standard error that is kept.
    pub stderr_bytes: Option<u64>,
    /// One file that is written.
    pub file_bytes: Option<u64>,
    /// All files in HOME together.
    pub scratch_bytes: Option<u64>,
}

/// The clock as a call shows it, in milliseconds; `None` is no such limit, or not known yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Clock {
    /// The limit of this call.
    pub call_ms: Option<u64>,
    /// What is left in the bank.
    pub remaining_ms: Option<u64>,
    /// What the previous call was charged.
    pub last_ms: Option<u64>,
    /// How many answers until the bank gets more; `None`: it will not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_left: Option<u64>,
}

/// The facts about the match, and the clock.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Match {
    pub game: String,
    /// The game's options, as an object.
    pub options: Value,
    /// 0 moves first.
    pub seat: usize,
    /// In the order of the seats.
    pub names: Vec<String>,
    pub limits: Limits,
    /// For the bot's own luck: the same match gives the same seed.
    pub seed: u64,
    #[serde(skip)]
    clock: Arc<Mutex<Clock>>,
}

impl Match {
    /// The clock of the call that is being answered; every clone of a match shows the same.
    pub fn clock(&self) -> Clock {
        *self.clock.lock().expect("nothing panics while it holds the clock")
    }

    fn set_clock(&self, clock: Clock) {
        *self.clock.lock().expect("nothing panics while it holds the clock") = clock;
    }
}

/// A bot for one match, untyped; the games' modules have typed ones. Each match gets a new one.
pub trait Bot: Sized {
    /// The game that it plays.
    const GAME: &'static str;
    /// What the referee is told beside the name.
    const VERSION: &'static str = "1";

    /// Begins a match.
    fn new(info: Match) -> Self;

    /// Answers a call. An error or a panic goes to the referee as this call's error.
    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Error>;

    /// Hears a notification; unknown ones are ignored.
    #[allow(unused_variables)]
    fn notice(&mut self, method: &str, params: &Params) -> Result<(), Error> {
        Ok(())
    }
}

/// A result as the values that JSON knows: a number that is none (NaN) becomes null.
pub fn sent<T: Serialize>(result: T) -> Result<Value, Error> {
    Ok(serde_json::to_value(result)?)
}

#[allow(dead_code)] // with no game
/// Reads a member that may be absent or null. A value of another type counts as absent too: some events show what a
/// rival sent, and a rival may send anything. `Option<Value>` tells null from absent.
fn optional<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(T::deserialize(value).ok())
}

/// A coordinate type: a pair of whole numbers, `[a, b]` on the wire.
#[allow(unused_macros)]
macro_rules! pair {
    ($(#[$doc:meta])* $name:ident($first:ident, $second:ident)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize)]
        #[serde(from = "(i64, i64)", into = "(i64, i64)")]
        pub struct $name {
            pub $first: i64,
            pub $second: i64,
        }

        impl $name {
            pub const fn new($first: i64, $second: i64) -> Self {
                Self { $first, $second }
            }
        }

        impl From<(i64, i64)> for $name {
            fn from(($first, $second): (i64, i64)) -> Self {
                Self { $first, $second }
            }
        }

        impl From<$name> for (i64, i64) {
            fn from(pair: $name) -> Self {
                (pair.$first, pair.$second)
            }
        }
    };
}
#[allow(unused_imports)]
use pair;

/// A choice among whole numbers: serde goes by way of these conversions.
#[allow(unused_macros)]
macro_rules! numbers {
    ($name:ident: $($option:ident),+) => {
        impl $name {
            /// All of them.
            pub const ALL: [Self; [$(Self::$option),+].len()] = [$(Self::$option),+];
        }

        impl TryFrom<i64> for $name {
            type Error = crate::Error;

            fn try_from(number: i64) -> Result<Self, crate::Error> {
                let found = Self::ALL.into_iter().find(|&option| option as i64 == number);
                found.ok_or_else(|| {
                    let known = Self::ALL.map(i64::from);
                    format!("{number} is no {}, which is one of {known:?}", stringify!($name)).into()
                })
            }
        }

        impl From<$name> for i64 {
            fn from(option: $name) -> i64 {
                option as i64
            }
        }
    };
}
#[allow(unused_imports)]
use numbers;

/// A choice among texts, of which serde makes functions that are not in a trait yet. Here they are, for texts alone:
/// serde would take `{"NW": null}` too, and in MessagePack a number for a place in the list.
#[allow(unused_macros)]
macro_rules! texts {
    ($name:ident: $($option:ident),+) => {
        impl $name {
            /// All of them.
            pub const ALL: [Self; [$(Self::$option),+].len()] = [$(Self::$option),+];

            /// What a value, such as an event's, says; none for anything else.
            pub fn of<'a>(shown: impl Into<Option<&'a crate::Value>>) -> Option<Self> {
                serde::Deserialize::deserialize(shown.into()?).ok()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                Self::deserialize(serde::de::IntoDeserializer::into_deserializer(text))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, to)
            }
        }
    };
}
#[allow(unused_imports)]
use texts;

//! What can go wrong in a bot, and in the kit.

use std::error::Error as StdError;
use std::fmt;

/// Why a call has no result: the referee gets this message.
///
/// `?` makes one of the errors of the standard library's parsers and files, of the two encodings and of texts;
/// `.map_err(Error::other)?` of any other.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bot does not know the method of this name.
    UnknownMethod(String),
    /// A frame, a parameter or a result that cannot be read or written.
    Wire(Box<dyn StdError + Send + Sync>),
    /// The bot's own.
    Other(Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// Any error, or words, as the bot's own.
    pub fn other(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::UnknownMethod(method) => write!(to, "unknown method {method}"),
            Self::Wire(error) | Self::Other(error) => error.fmt(to),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::UnknownMethod(_) => None,
            Self::Wire(error) | Self::Other(error) => Some(error.as_ref()),
        }
    }
}

macro_rules! from {
    ($variant:ident: $($kind:ty),+ $(,)?) => {
        $(impl From<$kind> for Error {
            fn from(error: $kind) -> Self {
                Self::$variant(error.into())
            }
        })+
    };
}
from!(
    Wire: serde_json::Error,
    rmp::decode::ValueReadError,
    rmp_serde::decode::Error,
    rmp_serde::encode::Error,
);
from!(
    Other: &str,
    String,
    Box<dyn StdError + Send + Sync>,
    std::fmt::Error,
    std::io::Error,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
);

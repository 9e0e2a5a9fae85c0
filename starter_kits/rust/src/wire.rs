//! Bytes to frames and values, and back: JSON lines or MessagePack.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};

use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Encoding {
    Json,
    MessagePack,
}

impl Encoding {
    pub fn named(name: &str) -> Option<Encoding> {
        match name {
            "json" => Some(Encoding::Json),
            "msgpack" => Some(Encoding::MessagePack),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Encoding::Json => "json",
            Encoding::MessagePack => "msgpack",
        }
    }

    /// The bytes of a frame.
    pub fn encode<T: Serialize>(self, frame: &T) -> Result<Vec<u8>, Error> {
        if self == Encoding::MessagePack {
            return Ok(rmp_serde::to_vec_named(frame)?);
        }
        let mut bytes = serde_json::to_vec(frame)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// A value that is still encoded. So a state is read straight into its type, with no tree of values between.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    pub bytes: &'a [u8],
    pub encoding: Encoding,
}

impl<'a> Raw<'a> {
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        if self.encoding == Encoding::MessagePack {
            return Ok(rmp_serde::from_slice(self.bytes)?);
        }
        let mut json = serde_json::Deserializer::from_slice(self.bytes);
        json.disable_recursion_limit(); // the protocol's own is 256 levels, twice the library's
        let value = T::deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }

    /// The members of an object, by name. Of duplicate names the last counts.
    pub fn members(self) -> Result<HashMap<String, Raw<'a>>, Error> {
        if self.encoding == Encoding::MessagePack {
            return self.msgpack_members();
        }
        let members: HashMap<String, &RawValue> = serde_json::from_slice(self.bytes)?;
        Ok(members.into_iter().map(|(name, json)| (name, self.part(json.get().as_bytes()))).collect())
    }

    fn msgpack_members(self) -> Result<HashMap<String, Raw<'a>>, Error> {
        let mut rest = self.bytes;
        let count = rmp::decode::read_map_len(&mut rest)?;
        let mut members = HashMap::new();
        for _ in 0..count {
            let (name, value) = rmp::decode::read_str_from_slice(rest).map_err(|error| error.to_string())?;
            let length = MessagePackCutter::default().cut(value).ok_or("a value ends too early")?;
            members.insert(name.to_owned(), self.part(&value[..length]));
            rest = &value[length..];
        }
        Ok(members)
    }

    fn part(self, bytes: &'a [u8]) -> Raw<'a> {
        Raw { bytes, ..self }
    }
}

/// The parameters of a call or a notification, by name.
pub struct Params<'a> {
    all: Raw<'a>,
    members: HashMap<String, Raw<'a>>,
}

impl<'a> Params<'a> {
    pub(crate) fn new(all: Raw<'a>) -> Result<Self, Error> {
        Ok(Params { all, members: all.members()? })
    }

    /// One parameter: `params.get::<GameState>("currentState")?`. The error names what is missing or wrong.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let value = self.members.get(name).ok_or_else(|| format!("there is no parameter {name}"))?;
        value.read().map_err(|error| format!("parameter {name}: {error}").into())
    }

    /// A parameter that may be absent, null or of another type.
    pub fn optional<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.members.get(name)?.read().ok()
    }

    /// All of them as one value, such as an event.
    pub fn whole<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.all.read()
    }
}

/// Cuts a stream of MessagePack values without decoding them: counts the values still to come, so that a frame that
/// arrives in many pieces is looked at once.
pub struct MessagePackCutter {
    at: usize,
    values: usize,
}

impl Default for MessagePackCutter {
    fn default() -> Self {
        MessagePackCutter { at: 0, values: 1 }
    }
}

impl MessagePackCutter {
    /// Looks at `data`, the bytes from the frame's start that are there. The frame's length; none: not all there yet.
    pub fn cut(&mut self, data: &[u8]) -> Option<usize> {
        while self.values > 0 {
            let (bytes, inside) = skip(data.get(self.at..)?)?;
            self.at = self.at.saturating_add(bytes);
            self.values = (self.values - 1).saturating_add(inside);
        }
        if self.at > data.len() {
            return None;
        }
        Some(std::mem::take(self).at)
    }
}

/// How many bytes the value at the start of `data` has, and how many values follow inside it; none: too little is there.
fn skip(data: &[u8]) -> Option<(usize, usize)> {
    let kind = *data.first()?;
    let length = |width: usize| -> Option<usize> {
        let bytes = data.get(1..1 + width)?;
        Some(bytes.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    let text = |width: usize| Some((length(width)?.saturating_add(1 + width), 0));
    let many = |width: usize, each: usize| Some((1 + width, length(width)?.saturating_mul(each)));
    match kind {
        0x80..=0x8f => Some((1, 2 * usize::from(kind & 0x0f))), // a small map
        0x90..=0x9f => Some((1, usize::from(kind & 0x0f))),     // a small array
        0xa0..=0xbf => Some((1 + usize::from(kind & 0x1f), 0)), // a short text
        0xc4 | 0xd9 => text(1),                                 // bin, str
        0xc5 | 0xda => text(2),
        0xc6 | 0xdb => text(4),
        0xc7..=0xc9 => text(1 << (kind - 0xc7)).map(|(bytes, _)| (bytes.saturating_add(1), 0)), // ext
        0xca => Some((5, 0)),                                                                   // float
        0xcb => Some((9, 0)),
        0xcc..=0xcf => Some((1 + (1 << (kind - 0xcc)), 0)), // uint
        0xd0..=0xd3 => Some((1 + (1 << (kind - 0xd0)), 0)), // int
        0xd4..=0xd8 => Some((2 + (1 << (kind - 0xd4)), 0)), // fixext
        0xdc => many(2, 1),                                 // array
        0xdd => many(4, 1),
        0xde => many(2, 2), // map
        0xdf => many(4, 2),
        _ => Some((1, 0)), // small integers, nil, false, true
    }
}

/// The referee's messages, one frame at a time.
pub struct Reader {
    input: File,
    buffer: Vec<u8>,
    /// The bytes not yet given out.
    start: usize,
    end: usize,
    /// How many of them hold no line feed.
    seen: usize,
    cutter: MessagePackCutter,
}

impl Reader {
    pub fn new(input: File) -> Self {
        Reader { input, buffer: vec![0; 1 << 16], start: 0, end: 0, seen: 0, cutter: MessagePackCutter::default() }
    }

    /// Waits for a frame; none at the end of the stream.
    pub fn next(&mut self, encoding: Encoding) -> Option<Raw<'_>> {
        loop {
            match self.cut(encoding) {
                Some(length) => {
                    self.start += length;
                    let blank = matches!(self.buffer[self.start - length], b'\n' | b'\r');
                    if encoding == Encoding::MessagePack || !blank {
                        let bytes = &self.buffer[self.start - length..self.start];
                        return Some(Raw { bytes, encoding });
                    }
                }
                None => self.fill()?,
            }
        }
    }

    /// The length of the frame at `start`, its line feed included; none: not all there yet.
    fn cut(&mut self, encoding: Encoding) -> Option<usize> {
        let data = &self.buffer[self.start..self.end];
        if encoding == Encoding::MessagePack {
            return self.cutter.cut(data);
        }
        let feed = memchr::memchr(b'\n', &data[self.seen..]).map(|at| self.seen + at);
        self.seen = if feed.is_some() { 0 } else { data.len() };
        feed.map(|at| at + 1)
    }

    /// Reads what is there, at least a byte; none at the end of the stream.
    fn fill(&mut self) -> Option<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return None,
                Ok(count) => {
                    self.end += count;
                    return Some(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None, // a referee that went away is an end
            }
        }
    }
}

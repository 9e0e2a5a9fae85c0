//! JSON without a library.
#![allow(dead_code)] // no game needs all of it

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

use Json::*;

pub static NOTHING: Json = Null;

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A list of anything.
pub fn list<T: Into<Json>>(items: impl IntoIterator<Item = T>) -> Json {
    List(items.into_iter().map(Into::into).collect())
}

macro_rules! from {
    ($($kind:ty => $make:expr),+ $(,)?) => {
        $(impl From<$kind> for Json {
            fn from(value: $kind) -> Json {
                $make(value)
            }
        })+
    };
}
from!(
    bool => Bool,
    i64 => |value| Int(i128::from(value)),
    usize => |value| Int(value as i128),
    f64 => Float,
    String => Text,
    &str => |value: &str| Text(value.to_owned()),
    &String => |value: &String| Text(value.clone()),
);

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Null, Into::into)
    }
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        reader.blanks();
        if reader.at == text.len() {
            Ok(value)
        } else {
            Err("more than one value".to_owned())
        }
    }

    /// A member; null if there is none.
    pub fn get(&self, name: &str) -> &Json {
        self.member(name).unwrap_or(&NOTHING)
    }

    pub fn member(&self, name: &str) -> Option<&Json> {
        self.members().iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub fn members(&self) -> &[(String, Json)] {
        if let Object(members) = self {
            members
        } else {
            &[]
        }
    }

    /// Sets a member, in its place if it is there.
    pub fn set(&mut self, name: &str, value: Json) {
        if let Object(members) = self {
            match members.iter_mut().find(|(key, _)| key == name) {
                Some((_, there)) => *there = value,
                None => members.push((name.to_owned(), value)),
            }
        }
    }

    pub fn items(&self) -> &[Json] {
        if let List(items) = self {
            items
        } else {
            &[]
        }
    }

    pub fn text(&self) -> Option<&str> {
        if let Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// A whole number, cut to 64 bits.
    pub fn int(&self) -> Option<i64> {
        if let Int(value) = self {
            Some((*value).clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        } else {
            None
        }
    }

    /// A member that must be a whole number.
    pub fn number(&self, name: &str) -> i64 {
        self.get(name).int().unwrap_or_else(|| panic!("{name} is no whole number: {self}"))
    }

    pub fn truth(&self, name: &str) -> bool {
        *self.get(name) == Bool(true)
    }

    pub fn numbers(&self, name: &str) -> Vec<i64> {
        self.get(name).items().iter().filter_map(Json::int).collect()
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Object(_))
    }

    pub fn is_list(&self) -> bool {
        matches!(self, List(_))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Null => to.write_str("null"),
            Bool(value) => write!(to, "{value}"),
            Int(value) => write!(to, "{value}"),
            Float(value) => write!(to, "{value:?}"),
            Text(text) => quoted(text, to),
            List(items) => {
                to.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(to, "{}{item}", if i > 0 { "," } else { "" })?;
                }
                to.write_str("]")
            }
            Object(members) => {
                to.write_str("{")?;
                for (i, (name, value)) in members.iter().enumerate() {
                    to.write_str(if i > 0 { "," } else { "" })?;
                    quoted(name, to)?;
                    write!(to, ":{value}")?;
                }
                to.write_str("}")
            }
        }
    }
}

fn quoted(text: &str, to: &mut fmt::Formatter) -> fmt::Result {
    to.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => to.write_str("\\\"")?,
            '\\' => to.write_str("\\\\")?,
            '\n' => to.write_str("\\n")?,
            letter if letter < ' ' => write!(to, "\\u{:04x}", letter as u32)?,
            letter => write!(to, "{letter}")?,
        }
    }
    to.write_str("\"")
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes this byte, after blanks, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.takes(byte) {
            Ok(())
        } else {
            Err(format!("expected {:?} at byte {}", byte as char, self.at))
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        if self.takes(b'{') {
            let mut members = Vec::new();
            while !self.takes(b'}') {
                if !members.is_empty() {
                    self.expect(b',')?;
                }
                self.expect(b'"')?;
                let name = self.string()?;
                self.expect(b':')?;
                members.push((name, self.value()?));
            }
            return Ok(Object(members));
        }
        if self.takes(b'[') {
            let mut items = Vec::new();
            while !self.takes(b']') {
                if !items.is_empty() {
                    self.expect(b',')?;
                }
                items.push(self.value()?);
            }
            return Ok(List(items));
        }
        if self.takes(b'"') {
            return Ok(Text(self.string()?));
        }
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)) {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).map_err(|error| error.to_string())?;
        match word {
            "null" => Ok(Null),
            "true" => Ok(Bool(true)),
            "false" => Ok(Bool(false)),
            _ => word.parse().map(Int).or_else(|_| word.parse().map(Float)).map_err(|_| format!("no value: {word:?}")),
        }
    }

    /// The rest of a text whose quote was taken.
    fn string(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        loop {
            let byte = *self.text.get(self.at).ok_or("a text without an end")?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).map_err(|error| error.to_string()),
                b'\\' => {
                    let letter = self.escaped()?;
                    bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                }
                byte => bytes.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let byte = *self.text.get(self.at).ok_or("a text without an end")?;
        self.at += 1;
        Ok(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let first = self.unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| "half a character".to_owned());
                }
                self.at += 2; // \u
                let second = self.unit()?;
                let code = 0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00);
                return char::from_u32(code).ok_or_else(|| "half a character".to_owned());
            }
            other => other as char,
        })
    }

    fn unit(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|each| std::str::from_utf8(each).ok());
        self.at += 4;
        u32::from_str_radix(digits.ok_or("a text without an end")?, 16).map_err(|error| error.to_string())
    }
}

//! JSON as the comparison needs it: numbers keep the digits they were written with, objects the order of
//! their fields.
//!
//! A reader of our own because a JSON library shares its compile-time features with the engine: to ask it for
//! exact digits here would change the engine under test.

use std::fmt::{self, Write};

/// Deeper nesting than any result has; keeps a broken file from exhausting the stack.
const DEPTH_LIMIT: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// # Errors
    /// What is wrong and at which byte.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.skip_blanks();
        if reader.at < text.len() { Err(reader.error("unexpected text after the value")) } else { Ok(value) }
    }
    /// A field of an object; the last one where a name is repeated.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
    pub fn as_list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }
    pub fn as_fields(&self) -> &[(String, Json)] {
        match self {
            Json::Object(fields) => fields,
            _ => &[],
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_string())
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, what: &str) -> String {
        format!("{what} at byte {}", self.at + 1)
    }
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) { Ok(()) } else { Err(self.error(&format!("expected '{}'", byte as char))) }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_LIMIT {
            return Err(self.error("nested too deeply"));
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("expected a value"))
            }
        }
    }
    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.expect(b'{')?;
        let mut fields = Vec::new();
        if self.take(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.skip_blanks();
            let name = self.string()?;
            self.expect(b':')?;
            fields.push((name, self.value(depth + 1)?));
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(Json::Object(fields));
            }
        }
    }
    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.take(b',') {
                self.expect(b']')?;
                return Ok(Json::List(items));
            }
        }
    }
    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        // f64 accepts a superset of JSON's form of these characters; good enough to refuse "1-2" and "--1"
        if text.parse::<f64>().is_err() {
            self.at = start;
            return Err(self.error("malformed number"));
        }
        Ok(Json::Number(text.to_string()))
    }
    fn string(&mut self) -> Result<String, String> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a string"));
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(['"', '\\']) else { return Err(self.error("string without end")) };
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(out);
            }
            out.push(self.escape()?);
        }
    }
    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, String> {
        let Some(kind) = self.peek() else { return Err(self.error("string without end")) };
        self.at += 1;
        Ok(match kind {
            b'"' | b'\\' | b'/' => kind as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    units.push(self.unit()?);
                }
                String::from_utf16(&units)
                    .map_err(|_| self.error("half a surrogate pair"))?
                    .chars()
                    .next()
                    .unwrap_or('\0')
            }
            _ => return Err(self.error("unknown escape")),
        })
    }
    fn unit(&mut self) -> Result<u16, String> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit =
            digits.and_then(|d| u16::from_str_radix(d, 16).ok()).ok_or_else(|| self.error("malformed \\u escape"))?;
        self.at += 4;
        Ok(unit)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => quote(f, text),
            Json::List(items) => {
                f.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_char(']')
            }
            Json::Object(fields) => {
                f.write_char('{')?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    quote(f, name)?;
                    write!(f, ": {value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_fields_their_order() {
        let text = r#"{"b": 1.500, "a": [12345678901234567890123, -0.0, 1E+3], "c": null, "d": {}}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn escapes_and_surrogate_pairs_are_read() {
        let value = Json::parse(r#""a\n\"\u00e9\ud83d\ude00\/""#).unwrap();
        assert_eq!(value, Json::from("a\n\"é😀/"));
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "1-2", "\"x", "\"\\ud83d\"", "nul", "1 2", "\"\\u12\""] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(10_000)).is_err());
    }
}

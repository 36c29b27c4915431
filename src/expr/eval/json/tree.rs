//! JSON documents as Flink reads and writes them (Jackson): floating-point numbers are decimals of any size, names
//! are written in order, of equal names the last one counts, and what follows the first value is not looked at.

use std::collections::HashMap;

/// How deep values may nest, as in Jackson.
const DEPTH_LIMIT: usize = 1000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// As it is written out: `1E+3` for `1e3`.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    /// No name occurs twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The first value of a text; `None` if it is no JSON.
    pub(super) fn parse(text: &str) -> Option<Json> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        let open = matches!(value, Json::Null | Json::Bool(_) | Json::Number(_));
        let ended = parser.peek().is_none_or(is_blank);
        (!open || ended).then_some(value)
    }

    pub(super) fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(own, _)| own == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Appends the JSON text.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::Text(text) => write_text(text, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                let mut order: Vec<usize> = (0..members.len()).collect();
                order.sort_by(|a, b| java_order(&members[*a].0, &members[*b].0));
                out.push('{');
                for (i, at) in order.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_text(&members[at].0, out);
                    out.push(':');
                    members[at].1.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The JSON text; of a scalar its bare text.
    pub(super) fn shown(&self) -> String {
        if let Json::Text(text) = self {
            return text.clone();
        }
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// The order of Java's strings: by UTF-16 units.
pub(super) fn java_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Appends a JSON string.
pub(super) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A decimal number as Java's BigDecimal shows it: `1.50`, `1E+3`, `1E-7`. `None` for what is no number.
pub(super) fn big_decimal(text: &str) -> Option<String> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = match all.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
    let mut out = Vec::with_capacity(text.len());
    crate::numbers::big_decimal(&mut out, negative && digits != "0", digits.as_bytes(), scale);
    String::from_utf8(out).ok()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// The next byte that is not blank.
    fn next_mark(&mut self) -> Option<u8> {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
        self.next()
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        match self.next_mark()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.text().map(Json::Text),
            b't' => self.word("rue", Json::Bool(true)),
            b'f' => self.word("alse", Json::Bool(false)),
            b'n' => self.word("ull", Json::Null),
            b'-' | b'0'..=b'9' => {
                self.at -= 1;
                self.number()
            }
            _ => None,
        }
    }

    fn word(&mut self, rest: &str, value: Json) -> Option<Json> {
        let found = self.text.as_bytes()[self.at..].starts_with(rest.as_bytes());
        self.at += rest.len();
        found.then_some(value)
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        if self.next_mark()? == b']' {
            return Some(Json::Array(items));
        }
        self.at -= 1;
        loop {
            items.push(self.value(depth + 1)?);
            match self.next_mark()? {
                b',' => {}
                b']' => return Some(Json::Array(items)),
                _ => return None,
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut members = Vec::new();
        let mut mark = self.next_mark()?;
        if mark == b'}' {
            return Some(Json::Object(members));
        }
        loop {
            if mark != b'"' {
                return None;
            }
            let name = self.text()?;
            if self.next_mark()? != b':' {
                return None;
            }
            members.push((name, self.value(depth + 1)?));
            match self.next_mark()? {
                b',' => mark = self.next_mark()?,
                b'}' => return Some(Json::Object(last_of_each(members))),
                _ => return None,
            }
        }
    }

    /// The rest of a string, behind its quote.
    fn text(&mut self) -> Option<String> {
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            out.push_str(self.text.get(start..self.at)?);
            match self.next()? {
                b'"' => return Some(out),
                b'\\' => out.push(self.escaped()?),
                _ => return None,
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.next()? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                if (0xd800..0xdc00).contains(&unit) && rest.starts_with(b"\\u") {
                    let back = self.at;
                    self.at += 2;
                    let low = self.unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        return char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
                    }
                    self.at = back;
                }
                // Java writes half a pair as a question mark.
                char::from_u32(unit).unwrap_or('?')
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, byte| Some(unit * 16 + char::from(*byte).to_digit(16)?))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (zero && whole > 1) {
            return None;
        }
        let mut floating = false;
        if self.peek() == Some(b'.') {
            floating = true;
            self.at += 1;
            if self.digits() == 0 {
                return None;
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            floating = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return None;
            }
        }
        let text = &self.text[start..self.at];
        if floating {
            return big_decimal(text).map(Json::Number);
        }
        Some(Json::Number(if text == "-0" { "0" } else { text }.to_string()))
    }
}

/// Of equal names, the last value in the first one's place.
fn last_of_each(members: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(members.len());
    let mut kept: Vec<(String, Json)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        match places.get(&name) {
            Some(at) => kept[*at].1 = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jackson_reads_is_read_and_nothing_else() {
        for text in ["1", " 1", "1 2", "\"a\"\"b\"", "[1]x", "{} }", "null", "true x", "{\"a\":1,\"a\":2}", "-0.5e+7"] {
            assert!(Json::parse(text).is_some(), "{text}");
        }
        let bad = ["", " ", "x", "1x", "1,2", "truex", "01", "[1,]", "{\"a\":1", "NaN", "1.", "1e", "+1", "-", "1]"];
        for text in bad.into_iter().chain(["\"\\u12\"", "\"\t\"", "{a:1}", "[1 2]", "{\"a\" 1}", "nul", "\"a"]) {
            assert!(Json::parse(text).is_none(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(5000)).is_none());
    }

    #[test]
    fn numbers_are_written_as_java_writes_decimals() {
        let cases = [
            ("1.50", "1.50"),
            ("1e3", "1E+3"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("0.0000001", "1E-7"),
            ("12e-7", "0.0000012"),
            ("123e5", "1.23E+7"),
            ("0e10", "0E+10"),
            ("-12.50e-2", "-0.1250"),
            ("0.0000000", "0E-7"),
            ("1.0e0", "1.0"),
            ("1.7976931348623157E400", "1.7976931348623157E+400"),
            ("100000000000000000000000.0", "100000000000000000000000.0"),
        ];
        for (text, shown) in cases {
            assert_eq!(Json::parse(text).unwrap().shown(), shown, "{text}");
        }
    }

    #[test]
    fn names_are_written_in_order_and_the_last_of_equal_ones_counts() {
        let json = Json::parse(r#"{"b":1,"a":"\ud83d\ude00\ud83d\u0001/","b":[3,{}]}"#).unwrap();
        assert_eq!(json.shown(), "{\"a\":\"😀?\\u0001/\",\"b\":[3,{}]}");
    }
}

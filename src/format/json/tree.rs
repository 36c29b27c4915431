//! A JSON container as text again, as the tree that Jackson makes of it prints: without blanks, each field once,
//! numbers by their values.

use std::collections::HashMap;

use super::super::parse;
use super::encode::string_in_text;
use super::token::{Fault, Token, Tokens};
use crate::numbers;

/// A field of an object: offsets in the output of its name, of its value, and of the value's end.
struct Entry {
    name: usize,
    value: usize,
    end: usize,
}

/// A container that is open.
struct Open {
    object: bool,
    /// Behind its opening bracket.
    start: usize,
    entries: Vec<Entry>,
    empty: bool,
}

/// Appends the container whose first token is `first`. `exact`: numbers with a fraction keep their decimal digits,
/// which Flink wants as soon as a column it reads is a DECIMAL; else they are doubles.
pub(crate) fn copy(tokens: &mut Tokens<'_>, first: Token, exact: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut open: Vec<Open> = Vec::new();
    let mut token = first;
    loop {
        if let Some(parent) = open.last_mut()
            && (token == Token::Name || !parent.object)
            && !matches!(token, Token::EndObject | Token::EndArray)
        {
            if !parent.empty {
                out.push(b',');
            }
            parent.empty = false;
        }
        match token {
            Token::StartObject | Token::StartArray => {
                out.extend_from_slice(tokens.value());
                let object = token == Token::StartObject;
                open.push(Open { object, start: out.len(), entries: Vec::new(), empty: true });
            }
            Token::EndObject | Token::EndArray => {
                if let Some(closed) = open.pop() {
                    keep_last(&closed, out);
                }
                out.extend_from_slice(tokens.value());
            }
            Token::Name => {
                let name = out.len();
                string_in_text(out, &String::from_utf8_lossy(tokens.value()));
                out.push(b':');
                let value = out.len();
                if let Some(parent) = open.last_mut() {
                    parent.entries.push(Entry { name, value, end: value });
                }
            }
            _ => scalar(tokens, token, exact, out),
        }
        if token != Token::Name
            && !matches!(token, Token::StartObject | Token::StartArray)
            && let Some(entry) = open.last_mut().and_then(|parent| parent.entries.last_mut())
        {
            entry.end = out.len();
        }
        if open.is_empty() {
            return Ok(());
        }
        token = tokens.next()?.ok_or(Fault { at: tokens.position(), what: "the line ends inside the document" })?;
    }
}

fn scalar(tokens: &Tokens<'_>, token: Token, exact: bool, out: &mut Vec<u8>) {
    match token {
        Token::Text => string_in_text(out, &String::from_utf8_lossy(tokens.value())),
        Token::Fraction if exact => decimal(tokens.value(), out),
        Token::Fraction => match parse::double(tokens.value()).unwrap_or(f64::NAN) {
            number if number.is_finite() => numbers::double(out, number),
            number => {
                out.push(b'"');
                numbers::double(out, number);
                out.push(b'"');
            }
        },
        Token::Integer if tokens.value() == b"-0" => out.push(b'0'),
        _ => out.extend_from_slice(tokens.value()),
    }
}

/// Where a name came twice, the first place keeps the last value.
fn keep_last(object: &Open, out: &mut Vec<u8>) {
    if object.entries.len() < 2 {
        return;
    }
    let mut last: HashMap<&[u8], &Entry> = HashMap::with_capacity(object.entries.len());
    for entry in &object.entries {
        last.insert(&out[entry.name..entry.value], entry);
    }
    if last.len() == object.entries.len() {
        return;
    }
    let mut kept = Vec::with_capacity(out.len() - object.start);
    for entry in &object.entries {
        let name = &out[entry.name..entry.value];
        if let Some(value) = last.remove(name) {
            if !kept.is_empty() {
                kept.push(b',');
            }
            kept.extend_from_slice(name);
            kept.extend_from_slice(&out[value.value..value.end]);
        }
    }
    out.truncate(object.start);
    out.extend_from_slice(&kept);
}

/// A number with a point or an exponent as `BigDecimal` prints it without trailing zeros.
fn decimal(text: &[u8], out: &mut Vec<u8>) {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mantissa = text.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(text.len());
    let exponent = text.get(mantissa + 1..).filter(|exponent| !exponent.is_empty());
    let exponent = exponent.map_or(Some(0), |exponent| parse::integer(exponent, -i64::from(i32::MAX), i32::MAX.into()));
    let point = text[..mantissa].iter().position(|b| *b == b'.').unwrap_or(mantissa);
    let mut digits: Vec<u8> = text[..mantissa].iter().copied().filter(u8::is_ascii_digit).collect();
    // The value is the digits times ten to the minus scale.
    let mut scale = mantissa.saturating_sub(point + 1) as i64 - exponent.unwrap_or(0);
    digits.drain(..digits.iter().take_while(|b| **b == b'0').count());
    while digits.last() == Some(&b'0') {
        digits.pop();
        scale -= 1;
    }
    if digits.is_empty() {
        return out.push(b'0');
    }
    numbers::big_decimal(out, negative, &digits, scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &str, exact: bool) -> String {
        let mut tokens = Tokens::new(text.as_bytes(), 0);
        let first = tokens.next().expect("a token").expect("a token");
        let mut out = Vec::new();
        copy(&mut tokens, first, exact, &mut out).expect("a container");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_container_prints_as_jacksons_tree() {
        let text = r#"{"a":1.10, "b":1e3,"c":[1.0,100000000000000000000,1E-7 , 1e400],"d":"\u00e9\ud83d\ude00\/","a":2,"":[],"x":{}}"#;
        assert_eq!(
            copied(text, false),
            r#"{"a":2,"b":1000.0,"c":[1.0,100000000000000000000,1.0E-7,"Infinity"],"d":"é😀/","":[],"x":{}}"#
        );
        let text = r#"{"a":1.10,"b":1e3,"c":[1.0,0.000,0.1234567890123456789,-2.50E2,1e-9,0.00001,12.5]}"#;
        assert_eq!(
            copied(text, true),
            r#"{"a":1.1,"b":1E+3,"c":[1,0,0.1234567890123456789,-2.5E+2,1E-9,0.00001,12.5]}"#
        );
    }

    #[test]
    fn of_equal_names_the_last_value_stands_at_the_first_place() {
        assert_eq!(
            copied(r#"{"a":1,"b":{"c":1,"c":[2,{"d":1,"d":2}]},"a":{"x":3},"b":-0}"#, false),
            r#"{"a":{"x":3},"b":0}"#
        );
        assert_eq!(copied(r#"[{"c":1,"c":[2,{"d":1,"d":2}]},1,{}]"#, false), r#"[{"c":[2,{"d":2}]},1,{}]"#);
    }

    #[test]
    fn nesting_may_be_as_deep_as_jackson_allows() {
        let text = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(copied(&text, false), text);
    }
}

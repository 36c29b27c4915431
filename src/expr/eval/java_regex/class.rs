//! Classes of characters, and what stands for a character or a class behind a backslash.

use std::iter::Peekable;
use std::str::Chars;

use super::{Flags, HORIZONTAL, Refusal, Translated, VERTICAL, push_literal};

/// What an escape stands for.
pub(super) enum Escape {
    Char(char),
    /// Members of a class.
    Members(String),
}

/// The ASCII letter that differs in case only.
pub(super) fn other_case(c: char) -> Option<char> {
    if c.is_ascii_lowercase() {
        Some(c.to_ascii_uppercase())
    } else {
        c.is_ascii_uppercase().then(|| c.to_ascii_lowercase())
    }
}

/// What follows an opening square bracket, up to the one that closes it.
pub(super) fn read(chars: &mut Peekable<Chars<'_>>, flags: Flags) -> Translated<String> {
    let mut out = String::from("[");
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut empty = true;
    loop {
        let c = chars.next().ok_or(Refusal::Invalid)?;
        let first = match c {
            ']' if !empty => break,
            '[' => {
                out.push_str(&read(chars, flags)?);
                empty = false;
                continue;
            }
            '&' if chars.next_if_eq(&'&').is_some() => {
                if empty || chars.peek() == Some(&']') {
                    return Err(Refusal::Invalid);
                }
                out.push_str("&&");
                continue;
            }
            c if flags.comments && c.is_ascii_whitespace() => continue,
            '\\' if chars.next_if_eq(&'Q').is_some() => {
                empty &= !quoted(chars, &mut out, flags);
                continue;
            }
            '\\' => match escape(chars, flags)? {
                Escape::Char(c) => c,
                Escape::Members(members) => {
                    out.push('[');
                    out.push_str(&members);
                    out.push(']');
                    empty = false;
                    continue;
                }
            },
            c => c,
        };
        empty = false;
        let last = end_of_range(chars, flags)?;
        push_range(&mut out, first, last.unwrap_or(first), flags)?;
    }
    out.push(']');
    Ok(out)
}

/// The character behind a minus that is no member itself.
fn end_of_range(chars: &mut Peekable<Chars<'_>>, flags: Flags) -> Translated<Option<char>> {
    let mut ahead = chars.clone();
    if ahead.next() != Some('-') || matches!(ahead.peek(), None | Some(']' | '[')) {
        return Ok(None);
    }
    chars.next();
    match chars.next().ok_or(Refusal::Invalid)? {
        '\\' => match escape(chars, flags)? {
            Escape::Char(c) => Ok(Some(c)),
            Escape::Members(_) => Err(Refusal::Invalid),
        },
        c => Ok(Some(c)),
    }
}

fn push_range(out: &mut String, first: char, last: char, flags: Flags) -> Translated<()> {
    if last < first {
        return Err(Refusal::Invalid);
    }
    let mut push = |first: char, last: char| {
        push_literal(out, first);
        out.push('-');
        push_literal(out, last);
    };
    push(first, last);
    if flags.any_case && !flags.unicode_case {
        for (low, high) in [('a', 'z'), ('A', 'Z')] {
            let (from, to) = (first.max(low), last.min(high));
            if from > to {
                continue;
            }
            if let (Some(from), Some(to)) = (other_case(from), other_case(to)) {
                push(from, to);
            }
        }
    }
    Ok(())
}

/// Members up to `\E`; true if there was one.
fn quoted(chars: &mut Peekable<Chars<'_>>, out: &mut String, flags: Flags) -> bool {
    let mut some = false;
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            break;
        }
        some |= push_range(out, c, c, flags).is_ok();
    }
    some
}

/// What follows a backslash, where it means the same inside and outside of a class.
pub(super) fn escape(chars: &mut Peekable<Chars<'_>>, flags: Flags) -> Translated<Escape> {
    let members = |text: &str| Ok(Escape::Members(text.to_string()));
    let c = chars.next().ok_or(Refusal::Invalid)?;
    match c {
        'd' | 'D' | 'w' | 'W' | 's' | 'S' if flags.unicode_classes => members(&format!("\\{c}")),
        'd' => members("0-9"),
        'D' => members("^0-9"),
        'w' => members("A-Za-z0-9_"),
        'W' => members("^A-Za-z0-9_"),
        's' => members(r" \t\n\x0B\f\r"),
        'S' => members(r"^ \t\n\x0B\f\r"),
        'h' => members(HORIZONTAL),
        'H' => members(&format!("^{HORIZONTAL}")),
        'v' => members(VERTICAL),
        'V' => members(&format!("^{VERTICAL}")),
        'p' | 'P' => property(chars, c == 'P', flags).map(Escape::Members),
        't' => Ok(Escape::Char('\t')),
        'n' => Ok(Escape::Char('\n')),
        'r' => Ok(Escape::Char('\r')),
        'f' => Ok(Escape::Char('\u{c}')),
        'a' => Ok(Escape::Char('\u{7}')),
        'e' => Ok(Escape::Char('\u{1b}')),
        'c' => {
            let control = chars.next().ok_or(Refusal::Invalid)? as u32 ^ 64;
            char::from_u32(control).map(Escape::Char).ok_or(Refusal::Invalid)
        }
        '0' => octal(chars),
        'x' if chars.next_if_eq(&'{').is_some() => {
            let mut code = 0;
            loop {
                match chars.next().ok_or(Refusal::Invalid)? {
                    '}' => return char::from_u32(code).map(Escape::Char).ok_or(Refusal::Invalid),
                    c => code = (code * 16 + c.to_digit(16).ok_or(Refusal::Invalid)?).min(0x0011_0000),
                }
            }
        }
        'x' => char::from_u32(hex(chars, 2)?).map(Escape::Char).ok_or(Refusal::Invalid),
        'u' => utf16(chars),
        'N' if chars.peek() == Some(&'{') => Err(Refusal::Unsupported("a character by its name")),
        c if c.is_ascii_alphanumeric() => Err(Refusal::Invalid),
        c => Ok(Escape::Char(c)),
    }
}

fn hex(chars: &mut Peekable<Chars<'_>>, digits: usize) -> Translated<u32> {
    (0..digits).try_fold(0, |code, _| {
        let digit = chars.next().and_then(|c| c.to_digit(16)).ok_or(Refusal::Invalid)?;
        Ok(code * 16 + digit)
    })
}

/// One to three octal digits, up to 377.
fn octal(chars: &mut Peekable<Chars<'_>>) -> Translated<Escape> {
    let mut code = chars.next().and_then(|c| c.to_digit(8)).ok_or(Refusal::Invalid)?;
    for _ in 0..2 {
        let next = chars.peek().and_then(|c| c.to_digit(8)).filter(|digit| code * 8 + digit <= 0o377);
        let Some(digit) = next else { break };
        chars.next();
        code = code * 8 + digit;
    }
    char::from_u32(code).map(Escape::Char).ok_or(Refusal::Invalid)
}

/// `\uXXXX`, or two of them for a character beyond 16 bits.
fn utf16(chars: &mut Peekable<Chars<'_>>) -> Translated<Escape> {
    let high = hex(chars, 4)?;
    if let Some(c) = char::from_u32(high) {
        return Ok(Escape::Char(c));
    }
    let mut ahead = chars.clone();
    let low = match (ahead.next(), ahead.next()) {
        (Some('\\'), Some('u')) => hex(&mut ahead, 4)?,
        _ => return Err(Refusal::Unsupported("half of a surrogate pair")),
    };
    *chars = ahead;
    let units = [high, low].map(|unit| unit as u16);
    let c = char::decode_utf16(units).next().and_then(std::result::Result::ok);
    c.map(Escape::Char).ok_or(Refusal::Unsupported("half of a surrogate pair"))
}

/// The name behind `\p`, as members of a class.
fn property(chars: &mut Peekable<Chars<'_>>, negated: bool, flags: Flags) -> Translated<String> {
    let name = match chars.next().ok_or(Refusal::Invalid)? {
        '{' => {
            let mut name = String::new();
            loop {
                match chars.next().ok_or(Refusal::Invalid)? {
                    '}' => break name,
                    c => name.push(c),
                }
            }
        }
        c => c.to_string(),
    };
    let not = if negated { "^" } else { "" };
    let ascii = match name.as_str() {
        "Lower" | "Upper" if flags.any_case => Some("alpha"),
        "Lower" => Some("lower"),
        "Upper" => Some("upper"),
        "ASCII" => Some("ascii"),
        "Alpha" => Some("alpha"),
        "Digit" => Some("digit"),
        "Alnum" => Some("alnum"),
        "Punct" => Some("punct"),
        "Graph" => Some("graph"),
        "Print" => Some("print"),
        "Blank" => Some("blank"),
        "Cntrl" => Some("cntrl"),
        "XDigit" => Some("xdigit"),
        "Space" => Some("space"),
        _ => None,
    };
    if let Some(ascii) = ascii.filter(|_| !flags.unicode_classes) {
        return Ok(format!("[:{not}{ascii}:]"));
    }
    let known = match name.as_str() {
        "javaLowerCase" => "Lowercase",
        "javaUpperCase" => "Uppercase",
        "javaAlphabetic" => "Alphabetic",
        "javaLetter" | "IsLetter" => "L",
        "javaDigit" | "IsDigit" => "Nd",
        "IsPunctuation" => "P",
        "IsControl" => "Cc",
        "L1" | "LC" => return Err(Refusal::Unsupported("this class of characters")),
        name => match name.strip_prefix("Is") {
            Some(name) => name,
            None if name.starts_with("In") || name.starts_with("java") || name.starts_with("bl") => {
                return Err(Refusal::Unsupported("a class of characters by its block or Java's method"));
            }
            None => name,
        },
    };
    if !known.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'=') {
        return Err(Refusal::Invalid);
    }
    Ok(format!("\\{}{{{known}}}", if negated { 'P' } else { 'p' }))
}

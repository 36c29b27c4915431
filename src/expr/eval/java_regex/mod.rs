//! Java's regular expressions, put into the words of the `regex` crate.
//!
//! Both take the first alternative that fits, so what they share they read alike. What that crate cannot do (looking
//! around, going back to a group, possessive quantifiers) is refused by name; what Java refuses is no pattern.

mod class;

use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

use crate::error::{Error, Result};

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    /// Java has it, we have not.
    Unsupported(&'static str),
    /// Java refuses it too.
    Invalid,
}

type Translated<T> = std::result::Result<T, Refusal>;

/// The flags that are on, as `(?i)` and its kin set them.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// i: of ASCII letters, unless `unicode_case`.
    any_case: bool,
    /// u
    unicode_case: bool,
    /// U: \w, \d and \s are those of Unicode.
    unicode_classes: bool,
    /// x
    comments: bool,
    /// s
    dot_all: bool,
    /// d
    unix_lines: bool,
    /// m
    multiline: bool,
}

/// Any horizontal blank, and any line end, as members of a class.
const HORIZONTAL: &str = r" \t\u{A0}\u{1680}\u{180E}\u{2000}-\u{200A}\u{202F}\u{205F}\u{3000}";
const VERTICAL: &str = r"\n\x0B\f\r\u{85}\u{2028}\u{2029}";

/// `Ok(None)`: Java refuses the pattern too.
///
/// # Errors
/// Kind Unsupported for what only Java can do.
pub(super) fn compile(pattern: &str) -> Result<Option<Regex>> {
    match translate(pattern) {
        Ok(text) => Ok(Regex::new(&text).ok()),
        Err(Refusal::Invalid) => Ok(None),
        Err(Refusal::Unsupported(what)) => {
            Err(Error::unsupported(format!("{what} in the regular expression '{pattern}'")))
        }
    }
}

fn translate(pattern: &str) -> Translated<String> {
    let mut translator = Translator { chars: pattern.chars().peekable(), out: String::new(), flags: Flags::default() };
    translator.alternatives(0)?;
    Ok(translator.out)
}

struct Translator<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
    flags: Flags,
}

impl Translator<'_> {
    /// Up to the end, or to the bracket that closes the group.
    fn alternatives(&mut self, depth: usize) -> Translated<()> {
        while let Some(c) = self.chars.next() {
            match c {
                ')' if depth > 0 => return Ok(()),
                ')' | '*' | '+' | '?' | '{' => return Err(Refusal::Invalid),
                '|' => {
                    self.out.push('|');
                    continue;
                }
                c if self.flags.comments && c.is_ascii_whitespace() => continue,
                '#' if self.flags.comments => {
                    while self.chars.next().is_some_and(|c| c != '\n') {}
                    continue;
                }
                '(' => {
                    if !self.group(depth)? {
                        continue;
                    }
                }
                '[' => self.class()?,
                '.' => self.dot(),
                '^' if self.flags.multiline => self.out.push_str("(?mR:^)"),
                '^' => self.out.push('^'),
                '$' if self.flags.multiline => self.out.push_str("(?mR:$)"),
                '$' => self.out.push('$'),
                '\\' => self.escape()?,
                c => self.literal(c),
            }
            self.quantifier()?;
        }
        if depth > 0 { Err(Refusal::Invalid) } else { Ok(()) }
    }

    fn dot(&mut self) {
        self.out.push_str(match self.flags {
            Flags { dot_all: true, .. } => "(?s:.)",
            Flags { unix_lines: true, .. } => r"[^\n]",
            _ => r"[^\n\r\u{85}\u{2028}\u{2029}]",
        });
    }

    fn literal(&mut self, c: char) {
        let other = class::other_case(c).filter(|_| self.flags.any_case && !self.flags.unicode_case);
        match other {
            Some(other) => self.out.extend(['[', c, other, ']']),
            None if self.flags.any_case && self.flags.unicode_case => {
                self.out.push_str("(?i:");
                push_literal(&mut self.out, c);
                self.out.push(')');
            }
            None => push_literal(&mut self.out, c),
        }
    }

    /// What follows an opening bracket; false if that only set flags.
    fn group(&mut self, depth: usize) -> Translated<bool> {
        let flags = self.flags;
        if self.chars.next_if_eq(&'?').is_none() {
            self.out.push('(');
        } else {
            match self.chars.next().ok_or(Refusal::Invalid)? {
                ':' => self.out.push_str("(?:"),
                '=' | '!' => return Err(Refusal::Unsupported("looking ahead")),
                '>' => return Err(Refusal::Unsupported("a group that is never given back")),
                '<' if matches!(self.chars.peek(), Some('=' | '!')) => {
                    return Err(Refusal::Unsupported("looking behind"));
                }
                '<' => self.name()?,
                c => {
                    if !self.flags(c)? {
                        return Ok(false);
                    }
                    self.out.push_str("(?:");
                }
            }
        }
        self.alternatives(depth + 1)?;
        self.out.push(')');
        self.flags = flags;
        Ok(true)
    }

    fn name(&mut self) -> Translated<()> {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_alphanumeric) {
            name.push(c);
        }
        let valid = name.starts_with(|c: char| c.is_ascii_alphabetic()) && self.chars.next() == Some('>');
        self.out.push_str("(?<");
        self.out.push_str(&name);
        self.out.push('>');
        if valid { Ok(()) } else { Err(Refusal::Invalid) }
    }

    /// `i-s)` or `i-s:`, of which the first character has been read; true if a group follows.
    fn flags(&mut self, first: char) -> Translated<bool> {
        let (mut on, mut next) = (true, Some(first));
        loop {
            let flags = &mut self.flags;
            match next.ok_or(Refusal::Invalid)? {
                ')' => return Ok(false),
                ':' => return Ok(true),
                '-' if on => on = false,
                'i' => flags.any_case = on,
                'u' => flags.unicode_case = on,
                'U' => (flags.unicode_classes, flags.unicode_case) = (on, on),
                'x' => flags.comments = on,
                's' => flags.dot_all = on,
                'd' => flags.unix_lines = on,
                'm' => flags.multiline = on,
                _ => return Err(Refusal::Invalid),
            }
            next = self.chars.next();
        }
    }

    /// Behind something that may be repeated.
    fn quantifier(&mut self) -> Translated<()> {
        let Some(c) = self.chars.next_if(|c| matches!(c, '*' | '+' | '?' | '{')) else {
            return Ok(());
        };
        self.out.push(c);
        if c == '{' {
            let least = self.digits()?.ok_or(Refusal::Invalid)?;
            let most = if self.chars.next_if_eq(&',').is_some() {
                self.out.push(',');
                self.digits()?
            } else {
                Some(least)
            };
            if self.chars.next() != Some('}') || most.is_some_and(|most| most < least) {
                return Err(Refusal::Invalid);
            }
            self.out.push('}');
        }
        if self.chars.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        match self.chars.peek() {
            Some('+') => Err(Refusal::Unsupported("a possessive quantifier")),
            Some('*' | '?') => Err(Refusal::Invalid),
            _ => Ok(()),
        }
    }

    /// A number of repetitions, which has 31 bits.
    fn digits(&mut self) -> Translated<Option<i32>> {
        let mut digits = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_digit) {
            digits.push(c);
        }
        self.out.push_str(&digits);
        if digits.is_empty() { Ok(None) } else { digits.parse().map(Some).map_err(|_| Refusal::Invalid) }
    }

    /// What follows a backslash outside of a class.
    fn escape(&mut self) -> Translated<()> {
        match self.chars.peek().copied().ok_or(Refusal::Invalid)? {
            'Q' => {
                self.chars.next();
                self.quoted();
            }
            'A' | 'z' | 'b' | 'B' => self.out.extend(self.chars.next().map(|c| ['\\', c]).into_iter().flatten()),
            'R' => {
                self.chars.next();
                self.out.push_str(r"(?:\r\n|[");
                self.out.push_str(VERTICAL);
                self.out.push_str("])");
            }
            'Z' => return Err(Refusal::Unsupported(r"\Z")),
            'G' => return Err(Refusal::Unsupported(r"\G")),
            'X' => return Err(Refusal::Unsupported(r"\X")),
            'k' | '1'..='9' => return Err(Refusal::Unsupported("a reference back to a group")),
            _ => {
                let escape = class::escape(&mut self.chars, self.flags)?;
                match escape {
                    class::Escape::Char(c) => self.literal(c),
                    class::Escape::Members(members) => {
                        self.out.push('[');
                        self.out.push_str(&members);
                        self.out.push(']');
                    }
                }
            }
        }
        Ok(())
    }

    /// Literals up to `\E` or the end; a quantifier behind them is that of the last one.
    fn quoted(&mut self) {
        while let Some(c) = self.chars.next() {
            if c == '\\' && self.chars.next_if_eq(&'E').is_some() {
                return;
            }
            self.literal(c);
        }
    }

    fn class(&mut self) -> Translated<()> {
        let text = class::read(&mut self.chars, self.flags)?;
        let folded = self.flags.any_case && self.flags.unicode_case;
        self.out.push_str(if folded { "(?i:" } else { "" });
        self.out.push_str(&text);
        self.out.push_str(if folded { ")" } else { "" });
        Ok(())
    }
}

pub(super) fn push_literal(regex: &mut String, c: char) {
    let mut buffer = [0; 4];
    regex.push_str(&regex::escape(c.encode_utf8(&mut buffer)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<String> {
        compile(pattern).unwrap()?.find(text).map(|found| found.as_str().to_string())
    }

    #[test]
    fn javas_syntax_is_read_as_java_reads_it() {
        let cases = [
            (r"\Qa.b*\E", "xa.b*", Some("a.b*")),
            ("(?i)ñK", "Ñk ñk", Some("ñk")),
            ("(?iu)Ñ", "ñ", Some("ñ")),
            ("(?i)[^a-c]", "AbCd", Some("d")),
            ("(?s)a.b", "a\nb", Some("a\nb")),
            ("a.b", "a\nb", None),
            ("(?m)^b$", "a\r\nb\r\nc", Some("b")),
            ("[a-z&&[^aeiou]]+", "eight", Some("ght")),
            ("[[:alpha:]]", "xyz:", Some(":")),
            (r"\h+\v", "a \t\nb", Some(" \t\n")),
            (r"\p{Upper}\p{Punct}", "É!A+", Some("A+")),
            (r"\p{IsAlphabetic}+", "ñandú!", Some("ñandú")),
            (r"(?U)\w+", "ñandú!", Some("ñandú")),
            (r"\w+", "ñandú!", Some("and")),
            (r"\uD83D\uDE00", "x😀", Some("😀")),
            (r"\x{1F600}\0101\cA\e", "😀A\u{1}\u{1b}", Some("😀A\u{1}\u{1b}")),
            ("(?x) a b # c", "ab", Some("ab")),
            (r"[\]a]+", "]a", Some("]a")),
            ("[]a]+", "]a", Some("]a")),
            (r"\<", "a<", Some("<")),
            ("a}", "a}", Some("a}")),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(found(pattern, text).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn what_java_refuses_is_no_pattern() {
        for pattern in
            ["a**", "a{,2}", "a{3,2}", "{", "[&&]", "[a--b]", "(?P<n>a)", "(?<a_b>x)", r"\y", r"\p{Nope}", "("]
        {
            assert!(compile(pattern).unwrap().is_none(), "{pattern}");
        }
    }

    #[test]
    fn what_only_java_can_do_is_refused_by_name() {
        for pattern in ["a(?=b)", "(?<!a)b", r"(a)\1", "a++", "(?>a)", r"a\Z", r"\p{InGreek}"] {
            let error = compile(pattern).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Unsupported, "{pattern}");
        }
    }
}

//! LIKE, SIMILAR TO and the REGEXP functions. Patterns that are the same for all rows are compiled once a batch.

use std::borrow::Cow;

use arrow::array::ArrayRef;
use arrow::compute::kernels::comparison as arrow_like;
use arrow::datatypes::Int32Type;
use regex::{NoExpand, Regex};

use super::function::Text;
use super::value::{Read, Texts, Value, build_flags, build_texts, numbers, texts};
use crate::error::{Error, Result};

/// Compiles the pattern of each row, the last one kept.
struct Patterns<'a, F> {
    texts: Texts<'a>,
    compile: F,
    last: Option<(String, Option<Regex>)>,
}

impl<'a, F: Fn(&str) -> Result<Option<Regex>>> Patterns<'a, F> {
    fn new(value: &'a Value, compile: F) -> Result<Self> {
        Ok(Patterns { texts: texts(value)?, compile, last: None })
    }

    /// `Ok(None)`: NULL. `Ok(Some(None))`: no valid pattern.
    fn at(&mut self, row: usize) -> Result<Option<Option<&Regex>>> {
        let Some(text) = self.texts.read(row) else {
            return Ok(None);
        };
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            self.last = Some((text.to_string(), (self.compile)(text)?));
        }
        Ok(Some(self.last.as_ref().and_then(|(_, regex)| regex.as_ref())))
    }
}

fn argument(values: &[Value], at: usize) -> Result<&Value> {
    values.get(at).ok_or_else(|| Error::internal("a pattern function lacks an argument"))
}

fn escape_of(values: &[Value]) -> Result<Option<char>> {
    let Some(value) = values.get(2) else {
        return Ok(None);
    };
    let text = texts(value)?.constant().flatten().map(str::to_owned);
    let mut chars = text.as_deref().unwrap_or_default().chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(Some(c)),
        _ => Err(Error::data("an ESCAPE must be one character")),
    }
}

/// `x LIKE pattern [ESCAPE c]`. Without ESCAPE, nothing escapes.
pub(super) fn like(values: &[Value], count: usize) -> Result<ArrayRef> {
    let escape = escape_of(values)?;
    let pattern = argument(values, 1)?;
    // Arrow's kernel is fast for constant patterns but takes the backslash for an escape.
    if let Some(Some(text)) = texts(pattern)?.constant()
        && escape.is_none()
        && !text.contains('\\')
    {
        return Ok(std::sync::Arc::new(arrow_like::like(argument(values, 0)?, pattern)?));
    }
    matches(values, count, |text| like_regex(text, escape).map(Some))
}

/// `x SIMILAR TO pattern [ESCAPE c]`.
pub(super) fn similar(values: &[Value], count: usize) -> Result<ArrayRef> {
    let escape = escape_of(values)?;
    matches(values, count, |text| similar_regex(text, escape).map(Some))
}

fn matches(values: &[Value], count: usize, compile: impl Fn(&str) -> Result<Option<Regex>>) -> Result<ArrayRef> {
    let text = texts(argument(values, 0)?)?;
    let mut patterns = Patterns::new(argument(values, 1)?, compile)?;
    build_flags(count, |row| {
        let pattern = patterns.at(row)?;
        Ok(text.read(row).zip(pattern).map(|(text, regex)| regex.is_some_and(|regex| regex.is_match(text))))
    })
}

fn like_regex(pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut regex = String::from("(?s)^");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            match chars.next() {
                Some(next) if next == '%' || next == '_' || Some(next) == escape => push_literal(&mut regex, next),
                _ => return Err(bad_escape(pattern)),
            }
            continue;
        }
        match c {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            c => push_literal(&mut regex, c),
        }
    }
    regex.push('$');
    Regex::new(&regex).map_err(|error| Error::data(format!("the pattern '{pattern}' is too large: {error}")))
}

fn bad_escape(pattern: &str) -> Error {
    Error::data(format!("the escape character in '{pattern}' must stand before %, _ or itself"))
}

fn push_literal(regex: &mut String, c: char) {
    let mut buffer = [0; 4];
    regex.push_str(&regex::escape(c.encode_utf8(&mut buffer)));
}

fn similar_regex(pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut regex = String::from("(?s)^(?:");
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            match chars.next() {
                Some(next) => push_literal(&mut regex, next),
                None => return Err(bad_escape(pattern)),
            }
            continue;
        }
        match c {
            '[' => {
                in_class = true;
                regex.push(c);
            }
            ']' => {
                in_class = false;
                regex.push(c);
            }
            c if in_class => {
                if c == '\\' || c == '&' || c == '~' {
                    regex.push('\\');
                }
                regex.push(c);
            }
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            // All else is a regular expression already, the dot included.
            c => regex.push(c),
        }
    }
    regex.push_str(")$");
    Regex::new(&regex).map_err(|_| Error::data(format!("'{pattern}' is no valid pattern of SIMILAR TO")))
}

/// A Java regular expression. `Ok(None)`: Java refuses it too.
pub(super) fn java_regex(pattern: &str) -> Result<Option<Regex>> {
    match Regex::new(&translate(pattern)) {
        Ok(regex) => Ok(Some(regex)),
        Err(error) => {
            let text = error.to_string();
            if text.contains("look-around") || text.contains("backreferences") {
                return Err(Error::unsupported(format!(
                    "the regular expression '{pattern}' (look-around or a back reference)"
                )));
            }
            Ok(None)
        }
    }
}

/// Java's classes \d, \w and \s are ASCII, and its dot stops at any line end.
fn translate(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(['\\', '.']) {
        return Cow::Borrowed(pattern);
    }
    let mut regex = String::new();
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            '.' if !in_class => {
                regex.push_str(r"[^\n\r\u{85}\u{2028}\u{2029}]");
                continue;
            }
            '\\' => {
                let Some(next) = chars.next() else {
                    regex.push('\\');
                    continue;
                };
                match next {
                    'd' => regex.push_str("[0-9]"),
                    'D' => regex.push_str("[^0-9]"),
                    'w' => regex.push_str("[A-Za-z0-9_]"),
                    'W' => regex.push_str("[^A-Za-z0-9_]"),
                    's' => regex.push_str(r"[ \t\n\x0B\f\r]"),
                    'S' => regex.push_str(r"[^ \t\n\x0B\f\r]"),
                    other => {
                        regex.push('\\');
                        regex.push(other);
                    }
                }
                continue;
            }
            _ => {}
        }
        regex.push(c);
    }
    Cow::Owned(regex)
}

/// REGEXP, REGEXP_EXTRACT and REGEXP_REPLACE.
pub(super) fn regexp(function: Text, values: &[Value], count: usize) -> Result<ArrayRef> {
    let text = texts(argument(values, 0)?)?;
    let mut patterns = Patterns::new(argument(values, 1)?, java_regex)?;
    match function {
        Text::Regexp => {
            let empty = texts(argument(values, 1)?)?;
            build_flags(count, |row| {
                let pattern = patterns.at(row)?;
                // An empty pattern matches nothing in Flink, and neither does one that is no pattern.
                let some = empty.read(row).is_some_and(|pattern| !pattern.is_empty());
                Ok(text.read(row).zip(pattern).map(|(s, regex)| some && regex.is_some_and(|regex| regex.is_match(s))))
            })
        }
        Text::RegexpExtract => {
            let group = values.get(2).map(numbers::<Int32Type>).transpose()?;
            build_texts(count, |row| {
                let pattern = patterns.at(row)?;
                let group = group.as_ref().map_or(Some(0), |group| group.read(row));
                Ok(match (text.read(row), pattern, group) {
                    (Some(s), Some(Some(regex)), Some(group)) => usize::try_from(group)
                        .ok()
                        .and_then(|group| regex.captures(s)?.get(group).map(|found| found.as_str())),
                    _ => None,
                })
            })
        }
        _ => {
            let replacement = texts(argument(values, 2)?)?;
            build_texts(count, |row| {
                let pattern = patterns.at(row)?;
                Ok(match (text.read(row), pattern, replacement.read(row)) {
                    (Some(s), Some(Some(regex)), Some(with)) => Some(regex.replace_all(s, NoExpand(with)).into_owned()),
                    _ => None,
                })
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_escapes_only_with_escape() {
        assert!(like_regex("f\\_o", None).unwrap().is_match("f\\xo"));
        assert!(like_regex("a!%c", Some('!')).unwrap().is_match("a%c"));
        assert!(!like_regex("a!%c", Some('!')).unwrap().is_match("abc"));
        assert!(like_regex("ab!", Some('!')).is_err());
    }

    #[test]
    fn similar_takes_percent_for_anything_and_a_dot_for_one_character() {
        assert!(similar_regex("(foo|a1)%", None).unwrap().is_match("a1b22c333\n😀"));
        assert!(similar_regex("a.c", None).unwrap().is_match("abc"));
        assert!(similar_regex("a|b", None).unwrap().is_match("a"));
        assert!(!similar_regex("a|b", None).unwrap().is_match("ab"));
    }
}

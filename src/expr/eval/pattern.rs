//! LIKE, SIMILAR TO and the REGEXP functions. Patterns that are the same for all rows are compiled once a batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::compute::kernels::comparison as arrow_like;
use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Int32Type};
use regex::{Captures, Regex};

use super::function::Text;
use super::java_regex::{self, push_literal};
use super::value::{Read, Texts, Value, build, build_flags, build_texts, numbers, texts};
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
        return Ok(Arc::new(arrow_like::like(argument(values, 0)?, pattern)?));
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

fn similar_regex(pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut regex = String::from("(?s)^(?:");
    let mut chars = pattern.chars().peekable();
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
            '[' if in_class && chars.peek() == Some(&':') => {
                // A class by its name, in any case.
                let name: String = chars.by_ref().take_while(|c| *c != ']').collect();
                regex.push_str(&format!("[{}]", name.to_ascii_lowercase()));
            }
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
            '\\' => regex.push_str(r"\\"),
            // All else is a regular expression already, the dot included.
            c => regex.push(c),
        }
    }
    regex.push_str(")$");
    Regex::new(&regex).map_err(|_| Error::data(format!("'{pattern}' is no valid pattern of SIMILAR TO")))
}

/// Calls `visit` with every match, as Java's `Matcher.find` gives them: an empty one may follow at once where a longer
/// one ends. `units`: also with those between the two halves of a character beyond 16 bits, which only Java sees.
fn for_each_match<'t>(regex: &Regex, text: &'t str, units: bool, mut visit: impl FnMut(&Captures<'t>)) {
    let mut at = 0;
    while at <= text.len() {
        let Some(captures) = regex.captures_at(text, at) else { return };
        let Some(whole) = captures.get(0) else { return };
        visit(&captures);
        at = whole.end();
        if whole.is_empty() {
            let length = text[at..].chars().next().map_or(1, char::len_utf8);
            if units && length == 4 && !regex.as_str().starts_with('^') {
                visit(&captures);
            }
            at += length;
        }
    }
}

/// What `f` makes of a row's text and pattern; NULL where one of them is, or the pattern is none.
fn both<'a, F: Fn(&str) -> Result<Option<Regex>>, T>(
    text: &Texts<'a>,
    patterns: &mut Patterns<'_, F>,
    row: usize,
    f: impl FnOnce(&'a str, &Regex) -> Option<T>,
) -> Result<Option<T>> {
    Ok(match (text.read(row), patterns.at(row)?) {
        (Some(text), Some(Some(regex))) => f(text, regex),
        _ => None,
    })
}

/// The functions that take a regular expression.
pub(super) fn regexp(function: Text, values: &[Value], count: usize) -> Result<ArrayRef> {
    if function == Text::Regexp {
        return is_found(values, count);
    }
    let text = texts(argument(values, 0)?)?;
    let mut patterns = Patterns::new(argument(values, 1)?, java_regex::compile)?;
    if function == Text::RegexpReplace {
        let replacement = texts(argument(values, 2)?)?;
        return build_texts(count, |row| {
            let with = replacement.read(row);
            both(&text, &mut patterns, row, |text, regex| Some(replaced(regex, text, with?)))
        });
    }
    let group = values.get(2).map(numbers::<Int32Type>).transpose()?;
    let group = |row: usize, default: i32| match &group {
        None => usize::try_from(default).ok(),
        Some(group) => group.read(row).and_then(|group| usize::try_from(group).ok()),
    };
    match function {
        Text::RegexpCount => build::<Int32Type>(count, |row| {
            both(&text, &mut patterns, row, |text, regex| {
                let mut matches = 0;
                for_each_match(regex, text, true, |_| matches += 1);
                Some(matches)
            })
        }),
        Text::RegexpInstr => build::<Int32Type>(count, |row| {
            both(&text, &mut patterns, row, |text, regex| {
                let units = |start: usize| text[..start].encode_utf16().count() + 1;
                Some(regex.find(text).map_or(0, |m| i32::try_from(units(m.start())).unwrap_or(i32::MAX)))
            })
        }),
        Text::RegexpSubstr => build_texts(count, |row| {
            both(&text, &mut patterns, row, |text, regex| regex.find(text).map(|found| found.as_str()))
        }),
        Text::RegexpExtract => build_texts(count, |row| {
            both(&text, &mut patterns, row, |text, regex| {
                regex.captures(text)?.get(group(row, 0)?).map(|found| found.as_str())
            })
        }),
        _ => {
            let element = ArrowField::new("element", ArrowType::Utf8, true);
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(element);
            for row in 0..count {
                let found = both(&text, &mut patterns, row, |text, regex| {
                    let group = group(row, 1).filter(|group| *group < regex.captures_len())?;
                    for_each_match(regex, text, true, |captures| {
                        builder.values().append_option(captures.get(group).map(|part| part.as_str()));
                    });
                    Some(())
                })?;
                builder.append(found.is_some());
            }
            Ok(Arc::new(builder.finish()))
        }
    }
}

fn is_found(values: &[Value], count: usize) -> Result<ArrayRef> {
    let (text, empty) = (texts(argument(values, 0)?)?, texts(argument(values, 1)?)?);
    let mut patterns = Patterns::new(argument(values, 1)?, java_regex::compile)?;
    build_flags(count, |row| {
        let pattern = patterns.at(row)?;
        // An empty pattern matches nothing in Flink, and neither does one that is no pattern.
        let some = empty.read(row).is_some_and(|pattern| !pattern.is_empty());
        Ok(text.read(row).zip(pattern).map(|(s, regex)| some && regex.is_some_and(|regex| regex.is_match(s))))
    })
}

fn replaced(regex: &Regex, text: &str, with: &str) -> String {
    let (mut out, mut end) = (String::new(), 0);
    for_each_match(regex, text, false, |captures| {
        if let Some(whole) = captures.get(0) {
            out.push_str(&text[end..whole.start()]);
            out.push_str(with);
            end = whole.end();
        }
    });
    out + &text[end..]
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

    #[test]
    fn an_empty_match_may_follow_a_longer_one() {
        let regex = Regex::new("x*").unwrap();
        assert_eq!(replaced(&regex, "abc", "-"), "-a-b-c-");
        assert_eq!(replaced(&regex, "axb", "-"), "-a--b-");
        assert_eq!(replaced(&Regex::new("").unwrap(), "é", "-"), "-é-");
    }
}

//! SPLIT and STR_TO_MAP: strings cut into ARRAYs and MAPs.

use std::sync::Arc;

use arrow::array::{ArrayBuilder, ArrayRef, StringBuilder};
use regex::Regex;

use super::java_regex;
use super::nested::{MapPicks, Picks};
use super::value::{Read, Value, texts};
use crate::error::{Error, Result};
use crate::types::Type;

/// `SPLIT(text, delimiter)`: all parts, empty ones too; by an empty delimiter, the characters. An empty text has
/// no parts.
pub(super) fn split(values: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let [text, delimiter] = values else {
        return Err(Error::internal("SPLIT without a delimiter"));
    };
    let (text, delimiter) = (texts(text)?, texts(delimiter)?);
    let mut parts = StringBuilder::new();
    let mut picks = Picks::new(count);
    for row in 0..count {
        let (Some(text), Some(delimiter)) = (text.read(row), delimiter.read(row)) else {
            picks.end(false)?;
            continue;
        };
        let first = parts.len();
        if delimiter.is_empty() {
            text.chars().for_each(|c| parts.append_value(c.encode_utf8(&mut [0; 4])));
        } else if !text.is_empty() {
            text.split(delimiter).for_each(|part| parts.append_value(part));
        }
        picks.picked.extend((first..parts.len()).map(|at| (0, at)));
        picks.end(true)?;
    }
    let parts = parts.finish();
    picks.lists(&[&parts], to)
}

/// `STR_TO_MAP(text[, between entries[, between key and value]])`: both delimiters are regular expressions.
pub(super) fn to_map(values: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let all = values.iter().map(texts).collect::<Result<Vec<_>>>()?;
    let argument = |at: usize, row: usize, usual: &'static str| match all.get(at) {
        Some(texts) => texts.read(row),
        None => Some(usual),
    };
    let (mut entry_patterns, mut key_patterns) = (Pattern::default(), Pattern::default());
    let (mut keys, mut found) = (StringBuilder::new(), StringBuilder::new());
    let mut picks = MapPicks::new(count);
    for row in 0..count {
        let given = (argument(0, row, ""), argument(1, row, ","), argument(2, row, "="));
        let (Some(text), Some(between), Some(inside)) = given else {
            picks.end(false)?;
            continue;
        };
        let (between, inside) = (entry_patterns.of(between)?.clone(), key_patterns.of(inside)?.clone());
        let mut entries: Vec<((usize, usize), (usize, usize))> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for entry in java_split(text, &between, usize::MAX) {
            let parts = java_split(entry, &inside, 2);
            let (key, value) = match parts.as_slice() {
                [key, value] => (*key, Some(*value)),
                _ => (entry, None),
            };
            found.append_option(value);
            let value = (0, found.len() - 1);
            match places.get(key) {
                Some(at) => {
                    let entry: &mut ((usize, usize), (usize, usize)) = &mut entries[*at];
                    entry.1 = value;
                }
                None => {
                    places.insert(key, entries.len());
                    keys.append_value(key);
                    entries.push(((0, keys.len() - 1), value));
                }
            }
        }
        picks.extend(entries);
        picks.end(true)?;
    }
    let (keys, found) = (Arc::new(keys.finish()), Arc::new(found.finish()));
    picks.maps(&[keys.as_ref()], &[found.as_ref()], to)
}

/// The last pattern that was compiled.
#[derive(Default)]
struct Pattern {
    last: Option<(String, Regex)>,
}

impl Pattern {
    fn of(&mut self, text: &str) -> Result<&Regex> {
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            let regex = java_regex::compile(text)?.ok_or_else(|| {
                Error::data(format!("the delimiter '{text}' is no regular expression"))
                    .help("put a backslash before characters that mean something: '\\|'")
            })?;
            self.last = Some((text.to_string(), regex));
        }
        match &self.last {
            Some((_, regex)) => Ok(regex),
            None => Err(Error::internal("no pattern")),
        }
    }
}

/// Java's String.split: at most `limit` parts; without a limit, empty parts at the end are left out. An empty
/// match at the start cuts nothing.
fn java_split<'t>(text: &'t str, regex: &Regex, limit: usize) -> Vec<&'t str> {
    let mut parts = Vec::new();
    if text.is_empty() && limit == usize::MAX {
        return parts;
    }
    let mut start = 0;
    for found in regex.find_iter(text) {
        if parts.len() + 1 == limit {
            break;
        }
        if found.end() == 0 {
            continue;
        }
        parts.push(&text[start..found.start()]);
        start = found.end();
    }
    parts.push(&text[start..]);
    if limit == usize::MAX && parts.len() > 1 {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_java_splits_them() {
        let split = |text: &'static str, pattern: &str, limit| java_split(text, &Regex::new(pattern).unwrap(), limit);
        assert_eq!(split("a,b,,c,,", ",", usize::MAX), ["a", "b", "", "c"]);
        assert_eq!(split("a==b", "=", 2), ["a", "=b"]);
        assert_eq!(split(",", ",", usize::MAX), Vec::<&str>::new());
        assert_eq!(split("abc", "", usize::MAX), ["a", "b", "c"]);
        assert_eq!(split("x", "", 2), ["x", ""]);
        assert_eq!(split("abc", "x", usize::MAX), ["abc"]);
    }
}

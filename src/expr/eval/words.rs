//! TRANSLATE, and what a string is made of.

use std::collections::HashMap;
use std::sync::LazyLock;

use arrow::array::ArrayRef;
use regex::Regex;

use super::function::Text;
use super::parse;
use super::value::{Read, Texts, Value, build_flags, build_texts, texts};
use crate::error::{Error, Result};

/// TRANSLATE(text, from, to): each character of `from` becomes the one at its place in `to`, or nothing. A NULL `from`
/// changes nothing, a NULL `to` is empty.
pub(super) fn translate(first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let [_, from, to] = values else {
        return Err(Error::internal("TRANSLATE lacks an argument"));
    };
    let (from, to) = (texts(from)?, texts(to)?);
    let mut last: Option<(&str, &str)> = None;
    let mut changes = HashMap::new();
    build_texts(count, |row| {
        let Some(text) = first.read(row) else {
            return Ok(None);
        };
        let pair = (from.read(row).unwrap_or_default(), to.read(row).unwrap_or_default());
        if last != Some(pair) {
            changes = changes_of(pair.0, pair.1);
            last = Some(pair);
        }
        let changed = text.chars().filter_map(|c| changes.get(&c).copied().unwrap_or(Some(c)));
        Ok(Some(changed.collect::<String>()))
    })
}

/// What becomes of each character; of one that is named twice, the first counts.
fn changes_of(from: &str, to: &str) -> HashMap<char, Option<char>> {
    let mut to = to.chars();
    let mut changes = HashMap::new();
    for c in from.chars() {
        let with = to.next();
        changes.entry(c).or_insert(with);
    }
    changes
}

/// Java's letters and digits of UTF-16 units: none beyond the first plane.
static LETTERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}+$").ok());
static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}+$").ok());

/// IS_ALPHA, IS_DIGIT and IS_DECIMAL; never NULL.
pub(super) fn is_made_of(function: Text, first: &Texts<'_>, count: usize) -> Result<ArrayRef> {
    let matches = |regex: &Option<Regex>, text: &str| {
        regex.as_ref().is_some_and(|regex| regex.is_match(text)) && text.chars().all(|c| c < '\u{10000}')
    };
    build_flags(count, |row| {
        Ok(Some(first.read(row).is_some_and(|text| match function {
            Text::IsAlpha => matches(&LETTERS, text),
            Text::IsDigit => matches(&DIGITS, text),
            _ => parse::double(text).is_ok(),
        })))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, StringArray};

    use super::*;

    fn value(text: Option<&str>) -> Value {
        Value::Array(Arc::new(StringArray::from(vec![text])))
    }

    #[test]
    fn characters_are_translated_one_by_one() {
        let translated = |text: &str, from: Option<&str>, to: Option<&str>| {
            let values = [value(Some(text)), value(from), value(to)];
            let array = translate(&texts(&values[0]).unwrap(), &values, 1).unwrap();
            array.as_string::<i32>().value(0).to_string()
        };
        assert_eq!(translated("abcba", Some("ab"), Some("x")), "xcx");
        assert_eq!(translated("abcba", Some("aab"), Some("xyz")), "xzczx");
        assert_eq!(translated("a😀b", Some("😀"), Some("z")), "azb");
        assert_eq!(translated("abc", None, Some("x")), "abc");
        assert_eq!(translated("abc", Some("a"), None), "bc");
    }

    #[test]
    fn letters_digits_and_numbers_are_those_of_java() {
        let is = |function: Text, text: Option<&str>| {
            let value = value(text);
            let array = is_made_of(function, &texts(&value).unwrap(), 1).unwrap();
            array.as_boolean().value(0)
        };
        for (function, yes, no) in [
            (Text::IsDigit, vec!["123", "٣"], vec!["12a", ""]),
            (Text::IsAlpha, vec!["abc", "ß"], vec!["", "a b", "a1"]),
            (
                Text::IsDecimal,
                vec!["1.5", "1e5", " 1", "+1", "1.", ".5", "NaN", "1d", "99999999999999999999999"],
                vec!["abc", "", "0x1F", "1_0", "-"],
            ),
        ] {
            for text in yes {
                assert!(is(function, Some(text)), "{text}");
            }
            for text in no {
                assert!(!is(function, Some(text)), "{text}");
            }
            assert!(!is(function, None));
        }
    }
}

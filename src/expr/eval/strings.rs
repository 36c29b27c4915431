//! Functions of strings. Flink counts code points in some and UTF-16 units in others; each says which.

use std::borrow::Cow;

use arrow::array::ArrayRef;
use arrow::datatypes::Int32Type;

use super::function::Text;
use super::value::{Read, Texts, Value, build, build_flags, build_texts, numbers, texts};
use super::words;
use crate::error::{Error, Result};

/// Results longer than this fail rather than exhaust the memory.
const LONGEST_TEXT: usize = 1 << 28;

/// A function of strings, all but the patterns. Integer arguments are INT.
pub(super) fn text(function: Text, values: &[Value], count: usize) -> Result<ArrayRef> {
    match function {
        Text::Concat => return concat(values, count),
        Text::ConcatWithSeparator => return concat_with_separator(values, count),
        Text::Chr => {
            let codes = numbers::<arrow::datatypes::Int64Type>(argument(values, 0)?)?;
            return build_texts(count, |row| Ok(codes.read(row).map(chr)));
        }
        _ => {}
    }
    let first = texts(argument(values, 0)?)?;
    match function {
        Text::Upper => build_texts(count, |row| Ok(first.read(row).map(upper))),
        Text::Lower => build_texts(count, |row| Ok(first.read(row).map(lower))),
        Text::InitCap => build_texts(count, |row| Ok(first.read(row).map(init_cap))),
        Text::Reverse => build_texts(count, |row| Ok(first.read(row).map(|s| s.chars().rev().collect::<String>()))),
        Text::Length => build::<Int32Type>(count, |row| Ok(first.read(row).map(|s| int(s.chars().count())))),
        Text::Ascii => build::<Int32Type>(count, |row| {
            Ok(first.read(row).map(|s| s.as_bytes().first().map_or(0, |byte| i32::from(*byte as i8))))
        }),
        Text::Trim | Text::TrimStart | Text::TrimEnd => trim(function, &first, values, count),
        Text::StartsWith | Text::EndsWith => {
            let part = texts(argument(values, 1)?)?;
            build_flags(count, |row| {
                let pair = first.read(row).zip(part.read(row));
                Ok(pair.map(|(s, p)| if function == Text::StartsWith { s.starts_with(p) } else { s.ends_with(p) }))
            })
        }
        Text::Replace => {
            let (search, with) = (texts(argument(values, 1)?)?, texts(argument(values, 2)?)?);
            build_texts(count, |row| match (first.read(row), search.read(row), with.read(row)) {
                (Some(s), Some(search), Some(with)) => {
                    limited(s.len().saturating_mul(1 + with.len()), || Some(s.replace(search, with)))
                }
                _ => Ok(None),
            })
        }
        Text::Substring | Text::Left | Text::Right => substring(function, &first, values, count),
        Text::PadStart | Text::PadEnd | Text::Repeat => grow(function, &first, values, count),
        Text::Locate | Text::Instr => find(function, values, count),
        Text::Overlay => overlay(&first, values, count),
        Text::SplitIndex => split_index(&first, values, count),
        Text::Translate => words::translate(&first, values, count),
        Text::IsAlpha | Text::IsDigit | Text::IsDecimal => words::is_made_of(function, &first, count),
        _ => Err(Error::internal(format!("{function:?} as a function of strings"))),
    }
}

fn argument(values: &[Value], at: usize) -> Result<&Value> {
    values.get(at).ok_or_else(|| Error::internal("a function of strings lacks an argument"))
}

fn int(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn limited<T>(length: usize, make: impl FnOnce() -> Option<T>) -> Result<Option<T>> {
    if length > LONGEST_TEXT {
        return Err(Error::data(format!("a string of about {length} bytes is too long")));
    }
    Ok(make())
}

fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { text.to_uppercase() }
}

fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

/// Words are runs of ASCII letters and digits; no other letter changes its case.
fn init_cap(text: &str) -> String {
    let mut in_word = false;
    text.chars()
        .map(|c| {
            let next = if in_word { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            in_word = c.is_ascii_alphanumeric();
            next
        })
        .collect()
}

/// The lowest byte as a character of Latin-1; nothing for negative numbers.
fn chr(code: i64) -> String {
    if code < 0 { String::new() } else { char::from((code & 0xff) as u8).to_string() }
}

fn trim(function: Text, first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let set = values.get(1).map(texts).transpose()?;
    build_texts(count, |row| {
        let set = match &set {
            None => Some(" "),
            Some(set) => set.read(row),
        };
        Ok(first.read(row).zip(set).map(|(s, set)| {
            let matches = |c: char| set.contains(c);
            match function {
                Text::TrimStart => s.trim_start_matches(matches),
                Text::TrimEnd => s.trim_end_matches(matches),
                _ => s.trim_matches(matches),
            }
        }))
    })
}

/// The code points from `from` (0-based) on, at most `length` of them.
fn slice(text: &str, from: usize, length: usize) -> &str {
    if text.is_ascii() {
        let from = from.min(text.len());
        return &text[from..from.saturating_add(length).min(text.len())];
    }
    let start = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
    &rest[..end]
}

/// SUBSTRING, LEFT and RIGHT count code points.
fn substring(function: Text, first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let start = numbers::<Int32Type>(argument(values, 1)?)?;
    let length = values.get(2).map(numbers::<Int32Type>).transpose()?;
    build_texts(count, |row| {
        let length = match &length {
            None => Some(i32::MAX),
            Some(length) => length.read(row),
        };
        Ok(match (first.read(row), start.read(row), length) {
            (Some(s), Some(n), Some(length)) => match function {
                Text::Left => Some(slice(s, 0, n.max(0) as usize)),
                Text::Right => {
                    let total = s.chars().count();
                    Some(slice(s, total.saturating_sub(n.max(0) as usize), total))
                }
                _ if length < 0 => None,
                _ => Some(substring_of(s, i64::from(n), i64::from(length))),
            },
            _ => None,
        })
    })
}

/// Positions count from 1, from the end where negative; 0 means 1.
fn substring_of(text: &str, start: i64, length: i64) -> &str {
    let total = text.chars().count() as i64;
    let begin = match start {
        0 => 0,
        s if s > 0 => s - 1,
        s => total + s,
    };
    let end = begin.saturating_add(length).min(total);
    // Before the beginning there is nothing, even where the length would reach into the text.
    if begin < 0 || begin >= end { "" } else { slice(text, begin as usize, (end - begin) as usize) }
}

/// Java strings are UTF-16; a half of a pair becomes `?` when Flink encodes it.
fn from_units(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied()).map(|c| c.unwrap_or('?')).collect()
}

/// LPAD and RPAD count UTF-16 units. A negative length or an empty pad gives NULL.
fn grow(function: Text, first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let length = numbers::<Int32Type>(argument(values, 1)?)?;
    if function == Text::Repeat {
        return build_texts(count, |row| match first.read(row).zip(length.read(row)) {
            None => Ok(None),
            Some((s, times)) => {
                let times = times.max(0) as usize;
                limited(s.len().saturating_mul(times), || Some(s.repeat(times)))
            }
        });
    }
    let pad = texts(argument(values, 2)?)?;
    build_texts(count, |row| match (first.read(row), length.read(row), pad.read(row)) {
        (Some(s), Some(length), Some(pad)) if length >= 0 && !pad.is_empty() => {
            limited(length as usize, || Some(padded(s, length as usize, pad, function == Text::PadStart)))
        }
        _ => Ok(None),
    })
}

fn padded(text: &str, length: usize, pad: &str, at_start: bool) -> String {
    if text.is_ascii() && pad.is_ascii() {
        if text.len() >= length {
            return text[..length].to_string();
        }
        let filling: String = pad.chars().cycle().take(length - text.len()).collect();
        return if at_start { filling + text } else { [text, &filling].concat() };
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() >= length {
        return from_units(&units[..length]);
    }
    let pad: Vec<u16> = pad.encode_utf16().collect();
    let filling = pad.iter().copied().cycle().take(length - units.len());
    let all: Vec<u16> = if at_start {
        filling.chain(units.iter().copied()).collect()
    } else {
        units.iter().copied().chain(filling).collect()
    };
    from_units(&all)
}

/// CONCAT and `||`: NULL if one is NULL.
fn concat(values: &[Value], count: usize) -> Result<ArrayRef> {
    let columns = values.iter().map(texts).collect::<Result<Vec<_>>>()?;
    let mut all = String::new();
    let mut builder = arrow::array::StringBuilder::with_capacity(count, count * 8);
    for row in 0..count {
        all.clear();
        let mut known = true;
        for column in &columns {
            match column.read(row) {
                Some(part) => all.push_str(part),
                None => {
                    known = false;
                    break;
                }
            }
        }
        if all.len() > LONGEST_TEXT {
            return Err(Error::data("a string is too long"));
        }
        builder.append_option(known.then_some(all.as_str()));
    }
    Ok(std::sync::Arc::new(builder.finish()))
}

/// CONCAT_WS: skips NULLs; NULL if the separator is NULL.
fn concat_with_separator(values: &[Value], count: usize) -> Result<ArrayRef> {
    let is_null_type = |value: &Value| value.array().data_type() == &arrow::datatypes::DataType::Null;
    let separator = argument(values, 0)?;
    if is_null_type(separator) {
        return Ok(arrow::array::new_null_array(&arrow::datatypes::DataType::Utf8, count));
    }
    let separator = texts(separator)?;
    let parts = values[1..].iter().filter(|value| !is_null_type(value));
    let parts = parts.map(texts).collect::<Result<Vec<_>>>()?;
    build_texts(count, |row| {
        Ok(separator.read(row).map(|separator| {
            let known: Vec<&str> = parts.iter().filter_map(|part| part.read(row)).collect();
            known.join(separator)
        }))
    })
}

/// The position of the first hit at or after a byte offset, as an offset.
fn find_from(text: &str, needle: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(needle).map(|at| at + from)
}

/// The byte offset of the code point number `n` (0-based); the end if there are fewer.
fn offset_of(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// POSITION(needle, text), LOCATE(needle, text[, start]) and INSTR(text, needle[, start[, occurrence]]).
fn find(function: Text, values: &[Value], count: usize) -> Result<ArrayRef> {
    let (text_at, needle_at) = if function == Text::Instr { (0, 1) } else { (1, 0) };
    let (text, needle) = (texts(argument(values, text_at)?)?, texts(argument(values, needle_at)?)?);
    let start = values.get(2).map(numbers::<Int32Type>).transpose()?;
    let occurrence = values.get(3).map(numbers::<Int32Type>).transpose()?;
    build::<Int32Type>(count, |row| {
        let start = start.as_ref().map_or(Some(1), |start| start.read(row));
        let occurrence = occurrence.as_ref().map_or(Some(1), |occurrence| occurrence.read(row));
        Ok(match (text.read(row), needle.read(row), start, occurrence) {
            (Some(text), Some(needle), Some(start), Some(nth)) => Some(if function == Text::Instr {
                instr(text, needle, start, nth)
            } else {
                locate(text, needle, start)
            }),
            _ => None,
        })
    })
}

fn position_at(text: &str, offset: usize) -> i32 {
    int(text.get(..offset).map_or(0, |before| before.chars().count())).saturating_add(1)
}

fn locate(text: &str, needle: &str, start: i32) -> i32 {
    if needle.is_empty() {
        return 1;
    }
    find_from(text, needle, offset_of(text, start.max(1) as usize - 1)).map_or(0, |offset| position_at(text, offset))
}

/// A negative start searches backward from the end.
fn instr(text: &str, needle: &str, start: i32, nth: i32) -> i32 {
    if start == 0 || nth <= 0 {
        return 0;
    }
    if needle.is_empty() {
        return 1;
    }
    let chars: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let mut left = nth;
    let hit = |at: usize| text.get(chars[at]..).is_some_and(|rest| rest.starts_with(needle));
    let mut count_down = |at: usize| {
        if hit(at) {
            left -= 1;
        }
        left == 0
    };
    let found = if start > 0 {
        (start as usize - 1..chars.len()).find(|at| count_down(*at))
    } else {
        let last = chars.len().checked_sub(start.unsigned_abs() as usize);
        last.and_then(|last| (0..=last.min(chars.len().saturating_sub(1))).rev().find(|at| count_down(*at)))
    };
    found.map_or(0, |at| int(at + 1))
}

/// OVERLAY counts UTF-16 units; outside the text nothing is replaced.
fn overlay(first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let (with, start) = (texts(argument(values, 1)?)?, numbers::<Int32Type>(argument(values, 2)?)?);
    let length = values.get(3).map(numbers::<Int32Type>).transpose()?;
    build_texts(count, |row| {
        let (Some(text), Some(with), Some(start)) = (first.read(row), with.read(row), start.read(row)) else {
            return Ok(None);
        };
        let length = match &length {
            None => with.encode_utf16().count() as i64,
            Some(length) => match length.read(row) {
                Some(length) => i64::from(length),
                None => return Ok(None),
            },
        };
        let units: Vec<u16> = text.encode_utf16().collect();
        if start <= 0 || start as usize > units.len() {
            return Ok(Some(Cow::Borrowed(text)));
        }
        let start = start as usize - 1;
        let mut all: Vec<u16> = units[..start].to_vec();
        all.extend(with.encode_utf16());
        // Without a positive length Flink drops the rest.
        if length > 0 {
            let tail = start.saturating_add(length as usize);
            all.extend(units.get(tail..).unwrap_or_default());
        }
        Ok(Some(Cow::Owned(from_units(&all))))
    })
}

/// SPLIT_INDEX counts from 0; out of range is NULL, and so is everything in an empty text.
fn split_index(first: &Texts<'_>, values: &[Value], count: usize) -> Result<ArrayRef> {
    let (separator, index) = (texts(argument(values, 1)?)?, numbers::<Int32Type>(argument(values, 2)?)?);
    build_texts(count, |row| {
        Ok(match (first.read(row), separator.read(row), index.read(row)) {
            (Some(text), Some(separator), Some(index)) if index >= 0 && !text.is_empty() => {
                if separator.is_empty() {
                    text.split(char::is_whitespace).nth(index as usize)
                } else {
                    text.split(separator).nth(index as usize)
                }
            }
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substrings_count_code_points_and_accept_negative_starts() {
        assert_eq!(substring_of("a😀bé", 2, 100), "😀bé");
        assert_eq!(substring_of("abc", -2, 1), "b");
        assert_eq!(substring_of("abc", 0, 2), "ab");
        assert_eq!(substring_of("abc", 4, 1), "");
        assert_eq!(substring_of("abc", -5, 3), "");
        assert_eq!(substring_of("abc", i64::MIN + 10, i64::MAX), "");
    }

    #[test]
    fn padding_counts_utf16_units_and_a_cut_pair_is_a_question_mark() {
        assert_eq!(padded("a😀béé", 8, "xy", false), "a😀bééxy");
        assert_eq!(padded("a😀b", 2, "x", true), "a?");
        assert_eq!(padded("a", 3, "0", true), "00a");
    }

    #[test]
    fn words_are_ascii_only() {
        assert_eq!(init_cap("  Größe ﬁx ÅÉ "), "  GrößE ﬁX ÅÉ ");
        assert_eq!(init_cap("aXbXXc"), "Axbxxc");
    }

    #[test]
    fn instr_searches_backward_from_a_negative_start() {
        assert_eq!(instr("aXbXXc", "X", -1, 1), 5);
        assert_eq!(instr("aXbXXc", "X", -1, 2), 4);
        assert_eq!(instr("abcb", "b", 3, 1), 4);
        assert_eq!(instr("abcb", "x", 1, 1), 0);
        assert_eq!(instr("", "x", -1, 1), 0);
    }
}

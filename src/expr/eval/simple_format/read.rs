//! Texts to the fields of a calendar.

use super::super::calendar;
use super::super::formatter::{DAYS, MONTHS};
use super::super::zone;
use super::Item;
use super::settle::{Field, Parsed};

/// The fields at the beginning of a text; `None` where it has another form.
pub(super) fn items(items: &[Item], text: &str, century: i64) -> Option<Parsed> {
    let mut parsed = Parsed::new(century);
    let mut rest = text;
    for (at, item) in items.iter().enumerate() {
        rest = match item {
            Item::Literal(literal) => rest.strip_prefix(literal.as_str())?,
            Item::Field(letter, count) => {
                // A field right before another one takes no more characters than it has letters.
                let adjacent = matches!(items.get(at + 1), Some(Item::Field(..)));
                let trimmed = rest.trim_start_matches([' ', '\t']);
                (!trimmed.is_empty()).then(|| field(&mut parsed, (*letter, *count), adjacent, trimmed))??
            }
        };
    }
    Some(parsed)
}

/// Reads one field; gives back the rest of the text.
fn field<'a>(parsed: &mut Parsed, (letter, count): (char, usize), adjacent: bool, text: &'a str) -> Option<&'a str> {
    match letter {
        'G' => {
            let (at, rest) = longest(text, &["BC", "AD", "Before Christ", "Anno Domini"])?;
            parsed.set(Field::Era, at % 2);
            return Some(rest);
        }
        'M' | 'L' if count > 2 => {
            let (at, rest) = month_or_day(text, &MONTHS)?;
            parsed.set(Field::Month, at + 1);
            return Some(rest);
        }
        'E' => {
            let (at, rest) = month_or_day(text, &DAYS)?;
            parsed.set(Field::DayOfWeek, at + 1);
            return Some(rest);
        }
        'a' => {
            let (at, rest) = longest(text, &["AM", "PM"])?;
            parsed.set(Field::Half, at);
            return Some(rest);
        }
        'z' | 'Z' | 'X' => return offset(parsed, letter, count, text),
        _ => {}
    }
    let (value, digits, rest) = number(text, adjacent.then_some(count))?;
    let field = match letter {
        'y' | 'Y' => {
            let near = count <= 2 && digits == 2 && value >= 0;
            let value = if near { parsed.near_year(value) } else { value };
            parsed.set(if letter == 'y' { Field::Year } else { Field::WeekYear }, value);
            return Some(rest);
        }
        'h' | 'K' => {
            parsed.set(Field::HourOfHalf, if letter == 'h' && value == 12 { 0 } else { value });
            return Some(rest);
        }
        'k' | 'H' => {
            parsed.set(Field::Hour, if letter == 'k' && value == 24 { 0 } else { value });
            return Some(rest);
        }
        'M' | 'L' => Field::Month,
        'd' => Field::Day,
        'D' => Field::DayOfYear,
        'u' => Field::DayOfWeek,
        'F' => Field::WeekdayInMonth,
        'w' => Field::WeekOfYear,
        'W' => Field::WeekOfMonth,
        'm' => Field::Minute,
        's' => Field::Second,
        _ => Field::Milli,
    };
    parsed.set(field, value);
    Some(rest)
}

/// A number of at most `longest` characters, how many they were, and what follows.
fn number(text: &str, longest: Option<usize>) -> Option<(i64, usize, &str)> {
    let within = match longest {
        Some(longest) => text.get(..longest)?,
        None => text,
    };
    let sign = usize::from(within.starts_with('-'));
    let digits = within[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(sign + digits);
    // Java cuts what is longer to 32 bits.
    let value = number.parse::<i64>().ok()? as i32;
    Some((value.into(), sign + digits, rest))
}

/// The number of the longest name at the beginning of the text, in any case, and what follows.
fn longest<'a>(text: &'a str, names: &[&str]) -> Option<(i64, &'a str)> {
    let starts = |name: &str| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    let found = names.iter().enumerate().filter(|(_, name)| starts(name)).max_by_key(|(_, name)| name.len())?;
    Some((found.0 as i64, &text[found.1.len()..]))
}

/// As [`longest`], of names that may be cut to three letters.
fn month_or_day<'a>(text: &'a str, names: &[&'static str]) -> Option<(i64, &'a str)> {
    longest(text, names).or_else(|| {
        let short: Vec<&str> = names.iter().map(|name| &name[..3]).collect();
        longest(text, &short)
    })
}

/// `+0100`, `Z`, `GMT+01:00`, an abbreviation.
fn offset<'a>(parsed: &mut Parsed, letter: char, count: usize, text: &'a str) -> Option<&'a str> {
    if letter == 'X' {
        if let Some(rest) = text.strip_prefix('Z') {
            parsed.offset_ms = Some(0);
            return Some(rest);
        }
        return signed(parsed, text, count > 1, count == 3);
    }
    if text.starts_with(['+', '-']) {
        return signed(parsed, text, true, false);
    }
    if text.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("GMT")) {
        let rest = &text[3..];
        if rest.starts_with(['+', '-']) {
            return signed(parsed, rest, true, true);
        }
        parsed.offset_ms = Some(0);
        return Some(rest);
    }
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text.split_at(letters);
    parsed.offset_ms = Some(i64::from(zone::abbreviated(name)?) * 60_000);
    Some(rest)
}

/// A sign, hours, and minutes where they are asked for. With a colon the hours may have one digit.
fn signed<'a>(parsed: &mut Parsed, text: &'a str, minutes: bool, colon: bool) -> Option<&'a str> {
    let rest = text.strip_prefix(['+', '-'])?;
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if digits == 0 || (digits == 1 && !colon) {
        return None;
    }
    let (hours, mut rest) = rest.split_at(digits);
    let mut offset = hours.parse::<i64>().ok()?.checked_mul(60)?;
    if minutes {
        let behind = if colon { rest.strip_prefix(':')? } else { rest };
        let (minutes, behind) = behind.split_at_checked(2)?;
        let minutes: i64 = minutes.bytes().all(|byte| byte.is_ascii_digit()).then(|| minutes.parse().ok())??;
        (offset, rest) = (offset + minutes, behind);
        (minutes < 60).then_some(())?;
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    parsed.offset_ms = (offset < calendar::DAY_MS / 60_000).then_some(sign * offset * 60_000);
    parsed.offset_ms.map(|_| rest)
}

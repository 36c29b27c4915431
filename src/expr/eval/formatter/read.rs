//! Texts to fields.

use super::super::zone;
use super::settle::{Field, Fields};
use super::{DAYS, Item, MONTHS, PERIODS, QUARTERS, Sign, Width};

/// What follows the items in the text; `None` where the text has another form.
pub(super) fn items<'a>(items: &[Item], mut text: &'a str, fields: &mut Fields) -> Option<&'a str> {
    for item in items {
        text = self::item(item, text, fields)?;
    }
    Some(text)
}

fn item<'a>(item: &Item, text: &'a str, fields: &mut Fields) -> Option<&'a str> {
    match item {
        Item::Literal(literal) => text.strip_prefix(literal.as_str()),
        Item::Optional(items) => {
            // A section that fits is taken, whatever follows.
            let mut tried = fields.clone();
            Some(match self::items(items, text, &mut tried) {
                Some(rest) => {
                    *fields = tried;
                    rest
                }
                None => text,
            })
        }
        Item::Padded(width, item) => {
            let (padded, rest) = text.split_at_checked(*width)?;
            let behind = self::item(item, padded.trim_start_matches(' '), fields)?;
            behind.is_empty().then_some(rest)
        }
        Item::Number { letter: 'S', count, .. } => {
            let (digits, rest) = text.split_at_checked(*count)?;
            let fraction = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())??;
            fields.set(Field::Nano, fraction * 10i64.pow(9 - *count as u32)).then_some(rest)
        }
        Item::Number { letter, count, width } => {
            let (value, rest) = number(text, *width)?;
            let value = if *count == 2 && matches!(letter, 'y' | 'u' | 'Y') { value + 2000 } else { value };
            fields.set(field_of(*letter), value).then_some(rest)
        }
        Item::Name(letter, count) => name(*letter, *count, text, fields),
    }
}

fn field_of(letter: char) -> Field {
    match letter {
        'y' => Field::YearOfEra,
        'u' => Field::Year,
        'Y' => Field::WeekYear,
        'M' | 'L' => Field::Month,
        'Q' | 'q' => Field::Quarter,
        'd' => Field::Day,
        'D' => Field::DayOfYear,
        'w' => Field::WeekOfYear,
        'W' => Field::WeekOfMonth,
        'e' | 'c' => Field::AmericanDayOfWeek,
        'F' => Field::DayOfOwnWeek,
        'g' => Field::JulianDay,
        'H' => Field::Hour,
        'k' => Field::ClockHour,
        'K' => Field::HourOfHalf,
        'h' => Field::ClockHourOfHalf,
        'm' => Field::Minute,
        's' => Field::Second,
        'n' => Field::Nano,
        'A' => Field::MilliOfDay,
        _ => Field::NanoOfDay,
    }
}

/// A number by its width, and what follows.
fn number(text: &str, width: Width) -> Option<(i64, &str)> {
    let (plus, minus) = (text.starts_with('+'), text.starts_with('-'));
    let signed = match width.sign {
        Sign::None => false,
        Sign::Normal => minus,
        Sign::Exceeds => plus || minus,
    };
    let text = if signed { &text[1..] } else { text };
    let mut digits = text.bytes().take(width.most + width.behind).take_while(u8::is_ascii_digit).count();
    if width.behind > 0 {
        digits = digits.min(digits.saturating_sub(width.behind).max(width.fewest));
    }
    if digits < width.fewest {
        return None;
    }
    let (number, rest) = text.split_at(digits);
    let value: i64 = number.parse().ok()?;
    if signed && minus {
        return (value != 0).then_some((-value, rest));
    }
    let fits = width.sign != Sign::Exceeds || signed == (digits > width.fewest);
    fits.then_some((value, rest))
}

/// The number and the rest behind the longest of the names; of equal ones the last, as in Java.
fn one_of<'a, 'n>(text: &'a str, names: impl Iterator<Item = &'n str>) -> Option<(i64, &'a str)> {
    let found = names.enumerate().filter(|(_, name)| text.starts_with(name)).max_by_key(|(_, name)| name.len())?;
    Some((found.0 as i64, &text[found.1.len()..]))
}

fn styled(name: &str, count: usize) -> &str {
    match count {
        4 => name,
        5 => &name[..1],
        _ => &name[..3],
    }
}

fn name<'a>(letter: char, count: usize, text: &'a str, fields: &mut Fields) -> Option<&'a str> {
    let (field, (value, rest)) = match letter {
        'M' | 'L' => {
            let (at, rest) = one_of(text, MONTHS.iter().map(|name| styled(name, count)))?;
            (Field::Month, (at + 1, rest))
        }
        'E' | 'e' | 'c' => {
            let (at, rest) = one_of(text, DAYS.iter().map(|name| styled(name, count)))?;
            (Field::DayOfWeek, (at + 1, rest))
        }
        'Q' | 'q' => {
            let names = QUARTERS.map(|name| match count {
                3 => format!("Q{}", &name[..1]),
                4 => format!("{name} quarter"),
                _ => name[..1].to_string(),
            });
            let (at, rest) = one_of(text, names.iter().map(String::as_str))?;
            (Field::Quarter, (at + 1, rest))
        }
        'G' => {
            let names = match count {
                4 => ["Before Christ", "Anno Domini"],
                5 => ["B", "A"],
                _ => ["BC", "AD"],
            };
            (Field::Era, one_of(text, names.into_iter())?)
        }
        'a' => (Field::Half, one_of(text, ["AM", "PM"].into_iter())?),
        'B' => {
            let names = PERIODS.iter().map(|period| if count == 5 { period.narrow } else { period.name });
            let (at, rest) = one_of(text, names)?;
            fields.period = PERIODS.get(at as usize).copied();
            return Some(rest);
        }
        'X' | 'x' | 'Z' => return offset(letter, count, text),
        'O' => return localized_offset(text),
        _ => return zone_name(letter, text),
    };
    fields.set(field, value).then_some(rest)
}

/// Two digits below `limit`, and what follows.
fn two_digits(text: &str, limit: u8) -> Option<&str> {
    let (digits, rest) = text.split_at_checked(2)?;
    let value: u8 = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    (value < limit).then_some(rest)
}

/// Reads over an offset, of which the letter and its count say the form.
fn offset(letter: char, count: usize, text: &str) -> Option<&str> {
    if letter == 'Z' && count == 4 {
        return localized_offset(text);
    }
    if (letter == 'X' || (letter == 'Z' && count == 5)) && text.starts_with('Z') {
        return Some(&text[1..]);
    }
    // What Z means by one to three and by five letters.
    let form = match (letter, count) {
        ('Z', 5) => 5,
        ('Z', _) => 2,
        _ => count,
    };
    let colon = form == 3 || form == 5;
    let rest = two_digits(text.strip_prefix(['+', '-'])?, 24)?;
    let more = |rest| two_digits(if colon { str::strip_prefix(rest, ':')? } else { rest }, 60);
    match form {
        1 => Some(more(rest).unwrap_or(rest)),
        2 | 3 => more(rest),
        _ => {
            let rest = more(rest)?;
            Some(more(rest).unwrap_or(rest))
        }
    }
}

/// `GMT`, `GMT+1`, `GMT+01:00`.
fn localized_offset(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("GMT")?;
    let Some(behind) = rest.strip_prefix(['+', '-']) else {
        return Some(rest);
    };
    let digits = behind.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let hours = behind.get(digits..).filter(|_| digits > 0)?;
    let minutes = hours.strip_prefix(':').and_then(|text| two_digits(text, 60));
    Some(minutes.unwrap_or(hours))
}

/// Reads over the name of a zone: the longest that is one.
fn zone_name(letter: char, text: &str) -> Option<&str> {
    let longest = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"/_+-:".contains(byte)).count();
    let is_zone = |name: &str| {
        let generic = letter == 'v' && ["PT", "MT", "CT", "ET"].contains(&name);
        generic || zone::known(name).is_some() || (letter != 'V' && zone::abbreviated(name).is_some())
    };
    let end = (1..=longest).rev().find(|end| is_zone(&text[..*end]))?;
    Some(&text[end..])
}

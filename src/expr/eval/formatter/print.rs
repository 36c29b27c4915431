//! Moments as text.

use std::fmt::Write;

use super::super::calendar::{self, DAY_MS, Moment};
use super::{DAYS, Item, MONTHS};
use crate::error::{Error, Result};

pub(super) fn items(items: &[Item], moment: Moment, text: &mut String) -> Result<()> {
    items.iter().try_for_each(|item| self::item(item, moment, text))
}

fn item(item: &Item, moment: Moment, text: &mut String) -> Result<()> {
    let days = moment.millis.div_euclid(DAY_MS);
    match item {
        Item::Literal(literal) => text.push_str(literal),
        Item::Optional(items) => self::items(items, moment, text)?,
        Item::Padded(width, item) => {
            let mut padded = String::new();
            self::item(item, moment, &mut padded)?;
            if padded.len() > *width {
                return Err(Error::data(format!("'{padded}' is longer than the {width} characters it is padded to")));
            }
            let _ = write!(text, "{padded:>width$}");
        }
        Item::Name('X' | 'x' | 'Z' | 'z' | 'V' | 'v' | 'O', _) => {
            return Err(Error::data("a timestamp has no time zone that a date pattern could show"));
        }
        Item::Number { letter, count, .. } | Item::Name(letter, count) if "GyuYMLdDEecQqwWFg".contains(*letter) => {
            date(text, *letter, *count, days);
        }
        Item::Number { letter, count, .. } | Item::Name(letter, count) => time(text, *letter, *count, moment),
    }
    Ok(())
}

fn push_number(text: &mut String, value: i64, width: usize) {
    let _ = write!(text, "{value:0width$}");
}

fn push_name(text: &mut String, name: &str, count: usize) {
    match count {
        4 => text.push_str(name),
        5 => text.push_str(&name[..1]),
        _ => text.push_str(&name[..3]),
    }
}

fn push_year(text: &mut String, year: i64, count: usize) {
    if count == 2 {
        push_number(text, year.rem_euclid(100), 2);
        return;
    }
    if count >= 4 && year > 10i64.pow(count.min(18) as u32) - 1 {
        text.push('+');
    }
    if year < 0 {
        text.push('-');
    }
    push_number(text, year.abs(), count);
}

fn date(text: &mut String, letter: char, count: usize, days: i64) {
    let (year, month, day) = calendar::date_of(days);
    let weekday = calendar::iso_day_of_week(days);
    match letter {
        'G' => text.push_str(match (year > 0, count) {
            (true, 4) => "Anno Domini",
            (false, 4) => "Before Christ",
            (true, 5) => "A",
            (false, 5) => "B",
            (true, _) => "AD",
            (false, _) => "BC",
        }),
        'y' => push_year(text, if year > 0 { year } else { 1 - year }, count),
        'u' => push_year(text, year, count),
        'Y' => push_year(text, calendar::american_week(days).0, count),
        'w' => push_number(text, calendar::american_week(days).1, count),
        'W' => push_number(text, calendar::american_week_of_month(days), count),
        // The day of the month's own weeks, which begin on its first day.
        'F' => push_number(text, (day - 1) % 7 + 1, count),
        'g' => push_number(text, days + calendar::MODIFIED_JULIAN_1970, count),
        'M' | 'L' if count >= 3 => push_name(text, MONTHS[(month - 1) as usize % 12], count),
        'M' | 'L' => push_number(text, month, count),
        'd' => push_number(text, day, count),
        'D' => push_number(text, calendar::day_of_year(days), count),
        'e' | 'c' if count < 3 => push_number(text, weekday % 7 + 1, count),
        'E' | 'e' | 'c' => push_name(text, DAYS[(weekday - 1) as usize % 7], count),
        _ => {
            let quarter = (month + 2) / 3;
            match count {
                1 | 2 | 5 => push_number(text, quarter, if count == 2 { 2 } else { 1 }),
                3 => {
                    let _ = write!(text, "Q{quarter}");
                }
                _ => {
                    let _ = write!(text, "{} quarter", super::QUARTERS[(quarter - 1) as usize % 4]);
                }
            }
        }
    }
}

fn time(text: &mut String, letter: char, count: usize, moment: Moment) {
    let in_day = moment.millis.rem_euclid(DAY_MS);
    let hour = in_day / 3_600_000;
    let nanos = moment.nano_of_second();
    match letter {
        'H' => push_number(text, hour, count),
        'k' => push_number(text, if hour == 0 { 24 } else { hour }, count),
        'K' => push_number(text, hour % 12, count),
        'h' => push_number(text, if hour % 12 == 0 { 12 } else { hour % 12 }, count),
        'm' => push_number(text, in_day / 60_000 % 60, count),
        's' => push_number(text, in_day / 1000 % 60, count),
        'S' => {
            let digits = format!("{nanos:09}");
            text.push_str(&digits[..count.min(9)]);
        }
        'n' => push_number(text, nanos, count),
        'N' => push_number(text, in_day / 1000 * 1_000_000_000 + nanos, count),
        'A' => push_number(text, in_day, count),
        'B' => text.push_str(day_period(in_day / 60_000, count)),
        _ => text.push_str(if hour < 12 { "AM" } else { "PM" }),
    }
}

/// The part of the day as English names it, at a minute of the day.
fn day_period(minute: i64, count: usize) -> &'static str {
    let period = super::PERIODS.iter().find(|period| period.holds(minute)).unwrap_or(&super::PERIODS[0]);
    if count == 5 { period.narrow } else { period.name }
}

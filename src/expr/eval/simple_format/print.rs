//! Instants as text.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::super::calendar::{self, DAY_MS};
use super::super::formatter::{DAYS, MONTHS};
use super::super::zone;
use super::{Item, nameless_zone, settle};
use crate::error::Result;

/// What the clocks show.
struct Shown<'a> {
    days: i64,
    /// 1 is 1 AD, 0 is 1 BC.
    year: i64,
    month: i64,
    day: i64,
    in_day: i64,
    offset_ms: i64,
    millis: i64,
    zone: &'a TimeZone,
}

pub(super) fn items(items: &[Item], millis: i64, zone: &TimeZone) -> Result<String> {
    let offset_ms = zone::older_offset_ms(zone, millis);
    let local = millis.wrapping_add(offset_ms);
    let days = local.div_euclid(DAY_MS);
    let (year, month, day) = settle::date_of(days);
    let shown = Shown { days, year, month, day, in_day: local.rem_euclid(DAY_MS), offset_ms, millis, zone };
    let mut text = String::new();
    for item in items {
        match item {
            Item::Literal(literal) => text.push_str(literal),
            Item::Field(letter, count) => field(&mut text, *letter, *count, &shown)?,
        }
    }
    Ok(text)
}

fn field(text: &mut String, letter: char, count: usize, at: &Shown) -> Result<()> {
    let hour = at.in_day / 3_600_000;
    let weekday = calendar::iso_day_of_week(at.days);
    let number = match letter {
        'G' => return push(text, if at.year > 0 { "AD" } else { "BC" }),
        'y' => year(if at.year > 0 { at.year } else { 1 - at.year }, count),
        'Y' => year(settle::week_of(at.days, at.year).0, count),
        'M' | 'L' if count >= 3 => return push(text, styled(MONTHS[(at.month - 1) as usize % 12], count)),
        'M' | 'L' => at.month,
        'd' => at.day,
        'k' if hour == 0 => 24,
        'k' | 'H' => hour,
        'h' if hour % 12 == 0 => 12,
        'h' | 'K' => hour % 12,
        'm' => at.in_day / 60_000 % 60,
        's' => at.in_day / 1000 % 60,
        'S' => at.in_day % 1000,
        'E' => return push(text, styled(DAYS[(weekday - 1) as usize % 7], count)),
        'u' => weekday,
        'D' => at.days - settle::days_of(at.year, 1, 1) + 1,
        'F' => (at.day - 1) / 7 + 1,
        'w' => settle::week_of(at.days, at.year).1,
        'W' => (at.days - calendar::sunday_before(at.days - at.day + 1)) / 7 + 1,
        'a' => return push(text, if hour < 12 { "AM" } else { "PM" }),
        'z' if count < 4 => {
            let name = zone::abbreviation(at.zone, at.millis).ok_or_else(nameless_zone)?;
            return push(text, &name);
        }
        'z' => return Err(nameless_zone()),
        _ => return offset(text, letter, count, at.offset_ms / 60_000),
    };
    let width = if matches!(letter, 'y' | 'Y') && count == 2 { 2 } else { count };
    let _ = write!(text, "{number:0width$}");
    Ok(())
}

fn push(text: &mut String, part: &str) -> Result<()> {
    text.push_str(part);
    Ok(())
}

fn styled(name: &str, count: usize) -> &str {
    if count >= 4 { name } else { &name[..3] }
}

fn year(year: i64, count: usize) -> i64 {
    if count == 2 { year.rem_euclid(100) } else { year }
}

/// Minutes ahead of UTC: `+0100` for Z, `+01`, `+0100` or `+01:00` for X.
fn offset(text: &mut String, letter: char, count: usize, minutes: i64) -> Result<()> {
    if letter == 'X' && minutes == 0 {
        return push(text, "Z");
    }
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    let _ = match (letter, count) {
        ('X', 1) => write!(text, "{sign}{hours:02}"),
        ('X', 3) => write!(text, "{sign}{hours:02}:{minutes:02}"),
        _ => write!(text, "{sign}{hours:02}{minutes:02}"),
    };
    Ok(())
}

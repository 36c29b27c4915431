//! Time zones by Flink's names, and local times to instants.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::calendar::{DAY_MS, date_of};
use crate::error::{Error, Result};
use crate::time::cycles_ms;

/// A time zone by name: `Europe/Berlin`, `UTC`, `GMT+08:00`, `+05:30`.
///
/// # Errors
/// Kind Script for a name that nobody knows.
pub(super) fn zone(name: &str) -> Result<TimeZone> {
    known(name).ok_or_else(|| {
        Error::script(format!("unknown time zone '{name}'"))
            .help("use a name like 'Europe/Berlin', 'UTC' or 'GMT+08:00'")
    })
}

/// As [`zone`]; `None` for an unknown name.
pub(super) fn known(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Z" | "GMT") {
        return Some(TimeZone::UTC);
    }
    // Hours before minutes have two digits.
    let two_digits =
        name.split_once(':').is_none_or(|(hours, _)| hours.bytes().rev().take_while(u8::is_ascii_digit).count() == 2);
    if let Some(offset) = fixed(name).filter(|_| two_digits) {
        return Some(TimeZone::fixed(offset));
    }
    // Abbreviations are none of its names.
    if SHORT_NAMES.iter().any(|(short, _)| *short == name) {
        return None;
    }
    TimeZone::get(name).ok()
}

/// A zone as the older `java.util.TimeZone` finds it: it knows abbreviations, takes offsets behind GMT only, and UTC
/// for every other name.
pub(super) fn lenient(name: &str) -> TimeZone {
    let long = SHORT_NAMES.iter().find(|(short, _)| *short == name).map(|(_, long)| *long);
    let offset = if long.is_some() || name.starts_with("GMT") { fixed(long.unwrap_or(name)) } else { None };
    match offset {
        Some(offset) => TimeZone::fixed(offset),
        None => TimeZone::get(long.unwrap_or(name)).unwrap_or(TimeZone::UTC),
    }
}

/// The abbreviations that Java knows, as `java.time.ZoneId.SHORT_IDS` lists them.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// `GMT+8`, `UTC+08:00`, `+0530`.
fn fixed(name: &str) -> Option<Offset> {
    let rest = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC")).unwrap_or(name);
    let (sign, rest) = match rest.as_bytes().first()? {
        b'+' => (1, &rest[1..]),
        b'-' => (-1, &rest[1..]),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 && rest.is_ascii() => rest.split_at(2),
        None => (rest, "0"),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..=18).contains(&hours) || !(0..=59).contains(&minutes) {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

/// Milliseconds by which the zone is ahead of UTC at an instant.
pub(super) fn offset_ms(zone: &TimeZone, millis: i64) -> i64 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    // Before the years that a timestamp may have, the nearest one's offset stands in.
    let seconds =
        (millis - cycles_ms(millis)).div_euclid(1000).clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds).map_or(0, |at| i64::from(zone.to_offset(at).seconds()) * 1000)
}

/// The wall clock of an instant.
pub(super) fn to_local(zone: &TimeZone, millis: i64) -> i64 {
    millis.wrapping_add(offset_ms(zone, millis))
}

/// The instant of a wall clock time: of two the earlier, in a gap as if the clock had not been moved.
pub(super) fn from_local(zone: &TimeZone, local: i64) -> i64 {
    instant(zone, local, false)
}

/// As [`offset_ms`], by Java's older date classes: before 1900 they know a zone's present standard time only.
pub(super) fn older_offset_ms(zone: &TimeZone, millis: i64) -> i64 {
    if millis < YEAR_1900_MS { standard_ms(zone) } else { offset_ms(zone, millis) }
}

/// As [`from_local`], by Java's older date classes: of two instants they prefer the later, in standard time.
pub(super) fn from_older_local(zone: &TimeZone, local: i64) -> i64 {
    let standard = local.saturating_sub(standard_ms(zone));
    if standard < YEAR_1900_MS { standard } else { instant(zone, local, true) }
}

const YEAR_1900_MS: i64 = -2_208_988_800_000;

/// The offset without daylight saving in 2037, the last year for which all rules are written out.
fn standard_ms(zone: &TimeZone) -> i64 {
    const JANUARY_MS: i64 = 2_114_380_800_000;
    const JULY_MS: i64 = 2_130_019_200_000;
    offset_ms(zone, JANUARY_MS).min(offset_ms(zone, JULY_MS))
}

/// The zone's short name at an instant: `EST`. Zones without one have none.
pub(super) fn abbreviation(zone: &TimeZone, millis: i64) -> Option<String> {
    let at = Timestamp::from_millisecond(millis).ok()?;
    let name = zone.to_offset_info(at).abbreviation().to_string();
    name.bytes().all(|byte| byte.is_ascii_alphabetic()).then_some(name)
}

/// Minutes ahead of UTC of a short name, in any case.
pub(super) fn abbreviated(name: &str) -> Option<i32> {
    let found = ABBREVIATIONS.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
    found.map(|(_, minutes)| *minutes)
}

const ABBREVIATIONS: &[(&str, i32)] = &[
    ("ACDT", 630),
    ("ACST", 570),
    ("AEDT", 660),
    ("AEST", 600),
    ("AKDT", -480),
    ("AKST", -540),
    ("AWST", 480),
    ("BST", 60),
    ("CDT", -300),
    ("CEST", 120),
    ("CET", 60),
    ("CST", -360),
    ("EDT", -240),
    ("EEST", 180),
    ("EET", 120),
    ("EST", -300),
    ("GMT", 0),
    ("HKT", 480),
    ("HST", -600),
    ("IST", 330),
    ("JST", 540),
    ("KST", 540),
    ("MDT", -360),
    ("MSK", 180),
    ("MST", -420),
    ("NZDT", 780),
    ("NZST", 720),
    ("PDT", -420),
    ("PST", -480),
    ("SGT", 480),
    ("UTC", 0),
    ("WEST", 60),
    ("WET", 0),
];

fn instant(zone: &TimeZone, local: i64, later: bool) -> i64 {
    if *zone == TimeZone::UTC {
        return local;
    }
    let cycles = cycles_ms(local);
    let (year, month, day) = date_of((local - cycles).div_euclid(DAY_MS));
    let in_day = local.rem_euclid(DAY_MS);
    let civil = i16::try_from(year).ok().and_then(|year| {
        jiff::civil::DateTime::new(
            year,
            month as i8,
            day as i8,
            (in_day / 3_600_000) as i8,
            (in_day / 60_000 % 60) as i8,
            (in_day / 1000 % 60) as i8,
            (in_day % 1000 * 1_000_000) as i32,
        )
        .ok()
    });
    let at = civil.and_then(|civil| {
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let folded = matches!(ambiguous.offset(), jiff::tz::AmbiguousOffset::Fold { .. });
        if later && folded { ambiguous.later().ok() } else { ambiguous.compatible().ok() }
    });
    at.map_or_else(|| local.wrapping_sub(offset_ms(zone, local)), |at| at.as_millisecond().saturating_add(cycles))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_offsets_are_zones_too() {
        assert_eq!(offset_ms(&zone("GMT+08:00").unwrap(), 0), 28_800_000);
        assert_eq!(offset_ms(&zone("-0330").unwrap(), 0), -12_600_000);
        assert!(zone("nowhere").is_err());
    }

    #[test]
    fn a_local_time_in_a_gap_keeps_the_offset_before_it() {
        let berlin = zone("Europe/Berlin").unwrap();
        // 2024-03-31 02:30 does not exist: 01:30 UTC, shown as 03:30.
        let local = 1_711_852_200_000;
        assert_eq!(from_local(&berlin, local), local - 3_600_000);
    }

    #[test]
    fn the_ends_of_time_do_not_panic() {
        let zone = zone("America/New_York").unwrap();
        for millis in [i64::MIN, i64::MAX, -62_135_596_800_000, 253_402_300_799_999] {
            to_local(&zone, millis);
            from_local(&zone, millis);
        }
    }
}

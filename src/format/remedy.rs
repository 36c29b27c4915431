//! What to do about a text that is no value of its column's type. Advice for times is tried on the text before it is
//! given, so that it does not lead to the next error.

use super::parse::{self, TimestampStyle};
use crate::error::nearest;
use crate::types::Type;

/// Remedy for a text that is no value of a timestamp column; `None` where the column is of another type. NULL is never
/// offered: the decoder does not know whether the watermark is made from the column, and there NULL fails as well.
#[cold]
pub(crate) fn time(name: &str, kind: &Type, text: &[u8], json: Option<TimestampStyle>) -> Option<String> {
    matches!(kind, Type::Timestamp(_) | Type::TimestampLtz(_))
        .then(|| form(kind, text, json).unwrap_or_else(|| computed(name, parse::trim(text))))
}

/// Another type or option that reads the text of a timestamp, where there is one.
#[cold]
pub(crate) fn form(kind: &Type, text: &[u8], json: Option<TimestampStyle>) -> Option<String> {
    let (digits, zoned) = match kind {
        Type::Timestamp(digits) => (*digits, false),
        Type::TimestampLtz(digits) => (*digits, true),
        _ => return None,
    };
    let text = parse::trim(text);
    let other = if zoned { Type::Timestamp(digits) } else { Type::TimestampLtz(digits) };
    let style = json.unwrap_or_default();
    let reads = |style, zoned| parse::timestamp(text, style, zoned).is_some();
    if let Some(current) = json {
        let (changed, set) = match current {
            TimestampStyle::Sql => (TimestampStyle::Iso, "set 'json.timestamp-format.standard' = 'ISO-8601'"),
            TimestampStyle::Iso => (TimestampStyle::Sql, "set 'json.timestamp-format.standard' = 'SQL'"),
        };
        if reads(changed, zoned) {
            return Some(set.to_string());
        }
        if reads(changed, !zoned) {
            return Some(format!("{set}, and declare it {other}"));
        }
    }
    reads(style, !zoned).then(|| format!("declare it {other}"))
}

/// Remedy that declares the column as what its text is, and computes the time.
fn computed(name: &str, text: &[u8]) -> String {
    let rt = if name.eq_ignore_ascii_case("rt") { "event_time" } else { "rt" };
    let column = quoted(name);
    if let Some(remedy) = epoch(rt, &column, text) {
        return remedy;
    }
    let spaced: Vec<u8> = text.iter().filter(|b| **b != b'Z').map(|b| if *b == b'T' { b' ' } else { *b }).collect();
    if parse::timestamp(&spaced, TimestampStyle::Sql, false).is_some() {
        return format!(
            "declare it STRING and compute the time, for example \
             {rt} AS TO_TIMESTAMP(REPLACE(REPLACE({column}, 'T', ' '), 'Z', ''))"
        );
    }
    if parse::iso_date(text).is_some() {
        return format!("declare it DATE and add {rt} AS CAST({column} AS TIMESTAMP(3))");
    }
    if text.is_empty() {
        return "fill in the time or remove the record".to_string();
    }
    if has_offset(text) {
        return "write the times in UTC: an offset from it is not read".to_string();
    }
    format!(
        "repair the record; if all times look like this, declare it STRING and compute the time, for example \
         {rt} AS TO_TIMESTAMP({column}, 'dd.MM.yyyy HH:mm:ss')"
    )
}

/// A number of seconds since 1970 or of their thousandths, millionths or billionths, told apart by its length.
fn epoch(rt: &str, column: &str, text: &[u8]) -> Option<String> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (value, digits) = match text.len() {
        9..=10 => (column.to_string(), 0),
        12..=13 => (column.to_string(), 3),
        15..=16 => (format!("{column} / 1000"), 3),
        18..=19 => (format!("{column} / 1000000"), 3),
        _ => return None,
    };
    Some(format!("declare it BIGINT and add {rt} AS TO_TIMESTAMP_LTZ({value}, {digits})"))
}

/// `…+02:00`, `…-0500`
fn has_offset(text: &[u8]) -> bool {
    let tail = text.get(11..).unwrap_or_default();
    let sign = tail.iter().rposition(|b| matches!(b, b'+' | b'-'));
    sign.is_some_and(|at| tail[at + 1..].iter().all(|b| b.is_ascii_digit() || *b == b':') && at + 1 < tail.len())
}

/// The name as a script must spell it. Only the reserved words that time columns are called need be known.
pub(crate) fn quoted(name: &str) -> String {
    const RESERVED: &[&str] = &[
        "at",
        "current",
        "date",
        "day",
        "end",
        "hour",
        "minute",
        "moment",
        "month",
        "period",
        "second",
        "start",
        "time",
        "timestamp",
        "value",
        "when",
        "year",
    ];
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
        && !RESERVED.contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_string() } else { format!("`{}`", name.replace('`', "``")) }
}

/// "a" or "an", by the name of the type.
pub(crate) fn article(kind: &Type) -> &'static str {
    if kind.to_string().starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}

/// Of a column that a file has not, for a notice.
pub(crate) fn no_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, columns) {
        Some(near) => format!("no column `{name}` (did you mean `{near}`? names are case-sensitive)"),
        None => format!("no column `{name}`"),
    }
}

/// Whether a text could name a column: no number, no time, and none of the words for what is absent.
pub(crate) fn names_a_column(text: &[u8]) -> bool {
    const ABSENT: &[&str] = &["null", "nil", "none", "nan", "na", "n/a", "inf", "infinity", "true", "false"];
    let text = String::from_utf8_lossy(parse::trim(text)).to_lowercase();
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !ABSENT.contains(&text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remedy(kind: &Type, text: &str, json: Option<TimestampStyle>) -> String {
        time("ts", kind, text.as_bytes(), json).expect("a remedy")
    }

    #[test]
    fn a_time_of_another_form_gets_the_advice_that_reads_it() {
        let (plain, zoned) = (Type::Timestamp(3), Type::TimestampLtz(3));
        let (sql, iso) = (Some(TimestampStyle::Sql), Some(TimestampStyle::Iso));
        let set_iso = "set 'json.timestamp-format.standard' = 'ISO-8601'";
        for (kind, text, json, expected) in [
            (&plain, "2024-05-01T12:00:01", sql, set_iso.to_string()),
            (&plain, "2024-05-01T12:00:01Z", sql, format!("{set_iso}, and declare it TIMESTAMP_LTZ(3)")),
            (&zoned, "2024-05-01T12:00:01Z", sql, set_iso.to_string()),
            (&zoned, "2024-05-01T12:00:01", sql, format!("{set_iso}, and declare it TIMESTAMP(3)")),
            (&plain, "2024-05-01T12:00:01Z", iso, "declare it TIMESTAMP_LTZ(3)".to_string()),
            (&plain, "2024-05-01 12:00:01", iso, "set 'json.timestamp-format.standard' = 'SQL'".to_string()),
            (&plain, "2024-05-01 12:00:01Z", None, "declare it TIMESTAMP_LTZ(3)".to_string()),
            (&zoned, "2024-05-01 12:00:01", None, "declare it TIMESTAMP(3)".to_string()),
        ] {
            assert_eq!(remedy(kind, text, json), expected, "{text}");
        }
        let replace = "declare it STRING and compute the time, for example \
             rt AS TO_TIMESTAMP(REPLACE(REPLACE(ts, 'T', ' '), 'Z', ''))";
        for text in ["2024-05-01T12:00:01", "2024-05-01T12:00:01.123Z"] {
            assert_eq!(remedy(&plain, text, None), replace, "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_taken_for_an_epoch_in_the_unit_of_its_length() {
        for (text, call) in [
            ("1714564801", "TO_TIMESTAMP_LTZ(ts, 0)"),
            ("1714564801000", "TO_TIMESTAMP_LTZ(ts, 3)"),
            ("1714564801000000", "TO_TIMESTAMP_LTZ(ts / 1000, 3)"),
            ("1714564801000000000", "TO_TIMESTAMP_LTZ(ts / 1000000, 3)"),
        ] {
            for json in [None, Some(TimestampStyle::Sql), Some(TimestampStyle::Iso)] {
                let expected = format!("declare it BIGINT and add rt AS {call}");
                assert_eq!(remedy(&Type::Timestamp(3), text, json), expected);
            }
        }
        let named = |name| time(name, &Type::Timestamp(3), b"1714564801", None).expect("a remedy");
        assert!(named("time").ends_with("rt AS TO_TIMESTAMP_LTZ(`time`, 0)"));
        assert!(named("rt").ends_with("event_time AS TO_TIMESTAMP_LTZ(rt, 0)"));
    }

    #[test]
    fn no_time_column_is_told_to_ignore_errors() {
        for text in ["", "x", "2024-05-01", "2024-05-01T12:00", "2024-05-01T12:00:01+02:00", "1.5", "12"] {
            for json in [None, Some(TimestampStyle::Sql)] {
                assert!(!remedy(&Type::Timestamp(3), text, json).contains("ignore-parse-errors"), "{text}");
            }
        }
        assert_eq!(time("v", &Type::Int, b"x", None), None);
    }

    #[test]
    fn the_article_goes_by_the_name_of_the_type() {
        assert_eq!((article(&Type::Int), article(&Type::BigInt)), ("an", "a"));
    }
}

//! Timestamps in text, in the few forms that result files use.

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // years begin in March, so that the leap day is the last one
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`].
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = (shifted + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// `YYYY-MM-DD HH:MM:SS.mmm`
pub fn format_millis(millis: i64) -> String {
    let (year, month, day) = civil_from_days(millis.div_euclid(86_400_000));
    let rest = millis.rem_euclid(86_400_000);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03}", rest % 1000)
}

/// The parts of a timestamp as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'a> {
    /// `YYYY-MM-DD`, the year with at least four digits and perhaps a minus.
    pub date: &'a str,
    /// `HH:MM`
    pub clock: &'a str,
    pub second: &'a str,
    /// Digits after the point.
    pub fraction: &'a str,
    /// A `Z` at the end.
    pub utc: bool,
}

/// Takes a timestamp apart; `None` if the text is none.
pub fn parse(text: &str) -> Option<Parts<'_>> {
    let (text, utc) = text.strip_suffix('Z').map_or((text, false), |rest| (rest, true));
    let at = text.find([' ', 'T'])?;
    let (date, time) = (&text[..at], &text[at + 1..]);
    let year_length = date.len().checked_sub(6)?;
    let year = date.get(..year_length)?.trim_start_matches('-');
    let rest = date.get(year_length..)?;
    if year_length - year.len() > 1 || year.len() < 4 || !all_digits(year) || !matches_pattern(rest, "-##-##") {
        return None;
    }
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    if !all_digits(fraction) {
        return None;
    }
    match time.len() {
        5 if matches_pattern(time, "##:##") => Some(Parts { date, clock: time, second: "00", fraction, utc }),
        8 if matches_pattern(time, "##:##:##") => {
            Some(Parts { date, clock: &time[..5], second: &time[6..], fraction, utc })
        }
        _ => None,
    }
}

/// Milliseconds since 1970, finer digits cut off.
pub fn parse_millis(text: &str) -> Option<i64> {
    let parts = parse(text)?;
    let tail = parts.date.len() - 6;
    let number = |text: &str| text.parse::<i64>().ok();
    let days = days_from_civil(
        number(&parts.date[..tail])?,
        number(&parts.date[tail + 1..tail + 3])?,
        number(&parts.date[tail + 4..])?,
    );
    let minutes = number(&parts.clock[..2])? * 60 + number(&parts.clock[3..])?;
    let mut fraction = parts.fraction.to_string();
    fraction.push_str("000");
    Some(days * 86_400_000 + minutes * 60_000 + number(parts.second)? * 1000 + number(&fraction[..3])?)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// `#` stands for a digit.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    text.len() == pattern.len()
        && text.bytes().zip(pattern.bytes()).all(|(t, p)| if p == b'#' { t.is_ascii_digit() } else { t == p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_survive_the_round_trip() {
        for days in (-800_000..800_000).step_by(97) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(days_from_civil(2000, 2, 29), 11_016);
    }

    #[test]
    fn text_and_milliseconds_agree() {
        for millis in [0, 1_704_067_200_123, -1, -62_135_596_800_000] {
            assert_eq!(parse_millis(&format_millis(millis)), Some(millis));
        }
        assert_eq!(parse_millis("2024-01-01T00:00"), Some(1_704_067_200_000));
        assert_eq!(parse_millis("2024-01-01 00:00:00.1"), Some(1_704_067_200_100));
        for text in ["", "2024", "2024-01-01", "24-01-01 00:00:00", "2024-01-01 00:00:0", "2024-01-01 00:00:00.x"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

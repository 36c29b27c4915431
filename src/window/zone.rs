//! The scale that windows are cut on: the time column's own, or local time in a zone.
//!
//! Windows of a TIMESTAMP_LTZ column are cut in shifted local time (`ltz-*`, field cases 7 and 8): a day has 23 to
//! 25 hours, the repeated hour is one window, the missing hour has none. A window [s, e) fires when the watermark
//! reaches the last instant whose local time is e - 1: in an overlap the later one, in a gap the jump itself.
//! Both follow from one function, the [`Scale::horizon`]: all windows that end at or before it have fired.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::error::{Error, Result};
use crate::time::{Watermark, cycles_ms};

/// Converts between instants and the scale of the windows.
#[derive(Debug, Clone)]
pub struct Scale {
    /// `None`: the windows' scale is the instants'.
    zone: Option<TimeZone>,
    /// The stretch without a change of offset that was asked for last.
    stretch: Stretch,
}

/// Instants `[start, end)` with the same offset from UTC, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: i64,
    end: i64,
    offset: i64,
    /// Offset from `end` on.
    offset_after: i64,
}

const NOWHERE: Stretch = Stretch { start: i64::MAX, end: i64::MIN, offset: 0, offset_after: 0 };

impl Scale {
    /// `None`: no shift. Names as Flink takes them: regions, `UTC`, `GMT+08:00`, `+08:00`.
    ///
    /// # Errors
    /// Script if there is no such zone.
    pub fn new(zone: Option<&str>) -> Result<Self> {
        let zone = match zone {
            None => None,
            Some(name) => {
                let zone = find(name)?;
                let utc = zone.to_fixed_offset().is_ok_and(Offset::is_zero);
                (!utc).then_some(zone)
            }
        };
        Ok(Scale { zone, stretch: NOWHERE })
    }

    /// True if times on the scale are the instants themselves.
    pub fn is_plain(&self) -> bool {
        self.zone.is_none()
    }

    /// The time of an instant on the scale.
    pub fn local(&mut self, instant: i64) -> i64 {
        match &self.zone {
            None => instant,
            Some(_) => instant.saturating_add(self.stretch(instant).offset),
        }
    }

    /// The instant of a time on the scale: the earlier one in an overlap; in a gap as if the offset before it went on.
    pub fn instant(&self, local: i64) -> i64 {
        let Some(zone) = &self.zone else { return local };
        let cycles = cycles_ms(local);
        let civil = Offset::UTC.to_datetime(clamp(local - cycles));
        match zone.to_ambiguous_timestamp(civil).compatible() {
            Ok(instant) => instant.as_millisecond().saturating_add(cycles),
            Err(_) => local,
        }
    }

    /// Windows that end at or before the horizon have fired at this watermark.
    pub fn horizon(&mut self, watermark: Watermark) -> i64 {
        let Watermark(instant) = watermark;
        if watermark == Watermark::MIN {
            return i64::MIN;
        }
        if self.zone.is_none() || instant == i64::MAX {
            return instant.saturating_add(1);
        }
        let Stretch { end, offset, offset_after, .. } = self.stretch(instant);
        let passed = instant.saturating_add(offset).saturating_add(1);
        if offset_after < offset {
            // Local times from here on come once more after the change: their windows wait.
            return passed.min(end.saturating_add(offset_after));
        }
        passed
    }

    fn stretch(&mut self, instant: i64) -> Stretch {
        let Some(zone) = &self.zone else { return NOWHERE };
        if !(self.stretch.start..self.stretch.end).contains(&instant) {
            self.stretch = stretch_of(zone, instant);
        }
        self.stretch
    }
}

fn stretch_of(zone: &TimeZone, instant: i64) -> Stretch {
    let cycles = cycles_ms(instant);
    let time = clamp(instant - cycles);
    let millis = |offset: Offset| i64::from(offset.seconds()) * 1000;
    let offset = zone.to_offset(time);
    // Transitions that keep the offset (a new name, say) are no ends of stretches; `preceding` leaves its time out.
    let just_after = time.checked_add(jiff::SignedDuration::from_nanos(1)).unwrap_or(time);
    let start = zone
        .preceding(just_after)
        .next()
        .map_or(i64::MIN, |change| change.timestamp().as_millisecond().saturating_add(cycles));
    let next = zone.following(time).find(|change| change.offset() != offset);
    Stretch {
        start,
        end: next.as_ref().map_or(i64::MAX, |change| change.timestamp().as_millisecond().saturating_add(cycles)),
        offset: millis(offset),
        offset_after: millis(next.map_or(offset, |change| change.offset())),
    }
}

/// Zones are known from the year -9999 on; for the other end see [`cycles_ms`].
fn clamp(instant: i64) -> Timestamp {
    let limit = if instant < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(instant).unwrap_or(limit)
}

fn find(name: &str) -> Result<TimeZone> {
    let unknown = || {
        Error::script(format!("unknown time zone '{name}'"))
            .help("use a region such as 'Europe/Berlin', or an offset such as 'GMT+02:00'")
    };
    let offset = ["GMT", "UTC", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match offset.as_bytes() {
        [] | b"Z" => Ok(TimeZone::UTC),
        [sign @ (b'+' | b'-'), digits @ ..] => {
            let seconds = offset_seconds(digits).ok_or_else(unknown)?;
            let seconds = if *sign == b'-' { -seconds } else { seconds };
            Ok(Offset::from_seconds(seconds).map_err(|_| unknown())?.to_time_zone())
        }
        _ => TimeZone::get(name).map_err(|_| unknown()),
    }
}

/// `8`, `08`, `8:30`, `08:30`, `0830`, `08:30:15`.
fn offset_seconds(digits: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(digits).ok()?;
    let number = |part: &str| (1..=2).contains(&part.len()).then(|| part.parse::<u8>().ok().map(i32::from))?;
    let parts: Vec<&str> = match (text.len(), text.contains(':')) {
        (4, false) => vec![&text[..2], &text[2..]],
        _ => text.split(':').collect(),
    };
    let mut seconds = 0;
    for (part, unit) in parts.iter().zip([3600, 60, 1]) {
        seconds += number(part)? * unit;
    }
    ((1..=3).contains(&parts.len()) && seconds <= 18 * 3600).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(zone: &str) -> Scale {
        Scale::new(Some(zone)).unwrap()
    }
    const HOUR: i64 = 3_600_000;

    #[test]
    fn fixed_offsets_shift() {
        for zone in ["GMT+08:00", "UTC+8", "+0800", "Asia/Shanghai"] {
            let mut scale = scale(zone);
            assert_eq!(scale.local(1_714_579_199_000), 1_714_579_199_000 + 8 * HOUR, "{zone}");
            assert_eq!(scale.horizon(Watermark(1_714_579_199_000)), 1_714_579_199_001 + 8 * HOUR);
        }
        assert!(scale("UTC").is_plain() && scale("Z").is_plain() && scale("GMT+0").is_plain());
        for wrong in ["Mars/Olympus", "+99:00", "GMT+x", "+1:2:3:4"] {
            assert!(Scale::new(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn windows_of_the_repeated_hour_wait_for_its_second_pass() {
        // 2021-11-07 in Los Angeles: 01:00 to 02:00 comes twice, at 08:00Z and at 09:00Z.
        let mut scale = scale("America/Los_Angeles");
        let one_o_clock = 1_636_272_000_000 - 7 * HOUR;
        let first_pass = 1_636_272_000_000;
        assert_eq!(scale.local(first_pass), one_o_clock);
        assert_eq!(scale.local(first_pass + HOUR), one_o_clock);
        assert_eq!(scale.horizon(Watermark(first_pass - 2)), one_o_clock - 1);
        assert_eq!(scale.horizon(Watermark(first_pass + HOUR / 2)), one_o_clock);
        assert_eq!(scale.horizon(Watermark(first_pass + 2 * HOUR - 2)), one_o_clock + HOUR - 1);
        assert_eq!(scale.horizon(Watermark(first_pass + 2 * HOUR - 1)), one_o_clock + HOUR);
        // window_time is the first pass's.
        assert_eq!(scale.instant(one_o_clock + HOUR - 1), first_pass + HOUR - 1);
    }

    #[test]
    fn windows_of_the_missing_hour_close_at_the_jump() {
        // 2021-03-14 in Los Angeles: 02:00 to 03:00 is left out at 10:00Z.
        let mut scale = scale("America/Los_Angeles");
        let (jump, two_o_clock) = (1_615_716_000_000, 1_615_716_000_000 - 8 * HOUR);
        assert_eq!(scale.horizon(Watermark(jump - 1)), two_o_clock);
        assert_eq!(scale.horizon(Watermark(jump)), two_o_clock + HOUR + 1);
    }

    #[test]
    fn the_year_9999_ends_as_any_other() {
        let mut scale = scale("America/New_York");
        let new_year = 253_402_300_800_000;
        assert_eq!(scale.instant(new_year - 1), new_year - 1 + 5 * HOUR);
        assert_eq!(scale.local(new_year + 5 * HOUR), new_year);
        assert_eq!(scale.horizon(Watermark(new_year + 5 * HOUR - 1)), new_year);
    }

    #[test]
    fn the_lowest_watermark_says_nothing_and_the_limits_hold() {
        for mut scale in [Scale::new(None).unwrap(), scale("Europe/Berlin")] {
            assert_eq!(scale.horizon(Watermark::MIN), i64::MIN);
            assert_eq!(scale.horizon(Watermark::MAX), i64::MAX);
            scale.local(i64::MIN);
            scale.local(i64::MAX);
            scale.instant(i64::MAX);
            scale.horizon(Watermark(i64::MAX - 1));
        }
    }
}

//! Event time, watermarks and the arithmetic of windows. Everything counts milliseconds since 1970.

mod grid;

pub use grid::Grid;

/// Milliseconds since 1970-01-01T00:00:00Z (or local time, where the column is a plain TIMESTAMP).
pub type EventTime = i64;

/// "No row at or before this time will come any more", except late ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watermark(pub i64);

impl Watermark {
    /// Before anything was seen.
    pub const MIN: Watermark = Watermark(i64::MIN);
    /// The input ended: every event-time window fires.
    pub const MAX: Watermark = Watermark(i64::MAX);
    /// Where SQL's watermark starts; it only moves up from here (`docs/semantics.md`).
    pub const SQL_START: Watermark = Watermark(0);

    /// True when a window that ends at `end` (exclusive) has fired at this watermark.
    #[inline]
    pub fn closes(self, end: EventTime) -> bool {
        self.0 >= end.saturating_sub(1)
    }

    /// What is handed on by an operator whose watermark stays so far behind. The end of the input stays one.
    #[inline]
    pub fn put_back(self, delay_ms: i64) -> Watermark {
        if self == Watermark::MAX { self } else { Watermark(self.0.saturating_sub(delay_ms)) }
    }
}

/// Where the watermark of a split starts, and from when on operators hear of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatermarkStart {
    /// SQL's: at [`Watermark::SQL_START`]. Operators hear nothing until it has moved, so that no row before 1970 is late.
    Sql,
    /// That of DataStream programs: at [`Watermark::MIN`]. Every value counts.
    DataStream,
}

impl WatermarkStart {
    /// Before the first row.
    pub const fn watermark(self) -> Watermark {
        match self {
            WatermarkStart::Sql => Watermark::SQL_START,
            WatermarkStart::DataStream => Watermark::MIN,
        }
    }

    /// What operators see of a watermark that started here: [`Watermark::MIN`] as long as it says nothing.
    #[inline]
    pub fn emitted(self, watermark: Watermark) -> Watermark {
        if watermark > self.watermark() { watermark } else { Watermark::MIN }
    }
}

/// Start of the tumbling window (or slice) of `size_ms` that holds `time`: floors before 1970 too.
#[inline]
pub fn window_start(time: EventTime, offset_ms: i64, size_ms: i64) -> EventTime {
    debug_assert!(size_ms > 0);
    time.saturating_sub(time.wrapping_sub(offset_ms).rem_euclid(size_ms))
}

/// What to take away from a time in milliseconds so that it lies in a year for which the rules of time zones can be asked:
/// they end with the year 9999, and repeat after 400 years. 0 before 9999.
pub fn cycles_ms(millis: i64) -> i64 {
    const YEAR_9999_MS: i64 = 253_370_764_800_000;
    const CYCLE_MS: i64 = 146_097 * 86_400_000;
    if millis < YEAR_9999_MS { 0 } else { ((millis - YEAR_9999_MS) / CYCLE_MS + 1) * CYCLE_MS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_before_1970_round_down() {
        assert_eq!(window_start(-1, 0, 10_000), -10_000);
        assert_eq!(window_start(-10_000, 0, 10_000), -10_000);
        assert_eq!(window_start(-10_001, 0, 10_000), -20_000);
        assert_eq!(window_start(7, 3, 5), 3);
        assert_eq!(window_start(7, -3, 5), 7);
    }

    #[test]
    fn a_window_closes_one_millisecond_before_its_end() {
        assert!(Watermark(9_999).closes(10_000));
        assert!(!Watermark(9_998).closes(10_000));
        assert!(!Watermark(i64::MAX - 2).closes(i64::MAX));
    }
}

//! How far the rows of a file are out of order, and the watermark that waits long enough.

use std::fmt;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Sensible bounds in milliseconds; above these, whole days.
const BOUNDS: [i64; 30] = [
    0,
    1,
    10,
    100,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    20 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    3 * DAY,
    5 * DAY,
    7 * DAY,
    10 * DAY,
    14 * DAY,
    21 * DAY,
    30 * DAY,
];

/// How far each row lags behind the latest one before it.
#[derive(Debug, Clone)]
pub struct Disorder {
    /// Latest time so far in this file.
    latest: Option<i64>,
    /// Time of the row before in this file.
    before: Option<i64>,
    /// Rows with a later time than the row before.
    rises: u64,
    earliest: i64,
    last: i64,
    /// Rows with a time.
    pub rows: u64,
    /// Rows without one.
    pub absent: u64,
    /// The largest lag, in milliseconds.
    pub lag_ms: i64,
    /// Rows that lag at all.
    pub behind: u64,
    /// Rows that lag by more than each of [`BOUNDS`].
    beyond: [u64; BOUNDS.len()],
}

impl Default for Disorder {
    fn default() -> Self {
        Disorder {
            latest: None,
            before: None,
            rises: 0,
            earliest: i64::MAX,
            last: i64::MIN,
            rows: 0,
            absent: 0,
            lag_ms: 0,
            behind: 0,
            beyond: [0; BOUNDS.len()],
        }
    }
}

impl Disorder {
    /// Another file starts: each has a watermark of its own.
    pub fn next_file(&mut self) {
        (self.latest, self.before) = (None, None);
    }

    /// `time_ms`: `None` for a row without a time.
    pub fn observe(&mut self, time_ms: Option<i64>) {
        let Some(time) = time_ms else {
            self.absent += 1;
            return;
        };
        self.rows += 1;
        self.rises += u64::from(self.before.replace(time).is_some_and(|before| before < time));
        self.earliest = self.earliest.min(time);
        self.last = self.last.max(time);
        let latest = *self.latest.insert(self.latest.map_or(time, |latest| latest.max(time)));
        let lag = latest.saturating_sub(time);
        if lag > 0 {
            self.behind += 1;
            self.lag_ms = self.lag_ms.max(lag);
            for (count, bound) in self.beyond.iter_mut().zip(BOUNDS) {
                if lag <= bound {
                    break;
                }
                *count += 1;
            }
        }
    }

    /// The earliest and the latest time, in milliseconds.
    pub fn span(&self) -> Option<(i64, i64)> {
        (self.rows > 0).then_some((self.earliest, self.last))
    }

    /// The smallest sensible bound that no row lags behind by more. `whole`: every row was looked at; of a sample, rows
    /// between may lag a little though none was seen to.
    pub fn bound(&self, whole: bool) -> Bound {
        let least = if whole { 0 } else { SECOND };
        let wanted = self.lag_ms.max(least);
        let step = BOUNDS.into_iter().find(|bound| *bound >= wanted);
        Bound(step.unwrap_or_else(|| wanted.saturating_add(DAY - 1) / DAY * DAY))
    }

    /// A smaller bound that costs few rows, with the number of rows that lag by more: at least four times smaller, at
    /// most one row in a hundred.
    pub fn cheaper(&self, than: Bound) -> Option<(Bound, u64)> {
        let mut fits = BOUNDS.into_iter().zip(self.beyond).filter(|(bound, late)| {
            *bound > 0 && *late > 0 && bound.saturating_mul(4) <= than.0 && late.saturating_mul(100) <= self.rows
        });
        fits.next().map(|(bound, late)| (Bound(bound), late))
    }

    /// Whether the rows are in no order of time: most lag.
    pub fn is_unordered(&self) -> bool {
        self.behind * 2 > self.rows
    }

    /// Whether the rows run backwards.
    pub fn is_descending(&self) -> bool {
        self.rows > 2 && self.behind * 10 > self.rows * 9 && self.rises * 100 <= self.rows
    }
}

/// How long a watermark waits, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound(pub i64);

impl Bound {
    /// As an interval of SQL.
    pub fn interval(self) -> String {
        interval(self.0)
    }
}

impl fmt::Display for Bound {
    /// As the command line takes it: `5s`, `100ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms > 0 && ms % DAY == 0 => write!(f, "{}d", ms / DAY),
            ms if ms > 0 && ms % HOUR == 0 => write!(f, "{}h", ms / HOUR),
            ms if ms > 0 && ms % MINUTE == 0 => write!(f, "{}m", ms / MINUTE),
            ms if ms % SECOND == 0 => write!(f, "{}s", ms / SECOND),
            ms => write!(f, "{ms}ms"),
        }
    }
}

/// Milliseconds as an interval literal: `INTERVAL '5' MINUTE`.
pub(crate) fn interval(ms: i64) -> String {
    let (number, unit) = match ms {
        ms if ms > 0 && ms % DAY == 0 => (ms / DAY, "DAY"),
        ms if ms > 0 && ms % HOUR == 0 => (ms / HOUR, "HOUR"),
        ms if ms > 0 && ms % MINUTE == 0 => (ms / MINUTE, "MINUTE"),
        ms if ms % SECOND == 0 => (ms / SECOND, "SECOND"),
        ms => {
            let digits = (ms / SECOND).to_string().len();
            let precision = if digits > 2 { format!("({digits}, 3)") } else { String::new() };
            return format!("INTERVAL '{}.{:03}' SECOND{precision}", ms / SECOND, ms % SECOND);
        }
    };
    let digits = number.to_string().len();
    let precision = if digits > 2 { format!("({digits})") } else { String::new() };
    format!("INTERVAL '{number}' {unit}{precision}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[i64]) -> Disorder {
        let mut disorder = Disorder::default();
        times.iter().for_each(|time| disorder.observe(Some(*time)));
        disorder
    }

    #[test]
    fn the_bound_covers_the_largest_lag() {
        let disorder = of(&[1_000, 5_000, 2_000, 6_000, 5_999]);
        assert_eq!((disorder.lag_ms, disorder.behind, disorder.rows), (3_000, 2, 5));
        assert_eq!(disorder.bound(true), Bound(5_000));
        assert_eq!(of(&[1, 2, 3]).bound(true), Bound(0));
        assert_eq!(of(&[1, 2, 3]).bound(false), Bound(1_000));
        assert_eq!(of(&[400 * DAY, 1]).bound(true), Bound(400 * DAY));
    }

    #[test]
    fn a_file_does_not_lag_behind_the_one_before() {
        let mut disorder = of(&[5_000]);
        disorder.next_file();
        disorder.observe(Some(1_000));
        assert_eq!((disorder.lag_ms, disorder.span()), (0, Some((1_000, 5_000))));
    }

    #[test]
    fn a_cheaper_bound_is_offered_where_few_rows_lag_far() {
        let mut times: Vec<i64> = (0..1_000).map(|n| n * SECOND + (n % 2) * -1_500).collect();
        times.push(0);
        let disorder = of(&times);
        let bound = disorder.bound(true);
        assert_eq!(bound, Bound(20 * MINUTE));
        assert_eq!(disorder.cheaper(bound), Some((Bound(SECOND), 1)));
        assert_eq!(of(&[1, 2]).cheaper(Bound(0)), None);
    }

    #[test]
    fn backwards_is_told_from_mixed() {
        assert!(of(&[5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6]).is_descending());
        assert!(!of(&[1, 2, 3]).is_unordered());
        // One row far ahead at the start, and one far behind at the end.
        let mut times: Vec<i64> = (100..200).collect();
        times.insert(0, 1_000);
        times.push(0);
        assert!(!of(&times).is_descending() && of(&times).is_unordered());
    }

    #[test]
    fn intervals_are_spelt_as_sql_reads_them() {
        assert_eq!(interval(1), "INTERVAL '0.001' SECOND");
        assert_eq!(interval(90 * SECOND), "INTERVAL '90' SECOND");
        assert_eq!(interval(400 * DAY), "INTERVAL '400' DAY(3)");
        assert_eq!(interval(2 * HOUR), "INTERVAL '2' HOUR");
        assert_eq!(interval(123_456), "INTERVAL '123.456' SECOND(3, 3)");
        assert_eq!([Bound(0), Bound(100), Bound(DAY)].map(|bound| bound.to_string()), ["0s", "100ms", "1d"]);
    }
}

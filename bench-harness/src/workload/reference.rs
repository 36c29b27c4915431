//! What a query must answer on made rows, computed the slow and obvious way from the generator itself.
//!
//! Follows Flink's rules with a watermark after every row: a row is dropped only when the last window that
//! could hold it has fired; otherwise it counts in those of its windows that have not.

use std::collections::BTreeMap;

use clap::ValueEnum;

use super::Spec;
use super::generate::Generator;
use super::random::mix;

const MINUTE_MS: i64 = 60_000;
/// More memory for slices than this, and the check refuses.
const CELL_LIMIT: u64 = 400_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Query {
    /// One minute, per key.
    Tumble,
    /// One hour, every minute, per key.
    Hop,
    /// Five minutes, every minute, per key.
    Hop5,
    /// Gap of 120 seconds, per key.
    Session,
    /// Every ten minutes up to a day, without key.
    Cumulate,
}

impl Query {
    pub fn has_key(self) -> bool {
        self != Query::Cumulate
    }
    /// The window function over table `events`.
    pub fn window_function(self) -> &'static str {
        match self {
            Query::Tumble => "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
            Query::Hop => "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
            Query::Hop5 => "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
            Query::Session => "SESSION(TABLE events PARTITION BY `key`, DESCRIPTOR(ts), INTERVAL '2' MINUTE)",
            Query::Cumulate => "CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' DAY)",
        }
    }
}

/// Sums over all result rows. Two results with equal totals are taken to be the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub result_rows: u64,
    pub sum_of_counts: u64,
    pub sum_of_sums: i64,
    /// Sum of a hash of every whole row; the order of the rows does not matter.
    pub check_sum: u64,
}

/// One result row. `key` is 0 where the query has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultRow {
    pub key: i64,
    pub start_ms: i64,
    pub end_ms: i64,
    pub count: u64,
    pub sum: i64,
}

impl Totals {
    pub fn add(&mut self, row: ResultRow) {
        self.result_rows += 1;
        self.sum_of_counts += row.count;
        self.sum_of_sums += row.sum;
        let parts = [row.key as u64, row.start_ms as u64, row.end_ms as u64, row.count, row.sum as u64];
        let hash = parts.iter().fold(0, |hash: u64, part| mix(hash.rotate_left(5) ^ part));
        self.check_sum = self.check_sum.wrapping_add(hash);
    }
}

/// The right answer, and how many rows are dropped as late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    pub totals: Totals,
    pub late_rows: u64,
}

/// # Errors
/// More keys than the check has memory for.
pub fn answer(spec: &Spec, query: Query) -> Result<Answer, String> {
    let mut windows: Box<dyn Windows> = match query {
        Query::Session => Box::new(Sessions::new(spec.keys, 120_000)),
        _ => Box::new(Slices::new(query, spec.keys)?),
    };
    let bound_ms = spec.watermark_bound().milliseconds();
    // Flink's SQL watermark starts at 0
    let mut watermark = 0;
    for chunk in Generator::new(spec).chunks() {
        for ((&ts, &key), &value) in chunk.ts.iter().zip(&chunk.key).zip(&chunk.value) {
            windows.add(ts, key, value, watermark);
            if ts - bound_ms > watermark {
                watermark = ts - bound_ms;
                windows.advance(watermark);
            }
        }
    }
    windows.advance(i64::MAX);
    Ok(windows.answer())
}

trait Windows {
    fn add(&mut self, ts: i64, key: i64, value: i64, watermark: i64);
    fn advance(&mut self, watermark: i64);
    fn answer(&self) -> Answer;
}

/// Windows made of slices of equal length: each end of a slice is the end of one window.
struct Slices {
    slice_ms: i64,
    kind: Kind,
    keyed: bool,
    keys: usize,
    /// Start of slice -> count and sum per key.
    open: BTreeMap<i64, Vec<(u32, i64)>>,
    /// The end of the last window that has fired, or could have.
    fired_end: i64,
    answer: Answer,
}

enum Kind {
    /// Every window has this length.
    Fixed(i64),
    /// Windows grow from a multiple of this to the next.
    Growing(i64),
}

/// End of the last window that holds a slice.
fn last_end(kind: &Kind, slice: i64) -> i64 {
    match kind {
        Kind::Fixed(length) => slice + length,
        Kind::Growing(length) => slice.div_euclid(*length) * length + length,
    }
}

impl Slices {
    fn new(query: Query, keys: u64) -> Result<Self, String> {
        let (slice_ms, kind) = match query {
            Query::Hop => (MINUTE_MS, Kind::Fixed(60 * MINUTE_MS)),
            Query::Hop5 => (MINUTE_MS, Kind::Fixed(5 * MINUTE_MS)),
            Query::Cumulate => (10 * MINUTE_MS, Kind::Growing(1440 * MINUTE_MS)),
            Query::Tumble | Query::Session => (MINUTE_MS, Kind::Fixed(MINUTE_MS)),
        };
        let keys = if query.has_key() { keys } else { 1 };
        let length_ms = match kind {
            Kind::Fixed(length) | Kind::Growing(length) => length,
        };
        if keys.saturating_mul((length_ms / slice_ms) as u64 + 2) > CELL_LIMIT {
            return Err(format!("too many keys to check the answer of {query:?}; use fewer"));
        }
        let keys = keys as usize;
        Ok(Slices {
            slice_ms,
            kind,
            keyed: query.has_key(),
            keys,
            open: BTreeMap::new(),
            fired_end: i64::MIN,
            answer: Answer::default(),
        })
    }
    /// Start of the window that ends there.
    fn window_start(&self, end: i64) -> i64 {
        match self.kind {
            Kind::Fixed(length) => end - length,
            Kind::Growing(length) => (end - 1).div_euclid(length) * length,
        }
    }
    fn fire(&mut self, end: i64) {
        let start = self.window_start(end);
        let mut cells = vec![(0u64, 0i64); self.keys];
        for (_, slice) in self.open.range(start..end) {
            for (cell, (count, sum)) in cells.iter_mut().zip(slice) {
                cell.0 += u64::from(*count);
                cell.1 += sum;
            }
        }
        for (key, (count, sum)) in cells.into_iter().enumerate().filter(|(_, (count, _))| *count > 0) {
            self.answer.totals.add(ResultRow { key: key as i64, start_ms: start, end_ms: end, count, sum });
        }
    }
}

impl Windows for Slices {
    fn add(&mut self, ts: i64, key: i64, value: i64, watermark: i64) {
        let slice = ts.div_euclid(self.slice_ms) * self.slice_ms;
        if last_end(&self.kind, slice) - 1 <= watermark {
            self.answer.late_rows += 1;
            return;
        }
        let cells = self.open.entry(slice).or_insert_with(|| vec![(0, 0); self.keys]);
        let cell = &mut cells[if self.keyed { key as usize } else { 0 }];
        cell.0 += 1;
        cell.1 += value;
    }
    fn advance(&mut self, watermark: i64) {
        let due =
            if watermark == i64::MAX { i64::MAX } else { (watermark + 1).div_euclid(self.slice_ms) * self.slice_ms };
        if due <= self.fired_end {
            return;
        }
        while let Some((&slice, _)) = self.open.first_key_value() {
            // windows without rows do not fire, so begin where there are some
            let end = self.fired_end.max(slice) + self.slice_ms;
            if end > due {
                break;
            }
            self.fire(end);
            self.fired_end = end;
            self.open.retain(|&slice, _| last_end(&self.kind, slice) > end);
        }
        // also those without rows: a row that comes for them later is too late
        self.fired_end = due;
    }
    fn answer(&self) -> Answer {
        self.answer
    }
}

#[derive(Debug, Clone, Copy)]
struct Session {
    start: i64,
    end: i64,
    count: u64,
    sum: i64,
}

struct Sessions {
    gap_ms: i64,
    open: Vec<Vec<Session>>,
    answer: Answer,
}

impl Sessions {
    fn new(keys: u64, gap_ms: i64) -> Self {
        Sessions { gap_ms, open: vec![Vec::new(); keys as usize], answer: Answer::default() }
    }
    fn fire(&mut self, key: usize, watermark: i64) {
        let totals = &mut self.answer.totals;
        self.open[key].retain(|session| {
            let open = session.end - 1 > watermark;
            if !open {
                let Session { start, end, count, sum } = *session;
                totals.add(ResultRow { key: key as i64, start_ms: start, end_ms: end, count, sum });
            }
            open
        });
    }
}

impl Windows for Sessions {
    fn add(&mut self, ts: i64, key: i64, value: i64, watermark: i64) {
        let key = key as usize;
        // a session that is due has fired before this row came, though only now somebody looks
        self.fire(key, watermark);
        let mut merged = Session { start: ts, end: ts + self.gap_ms, count: 1, sum: value };
        let touches = |session: &Session| session.start <= ts + self.gap_ms && ts <= session.end;
        if merged.end - 1 <= watermark && !self.open[key].iter().any(touches) {
            self.answer.late_rows += 1;
            return;
        }
        self.open[key].retain(|session| {
            let touches = touches(session);
            if touches {
                merged.start = merged.start.min(session.start);
                merged.end = merged.end.max(session.end);
                merged.count += session.count;
                merged.sum += session.sum;
            }
            !touches
        });
        self.open[key].push(merged);
    }
    fn advance(&mut self, watermark: i64) {
        if watermark == i64::MAX {
            (0..self.open.len()).for_each(|key| self.fire(key, watermark));
        }
    }
    fn answer(&self) -> Answer {
        self.answer
    }
}

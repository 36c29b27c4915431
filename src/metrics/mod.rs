//! Counters of one shard, written by its thread alone and read by others without locks.

mod pauses;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

pub use pauses::Pauses;

/// A number that only its shard changes.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, amount: u64) {
        // One writer: load and store need not be one operation.
        self.0.store(self.get() + amount, Ordering::Relaxed);
    }
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a shard counts. Rows are those of files; a row counts where its block was read, or, if it
/// was late, where its key lives.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct ShardMetrics {
    pub bytes_read: Counter,
    /// Rows decoded, malformed ones not included.
    pub rows_decoded: Counter,
    /// Rows decoded once and given to more than one query, counted for each but the first.
    pub rows_repeated: Counter,
    pub rows_malformed: Counter,
    /// Records set aside because they cannot be read.
    pub rows_unreadable: Counter,
    /// Rows set aside because their event time is NULL; among those decoded.
    pub rows_without_time: Counter,
    /// Removed by a filter between the table and the first window operator or sink.
    pub rows_filtered: Counter,
    /// Dropped because all windows of the row had fired, at first window operators.
    pub rows_late: Counter,
    /// Rows that a window function had given to several windows, each copy dropped for its own window.
    pub copies_late: Counter,
    /// Windows that all shards have in common, whatever their keys; sessions apart.
    pub windows_open: Counter,
    pub sessions_open: Counter,
    pub windows_fired: Counter,
    /// One a sink.
    pub rows_written: Vec<Counter>,
    pub state_bytes: Counter,
    pub state_bytes_peak: Counter,
    /// Moved to the disk so far.
    pub state_bytes_spilled: Counter,
    /// The lowest watermark of the stages, in milliseconds since 1970.
    watermark: AtomicI64,
}

/// A reading of all shards' counters, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub bytes_read: u64,
    pub rows_decoded: u64,
    /// Rows that several queries take, counted for each but the first.
    pub rows_repeated: u64,
    /// Records that were skipped (`ignore-parse-errors`).
    pub rows_malformed: u64,
    /// Records in quarantine because they cannot be read.
    pub rows_unreadable: u64,
    /// Rows in quarantine because their event time is NULL; among those decoded.
    pub rows_without_time: u64,
    pub rows_filtered: u64,
    pub rows_late: u64,
    /// Copies of rows, one a window or element, that were dropped; such rows count as used.
    pub copies_late: u64,
    /// Windows not yet fired, each counted once whatever the number of keys and shards, and open sessions.
    pub windows_open: u64,
    /// Results: one key in one window.
    pub windows_fired: u64,
    pub rows_written: u64,
    /// Sum of the shards' peaks, which need not have been at one time.
    pub state_bytes_peak: u64,
    /// Bytes of state that were moved to the disk.
    pub state_bytes_spilled: u64,
    /// The lowest of the shards'.
    pub watermark: i64,
}

impl ShardMetrics {
    pub fn new(sinks: usize) -> Self {
        ShardMetrics { rows_written: (0..sinks).map(|_| Counter::default()).collect(), ..ShardMetrics::default() }
    }
    pub fn set_watermark(&self, watermark: i64) {
        self.watermark.store(watermark, Ordering::Relaxed);
    }
    pub fn set_state_bytes(&self, bytes: u64) {
        self.state_bytes.set(bytes);
        if bytes > self.state_bytes_peak.get() {
            self.state_bytes_peak.set(bytes);
        }
    }
}

impl Totals {
    pub fn of<'a>(shards: impl IntoIterator<Item = &'a ShardMetrics>) -> Self {
        let mut totals = Totals { watermark: i64::MAX, ..Totals::default() };
        let (mut windows_open, mut sessions_open) = (0, 0);
        for shard in shards {
            totals.bytes_read += shard.bytes_read.get();
            totals.rows_decoded += shard.rows_decoded.get();
            totals.rows_repeated += shard.rows_repeated.get();
            totals.rows_malformed += shard.rows_malformed.get();
            totals.rows_unreadable += shard.rows_unreadable.get();
            totals.rows_without_time += shard.rows_without_time.get();
            totals.rows_filtered += shard.rows_filtered.get();
            totals.rows_late += shard.rows_late.get();
            totals.copies_late += shard.copies_late.get();
            windows_open = windows_open.max(shard.windows_open.get());
            sessions_open += shard.sessions_open.get();
            totals.windows_fired += shard.windows_fired.get();
            totals.rows_written += shard.rows_written.iter().map(Counter::get).sum::<u64>();
            totals.state_bytes_peak += shard.state_bytes_peak.get();
            totals.state_bytes_spilled += shard.state_bytes_spilled.get();
            totals.watermark = totals.watermark.min(shard.watermark.load(Ordering::Relaxed));
        }
        totals.windows_open = windows_open + sessions_open;
        totals
    }

    /// Rows read from files, malformed and unreadable ones included.
    pub fn rows_read(&self) -> u64 {
        self.rows_decoded + self.rows_malformed + self.rows_unreadable
    }
    /// Rows and records that were set aside.
    pub fn rows_quarantined(&self) -> u64 {
        self.rows_unreadable + self.rows_without_time
    }
    /// Rows that went into a window or to a sink: what is left of those read, by each query that takes them.
    pub fn rows_used(&self) -> u64 {
        let taken = self.rows_decoded + self.rows_repeated;
        taken.saturating_sub(self.rows_without_time + self.rows_filtered + self.rows_late)
    }
}

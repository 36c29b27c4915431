//! Made events: `ts`, `key`, `value`, `channel`, out of order by a bounded time, some of them late.
//!
//! The same specification gives the same rows on every machine, whatever format they are written in.

pub mod format;
pub mod generate;
pub mod random;
pub mod reference;

use std::fmt;

use clap::ValueEnum;

use crate::number::short_count;

/// 2024-01-01 00:00:00 UTC: midnight, so that windows of a day start with the data.
pub const BASE_MS: i64 = 1_704_067_200_000;
/// Event time passes at this rate unless told otherwise: 20 million rows in two hours.
pub const RATE_PER_S: f64 = 20_000_000.0 / 7_200.0;
pub const CHANNELS: [&str; 8] = ["web", "ios", "android", "email", "store", "api", "tv", "partner"];
/// Values are from 1 to this.
pub const VALUE_MAX: u64 = 1000;
const DISORDER_LIMIT_MS: u64 = 99 * 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Distribution {
    /// Every key equally often.
    Uniform,
    /// The n-th most frequent key n^1.1 times less often than the first.
    Zipf,
    /// One key has half of the rows.
    Hot,
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distribution::Uniform => "uniform",
            Distribution::Zipf => "zipf",
            Distribution::Hot => "hot",
        })
    }
}

/// What decides every row.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    pub rows: u64,
    pub keys: u64,
    pub distribution: Distribution,
    /// Rows are out of order by less than this.
    pub disorder_ms: u64,
    /// Share of rows that are `late_by_ms` older than their place in the file.
    pub late_share: f64,
    pub late_by_ms: u64,
    pub rate_per_s: f64,
    pub seed: u64,
}

impl Spec {
    pub fn new(rows: u64, keys: u64) -> Self {
        Spec {
            rows,
            keys,
            distribution: Distribution::Uniform,
            disorder_ms: 2000,
            late_share: 0.0,
            late_by_ms: 60_000,
            rate_per_s: RATE_PER_S,
            seed: 42,
        }
    }

    /// # Errors
    /// What no generator can do.
    pub fn check(&self) -> Result<(), String> {
        if self.rows == 0 || self.keys == 0 {
            return Err("--rows and --keys must be positive".into());
        }
        if self.keys > i64::MAX as u64 / 4 || (self.distribution == Distribution::Zipf && self.keys > 50_000_000) {
            return Err(format!("too many keys for the {} distribution", self.distribution));
        }
        if !(0.0..=1.0).contains(&self.late_share) {
            return Err("--late-share must be between 0 and 1".into());
        }
        if self.disorder_ms > DISORDER_LIMIT_MS {
            return Err(format!("--disorder-ms must be at most {DISORDER_LIMIT_MS}"));
        }
        if !self.rate_per_s.is_finite() || self.rate_per_s <= 0.0 {
            return Err("--rate must be positive".into());
        }
        Ok(())
    }

    /// File name without extension; says everything in which two specifications may differ.
    pub fn stem(&self) -> String {
        let usual = Spec::new(self.rows, self.keys);
        let mut stem = format!("ev_{}_{}_{}", short_count(self.rows), short_count(self.keys), self.distribution);
        if self.disorder_ms != usual.disorder_ms {
            stem.push_str(&format!("_d{}", self.disorder_ms));
        }
        if self.late_share > 0.0 {
            stem.push_str(&format!("_late{}-{}", self.late_share, self.late_by_ms));
        }
        if self.rate_per_s != usual.rate_per_s {
            stem.push_str(&format!("_r{}", self.rate_per_s));
        }
        if self.seed != usual.seed {
            stem.push_str(&format!("_s{}", self.seed));
        }
        stem
    }

    /// Bound of the watermark behind the largest time: on-time rows are never late.
    pub fn watermark_bound(&self) -> Bound {
        match self.disorder_ms.div_ceil(1000) {
            seconds @ ..=99 => Bound::Seconds(seconds),
            seconds => Bound::Minutes(seconds.div_ceil(60)),
        }
    }
}

/// An interval of SQL; its default precision has room for two digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Seconds(u64),
    Minutes(u64),
}

impl Bound {
    pub fn milliseconds(self) -> i64 {
        match self {
            Bound::Seconds(n) => n as i64 * 1000,
            Bound::Minutes(n) => n as i64 * 60_000,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Seconds(n) => write!(f, "INTERVAL '{n}' SECOND"),
            Bound::Minutes(n) => write!(f, "INTERVAL '{n}' MINUTE"),
        }
    }
}

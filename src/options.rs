//! `WITH (…)` and `SET`: key-value options that know where they were written.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Place, Result, nearest};

/// The `WITH` options of one table. Taking an option marks it as known; [`Options::finish`] then
/// refuses what nobody asked for, offering the nearest name.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// "table `orders`", for messages.
    pub owner: String,
    entries: BTreeMap<String, (String, Place)>,
    asked: BTreeSet<String>,
    /// Where the statement starts, for what is missing.
    pub place: Place,
}

impl Options {
    pub fn new(owner: impl Into<String>, place: Place) -> Self {
        Options { owner: owner.into(), place, ..Options::default() }
    }
    /// Adds an option; false if it was there already.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<String>, place: Place) -> bool {
        self.entries.insert(key.into(), (value.into(), place)).is_none()
    }
    /// The option's text, if set.
    pub fn take(&mut self, key: &str) -> Option<String> {
        self.asked.insert(key.to_string());
        self.entries.get(key).map(|(value, _)| value.clone())
    }
    pub fn require(&mut self, key: &str) -> Result<String> {
        self.take(key).ok_or_else(|| {
            Error::script(format!("{} has no option '{key}'", self.owner))
                .at_place(self.place.clone())
                .help(format!("add '{key}' = '…' to its WITH clause"))
        })
    }
    /// `true` or `false`, else an error at the option.
    pub fn take_bool(&mut self, key: &str, default: bool) -> Result<bool> {
        let Some(value) = self.take(key) else { return Ok(default) };
        match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.invalid(key, "true or false")),
        }
    }
    /// An error at the option `key`: "option 'key' of table t is 'value', expected …".
    pub fn invalid(&self, key: &str, expected: &str) -> Error {
        let (value, place) = self.entries.get(key).cloned().unwrap_or_default();
        Error::script(format!("option '{key}' of {} is '{value}'; expected {expected}", self.owner)).at_place(place)
    }
    pub fn place_of(&self, key: &str) -> Place {
        self.entries.get(key).map_or_else(|| self.place.clone(), |(_, place)| place.clone())
    }
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, (value, _))| (key.as_str(), value.as_str()))
    }
    /// Refuses every option that nobody took.
    pub fn finish(&self) -> Result<()> {
        for (key, (_, place)) in &self.entries {
            if !self.asked.contains(key) {
                let error = Error::script(format!("unknown option '{key}' of {}", self.owner)).at_place(place.clone());
                return Err(match nearest(key, self.asked.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean '{near}'?")),
                    None => error
                        .help(format!("known options: {}", self.asked.iter().cloned().collect::<Vec<_>>().join(", "))),
                });
            }
        }
        Ok(())
    }
}

/// The session's settings as far as the engine acts on them.
#[derive(Debug, Clone)]
pub struct Config {
    /// `pipeline.max-parallelism`: number of key groups.
    pub key_groups: u32,
    /// `pipeline.auto-watermark-interval` in milliseconds; 0: the watermark moves per row.
    pub watermark_interval_ms: i64,
    /// `table.local-time-zone`, an IANA name or an offset.
    pub time_zone: String,
    /// Where records go that cannot be used, instead of failing the job.
    pub quarantine: Option<Quarantine>,
    /// Where late rows are written down.
    pub late_rows: Option<LateRows>,
    pub checkpoints: Checkpoints,
    /// Options that were accepted but mean nothing on one machine.
    pub ignored: Vec<String>,
}

/// When checkpoints are taken, and where they lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoints {
    /// `execution.checkpointing.interval` in milliseconds; none: no checkpoints are taken.
    pub interval_ms: Option<u64>,
    /// `execution.checkpointing.dir`, or as it was called before, `state.checkpoints.dir`: a path.
    pub folder: Option<String>,
    /// `execution.checkpointing.savepoint-dir`, or as it was called before, `state.savepoints.dir`: a path.
    pub savepoints: Option<String>,
    /// `execution.checkpointing.num-retained`: complete ones that are kept, at least 1.
    pub retained: u64,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Checkpoints { interval_ms: None, folder: None, savepoints: None, retained: 1 }
    }
}

/// The file for records that cannot be read and rows without an event time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// `transom.quarantine.path`.
    pub path: String,
    /// `transom.quarantine.max-rows`: a job with more of them fails.
    pub rows_max: u64,
    /// An earlier statement of the script has begun the file.
    pub append: bool,
}

/// The file for rows that miss windows because they come too late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateRows {
    /// `transom.late-rows.path`.
    pub path: String,
    /// An earlier statement of the script has begun the file.
    pub append: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            key_groups: crate::limits::KEY_GROUPS_DEFAULT,
            watermark_interval_ms: 0,
            time_zone: "UTC".to_string(),
            quarantine: None,
            late_rows: None,
            checkpoints: Checkpoints::default(),
            ignored: Vec::new(),
        }
    }
}

/// Flink's durations: a whole number with an optional unit, milliseconds without. `None` if malformed.
pub fn duration_ms(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let (multiplier, divisor) = match unit.as_str() {
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => (1, 1),
        "s" | "sec" | "secs" | "second" | "seconds" => (1_000, 1),
        "m" | "min" | "mins" | "minute" | "minutes" => (60_000, 1),
        "h" | "hour" | "hours" => (3_600_000, 1),
        "d" | "day" | "days" => (86_400_000, 1),
        "us" | "µs" | "micro" | "micros" | "microsecond" | "microseconds" => (1, 1_000),
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => (1, 1_000_000),
        _ => return None,
    };
    number.checked_mul(multiplier).map(|ms| ms / divisor)
}

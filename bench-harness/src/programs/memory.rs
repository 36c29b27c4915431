//! What a window operator holds while a job runs.

use std::sync::{Arc, Mutex};

use transom::api::testing::TestHarness;
use transom::error::Result;

use super::job::{End, Event, Job, Sink, build};
use crate::process;
use crate::workload::Spec;
use crate::workload::generate::Generator;

/// Records that are fed at once.
const BLOCK_ROWS: usize = 8_192;
const MINUTE_MS: i64 = 60_000;

/// The most of each that was held at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    pub open_windows: u64,
    pub accumulators: u64,
    pub buffered_elements: u64,
    pub state_bytes: u64,
    /// By how much the process has grown.
    pub rss_bytes: u64,
}

/// Feeds the job on one thread and looks at its operator whenever a minute of event time is over.
///
/// # Errors
/// The job's.
pub fn watch(spec: &Spec, job: Job) -> Result<Held> {
    let bound_ms = spec.watermark_bound().milliseconds();
    let sink = Sink { end: End::Shards, totals: Arc::new(Mutex::default()) };
    let before = process::peak_rss_bytes();
    let mut harness = TestHarness::<Event>::new(|events| build(job, &events, &sink))?;
    let (mut held, mut highest, mut minute) = (Held::default(), i64::MIN, i64::MIN);
    for chunk in Generator::new(spec).chunks() {
        for from in (0..chunk.ts.len()).step_by(BLOCK_ROWS) {
            let rows = from..chunk.ts.len().min(from + BLOCK_ROWS);
            highest = highest.max(chunk.ts[rows.clone()].iter().copied().max().unwrap_or(highest));
            let timed = rows.map(|row| {
                let event = Event { time: chunk.ts[row], key: chunk.key[row], value: chunk.value[row] };
                (event, event.time)
            });
            harness.process_elements(timed.collect())?;
            let now = (highest - bound_ms).div_euclid(MINUTE_MS);
            if now > minute {
                // Just before windows close the most is held.
                minute = now;
                held = held.most(harness.operator_counts().into_iter().fold(Held::default(), |sum, counts| Held {
                    open_windows: sum.open_windows + counts.open_windows,
                    accumulators: sum.accumulators + counts.accumulators,
                    buffered_elements: sum.buffered_elements + counts.buffered_elements,
                    state_bytes: sum.state_bytes + counts.state_bytes,
                    rss_bytes: 0,
                }));
            }
            harness.process_watermark(highest - bound_ms)?;
        }
    }
    held.rss_bytes = process::peak_rss_bytes().saturating_sub(before);
    Ok(held)
}

impl Held {
    fn most(self, other: Held) -> Held {
        Held {
            open_windows: self.open_windows.max(other.open_windows),
            accumulators: self.accumulators.max(other.accumulators),
            buffered_elements: self.buffered_elements.max(other.buffered_elements),
            state_bytes: self.state_bytes.max(other.state_bytes),
            rss_bytes: self.rss_bytes.max(other.rss_bytes),
        }
    }
}

//! How much memory the state of a shard may take, and what becomes of the rest.

use super::cut::Operators;
use crate::error::{Error, Result};
use crate::metrics::ShardMetrics;
use crate::numbers::bytes;
use crate::snapshot::SpillFolder;

/// Memory for the state of a job.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes that the state of all shards may take.
    pub bytes: u64,
    /// Where state goes that does not fit.
    pub folder: Option<SpillFolder>,
    pub shards: usize,
}

/// Of all operators.
pub(super) fn state_bytes(operators: &Operators) -> u64 {
    operators.iter().map(|operator| operator.state_bytes()).sum()
}

impl Memory {
    fn of_shard(&self) -> u64 {
        self.bytes / self.shards.max(1) as u64
    }

    /// Whether a shard has more state than it may have in memory.
    pub(super) fn is_exceeded(&self, state_bytes: u64) -> bool {
        state_bytes > self.of_shard()
    }

    /// Moves state of a shard to the disk until the rest fits: what rows hardly go to any more, and if that does not
    /// suffice all that can move.
    ///
    /// # Errors
    /// Data if it does not fit even so; Io, and Data for a disk that is full.
    pub(super) fn relieve(&self, operators: &mut Operators, metrics: &ShardMetrics) -> Result<()> {
        if let Some(folder) = &self.folder {
            for open in [false, true] {
                let mut spill = folder.begin()?;
                operators.iter_mut().try_for_each(|operator| operator.spill(&mut spill, open))?;
                metrics.state_bytes_spilled.add(spill.moved());
                if !self.is_exceeded(state_bytes(operators)) {
                    return Ok(());
                }
            }
        }
        let (has, may) = (state_bytes(operators), self.of_shard());
        let over = bytes(has.saturating_sub(may));
        let most = operators.iter().enumerate().max_by_key(|(_, operator)| operator.state_bytes());
        let (number, its) = most.map_or((0, 0), |(number, operator)| (number, operator.state_bytes()));
        let message = format!(
            "the state of a shard takes {} of memory, {over} more than its part of --memory; operator {} has {} of it",
            bytes(has),
            number + 1,
            bytes(its)
        );
        let help = match &self.folder {
            None => "say --state-dir DIR, and what does not fit goes to files there; or give more --memory",
            Some(_) => {
                "slices of windows go to the disk; sessions, joins, OVER, Top-N, GROUP BY without windows and the window that \
                 HOP moves along do not: give more --memory, or run the job on Flink with RocksDB"
            }
        };
        Err(Error::data(message).help(help))
    }
}

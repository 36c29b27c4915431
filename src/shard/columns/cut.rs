//! The state of all stages of a shard, written down and taken over.

use std::time::Duration;

use super::program::Program;
use crate::error::Result;
use crate::metrics::Totals;
use crate::shard::Cut;
use crate::snapshot::{Closed, StateFile, StateWriter};
use crate::state::index::Tag;
use crate::window::{WindowOperator, operator};

/// What a shard has to say at a cut.
pub struct Saved {
    pub state: StateWriter,
    /// One a sink.
    pub closed: Vec<Closed>,
    /// How long the shard did nothing else.
    pub pause: Duration,
    /// Of this shard, since the job began or went on.
    pub metrics: Totals,
    pub written: Vec<u64>,
}

/// Takes what a shard says at its cuts.
pub trait CutOutput: Send {
    /// # Errors
    /// Nobody takes it any more.
    fn take(&mut self, cut: &Cut, saved: Saved) -> Result<()>;
}

/// State that a shard takes over before it begins.
pub struct Restored {
    /// Of the shards that had the keys which are this one's now.
    pub files: Vec<StateFile>,
    /// Whose state in the files each stage takes over; none: each its own.
    pub stages: Option<Vec<usize>>,
    /// The only file is that of a shard with the very same keys.
    pub same_keys: bool,
    /// This shard also takes over what was counted.
    pub counts: bool,
}

pub(super) type Operators = Vec<Box<dyn WindowOperator + Send>>;

/// An operator without state for each stage.
///
/// # Errors
/// As [`operator`].
pub(super) fn operators(program: &Program) -> Result<Operators> {
    program.stages.iter().map(|stage| operator(&stage.spec, &program.context)).collect()
}

/// Takes the state of all operators.
///
/// # Errors
/// As [`WindowOperator::archive`].
pub(super) fn save(operators: &mut Operators) -> Result<StateWriter> {
    let mut state = StateWriter::default();
    for (stage, operator) in operators.iter_mut().enumerate() {
        operator.archive(&mut state.stage(stage))?;
    }
    Ok(state)
}

/// Puts state back into operators that have none.
///
/// # Errors
/// As [`WindowOperator::archive`] and [`WindowOperator::take_over`].
pub(super) fn restore(operators: &mut Operators, restored: Restored, program: &Program, shard: usize) -> Result<()> {
    let Restored { files, stages, same_keys, counts } = restored;
    let stage_in_file = |stage: usize| stages.as_ref().map_or(stage, |stages| stages[stage]);
    let wanted = |tag: Tag| program.groups.owner_of(u64::from(tag) << 32) as usize == shard;
    for file in files {
        let mut reader = file.into_reader();
        for (stage, mine) in operators.iter_mut().enumerate() {
            if same_keys {
                mine.archive(&mut reader.stage(stage_in_file(stage)))?;
            } else {
                let mut other = operator(&program.stages[stage].spec, &program.context)?;
                other.archive(&mut reader.stage(stage_in_file(stage)))?;
                mine.take_over(other, &wanted, counts)?;
            }
            reader.end_stage()?;
        }
    }
    Ok(())
}

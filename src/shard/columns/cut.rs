//! The state of all stages of a shard, written down and taken over.

use super::Restored;
use super::program::Program;
use crate::error::Result;
use crate::snapshot::StateWriter;
use crate::state::index::Tag;
use crate::window::{WindowOperator, operator};

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
    let Restored { files, same_keys, counts } = restored;
    let wanted = |tag: Tag| program.groups.owner_of(u64::from(tag) << 32) as usize == shard;
    for file in files {
        let mut reader = file.into_reader();
        for (stage, mine) in operators.iter_mut().enumerate() {
            if same_keys {
                mine.archive(&mut reader.stage(stage))?;
            } else {
                let mut other = operator(&program.stages[stage].spec, &program.context)?;
                other.archive(&mut reader.stage(stage))?;
                mine.take_over(other, &wanted, counts)?;
            }
            reader.end_stage()?;
        }
    }
    Ok(())
}

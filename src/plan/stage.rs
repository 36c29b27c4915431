//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{Frame, OverSpec, WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
    Over(OverSpec),
}

/// Which rows of an operator's input are late.
#[derive(Debug, Clone, Copy)]
pub enum Lateness<'a> {
    /// Those all of whose windows have fired.
    Windows {
        window: &'a WindowSpec,
        /// Input column with the event time.
        time: usize,
        /// The zone on whose clock windows are cut, where that makes a difference.
        zone: Option<&'a str>,
    },
    /// Those whose time the watermark has reached, unless the operator still takes them for their key.
    RowTime {
        /// Input column with the event time.
        time: usize,
        /// The operator wants to know the watermark before every row, not only before those that may be late.
        every: bool,
    },
}

impl StageSpec {
    /// Of its output rows.
    pub fn schema(&self) -> &Schema {
        match self {
            StageSpec::Aggregate(spec) => &spec.schema,
            StageSpec::Over(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, _side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
            StageSpec::Over(spec) => &spec.keys,
        }
    }

    pub fn lateness(&self, _side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
            // When the state of a key was cleared depends on the watermark before its rows.
            StageSpec::Over(spec) => {
                Lateness::RowTime { time: spec.time, every: matches!(spec.frame, Frame::Range(Some(_))) }
            }
        }
    }

    /// The windows that the operator itself cuts, or the columns in which rows bring theirs.
    pub fn window(&self) -> Option<&WindowSpec> {
        match self {
            StageSpec::Aggregate(spec) => Some(&spec.window),
            StageSpec::Over(_) => None,
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
            StageSpec::Over(_) => true,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
            StageSpec::Over(_) => {}
        }
    }
}

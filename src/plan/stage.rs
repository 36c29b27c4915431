//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{GroupAggregateSpec, JoinSpec, KeepFirstSpec, RankSpec, SessionRowsSpec, WindowAggregateSpec, WindowSpec};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
    Rank(RankSpec),
    SessionRows(SessionRowsSpec),
    KeepFirst(KeepFirstSpec),
    Join(JoinSpec),
    Group(GroupAggregateSpec),
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
    /// None.
    Never,
}

impl StageSpec {
    /// Of its output rows.
    pub fn schema(&self) -> &Schema {
        match self {
            StageSpec::Aggregate(spec) => &spec.schema,
            StageSpec::Rank(spec) => &spec.schema,
            StageSpec::SessionRows(spec) => &spec.schema,
            StageSpec::KeepFirst(spec) => &spec.schema,
            StageSpec::Join(spec) => &spec.schema,
            StageSpec::Group(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
            StageSpec::Rank(spec) => &spec.dealt_by,
            StageSpec::SessionRows(spec) => &spec.keys,
            StageSpec::KeepFirst(spec) => &spec.keys,
            StageSpec::Join(spec) => &spec.keys[side],
            StageSpec::Group(spec) => &spec.keys,
        }
    }

    pub fn lateness(&self, side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
            // The rows' own windows decide; no time column is looked at.
            StageSpec::Rank(spec) => Lateness::Windows { window: &spec.window, time: 0, zone: spec.zone.as_deref() },
            StageSpec::SessionRows(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref() }
            }
            StageSpec::KeepFirst(spec) => {
                Lateness::Windows { window: &KeepFirstSpec::INSTANT, time: spec.time, zone: None }
            }
            StageSpec::Join(spec) => match (&spec.windows, spec.bounds(side)) {
                (Some(windows), Some((_, end))) => {
                    Lateness::Windows { window: &windows[side], time: end, zone: spec.zone.as_deref() }
                }
                _ => Lateness::Never,
            },
            StageSpec::Group(_) => Lateness::Never,
        }
    }

    /// Input column with the number of the grouping set, of which 0 stands for the row in counts.
    pub fn set(&self) -> Option<usize> {
        match self {
            StageSpec::Aggregate(spec) => spec.set,
            _ => None,
        }
    }

    /// The windows that the operator itself cuts, or the columns in which rows bring theirs.
    pub fn window(&self) -> Option<&WindowSpec> {
        match self {
            StageSpec::Aggregate(spec) => Some(&spec.window),
            StageSpec::Rank(spec) => Some(&spec.window),
            StageSpec::SessionRows(spec) => Some(&spec.window),
            StageSpec::KeepFirst(_) => None,
            StageSpec::Join(spec) => spec.windows.as_ref().map(|windows| &windows[0]),
            StageSpec::Group(_) => None,
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
            StageSpec::Rank(spec) => spec.ordered,
            StageSpec::SessionRows(spec) => spec.ordered,
            StageSpec::KeepFirst(spec) => spec.ordered,
            StageSpec::Join(spec) => spec.ordered,
            StageSpec::Group(spec) => spec.ordered,
        }
    }
    /// Whether the operator is told where each of its rows stands among those of its block: in a column behind the
    /// input's own.
    pub fn wants_places(&self) -> bool {
        match self {
            StageSpec::Group(spec) => spec.ordered,
            _ => false,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
            StageSpec::Rank(spec) => spec.ordered = true,
            StageSpec::SessionRows(spec) => spec.ordered = true,
            StageSpec::KeepFirst(spec) => spec.ordered = true,
            StageSpec::Join(spec) => spec.ordered = true,
            StageSpec::Group(spec) => spec.ordered = true,
        }
    }
}

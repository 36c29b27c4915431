//! Operators that keep state between rows. Each stands behind an exchange by key.

use super::{
    EmittingAggregateSpec, Frame, GroupAggregateSpec, JoinSpec, JoinTimes, KeepFirstSpec, OverSpec, RankSpec,
    SessionRowsSpec, WindowAggregateSpec, WindowSpec,
};
use crate::types::Schema;

/// What a stateful operator does.
#[derive(Debug, Clone)]
pub enum StageSpec {
    Aggregate(WindowAggregateSpec),
    Emitting(EmittingAggregateSpec),
    Over(OverSpec),
    Rank(RankSpec),
    SessionRows(SessionRowsSpec),
    KeepFirst(KeepFirstSpec),
    Group(GroupAggregateSpec),
    Join(JoinSpec),
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
        /// How long windows take rows after they have fired, in milliseconds.
        allowed_ms: i64,
    },
    /// Those whose time the watermark has reached, unless the operator still takes them for their key.
    RowTime {
        /// Input column with the event time.
        time: usize,
        /// The operator wants to know the watermark before every row, not only before those that may be late.
        every: bool,
    },
    /// None, but what becomes of a row depends on all that the watermark was before it.
    EveryWatermark,
    /// None.
    Never,
}

impl StageSpec {
    /// For messages, and its card.
    pub fn name(&self) -> &'static str {
        match self {
            StageSpec::Aggregate(_) => "WindowAggregate",
            StageSpec::Emitting(_) => "WindowAggregate, with results that change",
            StageSpec::Over(_) => "Over",
            StageSpec::Rank(_) => "WindowTopN",
            StageSpec::SessionRows(_) => "SessionRows",
            StageSpec::KeepFirst(_) => "Deduplicate",
            StageSpec::Group(_) => "GroupAggregate",
            StageSpec::Join(spec) => spec.times.name(),
        }
    }

    /// Of its output rows.
    pub fn schema(&self) -> &Schema {
        match self {
            StageSpec::Aggregate(spec) => &spec.schema,
            StageSpec::Emitting(spec) => &spec.aggregate.schema,
            StageSpec::Over(spec) => &spec.schema,
            StageSpec::Rank(spec) => &spec.schema,
            StageSpec::SessionRows(spec) => &spec.schema,
            StageSpec::KeepFirst(spec) => &spec.schema,
            StageSpec::Group(spec) => &spec.schema,
            StageSpec::Join(spec) => &spec.schema,
        }
    }

    /// Input columns whose values decide which shard a row goes to; none: one shard does the work. `side`: which of
    /// the operator's inputs, from 0.
    pub fn keys(&self, side: usize) -> &[usize] {
        match self {
            StageSpec::Aggregate(spec) => &spec.keys,
            StageSpec::Emitting(spec) => &spec.aggregate.keys,
            StageSpec::Over(spec) => &spec.keys,
            StageSpec::Rank(spec) => &spec.dealt_by,
            StageSpec::SessionRows(spec) => &spec.keys,
            StageSpec::KeepFirst(spec) => &spec.keys,
            StageSpec::Group(spec) => &spec.keys,
            StageSpec::Join(spec) => &spec.keys[side],
        }
    }

    pub fn lateness(&self, side: usize) -> Lateness<'_> {
        match self {
            StageSpec::Aggregate(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref(), allowed_ms: 0 }
            }
            StageSpec::Emitting(spec) => {
                let (aggregate, allowed_ms) = (&spec.aggregate, spec.emit.late_ms);
                let zone = aggregate.zone.as_deref();
                Lateness::Windows { window: &aggregate.window, time: aggregate.time, zone, allowed_ms }
            }
            // When the state of a key was cleared depends on the watermark before its rows.
            StageSpec::Over(spec) => {
                Lateness::RowTime { time: spec.time, every: matches!(spec.frame, Frame::Range(Some(_))) }
            }
            // The rows' own windows decide; no time column is looked at.
            StageSpec::Rank(spec) => {
                Lateness::Windows { window: &spec.window, time: 0, zone: spec.zone.as_deref(), allowed_ms: 0 }
            }
            StageSpec::SessionRows(spec) => {
                Lateness::Windows { window: &spec.window, time: spec.time, zone: spec.zone.as_deref(), allowed_ms: 0 }
            }
            StageSpec::KeepFirst(spec) => {
                Lateness::Windows { window: &KeepFirstSpec::INSTANT, time: spec.time, zone: None, allowed_ms: 0 }
            }
            StageSpec::Group(_) => Lateness::Never,
            StageSpec::Join(spec) => match (spec.windows(), spec.bounds(side), spec.compared_times()) {
                (Some(windows), Some((_, end)), _) => {
                    Lateness::Windows { window: &windows[side], time: end, zone: spec.zone.as_deref(), allowed_ms: 0 }
                }
                (_, _, Some(_)) => Lateness::EveryWatermark,
                _ => Lateness::Never,
            },
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
            StageSpec::Emitting(spec) => Some(&spec.aggregate.window),
            StageSpec::Over(_) => None,
            StageSpec::Rank(spec) => Some(&spec.window),
            StageSpec::SessionRows(spec) => Some(&spec.window),
            StageSpec::KeepFirst(_) => None,
            StageSpec::Group(_) => None,
            StageSpec::Join(spec) => spec.windows().map(|windows| &windows[0]),
        }
    }

    /// How far the watermark that it hands on stays behind its own, in milliseconds.
    pub fn delay_ms(&self) -> i64 {
        match self {
            StageSpec::Join(JoinSpec { times: JoinTimes::Interval(bounds), .. }) => bounds.delay_ms(),
            _ => 0,
        }
    }

    /// Whether rows of one time come in an order that does not depend on the number of shards.
    pub fn is_ordered(&self) -> bool {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered,
            StageSpec::Emitting(spec) => spec.aggregate.ordered,
            StageSpec::Over(_) => true,
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
            StageSpec::Emitting(spec) => spec.aggregate.ordered,
            _ => false,
        }
    }
    pub fn set_ordered(&mut self) {
        match self {
            StageSpec::Aggregate(spec) => spec.ordered = true,
            StageSpec::Emitting(spec) => spec.aggregate.ordered = true,
            StageSpec::Over(_) => {}
            StageSpec::Rank(spec) => spec.ordered = true,
            StageSpec::SessionRows(spec) => spec.ordered = true,
            StageSpec::KeepFirst(spec) => spec.ordered = true,
            StageSpec::Group(spec) => spec.ordered = true,
            StageSpec::Join(spec) => spec.ordered = true,
        }
    }
}

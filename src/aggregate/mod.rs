//! Aggregate functions: their types, and their accumulators as columns.

mod approximate;
mod chains;
mod collected;
mod decimal;
mod extreme;
mod histogram;
mod multiset;
mod numeric;
mod percentile;
mod pick;
mod resolve;
mod run;
mod seen;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod variance;

use std::any::Any;
use std::fmt;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;

use crate::arena::{ArenaVec, Pod};
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::{DataType, Type};
pub use resolve::{is_aggregate, kind_of, names, resolve};
pub use run::{Run, Step};

/// Which aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    /// COUNT(*) without arguments, COUNT(x) counts the rows where x is not NULL.
    Count,
    Sum,
    Avg,
    Min,
    Max,
    StddevPop,
    StddevSamp,
    VarPop,
    VarSamp,
    FirstValue,
    LastValue,
    ListAgg,
    ArrayAgg,
    /// A MULTISET; its accumulator is the state's, which knows sets.
    Collect,
    JsonObjectAgg,
    JsonArrayAgg,
    Percentile,
    /// Its accumulator is the state's, which knows hashes.
    ApproxCountDistinct,
    ApproxPercentile,
    Histogram,
}

impl AggregateKind {
    /// The function has a result for a group without values.
    pub fn is_never_null(self) -> bool {
        use AggregateKind::{ApproxCountDistinct, Collect, Count, Histogram, JsonArrayAgg, JsonObjectAgg};
        matches!(self, Count | ApproxCountDistinct | Collect | JsonObjectAgg | JsonArrayAgg | Histogram)
    }

    /// The result over some rows follows from the results over parts of them. Flink has no merge for the others.
    pub fn merges(self) -> bool {
        !matches!(self, AggregateKind::FirstValue | AggregateKind::LastValue | AggregateKind::JsonArrayAgg)
    }
}

impl fmt::Display for AggregateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(resolve::name_of(*self))
    }
}

/// What a call fixes besides its columns: constants and clauses.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Setting {
    #[default]
    None,
    /// LISTAGG: what stands between two values.
    Separator(String),
    /// ARRAY_AGG: values that are NULL are left out.
    IgnoreNulls,
    /// The percentile functions: fractions from 0 to 1. `list`: the result is an ARRAY, one element for each.
    Fractions { values: Vec<f64>, list: bool },
    /// HISTOGRAM: `count` bins of equal width from `low` to `high`.
    Bins { low: f64, high: f64, count: u32 },
}

impl AggregateKind {
    /// Whether its accumulators of changes take rows out again.
    pub fn takes_rows_back(self) -> bool {
        use AggregateKind::{Avg, Count, Max, Min, StddevPop, StddevSamp, Sum, VarPop, VarSamp};
        matches!(self, Count | Sum | Avg | Min | Max | StddevPop | StddevSamp | VarPop | VarSamp)
    }
}

/// One aggregate of a window operator, its inputs named by column of the operator's input.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    pub kind: AggregateKind,
    pub distinct: bool,
    /// Columns of the types that [`resolve`] was asked about; none for COUNT(*).
    pub args: Vec<usize>,
    /// A BOOLEAN column; rows where it is not true are left out.
    pub filter: Option<usize>,
    /// Types of the argument columns.
    pub inputs: Vec<DataType>,
    pub setting: Setting,
    /// Flink's type of the result.
    pub output: DataType,
}

impl AggregateCall {
    /// The result depends on the order of the values.
    pub fn keeps_order(&self) -> bool {
        use AggregateKind::{ArrayAgg, Collect, FirstValue, JsonArrayAgg, LastValue, ListAgg};
        matches!(self.kind, FirstValue | LastValue | ListAgg | ArrayAgg | Collect | JsonArrayAgg)
    }

    /// As [`AggregateCall::keeps_order`], or to the last digit: sums of floats round, a DECIMAL that overflows starts
    /// anew, of NaN and numbers the first stays the lowest and the highest.
    pub fn depends_on_order(&self) -> bool {
        use AggregateKind::{Avg, Max, Min, StddevPop, StddevSamp, Sum, VarPop, VarSamp};
        let exact = |input: &DataType| !matches!(input.kind, Type::Float | Type::Double | Type::Decimal(..));
        self.keeps_order()
            || match self.kind {
                StddevPop | StddevSamp | VarPop | VarSamp => true,
                Sum | Avg | Min | Max => !self.inputs.iter().all(exact),
                _ => false,
            }
    }
}

/// The accumulators of one aggregate call, a column (or a few) by group number.
///
/// A fresh group is empty: it has seen no value. All calls are for whole batches; the work inside is loops over
/// columns. `groups` are group numbers below the length last set.
pub trait Accumulator: Send {
    /// Sets the number of groups; new ones are empty. Never fewer than before.
    fn resize(&mut self, groups: usize);

    /// Row `i` of the argument columns belongs to group `groups[i]`; rows where `filter` is not true are left out.
    /// New groups come in order of their first row.
    ///
    /// # Errors
    /// Internal if the columns have other types than the call's inputs; Data for values that the function refuses.
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()>;

    /// Takes rows one after the other: the results of their groups after each of them, of the call's output type. Only
    /// accumulators for [`accumulator_of_changes`] take rows out again, and groups of these are not merged.
    ///
    /// # Errors
    /// As [`Accumulator::update`] and [`Accumulator::result`].
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        run::one_by_one(self, run)
    }

    /// Adds group `from[i]` of `other` to group `to[i]`, behind what is there. No group occurs twice in `to`.
    ///
    /// # Errors
    /// Internal if `other` is of another call.
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()>;

    /// True if [`Accumulator::retract`] undoes a merge exactly.
    fn invertible(&self) -> bool {
        false
    }

    /// Says that groups will be merged and retracted, never updated. Called before anything else.
    fn track_merges(&mut self) {}

    /// Takes back an earlier merge of the same groups.
    ///
    /// # Errors
    /// Internal if the function is not invertible.
    fn retract(&mut self, _other: &dyn Accumulator, _from: &[u32], _to: &[u32]) -> Result<()> {
        Err(Error::internal("an aggregate that cannot be subtracted"))
    }

    /// Makes the groups empty again.
    fn reset(&mut self, groups: &[u32]);

    /// The results of the groups, in their order; of the call's output type.
    ///
    /// # Errors
    /// Data if the strings of one result column exceed 2 GiB.
    fn result(&self, groups: &[u32]) -> Result<ArrayRef>;

    /// Bytes of memory held.
    fn bytes(&self) -> usize;

    fn as_any(&self) -> &dyn Any;

    /// Takes over groups of another accumulator of the same call: the groups `to`, which are empty, become what the groups
    /// `from` of `other` are.
    ///
    /// # Errors
    /// As [`Accumulator::merge`].
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.merge(other, from, to)
    }

    /// Names its state, all groups of it.
    ///
    /// # Errors
    /// Those of the archive.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()>;
}

/// True if Flink's planner rewrites the aggregates of this operator: SUM(x) to a sum that starts at 0, NULL where
/// COUNT(x) is 0, and AVG(x) to that SUM(x) by COUNT(x).
///
/// It must as soon as one is a STDDEV or VAR. Else it does so where that is cheaper: where fewer aggregates remain,
/// as for SUM, COUNT and AVG of one column, and not too many results are computed from them (cases 601 to 604). The
/// results differ: a DECIMAL sum that overflowed stays NULL (cases 319, 320 against 321, 380), and the average of an
/// INT wraps as its sum does.
pub fn is_rewritten(calls: &[AggregateCall]) -> bool {
    use AggregateKind::{Avg, Count, StddevPop, StddevSamp, Sum, VarPop, VarSamp};
    if calls.iter().any(|call| matches!(call.kind, StddevPop | StddevSamp | VarPop | VarSamp)) {
        return true;
    }
    let mut before = Vec::new();
    for call in calls {
        let part = Part::of(call, call.kind);
        if !before.contains(&part) {
            before.push(part);
        }
    }
    let mut after: Vec<Part<'_>> = Vec::new();
    let mut computed = 0;
    for part in &before {
        let kinds: &[AggregateKind] = match part.kind {
            Sum if part.never_null => &[Sum],
            Sum | Avg => &[Sum, Count],
            _ => &[part.kind],
        };
        computed += usize::from(kinds.len() > 1);
        for part in kinds.iter().map(|kind| part.with(*kind)) {
            if !after.contains(&part) {
                after.push(part);
            }
        }
    }
    let saved = before.len().saturating_sub(after.len());
    saved > 0 && computed <= saved * COMPUTED_PER_SAVED
}

/// Results that Flink's planner computes for each aggregate that it saves so. Its costs set the limit higher without
/// keys and lower with three or more.
const COMPUTED_PER_SAVED: usize = 4;

/// What an aggregate call is to Flink's planner.
#[derive(Clone, Copy, PartialEq)]
struct Part<'a> {
    kind: AggregateKind,
    args: &'a [usize],
    distinct: bool,
    filter: Option<usize>,
    /// The argument is NOT NULL, so that counting it is counting rows.
    not_null: bool,
    /// A group has a value for certain.
    never_null: bool,
}

impl<'a> Part<'a> {
    fn of(call: &'a AggregateCall, kind: AggregateKind) -> Self {
        let not_null = call.inputs.iter().all(|input| !input.nullable);
        let never_null = not_null && call.filter.is_none();
        Part { kind, args: &call.args, distinct: call.distinct, filter: call.filter, not_null, never_null }.with(kind)
    }

    fn with(mut self, kind: AggregateKind) -> Self {
        self.kind = kind;
        if kind == AggregateKind::Count && self.not_null && !self.distinct {
            self.args = &[];
        }
        self
    }
}

/// Empty accumulators of one call, which takes every value (DISTINCT is put around it by the state).
/// `rewritten` is [`is_rewritten`] of the operator's calls.
///
/// # Errors
/// Internal if the types are none that [`resolve`] gives.
pub fn accumulator(call: &AggregateCall, rewritten: bool) -> Result<Box<dyn Accumulator>> {
    use AggregateKind::*;
    let input = call.inputs.first().map_or(&Type::Null, |input| &input.kind);
    match call.kind {
        Count => Ok(Box::new(numeric::Count::default())),
        _ if *input == Type::Null => Ok(Box::new(extreme::AlwaysNull::new(call.output.kind.to_arrow()))),
        Sum => match input {
            Type::Decimal(..) => Ok(Box::new(decimal::Sum::new(&call.output.kind, rewritten)?)),
            _ => numeric::sum(&call.output.kind),
        },
        Avg => match input {
            Type::Decimal(..) => Ok(Box::new(decimal::Avg::new(input, &call.output.kind)?)),
            _ => numeric::avg(&call.output.kind, rewritten),
        },
        Min => extreme::extreme(input, &call.output.kind, false),
        Max => extreme::extreme(input, &call.output.kind, true),
        StddevPop | StddevSamp | VarPop | VarSamp => {
            Ok(Box::new(variance::Variance::new(call.kind, &call.output.kind)))
        }
        FirstValue | LastValue => Ok(Box::new(pick::Pick::new(call.kind == LastValue, input.to_arrow()))),
        ListAgg | ArrayAgg | JsonObjectAgg | JsonArrayAgg => Ok(Box::new(collected::Collected::new(call)?)),
        Percentile => Ok(Box::new(percentile::Percentile::new(&call.setting)?)),
        ApproxPercentile => Ok(Box::new(approximate::ApproxPercentile::new(&call.setting)?)),
        Histogram => Ok(Box::new(histogram::Histogram::new(&call.setting)?)),
        Collect | ApproxCountDistinct => Err(Error::internal("an accumulator that the state makes")),
    }
}

/// As [`accumulator`], for rows that are taken out again.
///
/// # Errors
/// As [`accumulator`].
pub fn accumulator_of_changes(call: &AggregateCall, rewritten: bool) -> Result<Box<dyn Accumulator>> {
    match (call.kind, call.inputs.as_slice()) {
        (AggregateKind::Min | AggregateKind::Max, [input]) if input.kind != Type::Null => {
            Ok(Box::new(multiset::Multiset::new(input, call.kind == AggregateKind::Max)?))
        }
        _ => accumulator(call, rewritten),
    }
}

/// The rows that count: no argument is NULL, and they are not filtered out. `None` if all do.
pub(crate) fn selected(args: &[ArrayRef], filter: Option<&BooleanArray>) -> Option<BooleanBuffer> {
    let mut mask: Option<BooleanBuffer> = None;
    for nulls in args.iter().filter_map(|values| values.logical_nulls()).filter(|nulls| nulls.null_count() > 0) {
        mask = Some(match mask {
            Some(mask) => &mask & nulls.inner(),
            None => nulls.into_inner(),
        });
    }
    if let Some(filter) = filter {
        let mut passed = filter.values().clone();
        if let Some(nulls) = filter.nulls() {
            passed = &passed & nulls.inner();
        }
        mask = Some(match mask {
            Some(mask) => &mask & &passed,
            None => passed,
        });
    }
    mask.filter(|mask| mask.count_set_bits() < mask.len())
}

/// The accumulator's other half, of the same type.
fn same<T: 'static>(other: &dyn Accumulator) -> Result<&T> {
    other.as_any().downcast_ref().ok_or_else(|| Error::internal("merging accumulators of different aggregates"))
}

/// The cells of groups of another column.
fn copy<T: Pod>(cells: &mut ArenaVec<T>, others: &ArenaVec<T>, from: &[u32], to: &[u32]) {
    cells.combine(to, others, from, |cell, other| *cell = other);
}

/// The first argument, a value for each row.
fn values<'a>(args: &'a [ArrayRef], groups: &[u32]) -> Result<&'a ArrayRef> {
    let values = args.first().ok_or_else(|| Error::internal("an aggregate without its argument"))?;
    if values.len() != groups.len() {
        return Err(Error::internal(format!("{} values for {} rows", values.len(), groups.len())));
    }
    Ok(values)
}

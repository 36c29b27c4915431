//! DISTINCT: an exact set of (group, arguments) before an accumulator.

use std::any::Any;

use arrow::array::{ArrayRef, BooleanArray};

use super::approximate::ApproxCountDistinct;
use super::multiset::Multiset;
use super::sets::{Sets, pass, take};
use crate::aggregate::{
    Accumulator, AggregateCall, AggregateKind, Run, Setting, Step, accumulator, accumulator_of_changes, is_rewritten,
    selected,
};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::DataType;

/// Empty accumulators for all calls of one operator.
///
/// # Errors
/// Unsupported for DISTINCT over types that cannot be compared; internal for types that `resolve` does not give.
pub fn accumulators(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
    around(calls, accumulator)
}

/// As [`accumulators`], for rows that are taken out again.
///
/// # Errors
/// As [`accumulators`].
pub fn accumulators_of_changes(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
    around(calls, accumulator_of_changes)
}

fn around(
    calls: &[AggregateCall],
    accumulator: fn(&AggregateCall, bool) -> Result<Box<dyn Accumulator>>,
) -> Result<Vec<Box<dyn Accumulator>>> {
    use AggregateKind::{ApproxCountDistinct as Approx, Collect, FirstValue, LastValue, Max, Min};
    let rewritten = is_rewritten(calls);
    let one = |call: &AggregateCall| -> Result<Box<dyn Accumulator>> {
        match (call.kind, call.inputs.as_slice()) {
            (Collect, [input]) => Ok(Box::new(Multiset::new(input, call.distinct)?)),
            (Approx, [input]) => Ok(Box::new(ApproxCountDistinct::new(input)?)),
            // The smallest, the largest, the first and the last of a set need no set.
            (Min | Max | FirstValue | LastValue, _) => accumulator(call, rewritten),
            (_, [_, ..]) if call.distinct => {
                let nulls = call.kind == AggregateKind::ArrayAgg && call.setting != Setting::IgnoreNulls;
                Ok(Box::new(Distinct::new(&call.inputs, nulls, accumulator(call, rewritten)?)?))
            }
            _ => accumulator(call, rewritten),
        }
    };
    calls.iter().map(one).collect()
}

/// Lets each value through once per group.
struct Distinct {
    sets: Sets,
    /// How often the value of each entry is there, where values are taken out again.
    live: ArenaVec<u32>,
    /// NULL is a value.
    nulls: bool,
    inner: Box<dyn Accumulator>,
}

impl Distinct {
    fn new(inputs: &[DataType], nulls: bool, inner: Box<dyn Accumulator>) -> Result<Self> {
        let types: Vec<_> = inputs.iter().map(|input| input.kind.to_arrow()).collect();
        Ok(Distinct { sets: Sets::new(&types)?, live: ArenaVec::new(), nulls, inner })
    }

    /// Adds values to the groups' sets; those that are new go on to the inner accumulator.
    fn insert(&mut self, groups: &[u32], values: &[ArrayRef]) -> Result<()> {
        let before = self.sets.len();
        let found = self.sets.insert(groups, values)?;
        // New entries are numbered in the order of their first rows.
        let mut fresh = Vec::new();
        for (row, &entry) in found.iter().enumerate() {
            if entry as usize == before + fresh.len() {
                fresh.push(row as u32);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let groups: Vec<u32> = fresh.iter().map(|&row| groups[row as usize]).collect();
        let values = values.iter().map(|column| take(column, &fresh)).collect::<Result<Vec<_>>>()?;
        self.inner.update(&groups, &values, None)
    }

    /// What each row does to the inner accumulator: a value comes in with its first row and leaves with its last.
    fn inner_steps(&mut self, run: &Run<'_>) -> Result<Vec<Step>> {
        let step = |row: usize| run.steps.get(row).copied().unwrap_or(Step::Add);
        let args = if self.nulls { &[][..] } else { run.args };
        let selected = selected(args, run.filter);
        let counts = |row: usize| selected.as_ref().is_none_or(|selected| selected.value(row));
        let all = 0..run.groups.len();
        let rows: Vec<u32> =
            all.clone().filter(|&row| counts(row) && step(row) != Step::Skip).map(|row| row as u32).collect();
        let groups: Vec<u32> = rows.iter().map(|&row| run.groups[row as usize]).collect();
        let values = run.args.iter().map(|column| take(column, &rows)).collect::<Result<Vec<_>>>()?;
        let before = self.sets.len();
        let found = self.sets.insert(&groups, &values)?;
        let mut steps: Vec<Step> =
            all.map(|row| if step(row) == Step::Clear { Step::Clear } else { Step::Skip }).collect();
        if run.steps.is_empty() {
            // Others may have come in bulk, uncounted. New ones are numbered in the order of their first rows.
            let mut next = before as u32;
            for (&row, &entry) in rows.iter().zip(&found).filter(|(_, entry)| **entry >= before as u32) {
                if entry == next {
                    steps[row as usize] = Step::Add;
                    next += 1;
                }
            }
            return Ok(steps);
        }
        self.live.resize_zeroed(self.sets.len());
        for (&row, &entry) in rows.iter().zip(&found) {
            let (row, live) = (row as usize, &mut self.live[entry as usize]);
            let before = *live;
            match step(row) {
                Step::Add => *live += 1,
                _ => *live = live.saturating_sub(1),
            }
            match (step(row), before) {
                (Step::Add, 0) => steps[row] = Step::Add,
                (Step::Remove, 1) => steps[row] = Step::Remove,
                _ => {}
            }
        }
        Ok(steps)
    }
}

impl Accumulator for Distinct {
    fn resize(&mut self, groups: usize) {
        self.sets.resize(groups);
        self.inner.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let (groups, values) = pass(groups, args, filter, self.nulls)?;
        self.insert(&groups, &values)
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let steps = self.inner_steps(run)?;
        self.inner.run(&Run { groups: run.groups, args: run.args, filter: None, steps: &steps })
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other: &Distinct =
            other.as_any().downcast_ref().ok_or_else(|| Error::internal("merging sets of different aggregates"))?;
        let (mut entries, mut groups) = (Vec::new(), Vec::new());
        for (&from, &to) in from.iter().zip(to) {
            other.sets.append_to(from, &mut entries);
            groups.resize(entries.len(), to);
        }
        let values = other.sets.values(&entries)?;
        self.insert(&groups, &values)
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sets.reset(groups);
        self.inner.reset(groups);
        // A rebuild only saves memory; it cannot fail for keys that were encoded before.
        if let Ok(Some(kept)) = self.sets.collect() {
            let before = std::mem::take(&mut self.live);
            let kept = kept.iter().filter_map(|&entry| before.as_slice().get(entry as usize));
            kept.for_each(|&live| self.live.push(live));
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.inner.result(groups)
    }
    fn bytes(&self) -> usize {
        self.sets.bytes() + self.live.bytes() + self.inner.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other: &Distinct =
            other.as_any().downcast_ref().ok_or_else(|| Error::internal("sets of different aggregates"))?;
        let (mut entries, mut groups) = (Vec::new(), Vec::new());
        for (&from, &to) in from.iter().zip(to) {
            other.sets.append_to(from, &mut entries);
            groups.resize(entries.len(), to);
        }
        let found = self.sets.insert(&groups, &other.sets.values(&entries)?)?;
        if !other.live.is_empty() {
            self.live.resize_zeroed(self.sets.len());
            for (entry, theirs) in found.into_iter().zip(entries) {
                self.live[entry as usize] = other.live.as_slice().get(theirs as usize).copied().unwrap_or(0);
            }
        }
        self.inner.take_over(&*other.inner, from, to)
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.sets.archive(archive)?;
        archive.cells(&mut self.live)?;
        self.inner.archive(archive)
    }
}

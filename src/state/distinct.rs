//! DISTINCT: an exact set of (group, arguments) before an accumulator.

use std::any::Any;

use arrow::array::{ArrayRef, BooleanArray};

use super::approximate::ApproxCountDistinct;
use super::multiset::Multiset;
use super::sets::{Sets, pass, take};
use crate::aggregate::{Accumulator, AggregateCall, AggregateKind, Setting, accumulator, is_rewritten};
use crate::error::{Error, Result};
use crate::types::DataType;

/// Empty accumulators for all calls of one operator.
///
/// # Errors
/// Unsupported for DISTINCT over types that cannot be compared; internal for types that `resolve` does not give.
pub fn accumulators(calls: &[AggregateCall]) -> Result<Vec<Box<dyn Accumulator>>> {
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
    /// NULL is a value.
    nulls: bool,
    inner: Box<dyn Accumulator>,
}

impl Distinct {
    fn new(inputs: &[DataType], nulls: bool, inner: Box<dyn Accumulator>) -> Result<Self> {
        let types: Vec<_> = inputs.iter().map(|input| input.kind.to_arrow()).collect();
        Ok(Distinct { sets: Sets::new(&types)?, nulls, inner })
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
        let _ = self.sets.collect();
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.inner.result(groups)
    }
    fn bytes(&self) -> usize {
        self.sets.bytes() + self.inner.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

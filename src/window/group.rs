//! GROUP BY without windows: every row changes the result of its group, and the change is given at once.
//!
//! A batch is taken as a whole: the groups of its rows are looked up, each aggregate runs through the rows and tells
//! the result after each of them ([`Run`]), and what differs from the row before of the same group is a change.

pub(super) mod changes;
pub(super) mod pending;
#[cfg(test)]
mod tests;
pub(super) mod traces;

use std::any::Any;

use arrow::array::{ArrayRef, AsArray, Int8Array, RecordBatch};
use arrow::datatypes::Int8Type;

use super::rows::Reader;
use super::{Emit, Emitted, Wanted, WindowOperator, downcast};
use crate::aggregate::{Run, Step};
use crate::arena::ArenaVec;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::plan::GroupAggregateSpec;
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::state::distinct::{accumulators, accumulators_of_changes};
use crate::state::table::{Inputs, Table};
use crate::time::Watermark;
use crate::types::RowKind;
use changes::{Changes, Outcome};
use pending::Pending;
use traces::Traces;

pub(super) struct GroupOperator {
    spec: GroupAggregateSpec,
    reader: Reader,
    table: Table,
    /// Rows of each group, where rows are taken out again.
    sizes: ArenaVec<u64>,
    /// Scratch of [`Traces`].
    last: Vec<u32>,
    groups: Vec<u32>,
    pending: Pending,
}

impl GroupOperator {
    /// # Errors
    /// As [`super::operator`].
    pub(super) fn new(spec: &GroupAggregateSpec) -> Result<Self> {
        let reader = Reader::of(&spec.keys, &spec.aggregates, &spec.input)?;
        let accumulators = match spec.kind {
            Some(_) => accumulators_of_changes(&spec.aggregates)?,
            None => accumulators(&spec.aggregates)?,
        };
        let table = Table { index: KeyIndex::new(reader.shape.encoder.clone()), accumulators };
        Ok(GroupOperator {
            pending: Pending::new(spec.schema.to_arrow(), spec.ordered),
            spec: spec.clone(),
            reader,
            table,
            sizes: ArenaVec::new(),
            last: Vec::new(),
            groups: Vec::new(),
        })
    }

    /// What each row does to its group, and what is to be told of it if the result changes. `known`: groups that were
    /// there before the batch.
    fn outcomes(&mut self, rows: &RecordBatch, known: usize, traces: &Traces) -> Result<(Vec<Step>, Vec<Outcome>)> {
        let Some(kind) = self.spec.kind else {
            return Ok((Vec::new(), changes::of_added(&self.groups, known, traces)));
        };
        let kinds: &Int8Array = rows
            .columns()
            .get(kind)
            .and_then(|kinds| kinds.as_primitive_opt::<Int8Type>())
            .ok_or_else(|| Error::internal("the rows of a changing result do not say what happened to them"))?;
        self.sizes.resize_zeroed(self.table.len());
        let sizes = self.sizes.as_mut_slice();
        let both = self.groups.iter().zip(kinds.values()).map(|(&group, &kind)| {
            let size = &mut sizes[group as usize];
            let before = *size;
            if RowKind::of_code(kind).is_added() {
                *size += 1;
                return (Step::Add, if before == 0 { Outcome::Insert } else { Outcome::Update });
            }
            *size = size.saturating_sub(1);
            match before {
                // Of a group that nobody knows.
                0 => (Step::Skip, Outcome::Nothing),
                1 => (Step::Clear, Outcome::Delete),
                _ => (Step::Remove, Outcome::Update),
            }
        });
        Ok(both.unzip())
    }
}

/// Takes rows, and tells the results of all aggregates: those of `firsts` before the rows, then those after each row.
pub(super) fn results(
    table: &mut Table,
    groups: &[u32],
    traces: &Traces,
    inputs: &Inputs,
    steps: &[Step],
) -> Result<Vec<ArrayRef>> {
    let mut results = Vec::with_capacity(inputs.columns.len());
    for (accumulator, (args, filter)) in table.accumulators.iter_mut().zip(&inputs.columns) {
        let before = accumulator.result(&traces.firsts)?;
        let run = Run { groups, args, filter: filter.as_ref(), steps };
        let after = accumulator.run(&run)?;
        results.push(arrow::compute::concat(&[&*before, &*after])?);
    }
    Ok(results)
}

impl WindowOperator for GroupOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        let rows = batch.rows.num_rows();
        if rows == 0 {
            return Ok(());
        }
        self.reader.check(batch)?;
        let chunk = self.reader.range(batch, 0, rows)?;
        let known = self.table.len();
        self.table.find_or_insert(&chunk.hashes, &chunk.keys, &mut self.groups)?;
        let traces = Traces::of(&self.groups, self.table.len(), &mut self.last);
        let (steps, mut outcomes) = self.outcomes(&batch.rows, known, &traces)?;
        let results = results(&mut self.table, &self.groups, &traces, &chunk.inputs, &steps)?;
        let firsts = traces.firsts.len() as u32;
        let before = traces.places();
        if !self.spec.repeats {
            changes::drop_equal(&results, &before, firsts, &mut outcomes)?;
        }
        let keys: Vec<ArrayRef> = self.spec.keys.iter().map(|&key| batch.rows.column(key).clone()).collect();
        let changes = Changes::of(&outcomes, &before, firsts);
        let columns = changes.columns(&keys, &results)?;
        let places = batch.rows.columns().get(self.spec.input.len());
        self.pending.push(columns, &changes, places, &batch.hashes, emit)
    }

    fn advance(&mut self, _watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        match self.pending.take()? {
            Some((rows, times)) => emit(Emitted::of(rows, times)),
            None => Ok(()),
        }
    }

    fn late_rows(&self) -> u64 {
        0
    }
    fn open_windows(&self) -> u64 {
        0
    }
    fn fired_windows(&self) -> u64 {
        0
    }
    fn state_bytes(&self) -> u64 {
        (self.table.bytes() + self.sizes.bytes()) as u64
    }
    /// Nothing is pending: what a block changes is given when it ends.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.table.archive(archive)?;
        archive.cells(&mut self.sizes)?;
        fits(self.sizes.len() == if self.spec.kind.is_some() { self.table.len() } else { 0 })
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, _counts: bool) -> Result<()> {
        let other: Box<GroupOperator> = downcast(other)?;
        let moved = self.table.take_over(&other.table, &|tag, _| wanted(tag))?;
        if self.spec.kind.is_some() {
            self.sizes.resize_zeroed(self.table.len());
            self.sizes.combine(&moved.to, &other.sizes, &moved.from, |size, theirs| *size = theirs);
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

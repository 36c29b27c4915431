//! TUMBLE and HOP whose windows give results before they end, or again for rows that come late.
//!
//! Each window keeps a table of its own. A row that changes the result of its key in a window that gives results at
//! every row (an open one if windows fire early, one that has fired if late rows count) gives the change at once; a
//! window that does not fire early gives its results at its end, and keeps them for as long as it takes late rows.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{SchemaRef, TimestampMillisecondType};

use super::assigner::for_each_window;
use super::group::changes::{Changes, drop_equal, of_added};
use super::group::pending::Pending;
use super::group::results;
use super::group::traces::Traces;
use super::late::Late;
use super::rows::{Reader, local_times};
use super::tables::{self, Tables, entry};
use super::zone::Scale;
use super::{Emit, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{EmitSpec, EmittingAggregateSpec, WindowAggregateSpec};
use crate::snapshot::Archive;
use crate::state::Table;
use crate::time::Watermark;
use crate::types::RowKind;

/// See the module.
pub(super) struct EmittingOperator {
    spec: WindowAggregateSpec,
    emit: EmitSpec,
    reader: Reader,
    schema: SchemaRef,
    scale: Scale,
    /// All windows that end at or before it have fired.
    horizon: i64,
    /// By end and start.
    windows: Tables<[i64; 2]>,
    pending: Pending,
    late: Late,
    fired: u64,
    /// Scratch.
    groups: Vec<u32>,
    last: Vec<u32>,
}

impl EmittingOperator {
    /// # Errors
    /// As [`super::operator`].
    pub(super) fn new(spec: &EmittingAggregateSpec) -> Result<Self> {
        let EmittingAggregateSpec { aggregate, emit } = spec;
        let reader = Reader::new(aggregate)?;
        // Wrong aggregates fail now rather than at the first row.
        Table::new(&reader.shape)?;
        let schema = aggregate.schema.to_arrow();
        let columns = aggregate.keys.len() + aggregate.aggregates.len() + 4;
        if schema.fields().len() != columns {
            return Err(Error::internal(format!(
                "changes of {columns} columns with a schema of {}",
                schema.fields().len()
            )));
        }
        Ok(EmittingOperator {
            pending: Pending::new(schema.clone(), aggregate.ordered),
            scale: Scale::new(aggregate.zone.as_deref())?,
            spec: aggregate.clone(),
            emit: *emit,
            reader,
            schema,
            horizon: i64::MIN,
            windows: Tables::new(),
            late: Late::default(),
            fired: 0,
            groups: Vec::new(),
            last: Vec::new(),
        })
    }

    /// Rows `[from, to)` at the horizon reached.
    fn take(&mut self, batch: &EventBatch, times: &[i64], (from, to): (usize, usize), emit: Emit<'_>) -> Result<()> {
        let mut parts: BTreeMap<[i64; 2], Vec<u32>> = BTreeMap::new();
        for (row, &time) in times.iter().enumerate().take(to).skip(from) {
            let (mut taken, mut missed) = (false, false);
            for_each_window(&self.spec.window, time, &mut |start, end| {
                if end.saturating_add(self.emit.late_ms) > self.horizon {
                    taken = true;
                    parts.entry([end, start]).or_default().push(row as u32);
                } else {
                    missed = true;
                }
            });
            let counted = self.reader.counted(batch, std::iter::once(row));
            match (missed, taken) {
                (true, false) => self.late.drop_rows(counted),
                (true, true) => self.late.miss_some(counted),
                (false, _) => {}
            }
        }
        // Of one row, the window that ends last comes first.
        for (bounds, rows) in parts.into_iter().rev() {
            self.add(batch, bounds, &rows, emit)?;
        }
        Ok(())
    }

    /// Adds rows to a window, and gives the changes if it gives them at every row.
    fn add(&mut self, batch: &EventBatch, [end, start]: [i64; 2], rows: &[u32], emit: Emit<'_>) -> Result<()> {
        let at_once = if end <= self.horizon { self.emit.late_ms > 0 } else { self.emit.early };
        let chunk = self.reader.rows(batch, rows)?;
        let table = entry(&mut self.windows, [end, start], &self.reader.shape)?.melt()?;
        if !at_once {
            return table.update(&chunk.hashes, &chunk.keys, &chunk.inputs, &mut self.groups);
        }
        let known = table.len();
        table.find_or_insert(&chunk.hashes, &chunk.keys, &mut self.groups)?;
        let traces = Traces::of(&self.groups, table.len(), &mut self.last);
        let mut outcomes = of_added(&self.groups, known, &traces);
        let results = results(table, &self.groups, &traces, &chunk.inputs, &[])?;
        let (before, firsts) = (traces.places(), traces.firsts.len() as u32);
        drop_equal(&results, &before, firsts, &mut outcomes)?;
        self.fired += (table.len() - known) as u64;
        let keys = table.index.decode(&self.groups)?;
        let changes = Changes::of(&outcomes, &before, firsts);
        let mut columns = changes.columns(&keys, &results)?;
        let kinds = columns.pop();
        columns.extend(self.bounds((start, end), changes.rows.len()));
        columns.extend(kinds);
        let places = batch.rows.columns().get(self.spec.input.len());
        self.pending.push(columns, &changes.within(rows), places, &batch.hashes, emit)
    }

    /// Fires every window that ends in `(self.horizon, horizon]`, and forgets those that take no more rows.
    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        if horizon <= self.horizon {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.horizon, horizon);
        if !self.emit.early && before < horizon {
            let ends = [before.saturating_add(1), i64::MIN]..=[horizon, i64::MAX];
            let due: Vec<[i64; 2]> = self.windows.range(ends).map(|(&window, _)| window).collect();
            due.into_iter().try_for_each(|window| self.fire_window(window, emit))?;
        }
        let late_ms = self.emit.late_ms;
        while let Some(window) = self.windows.first_entry()
            && window.key()[0].saturating_add(late_ms) <= horizon
        {
            window.remove();
        }
        Ok(())
    }

    fn fire_window(&mut self, window @ [end, start]: [i64; 2], emit: Emit<'_>) -> Result<()> {
        let Some(table) = self.windows.get_mut(&window) else { return Ok(()) };
        let table = table.melt()?;
        let entries = table.index.in_order(|_| true);
        let groups: Vec<u32> = entries.iter().map(|&(_, group)| group).collect();
        let mut columns = table.columns(&groups)?;
        columns.extend(self.bounds((start, end), groups.len()));
        columns.push(Arc::new(Int8Array::from(vec![RowKind::Insert.code(); groups.len()])));
        let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        self.fired += groups.len() as u64;
        let hashes = entries.into_iter().map(|(tag, _)| KeyHash::from(tag) << 32);
        self.pending.push_window(rows, end, hashes, emit)
    }

    /// window_start, window_end and window_time.
    fn bounds(&self, (start, end): (i64, i64), rows: usize) -> Vec<ArrayRef> {
        let first = self.schema.fields().len() - 4;
        let time = self.scale.clone().instant(end.saturating_sub(1));
        let column = |(at, value): (usize, i64)| -> ArrayRef {
            let array = PrimitiveArray::<TimestampMillisecondType>::new(vec![value; rows].into(), None);
            Arc::new(array.with_data_type(self.schema.field(first + at).data_type().clone()))
        };
        [start, end, time].into_iter().enumerate().map(column).collect()
    }
}

impl WindowOperator for EmittingOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.reader.check(batch)?;
        let times = local_times(&batch.rows, self.spec.time, &mut self.scale)?;
        let mut from = 0;
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            if horizon <= self.horizon {
                continue;
            }
            let to = (mark.row as usize).clamp(from, times.len());
            self.take(batch, &times, (from, to), emit)?;
            self.fire(horizon, emit)?;
            from = to;
        }
        self.take(batch, &times, (from, times.len()), emit)
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        let horizon = self.scale.horizon(watermark);
        self.fire(horizon, emit)?;
        match self.pending.take()? {
            Some((rows, times)) => emit(super::Emitted::of(rows, times)),
            None => Ok(()),
        }
    }

    fn late_rows(&self) -> u64 {
        self.late.dropped()
    }
    fn late(&mut self) -> Option<&mut Late> {
        Some(&mut self.late)
    }
    fn open_windows(&self) -> u64 {
        self.windows.len() as u64
    }
    fn fired_windows(&self) -> u64 {
        self.fired
    }
    fn state_bytes(&self) -> u64 {
        self.windows.values().map(|table| table.bytes() as u64).sum()
    }
    /// Nothing is pending: what a block changes is given when it ends.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.fired])?;
        self.late.archive(archive)?;
        tables::archive(&mut self.windows, &self.reader.shape, archive)
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<EmittingOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.fired += other.fired;
            self.late.take_over(&other.late);
        }
        tables::take_over(&mut self.windows, &other.windows, &self.reader.shape, wanted)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

//! Windows that the rows carry: the second aggregation over the windows of a first.

use std::collections::BTreeMap;

use super::late::Late;
use super::output::Output;
use super::rows::{Reader, next_end, split, times};
use super::zone::Scale;
use super::{Emit, WindowOperator};
use crate::batch::EventBatch;
use crate::error::Result;
use crate::plan::WindowAggregateSpec;
use crate::state::Table;
use crate::time::Watermark;

/// Groups rows by key and by their own window's start and end.
pub(super) struct AttachedOperator {
    reader: Reader,
    output: Output,
    start: usize,
    end: usize,
    scale: Scale,
    horizon: i64,
    /// By end, then start.
    windows: BTreeMap<(i64, i64), Table>,
    late: Late,
    groups: Vec<u32>,
}

impl AttachedOperator {
    pub(super) fn new(spec: &WindowAggregateSpec, start: usize, end: usize) -> Result<Self> {
        let scale = Scale::new(spec.zone.as_deref())?;
        let reader = Reader::new(spec)?;
        Table::new(&reader.shape)?;
        Ok(AttachedOperator {
            output: Output::new(spec, &scale)?,
            reader,
            start,
            end,
            scale,
            horizon: i64::MIN,
            windows: BTreeMap::new(),
            late: Late::default(),
            groups: Vec::new(),
        })
    }

    fn take(&mut self, batch: &EventBatch, bounds: (&[i64], &[i64]), from: usize, to: usize) -> Result<()> {
        let (starts, ends) = bounds;
        for ((end, start), rows) in split(from..to, |row| Some((ends[row], starts[row]))) {
            if end <= self.horizon {
                self.late.drop_rows(self.reader.counted(batch, rows.iter().map(|&row| row as usize)));
                continue;
            }
            let chunk = self.reader.rows(batch, &rows)?;
            let table = match self.windows.entry((end, start)) {
                std::collections::btree_map::Entry::Occupied(table) => table.into_mut(),
                std::collections::btree_map::Entry::Vacant(place) => place.insert(Table::new(&self.reader.shape)?),
            };
            table.update(&chunk.hashes, &chunk.keys, &chunk.inputs, &mut self.groups)?;
        }
        Ok(())
    }

    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(horizon);
        while let Some(window) = self.windows.first_entry() {
            let (end, start) = *window.key();
            if end > self.horizon {
                break;
            }
            let table = window.remove();
            self.output.window(&table, (start, end), None, emit)?;
        }
        Ok(())
    }
}

impl WindowOperator for AttachedOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.reader.check(batch)?;
        let (starts, ends) = (times(&batch.rows, self.start)?, times(&batch.rows, self.end)?);
        let mut from = 0;
        let mut next = next_end(&ends, self.horizon);
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            let row = (mark.row as usize).clamp(from, ends.len());
            if next <= horizon || self.windows.first_key_value().is_some_and(|(&(end, _), _)| end <= horizon) {
                self.take(batch, (&starts, &ends), from, row)?;
                self.fire(horizon, emit)?;
                from = row;
                next = next_end(&ends[from..], self.horizon);
            }
        }
        self.take(batch, (&starts, &ends), from, ends.len())
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        let horizon = self.scale.horizon(watermark);
        self.fire(horizon, emit)
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
        self.output.rows
    }
    fn state_bytes(&self) -> u64 {
        self.windows.values().map(Table::bytes).sum::<usize>() as u64
    }
}

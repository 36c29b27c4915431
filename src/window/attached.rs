//! Windows that the rows carry: the second aggregation over the windows of a first.

use std::any::Any;

use super::late::Late;
use super::output::Output;
use super::rows::{Reader, next_end, split, times};
use super::tables::{self, Tables, entry};
use super::zone::Scale;
use super::{Emit, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::Result;
use crate::plan::WindowAggregateSpec;
use crate::snapshot::{Archive, Spill};
use crate::state::{Generations, Table};
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
    windows: Tables<[i64; 2]>,
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
            windows: Tables::new(),
            late: Late::default(),
            groups: Vec::new(),
        })
    }

    fn take(&mut self, batch: &EventBatch, bounds: (&[i64], &[i64]), from: usize, to: usize) -> Result<()> {
        let (starts, ends) = bounds;
        for ([end, start], rows) in split(from..to, |row| Some([ends[row], starts[row]])) {
            if end <= self.horizon {
                self.late.drop_rows(self.reader.counted(batch, rows.iter().map(|&row| row as usize)));
                continue;
            }
            let chunk = self.reader.rows(batch, &rows)?;
            let table = entry(&mut self.windows, [end, start], &self.reader.shape)?;
            table.update(&chunk.hashes, &chunk.keys, &chunk.inputs, &mut self.groups)?;
        }
        Ok(())
    }

    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        self.horizon = self.horizon.max(horizon);
        while let Some(window) = self.windows.first_entry() {
            let [end, start] = *window.key();
            if end > self.horizon {
                break;
            }
            let mut table = window.remove();
            self.output.generations(&mut table, (start, end), emit)?;
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
            if next <= horizon || self.windows.first_key_value().is_some_and(|(&[end, _], _)| end <= horizon) {
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
        self.windows.values().map(Generations::bytes).sum::<usize>() as u64
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.output.rows])?;
        self.late.archive(archive)?;
        tables::archive(&mut self.windows, &self.reader.shape, archive)
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<AttachedOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.output.rows += other.output.rows;
            self.late.take_over(&other.late);
        }
        tables::take_over(&mut self.windows, &other.windows, &self.reader.shape, wanted)
    }

    fn spill(&mut self, spill: &mut Spill, open: bool) -> Result<()> {
        tables::spill(&mut self.windows, spill, open)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

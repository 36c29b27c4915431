//! TUMBLE, HOP and CUMULATE: rows into slices, slices into windows.

use std::any::Any;
use std::collections::BTreeMap;

use super::grids::grid_of;
use super::hop::Hops;
use super::late::Late;
use super::output::Output;
use super::rows::{Chunk, Reader, local_times, split};
use super::tables::{self, Tables, entry};
use super::zone::Scale;
use super::{Emit, Wanted, WindowOperator, downcast};
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::plan::WindowAggregateSpec;
use crate::snapshot::{Archive, Spill};
use crate::state::{Generations, Table};
use crate::time::{Grid, Watermark};

/// The operator of windows that share slices.
pub(super) struct SliceOperator {
    reader: Reader,
    output: Output,
    grid: Grid,
    time: usize,
    scale: Scale,
    /// All windows that end at or before it have fired.
    horizon: i64,
    /// By start. For CUMULATE, slices none of whose windows has fired.
    slices: Tables<i64>,
    combination: Combination,
    late: Late,
    /// Keys of the slice that was filled last: the next one will have about as many.
    last_keys: usize,
    /// Scratch: groups of the rows at hand.
    groups: Vec<u32>,
}

/// How windows come from slices.
enum Combination {
    /// A window is a slice.
    Single,
    Hop(Box<Hops>),
    /// By start of the largest window: all rows in slices of windows that have fired.
    Cumulate(Tables<i64>),
}

impl SliceOperator {
    pub(super) fn new(spec: &WindowAggregateSpec) -> Result<Self> {
        let grid = grid_of(&spec.window)?.ok_or_else(|| Error::internal("slices without a grid"))?;
        let scale = Scale::new(spec.zone.as_deref())?;
        let reader = Reader::new(spec)?;
        // Wrong aggregates fail now rather than at the first row.
        let sample = Table::new(&reader.shape)?;
        let combination = if grid.size == grid.slice {
            Combination::Single
        } else if grid.cumulates {
            Combination::Cumulate(BTreeMap::new())
        } else {
            Combination::Hop(Box::new(Hops::new(&reader.shape, grid, &sample, spec.oldest_first)?))
        };
        Ok(SliceOperator {
            output: Output::new(spec, &scale)?,
            reader,
            grid,
            time: spec.time,
            scale,
            horizon: i64::MIN,
            slices: BTreeMap::new(),
            combination,
            late: Late::default(),
            last_keys: 0,
            groups: Vec::new(),
        })
    }

    /// Rows `[from, to)` at the horizon reached.
    fn take(&mut self, batch: &EventBatch, times: &[i64], from: usize, to: usize) -> Result<()> {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for &time in &times[from..to] {
            (low, high) = (low.min(time), high.max(time));
        }
        if from == to {
            return Ok(());
        }
        let slice = self.grid.slice_of(low);
        if slice == self.grid.slice_of(high) {
            return match self.accepts(slice) {
                Accept::Late => {
                    self.late.drop_rows(self.reader.counted(batch, from..to));
                    Ok(())
                }
                Accept::Nowhere => Ok(()),
                accept => {
                    if accept == Accept::Partly {
                        self.late.miss_some(self.reader.counted(batch, from..to));
                    }
                    let chunk = self.reader.range(batch, from, to)?;
                    self.add(slice, accept, &chunk)
                }
            };
        }
        for (slice, rows) in split(from..to, |row| Some(self.slice_for(times[row]))) {
            let numbers = rows.iter().map(|&row| row as usize);
            match self.accepts(slice) {
                Accept::Late => self.late.drop_rows(self.reader.counted(batch, numbers)),
                Accept::Nowhere => {}
                accept => {
                    if accept == Accept::Partly {
                        self.late.miss_some(self.reader.counted(batch, numbers));
                    }
                    let chunk = self.reader.rows(batch, &rows)?;
                    self.add(slice, accept, &chunk)?;
                }
            }
        }
        Ok(())
    }

    /// The slice that a row goes to. Late rows of a cumulating window go to one table, in the order in which they came:
    /// for that they count as rows of its first slice.
    fn slice_for(&self, time: i64) -> i64 {
        let slice = self.grid.slice_of(time);
        match self.combination {
            Combination::Cumulate(_) if self.accepts(slice) == Accept::Partly => self.grid.last_start(slice),
            _ => slice,
        }
    }

    fn accepts(&self, slice: i64) -> Accept {
        match (self.grid.first_end(slice), self.grid.last_end(slice)) {
            (Some(_), Some(last)) if last <= self.horizon => Accept::Late,
            (Some(first), Some(_)) if first <= self.horizon => Accept::Partly,
            (Some(_), Some(_)) => Accept::Whole,
            _ => Accept::Nowhere,
        }
    }

    fn add(&mut self, slice: i64, accept: Accept, chunk: &Chunk<'_>) -> Result<()> {
        let shape = &self.reader.shape;
        let partly = accept == Accept::Partly;
        let table = match &mut self.combination {
            Combination::Hop(hops) if partly => {
                let table = entry(&mut self.slices, slice, shape)?.melt()?;
                return hops.add_late(slice, table, chunk, &mut self.groups);
            }
            // The slice is part of the running window already.
            Combination::Cumulate(running) if partly => entry(running, self.grid.last_start(slice), shape)?,
            _ => {
                if self.slices.last_key_value().is_none_or(|(&last, _)| last < slice) {
                    // A new newest slice. Others come from stragglers and stay small.
                    self.last_keys = self.slices.last_key_value().map_or(self.last_keys, |(_, last)| last.len());
                    let mut table = Generations::new(shape)?;
                    table.reserve(self.last_keys);
                    self.slices.insert(slice, table);
                }
                entry(&mut self.slices, slice, shape)?
            }
        };
        table.update(&chunk.hashes, &chunk.keys, &chunk.inputs, &mut self.groups)
    }

    /// Fires every window that ends in `(self.horizon, horizon]`.
    fn fire(&mut self, horizon: i64, emit: Emit<'_>) -> Result<()> {
        if horizon <= self.horizon {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.horizon, horizon);
        match &mut self.combination {
            Combination::Single => {
                while let Some(slice) = self.slices.first_entry() {
                    let (start, end) = (*slice.key(), slice.key().saturating_add(self.grid.size));
                    if end > horizon {
                        break;
                    }
                    let mut table = slice.remove();
                    self.output.generations(&mut table, (start, end), emit)?;
                }
                Ok(())
            }
            Combination::Hop(hops) => hops.fire((before, horizon), &mut self.slices, &mut self.output, emit),
            Combination::Cumulate(_) => self.fire_cumulating(before, emit),
        }
    }

    fn fire_cumulating(&mut self, before: i64, emit: Emit<'_>) -> Result<()> {
        let Combination::Cumulate(running) = &mut self.combination else { return Ok(()) };
        let (grid, mut done) = (self.grid, before);
        loop {
            // A window that has begun fires at every step; others begin with their first slice.
            let next_step = running.first_key_value().map(|(&start, _)| {
                let last = start.saturating_add(grid.size);
                (grid.next_end(done.max(start)).min(last), start)
            });
            let next_slice = self.slices.first_key_value().and_then(|(&slice, _)| grid.first_end(slice));
            let (end, start) = match (next_step, next_slice, self.slices.first_key_value()) {
                (step, Some(end), Some((&slice, _))) if step.is_none_or(|(step, _)| end <= step) => {
                    (end, grid.last_start(slice))
                }
                (Some(step), ..) => step,
                _ => return Ok(()),
            };
            if end > self.horizon {
                return Ok(());
            }
            if next_slice == Some(end)
                && let Some((_, slice)) = self.slices.pop_first()
            {
                match running.get_mut(&start) {
                    Some(table) => {
                        let slice = slice.into_table()?;
                        table.melt()?.absorb(&slice, &slice.index.entries(), &mut Vec::new())?;
                    }
                    None => drop(running.insert(start, slice)),
                }
            }
            if let Some(table) = running.get_mut(&start) {
                self.output.generations(table, (start, end), emit)?;
            }
            if end >= start.saturating_add(grid.size) {
                running.remove(&start);
            }
            done = end;
        }
    }
}

/// Where the rows of a slice go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accept {
    /// All windows of the slice are open.
    Whole,
    /// Some have fired.
    Partly,
    /// All have fired.
    Late,
    /// The slice lies between windows.
    Nowhere,
}

impl WindowOperator for SliceOperator {
    fn process(&mut self, _side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        self.reader.check(batch)?;
        let times = local_times(&batch.rows, self.time, &mut self.scale)?;
        let mut from = 0;
        for mark in &batch.marks {
            let horizon = self.scale.horizon(mark.watermark);
            if horizon <= self.horizon || self.grid.next_end(self.horizon) > horizon {
                // No window ends in between: nothing fires, no row's fate changes.
                continue;
            }
            let to = (mark.row as usize).clamp(from, times.len());
            self.take(batch, &times, from, to)?;
            self.fire(horizon, emit)?;
            from = to;
        }
        self.take(batch, &times, from, times.len())
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
        let open = |first: i64, last: i64| ((last.saturating_sub(first)) / self.grid.slide) as u64 + 1;
        match &self.combination {
            Combination::Single => self.slices.len() as u64,
            Combination::Hop(_) => {
                // Windows of neighbouring slices are the same windows.
                let (mut count, mut counted) = (0, self.horizon);
                for &slice in self.slices.keys() {
                    let bounds = (self.grid.first_end(slice), self.grid.last_end(slice));
                    let (Some(first), Some(last)) = bounds else { continue };
                    let first = first.max(self.grid.next_end(counted));
                    if first <= last {
                        count += open(first, last);
                        counted = last;
                    }
                }
                count
            }
            Combination::Cumulate(running) => {
                let mut firsts = BTreeMap::new();
                for &slice in self.slices.keys().rev() {
                    firsts.insert(self.grid.last_start(slice), slice.saturating_add(self.grid.slice));
                }
                for &start in running.keys() {
                    firsts.insert(start, self.grid.next_end(self.horizon.max(start)));
                }
                let steps = |(&start, &first): (&i64, &i64)| {
                    (start.saturating_add(self.grid.size).saturating_sub(first) / self.grid.slice) as u64 + 1
                };
                firsts.iter().map(steps).sum()
            }
        }
    }

    fn fired_windows(&self) -> u64 {
        self.output.rows
    }

    fn state_bytes(&self) -> u64 {
        let combined = match &self.combination {
            Combination::Single => 0,
            Combination::Hop(hops) => hops.bytes(),
            Combination::Cumulate(running) => running.values().map(Generations::bytes).sum(),
        };
        (self.slices.values().map(Generations::bytes).sum::<usize>() + combined) as u64
    }

    /// What HOP puts together of slices is put together again.
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.horizon])?;
        archive.numbers([&mut self.output.rows])?;
        self.late.archive(archive)?;
        let shape = &self.reader.shape;
        tables::archive(&mut self.slices, shape, archive)?;
        if let Combination::Cumulate(running) = &mut self.combination {
            tables::archive(running, shape, archive)?;
        }
        self.last_keys = self.slices.last_key_value().map_or(0, |(_, table)| table.len());
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, counts: bool) -> Result<()> {
        let other: Box<SliceOperator> = downcast(other)?;
        self.horizon = self.horizon.max(other.horizon);
        if counts {
            self.output.rows += other.output.rows;
            self.late.take_over(&other.late);
        }
        let shape = &self.reader.shape;
        tables::take_over(&mut self.slices, &other.slices, shape, wanted)?;
        match (&mut self.combination, &other.combination) {
            (Combination::Cumulate(mine), Combination::Cumulate(theirs)) => {
                tables::take_over(mine, theirs, shape, wanted)
            }
            _ => Ok(()),
        }
    }

    fn spill(&mut self, spill: &mut Spill, open: bool) -> Result<()> {
        tables::spill(&mut self.slices, spill, open)?;
        match &mut self.combination {
            Combination::Single => {}
            Combination::Hop(hops) if open => hops.forget_blocks(),
            Combination::Hop(_) => {}
            Combination::Cumulate(running) => tables::spill(running, spill, open)?,
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

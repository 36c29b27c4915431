//! Hopping windows from slices without merging all slices at every fire.
//!
//! If all aggregates can be subtracted exactly (counts, integer sums and averages), one running window takes in the
//! slice that enters and takes out the one that leaves. Otherwise (floats, MIN and MAX, sets, DECIMAL with its
//! overflow) slices are merged once into blocks of 2, 4, 8, ... slices at aligned places, and a window of n slices is
//! put together from at most 2 log2(n) blocks.
//!
//! Slices are merged from the newest to the oldest, as in Flink, or from the oldest to the newest in legacy group windows:
//! values that keep their order stand in that order.
//!
//! A row that is late for some windows only goes to its slice, and to all that was made of the slice before. Where its
//! place in the order counts, what was made of the slice is made again: so results follow from the slices alone, and it
//! does not matter when these were put together.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Emit;
use super::output::Output;
use super::rows::Chunk;
use crate::aggregate::AggregateCall;
use crate::arena::ArenaVec;
use crate::error::Result;
use crate::state::index::{NONE, Tag};
use crate::state::table::{GroupMap, Shape, all_groups};
use crate::state::{Generations, Table};
use crate::time::Grid;

type Slices = BTreeMap<i64, Generations>;

pub(super) struct Hops {
    grid: Grid,
    shape: Shape,
    /// The place of a row among the others counts.
    ordered: bool,
    oldest_first: bool,
    plan: Plan,
}

enum Plan {
    Running(Box<Running>),
    /// By level (1 for two slices) and number of the block.
    Blocks(BTreeMap<(u32, i64), Table>),
}

impl Hops {
    /// `sample` is a table of the operator.
    pub(super) fn new(shape: &Shape, grid: Grid, sample: &Table, oldest_first: bool) -> Result<Self> {
        let plan = if sample.accumulators.iter().all(|accumulator| accumulator.invertible()) {
            Plan::Running(Box::new(Running::new(shape)?))
        } else {
            Plan::Blocks(BTreeMap::new())
        };
        let ordered = shape.calls.iter().any(AggregateCall::depends_on_order);
        Ok(Hops { grid, shape: shape.clone(), ordered, oldest_first, plan })
    }

    pub(super) fn bytes(&self) -> usize {
        match &self.plan {
            Plan::Running(running) => running.bytes(),
            Plan::Blocks(blocks) => blocks.values().map(Table::bytes).sum(),
        }
    }

    /// Drops what can be put together again.
    pub(super) fn forget_blocks(&mut self) {
        if let Plan::Blocks(blocks) = &mut self.plan {
            blocks.clear();
        }
    }

    /// Adds rows to a slice some of whose windows have fired.
    pub(super) fn add_late(
        &mut self,
        slice: i64,
        table: &mut Table,
        chunk: &Chunk<'_>,
        groups: &mut Vec<u32>,
    ) -> Result<()> {
        match &mut self.plan {
            Plan::Running(running) if running.entered.contains_key(&slice) => {
                return running.add_late(slice, table, chunk, groups);
            }
            Plan::Running(_) => {}
            Plan::Blocks(blocks) if self.ordered => {
                let number = self.grid.number(slice);
                blocks.retain(|(level, block), _| number >> level != *block);
            }
            Plan::Blocks(blocks) => {
                let number = self.grid.number(slice);
                let within = blocks.iter_mut().filter(|((level, block), _)| number >> level == *block);
                for (_, block) in within {
                    block.update(&chunk.hashes, &chunk.keys, &chunk.inputs, groups)?;
                }
            }
        }
        table.update(&chunk.hashes, &chunk.keys, &chunk.inputs, groups)
    }

    /// Fires the windows that end in `(horizons.0, horizons.1]` and drops the slices that no open window has.
    pub(super) fn fire(
        &mut self,
        horizons: (i64, i64),
        slices: &mut Slices,
        output: &mut Output,
        emit: Emit<'_>,
    ) -> Result<()> {
        let (mut done, horizon) = horizons;
        loop {
            self.expire(done, slices)?;
            let first = slices.keys().next().and_then(|&slice| self.grid.first_end(slice));
            // A slice that is there has a window that is not done: it has not expired.
            let Some(first) = first else { return Ok(()) };
            let end = first.max(self.grid.next_end(done));
            if end > horizon {
                return self.expire(horizon, slices);
            }
            self.window(end, slices, output, emit)?;
            done = end;
        }
    }

    /// Drops slices all of whose windows end at or before `done`.
    fn expire(&mut self, done: i64, slices: &mut Slices) -> Result<()> {
        while let Some(entry) = slices.first_entry() {
            let slice = *entry.key();
            if self.grid.last_end(slice).is_some_and(|last| last > done) {
                break;
            }
            let mut table = entry.remove();
            match &mut self.plan {
                Plan::Running(running) => running.leave(slice, table.melt()?)?,
                Plan::Blocks(blocks) => {
                    let number = self.grid.number(slice);
                    blocks.retain(|(level, block), _| *block > number >> level);
                }
            }
        }
        Ok(())
    }

    fn window(&mut self, end: i64, slices: &mut Slices, output: &mut Output, emit: Emit<'_>) -> Result<()> {
        let start = end.saturating_sub(self.grid.size);
        // Groups of slices are known by their numbers from here on.
        slices.range_mut(start..end).try_for_each(|(_, slice)| slice.melt().map(drop))?;
        match &mut self.plan {
            Plan::Running(running) => {
                running.slide(start, end, slices, &self.shape)?;
                let refs = &running.refs;
                output.window(&running.table, (start, end), Some(&|group| refs[group as usize] > 0), emit)
            }
            Plan::Blocks(blocks) => {
                let (from, to) = (self.grid.number(start), self.grid.number(end.saturating_sub(1)) + 1);
                let (grid, shape, oldest_first) = (self.grid, &self.shape, self.oldest_first);
                let mut builder = Builder { blocks, slices, grid, shape, oldest_first };
                let mut parts = Vec::new();
                let mut at = from;
                while at < to {
                    // The largest aligned block that starts here and ends within the window.
                    let room = 63 - (to - at).leading_zeros();
                    let level = room.min(at.trailing_zeros());
                    builder.build(level, at >> level)?;
                    parts.push((level, at >> level));
                    at += 1 << level;
                }
                if !oldest_first {
                    parts.reverse();
                }
                let tables = parts.iter().filter_map(|&part| builder.get(part));
                let tables: Vec<&Table> = tables.filter(|table| !table.is_empty()).collect();
                if let [table] = tables[..] {
                    return output.window(table, (start, end), None, emit);
                }
                let mut window = Table::new(&self.shape)?;
                for table in tables {
                    window.absorb(table, &table.index.entries(), &mut Vec::new())?;
                }
                output.window(&window, (start, end), None, emit)
            }
        }
    }
}

/// Makes blocks of slices.
struct Builder<'a> {
    blocks: &'a mut BTreeMap<(u32, i64), Table>,
    slices: &'a Slices,
    grid: Grid,
    shape: &'a Shape,
    oldest_first: bool,
}

impl Builder<'_> {
    fn get(&self, (level, block): (u32, i64)) -> Option<&Table> {
        if level == 0 {
            return self.slices.get(&self.grid.start(block)).and_then(Generations::whole);
        }
        self.blocks.get(&(level, block))
    }

    /// Makes sure that a block is there, if it has any slice.
    fn build(&mut self, level: u32, block: i64) -> Result<()> {
        if level == 0 || self.blocks.contains_key(&(level, block)) {
            return Ok(());
        }
        let (from, to) = (self.grid.start(block << level), self.grid.start((block + 1) << level));
        if self.slices.range(from..to).next().is_none() {
            return Ok(());
        }
        let mut halves = [(level - 1, block * 2 + 1), (level - 1, block * 2)];
        if self.oldest_first {
            halves.reverse();
        }
        let mut table = Table::new(self.shape)?;
        for half in halves {
            self.build(half.0, half.1)?;
            if let Some(half) = self.get(half) {
                table.absorb(half, &half.index.entries(), &mut Vec::new())?;
            }
        }
        self.blocks.insert((level, block), table);
        Ok(())
    }
}

/// The slices that start within a range, each one table.
fn tables_of(slices: &Slices, range: Range<i64>) -> impl Iterator<Item = (i64, &Table)> {
    slices.range(range).filter_map(|(&slice, table)| Some((slice, table.whole()?)))
}

/// One window that moves.
struct Running {
    table: Table,
    /// For each group, the slices in the window that have it; 0: not in the window.
    refs: ArenaVec<u32>,
    /// The slices in the window, and for each of their groups the window's group.
    entered: BTreeMap<i64, GroupMap>,
    /// Groups with `refs` above 0.
    live: usize,
}

impl Running {
    fn new(shape: &Shape) -> Result<Self> {
        let mut table = Table::new(shape)?;
        table.accumulators.iter_mut().for_each(|accumulator| accumulator.track_merges());
        Ok(Running { table, refs: ArenaVec::new(), entered: BTreeMap::new(), live: 0 })
    }

    fn bytes(&self) -> usize {
        self.table.bytes() + self.refs.bytes() + self.entered.values().map(ArenaVec::bytes).sum::<usize>()
    }

    /// Moves the window to `[start, end)`; slices before `start` have left already.
    fn slide(&mut self, start: i64, end: i64, slices: &Slices, shape: &Shape) -> Result<()> {
        for (slice, table) in tables_of(slices, start..end) {
            if !self.entered.contains_key(&slice) {
                self.enter(slice, table)?;
            }
        }
        let dead = self.table.len() - self.live;
        if dead > 1024 && dead > self.live {
            // As many merges as there are slices, after at least as many slices have come and gone.
            *self = Running::new(shape)?;
            for (slice, table) in tables_of(slices, start..end) {
                self.enter(slice, table)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, slice: i64, table: &Table) -> Result<()> {
        let entries = table.index.entries();
        self.entered.insert(slice, ArenaVec::new());
        self.merge(slice, table, &entries)
    }

    /// Merges groups of a slice in the window.
    fn merge(&mut self, slice: i64, table: &Table, entries: &[(Tag, u32)]) -> Result<()> {
        let mut to = Vec::with_capacity(entries.len());
        self.table.absorb(table, entries, &mut to)?;
        self.refs.resize_zeroed(self.table.len());
        let live = &mut self.live;
        self.refs.touch(&to, |refs| {
            *live += usize::from(*refs == 0);
            *refs += 1;
        });
        if let Some(map) = self.entered.get_mut(&slice) {
            map.resize(table.len(), NONE);
            for (&(_, from), &to) in entries.iter().zip(&to) {
                map[from as usize] = to;
            }
        }
        Ok(())
    }

    /// Takes groups of a slice out of the window.
    fn retract(&mut self, table: &Table, from: &[u32], to: &[u32]) -> Result<()> {
        self.table.retract(table, from, to)?;
        let live = &mut self.live;
        self.refs.touch(to, |refs| {
            *refs -= 1;
            *live -= usize::from(*refs == 0);
        });
        Ok(())
    }

    /// Takes a slice out of the window, if it is in.
    fn leave(&mut self, slice: i64, table: &Table) -> Result<()> {
        let Some(map) = self.entered.remove(&slice) else { return Ok(()) };
        self.retract(table, &all_groups(map.len()), &map)
    }

    /// Adds rows to a slice in the window: its groups that change go out, change, and come in again.
    fn add_late(&mut self, slice: i64, table: &mut Table, chunk: &Chunk<'_>, groups: &mut Vec<u32>) -> Result<()> {
        groups.clear();
        table.index.find_or_insert(&chunk.hashes, &chunk.keys, groups)?;
        let tag = |row: usize| chunk.hashes.get(row).map_or(0, |hash| (hash >> 32) as Tag);
        let mut changed: Vec<(Tag, u32)> = groups.iter().enumerate().map(|(row, &group)| (tag(row), group)).collect();
        changed.sort_unstable_by_key(|&(_, group)| group);
        changed.dedup_by_key(|&mut (_, group)| group);
        if let Some(map) = self.entered.get(&slice) {
            let from: Vec<u32> =
                changed.iter().map(|&(_, group)| group).filter(|&g| (g as usize) < map.len()).collect();
            let to = map.gather(&from, |to| to);
            self.retract(table, &from, &to)?;
        }
        table.resize();
        table.add(groups, &chunk.inputs)?;
        self.merge(slice, table, &changed)
    }
}

//! The order in which the blocks of all splits count, worked out by each shard for itself.
//!
//! In the order of the lowest watermark the next block is that of the split with the lowest watermark (of the first
//! such split), which follows from the data alone: so the answer is the same on any number of shards. In the order of
//! arrival a log says which block is next. Every shard keeps its own copy of this small machine and feeds it from
//! [`Progress`]; all copies agree.

use std::collections::BTreeSet;

use super::progress::Progress;
use super::{Order, Stamp};
use crate::source::Extent;
use crate::time::{Watermark, WatermarkStart};
use crate::watermark::Peaks;

/// A block with its place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub seq: u64,
    pub split: usize,
    pub block: usize,
    /// The split's watermark before the block.
    pub start: Watermark,
    /// What it would be without the row that it comes from.
    pub second: Watermark,
    /// Where it comes from.
    pub origin: Origin,
    /// The state in which the block begins.
    pub state: u8,
    /// What the block told when it came into being.
    pub stamp: Stamp,
}

/// A block that moved the watermark of its split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    pub block: usize,
    /// The state in which it begins.
    pub state: u8,
    /// The watermark before it.
    pub before: Watermark,
    /// The second highest value of the watermark expression in it.
    pub second: Watermark,
}

/// How far the order has come: what another sequencer can go on from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    pub splits: Vec<SplitPosition>,
}

/// How far a split has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPosition {
    /// Blocks that have had their turn.
    pub next_block: usize,
    /// The state in which the next one begins.
    pub state: u8,
    /// The block from which its watermark comes.
    pub origin: Origin,
    /// The highest values of its watermark expression.
    pub peaks: Peaks,
    /// It holds nobody back until its next block.
    pub idle: bool,
}

/// One shard's copy of the order.
#[derive(Debug, Clone)]
pub struct Sequencer {
    start: WatermarkStart,
    seq: u64,
    next_block: Vec<usize>,
    /// As it was when the split last had its turn: whether there are more blocks than these is known by then.
    extents: Vec<Extent>,
    /// Watermark and number of the splits with blocks still to come, the lowest watermark first.
    turns: BTreeSet<(i64, usize)>,
    /// By split: the state in which its next block begins.
    states: Vec<u8>,
    /// By split: the block from which its watermark comes.
    origins: Vec<Origin>,
    /// By split: the highest values of its watermark expression; the first of them is its watermark.
    peaks: Vec<Peaks>,
    /// By split: holds nobody back until its next block.
    idle: Vec<bool>,
    turned: Turned,
    /// The last cut.
    cut: u64,
    /// No watermark is put back further on its way to a stage.
    delay_max_ms: i64,
}

/// What the last block did to its split.
#[derive(Debug, Clone, Copy, Default)]
struct Turned {
    split: usize,
    /// Its watermark moved.
    moved: bool,
    /// It was not idle before.
    fell_idle: bool,
}

impl Sequencer {
    /// `start`: of the watermark of every split.
    pub fn new(progress: &Progress, start: WatermarkStart) -> Self {
        let splits = progress.split_count();
        // A split that is complete at the start stays as it is; any other will have one block at least.
        let extents: Vec<Extent> = (0..splits).map(|split| progress.extent(split)).collect();
        let first = start.watermark();
        let origin = Origin { before: first, second: first, ..Origin::default() };
        Sequencer {
            start,
            seq: 0,
            next_block: vec![0; splits],
            turns: (0..splits).filter(|&split| extents[split].has_after(0)).map(|split| (first.0, split)).collect(),
            extents,
            states: vec![0; splits],
            origins: vec![origin; splits],
            peaks: vec![Peaks::at(first); splits],
            idle: vec![false; splits],
            turned: Turned::default(),
            cut: 0,
            delay_max_ms: 0,
        }
    }

    /// As [`Sequencer::new`], behind the blocks that have had their turn before. Places in the order are counted anew.
    pub fn resume(progress: &Progress, start: WatermarkStart, position: &Position) -> Self {
        let mut sequencer = Self::new(progress, start);
        sequencer.turns.clear();
        for (split, at) in position.splits.iter().enumerate() {
            sequencer.next_block[split] = at.next_block;
            sequencer.states[split] = at.state;
            sequencer.origins[split] = at.origin;
            sequencer.peaks[split] = at.peaks;
            sequencer.idle[split] = at.idle;
            if sequencer.is_active(split) {
                sequencer.turns.insert((at.peaks.first, split));
            }
        }
        sequencer
    }

    /// Behind the last block.
    pub fn position(&self) -> Position {
        let split = |split: usize| SplitPosition {
            next_block: self.next_block[split],
            state: self.states[split],
            origin: self.origins[split],
            peaks: self.peaks[split],
            idle: self.idle[split],
        };
        Position { splits: (0..self.next_block.len()).map(split).collect() }
    }

    /// The cut that comes behind the block that this shard has just moved past, if there is one: the same on all shards.
    pub fn take_cut(&mut self, progress: &Progress, step: &Step) -> Option<u64> {
        let asked = progress.cut(step.split, step.block, self.seq);
        (asked > self.cut).then(|| {
            self.cut = asked;
            asked
        })
    }

    /// `delay_max_ms`: no watermark is put back further on its way to a stage.
    pub fn with_delays(self, delay_max_ms: i64) -> Self {
        Sequencer { delay_max_ms, ..self }
    }

    /// The block whose turn it is; None when all blocks have had theirs, and while it is not known yet.
    pub fn current(&self, progress: &Progress) -> Option<Step> {
        let (split, stamp) = match progress.order() {
            Order::LowestWatermark => (self.turns.first()?.1, Stamp::NONE),
            Order::Arrival => progress.arrived(self.seq).map(|arrived| (arrived.split, arrived.stamp))?,
        };
        let Peaks { first, second } = self.peaks[split];
        let (start, second) = (Watermark(first), Watermark(second));
        let (origin, state) = (self.origins[split], self.states[split]);
        Some(Step { seq: self.seq, split, block: self.next_block[split], start, second, origin, state, stamp })
    }

    /// All blocks have had their turn.
    pub fn is_over(&self) -> bool {
        self.turns.is_empty()
    }

    /// Moves past the current block if its watermark is known.
    pub fn advance(&mut self, progress: &Progress) -> Option<Step> {
        let step = self.current(progress)?;
        let watermark = progress.watermark(step.split, step.block)?;
        self.turns.remove(&(step.start.0, step.split));
        self.next_block[step.split] += 1;
        // Read behind the watermark, so it is that of the block or a later one.
        self.extents[step.split] = progress.extent(step.split);
        self.follow(step, watermark, progress);
        if self.is_active(step.split) {
            self.turns.insert((step.start.0.max(watermark), step.split));
        }
        let was_idle = std::mem::replace(&mut self.idle[step.split], step.stamp.idle);
        let (moved, fell_idle) = (watermark > step.start.0, step.stamp.idle && !was_idle);
        self.turned = Turned { split: step.split, moved, fell_idle };
        self.seq += 1;
        Some(step)
    }

    /// What is known of a split behind a block.
    fn follow(&mut self, step: Step, watermark: i64, progress: &Progress) {
        let Step { split, block, state, start: before, .. } = step;
        let second = progress.second(split, block);
        if watermark > before.0 {
            self.origins[split] = Origin { block, state, before, second: Watermark(second) };
        }
        self.peaks[split] = self.peaks[split].and(Peaks { first: watermark, second });
        self.states[split] = progress.exit_state(split, block, state).unwrap_or(state);
    }

    /// By split: the highest values of its watermark expression in the blocks that have had their turn.
    pub fn peaks(&self) -> &[Peaks] {
        &self.peaks
    }

    /// Blocks that have had their turn.
    pub fn turns(&self) -> u64 {
        self.seq
    }

    /// True while blocks of the split are still to come.
    pub fn is_active(&self, split: usize) -> bool {
        self.extents[split].has_after(self.next_block[split])
    }

    /// Blocks of the split that have had their turn.
    pub fn sequenced(&self, split: usize) -> usize {
        self.next_block[split]
    }

    /// The lowest watermark that holds a stage back, of the splits for which `feeds` says how many milliseconds it is
    /// put back on its way; MAX where none does. `reached`: that of the stage. Splits do not count that have ended or
    /// are idle, nor those that were idle and are still behind the stage: they catch up with it first.
    pub fn lowest(&self, reached: Watermark, feeds: impl Fn(usize) -> Option<i64>) -> Watermark {
        self.holding(reached, feeds).unwrap_or(Watermark::MAX)
    }

    fn holding(&self, reached: Watermark, feeds: impl Fn(usize) -> Option<i64>) -> Option<Watermark> {
        let mut lowest: Option<Watermark> = None;
        for &(watermark, split) in &self.turns {
            let own = self.start.emitted(Watermark(watermark));
            if lowest.is_some_and(|lowest| own.put_back(self.delay_max_ms) >= lowest) {
                break;
            }
            let arriving = feeds(split).filter(|_| !self.idle[split]).map(|delay| own.put_back(delay));
            let holds = arriving.filter(|own| *own >= reached);
            lowest = lowest.into_iter().chain(holds).min();
        }
        lowest
    }

    /// The watermark of a stage after the last block, moved as Flink moves that of an operator with several inputs.
    /// `feeds`: as for [`Sequencer::lowest`], and the split of the last block does; `reached`: its watermark before. It
    /// never goes back.
    pub fn watermark_after(&self, reached: Watermark, feeds: impl Fn(usize) -> Option<i64>) -> Watermark {
        let Turned { split, moved, fell_idle } = self.turned;
        let emitted = |split: usize, delay: i64| self.start.emitted(Watermark(self.peaks[split].first)).put_back(delay);
        let held_back = fell_idle && emitted(split, feeds(split).unwrap_or(0)) == reached;
        if !(moved || held_back || !self.is_active(split)) {
            return reached;
        }
        if let Some(lowest) = self.holding(reached, &feeds) {
            return lowest;
        }
        let inputs = || (0..self.peaks.len()).filter_map(|split| Some((split, feeds(split)?)));
        // An input that has ended counts like one with the highest watermark there is.
        if inputs().any(|(split, _)| !self.is_active(split)) {
            return Watermark::MAX;
        }
        // When the last one becomes idle, what the others had emitted counts.
        let all_idle = held_back && inputs().all(|(split, _)| self.idle[split]);
        if all_idle { inputs().map(|(split, delay)| emitted(split, delay)).max().unwrap_or(reached) } else { reached }
    }

    /// Splits with blocks still to come, the one whose turn it is first, then by watermark.
    pub fn by_turn(&self) -> impl Iterator<Item = usize> {
        self.turns.iter().map(|&(_, split)| split)
    }

    /// Only one split has blocks still to come.
    pub fn is_last_split(&self) -> bool {
        self.turns.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_with_the_lowest_watermark_goes_first() {
        let progress = Progress::new(&[Extent::whole(2); 2], 1, 10, Order::LowestWatermark);
        for (split, block, watermark) in [(0, 0, 50), (0, 1, 60), (1, 0, 20), (1, 1, 55)] {
            progress.publish_watermark(split, block, watermark);
        }
        let mut sequencer = Sequencer::new(&progress, WatermarkStart::Sql);
        let order: Vec<_> = std::iter::from_fn(|| sequencer.advance(&progress)).map(|s| (s.split, s.block)).collect();
        assert_eq!(order, [(0, 0), (1, 0), (1, 1), (0, 1)]);
        assert_eq!(sequencer.lowest(Watermark::MIN, |_| Some(0)), Watermark::MAX);
    }

    #[test]
    fn a_watermark_that_is_put_back_on_its_way_may_be_the_lowest() {
        let progress = Progress::new(&[Extent::whole(2); 3], 1, 10, Order::LowestWatermark);
        for (split, watermark) in [(0, 50), (1, 70), (2, 90)] {
            progress.publish_watermark(split, 0, watermark);
        }
        let mut sequencer = Sequencer::new(&progress, WatermarkStart::Sql).with_delays(30);
        while sequencer.advance(&progress).is_some() {}
        let delays = |split: usize| Some([0, 30, 0][split]);
        assert_eq!(sequencer.lowest(Watermark::MIN, delays), Watermark(40));
        assert_eq!(sequencer.lowest(Watermark::MIN, |split| delays(split).filter(|_| split != 1)), Watermark(50));
        assert_eq!(sequencer.watermark_after(Watermark(20), delays), Watermark(40));
    }

    #[test]
    fn an_unknown_watermark_holds_the_order() {
        let progress = Progress::new(&[Extent::whole(2)], 1, 10, Order::LowestWatermark);
        let mut sequencer = Sequencer::new(&progress, WatermarkStart::Sql);
        assert_eq!(sequencer.advance(&progress), None);
        assert_eq!(sequencer.current(&progress).unwrap().block, 0);
        progress.publish_watermark(0, 0, -7);
        assert_eq!(sequencer.advance(&progress).unwrap().start, Watermark::SQL_START);
        assert_eq!(sequencer.lowest(Watermark::MIN, |_| Some(0)), Watermark::MIN);
    }

    #[test]
    fn a_sequencer_goes_on_where_another_stood() {
        let told = |progress: &Progress| {
            for (split, block, watermark) in [(0, 0, 50), (0, 1, 60), (1, 0, 20), (1, 1, 55)] {
                progress.publish_watermark(split, block, watermark);
                progress.publish_second(split, block, watermark - 1);
            }
        };
        let progress = Progress::new(&[Extent::whole(2); 2], 1, 10, Order::LowestWatermark);
        told(&progress);
        let mut sequencer = Sequencer::new(&progress, WatermarkStart::Sql);
        for _ in 0..4 {
            let position = sequencer.position();
            let second = Progress::new(&[Extent::whole(2); 2], 1, 10, Order::LowestWatermark).resume(&position);
            told(&second);
            let mut resumed = Sequencer::resume(&second, WatermarkStart::Sql, &position);
            let mut whole = sequencer.clone();
            loop {
                let (a, b) = (whole.advance(&progress), resumed.advance(&second));
                assert_eq!(a.map(|step| Step { seq: 0, ..step }), b.map(|step| Step { seq: 0, ..step }));
                assert_eq!(whole.position(), resumed.position());
                if a.is_none() {
                    break;
                }
            }
            sequencer.advance(&progress);
        }
    }

    #[test]
    fn all_copies_of_the_order_see_a_cut_behind_the_same_block() {
        let progress = Progress::new(&[Extent::whole(4)], 1, 10, Order::LowestWatermark);
        // Told out of order: block 2 before, block 1 after the second cut was asked for.
        progress.publish_watermark(0, 0, 1);
        progress.request_cut(1);
        progress.publish_watermark(0, 2, 3);
        progress.request_cut(2);
        progress.publish_watermark(0, 1, 2);
        progress.publish_watermark(0, 3, 4);
        let mut copy = Sequencer::new(&progress, WatermarkStart::Sql);
        let mut cuts = Vec::new();
        while let Some(step) = copy.advance(&progress) {
            cuts.push(copy.take_cut(&progress, &step));
        }
        assert_eq!(cuts, [None, Some(2), None, None]);
        let progress = Progress::new(&[Extent::whole(4)], 1, 10, Order::LowestWatermark).cut_every(Some(2));
        (0..4).for_each(|block| progress.publish_watermark(0, block, 0));
        let mut copy = Sequencer::new(&progress, WatermarkStart::Sql);
        let steps = std::iter::from_fn(|| copy.advance(&progress).map(|step| copy.take_cut(&progress, &step)));
        assert_eq!(steps.collect::<Vec<_>>(), [None, Some(1), None, Some(2)]);
    }

    #[test]
    fn a_split_without_an_end_holds_the_others_back_until_its_last_block_has_had_its_turn() {
        let open = Extent { blocks: 0, complete: false };
        let progress = Progress::new(&[open, Extent::whole(0)], 1, 10, Order::LowestWatermark);
        let mut sequencer = Sequencer::new(&progress, WatermarkStart::Sql);
        for block in 0..3 {
            assert_eq!(sequencer.current(&progress).map(|step| (step.split, step.block)), Some((0, block)));
            assert_eq!(sequencer.advance(&progress), None);
            progress.note(0, Extent { blocks: block + 1, complete: block == 2 });
            progress.publish_watermark(0, block, 5);
            assert!(sequencer.advance(&progress).is_some());
        }
        assert_eq!(sequencer.current(&progress), None);
        assert_eq!(sequencer.lowest(Watermark::MIN, |_| Some(0)), Watermark::MAX);
    }
}

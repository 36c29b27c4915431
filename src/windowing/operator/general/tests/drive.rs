//! Running a case: the steps in blocks, the rows of a block dealt out to shards in batches with marks.

use std::path::Path;
use std::sync::Arc;

use super::build::{Operator, build};
use super::case::{Case, Ev, Outcome, Step};
use crate::batch::Mark;
use crate::error::Result;
use crate::random::Random;
use crate::time::{EventTime, Watermark};
use crate::windowing::batch::{BlockTimes, KeyedBatch, StageTimes};
use crate::windowing::hash::key_hash;
use crate::windowing::operator::tests::restored::deal_anew;
use crate::windowing::operator::{OperatorCounts, Output};
use crate::windowing::output::{OutputTag, Place, Places, Records, SideOutputs};

/// Rows with the watermark before each, and the times that go with all of them.
#[derive(Debug, Clone)]
pub struct Block {
    pub clock: EventTime,
    pub rows: Vec<(Ev, EventTime)>,
    pub after: EventTime,
}

/// What one block gives: results and late elements, in order.
pub type BlockOutput = (Vec<Outcome>, Vec<Ev>);

/// The steps in blocks, one more for the end of the input. `cut` says whether a block ends in front of a step.
pub fn blocks(steps: &[Step], mut cut: impl FnMut() -> bool) -> Vec<Block> {
    let (mut watermark, mut clock) = (i64::MIN, 0);
    let mut blocks: Vec<Block> = Vec::new();
    for step in steps {
        if let Step::Clock(time) = step {
            clock = clock.max(*time);
        }
        if blocks.is_empty() || matches!(step, Step::Clock(_)) || cut() {
            blocks.push(Block { clock, rows: Vec::new(), after: watermark });
        }
        match step {
            Step::Watermark(time) => watermark = watermark.max(*time),
            Step::Element(element) => {
                blocks.last_mut().expect("a block").rows.push((element.clone(), watermark));
            }
            Step::Clock(_) => (),
        }
        blocks.last_mut().expect("a block").after = watermark;
    }
    blocks.push(Block { clock, rows: Vec::new(), after: i64::MAX });
    blocks
}

/// The operators of all shards of a case.
pub struct Shards {
    operators: Vec<Operator>,
    tag: OutputTag<Ev>,
    reached: Watermark,
}

impl Shards {
    pub fn new(case: &Case, shards: usize) -> Result<Shards> {
        let tag = OutputTag::new("late");
        let operators = (0..shards).map(|_| build(case, &tag)).collect::<Result<_>>()?;
        Ok(Shards { operators, tag, reached: Watermark::MIN })
    }

    /// Goes on in fresh operators, on so many shards.
    pub fn go_on(&mut self, case: &Case, shards: usize, folder: &Path) -> Result<()> {
        let fresh = (0..shards).map(|_| build(case, &self.tag)).collect::<Result<_>>()?;
        let owner = |hash, shards: usize| (hash % shards as u64) as usize;
        self.operators = deal_anew(&mut self.operators, fresh, owner, folder);
        Ok(())
    }

    /// Batches end where `random` says.
    pub fn run(&mut self, block: &Block, random: &mut Random) -> Result<BlockOutput> {
        let before = block.rows.iter().map(|(_, before)| *before).collect();
        let times = BlockTimes { before, after: block.after, processing_time: block.clock };
        let times =
            StageTimes { block: Arc::new(times), others: Watermark::MAX, reached: self.reached, start: self.reached };
        self.reached = Watermark(block.after);
        let (mut results, mut late) = (Vec::new(), Vec::new());
        let count = self.operators.len() as u64;
        for (shard, operator) in (0..).zip(&mut self.operators) {
            let rows = block.rows.iter().enumerate();
            let own: Vec<_> = rows.filter(|(_, (element, _))| key_hash(&element.k) % count == shard).collect();
            let (mut records, mut sides) = (Records::default(), SideOutputs::default());
            let mut out = Output::new(&mut records, &mut sides);
            operator.advance_clock(block.clock, &times, &mut out)?;
            let mut rest = &own[..];
            while !rest.is_empty() {
                let (batch, behind) = rest.split_at(1 + random.below(rest.len() as u64) as usize);
                operator.process(keyed(operator, batch), &times, &mut out)?;
                rest = behind;
            }
            operator.advance(Watermark(block.after), &times, &mut out)?;
            let sides = sides.take(&self.tag);
            for (records, name) in [(&records.places, "results"), (&sides.places, "late elements")] {
                assert!(records.is_sorted(), "{name} come in the order of their places: {records:?}");
            }
            results.extend(records.places.into_iter().zip(records.values));
            late.extend(sides.places.into_iter().zip(sides.values));
        }
        fn in_order<T>(mut records: Vec<(Place, T)>) -> Vec<T> {
            records.sort_by_key(|(place, _)| *place);
            records.into_iter().map(|(_, value)| value).collect()
        }
        Ok((in_order(results), in_order(late)))
    }

    /// Of all shards together, without the bytes.
    pub fn counts(&self) -> OperatorCounts {
        let all = self.operators.iter().map(|operator| operator.counts());
        OperatorCounts { state_bytes: 0, ..all.fold(OperatorCounts::default(), OperatorCounts::and) }
    }
}

/// A batch with the marks that a router would set.
fn keyed(operator: &Operator, rows: &[(usize, &(Ev, EventTime))]) -> KeyedBatch<String, Ev> {
    let (mut batch, mut last) = (KeyedBatch::default(), None);
    for (row, (_, (element, before))) in (0..).zip(rows) {
        let (hash, watermark) = (key_hash(&element.k), Watermark(*before));
        if operator.mark_rule().wants(element.t, watermark, last) {
            batch.marks.push(Mark { row, watermark });
            last = Some(watermark);
        }
        batch.keys.push(element.k.clone());
        batch.hashes.push(hash);
        batch.values.push(element.clone());
        batch.timestamps.push(element.t);
    }
    batch.places = Places::Rows(rows.iter().map(|(place, _)| *place as u32).collect());
    batch
}

//! Made-up timelines, and what an operator makes of them in batches of any size.

use std::sync::Arc;

use super::{Element, Fired, Kind};
use crate::batch::Mark;
use crate::key::KeyHash;
use crate::random::Random;
use crate::time::{EventTime, Watermark};
use crate::windowing::batch::{BlockTimes, KeyedBatch, StageTimes};
use crate::windowing::operator::{KeyedWindowOperator, OperatorCounts, Output};
use crate::windowing::output::{OutputTag, Place, Places, Records, SideOutputs};

/// One block: its rows and the watermarks between them.
pub struct Block {
    pub rows: Vec<Row>,
    pub times: StageTimes,
}

#[derive(Debug, Clone)]
pub struct Row {
    pub key: u32,
    pub hash: KeyHash,
    pub timestamp: EventTime,
    pub element: Element,
}

/// What came out of one block, in the order of places, and the counts behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub results: Vec<(Place, EventTime, Fired)>,
    pub late: Vec<(Place, EventTime, Element)>,
    pub counts: [u64; 4],
}

pub fn counts_of(counts: &OperatorCounts) -> [u64; 4] {
    [counts.late_dropped, counts.late_side_output, counts.fired, counts.open_windows]
}

/// Blocks of rows that jump about within some disorder, with watermarks that stay, creep, jump and end.
pub fn make(random: &mut Random, kind: &Kind) -> Vec<Block> {
    let keys = 1 + random.below(6);
    let span = kind.span();
    let bases = [0, -span, 1_700_000_000_123, i64::MIN + 100_000, i64::MAX - 1_000_000];
    let base = bases[random.below(5) as usize];
    let disorder = 1 + random.below(3 * span as u64) as i64;
    let pace = 1 + random.below(span as u64 / 2 + 1) as i64;
    let lag = random.below(disorder as u64 + 1) as i64;
    let poor_hashes = random.below(8) == 0;
    let (mut now, mut watermark, mut others, mut reached) = (base, i64::MIN, i64::MIN, Watermark::MIN);
    let mut start = Watermark::MIN;
    let mut blocks = Vec::new();
    let count = 1 + random.below(5);
    for number in 0..count {
        let (mut rows, mut before) = (Vec::new(), Vec::new());
        for _ in 0..random.below(25) {
            before.push(watermark);
            let timestamp = now - random.below(disorder as u64) as i64;
            let key = random.below(keys) as u32;
            let hash = if poor_hashes { u64::from(key % 2) } else { crate::windowing::hash::key_hash(&key) };
            let gap = 1 + random.below(span as u64) as i64;
            rows.push(Row { key, hash, timestamp, element: Element { value: random.between(-9, 99), gap } });
            watermark = match random.below(6) {
                0 => watermark,
                1 => watermark.max(now - random.below(2 * span as u64) as i64),
                _ => watermark.max(now - lag),
            };
            now += if random.below(20) == 0 { random.below(8) as i64 * span } else { random.below(pace as u64) as i64 };
        }
        others = match random.below(3) {
            _ if number + 1 == count => i64::MAX,
            0 => others.max(now - 2 * span),
            _ => others.max(now + span),
        };
        // Time that has ended and lateness that has not is where Flink fails when sessions merge.
        if number + 1 == count || kind.lateness < 1 << 40 && random.below(40) == 0 {
            watermark = i64::MAX;
        }
        let processing_time = number as i64;
        let block = Arc::new(BlockTimes { before, after: watermark, processing_time });
        let times = StageTimes { block, others: Watermark(others), reached, start };
        start = Watermark(times.block.after);
        reached = times.after();
        blocks.push(Block { rows, times });
    }
    blocks
}

/// Runs blocks through an operator, in batches of up to `most` rows (chance decides), with marks as a router sets them.
/// `takes`: which keys are this operator's.
pub fn run(
    blocks: &[Block],
    operator: &mut dyn KeyedWindowOperator<u32, Element, Fired>,
    tag: &OutputTag<Element>,
    (random, most): (&mut Random, u64),
    takes: impl Fn(u32) -> bool,
) -> Vec<Outcome> {
    blocks.iter().map(|block| run_block(block, operator, tag, (&mut *random, most), |row| takes(row.key))).collect()
}

/// Runs one block.
pub fn run_block(
    Block { rows, times }: &Block,
    operator: &mut dyn KeyedWindowOperator<u32, Element, Fired>,
    tag: &OutputTag<Element>,
    (random, most): (&mut Random, u64),
    takes: impl Fn(&Row) -> bool,
) -> Outcome {
    let rule = operator.mark_rule();
    let (mut results, mut sides) = (Records::default(), SideOutputs::default());
    let mut out = Output::new(&mut results, &mut sides);
    operator.advance_clock(times.block.processing_time, times, &mut out).unwrap();
    let (mut batch, mut places, mut size) = (KeyedBatch::default(), Vec::new(), 1 + random.below(most));
    for (number, row) in (0..).zip(rows).filter(|(_, row)| takes(row)) {
        let watermark = times.before(Place::of_row(number, row.hash));
        let last = batch.marks.last().map(|mark: &Mark| mark.watermark);
        if rule.wants(row.timestamp, watermark, last) {
            batch.marks.push(Mark { row: batch.len() as u32, watermark });
        }
        batch.keys.push(row.key);
        batch.hashes.push(row.hash);
        batch.timestamps.push(row.timestamp);
        batch.values.push(row.element.clone());
        places.push(number);
        if batch.len() as u64 >= size {
            batch.places = Places::Rows(std::mem::take(&mut places));
            operator.process(std::mem::take(&mut batch), times, &mut out).unwrap();
            size = 1 + random.below(most);
        }
    }
    batch.places = Places::Rows(places);
    operator.process(batch, times, &mut out).unwrap();
    operator.advance(times.after(), times, &mut out).unwrap();
    let late = sides.take(tag);
    Outcome { results: in_order(results), late: in_order(late), counts: counts_of(&operator.counts()) }
}

fn in_order<T>(records: Records<T>) -> Vec<(Place, EventTime, T)> {
    let Records { values, timestamps, places } = records;
    let mut all: Vec<_> =
        places.into_iter().zip(timestamps).zip(values).map(|((place, time), value)| (place, time, value)).collect();
    all.sort_by_key(|&(place, ..)| place);
    all
}

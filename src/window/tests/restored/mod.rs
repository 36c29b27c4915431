//! Operators that are written to files in the middle of their work and brought back give the same rows as those that
//! nobody disturbs: on one shard, and when the shards become more or fewer.

mod aggregates;
mod joins;
mod kept;

pub(super) use aggregates::all_calls;

use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::UInt32Array;
use arrow::compute::take_record_batch;

use super::random::{Dice, rows};
use super::*;
use crate::key::{KeyGroups, KeyHash};
use crate::random::Random;
use crate::snapshot::{CheckpointRoot, Kept, StateFile, StateWriter};

const KEY_GROUPS: u32 = 128;
const SHARDS_MAX: i64 = 3;
/// Stages have numbers in a file; any will do.
const STAGE: usize = 4;

type Operators = Vec<Box<dyn WindowOperator + Send>>;

/// An operator and all that it is given.
struct Job {
    stage: StageSpec,
    blocks: Vec<Block>,
}

/// Rows by side, and the watermark behind them.
struct Block {
    batches: Vec<(usize, EventBatch)>,
    watermark: Watermark,
}

/// Rows that come together.
struct Feed {
    side: usize,
    rows: RecordBatch,
    /// What the watermark follows.
    times: Vec<i64>,
}

/// What a block gave.
#[derive(Debug, PartialEq)]
struct Given {
    /// With their times.
    rows: Vec<(i64, String)>,
    late: u64,
    fired: u64,
}

impl Job {
    fn new(dice: &mut Dice, stage: StageSpec, feeds: Vec<Feed>) -> Self {
        let delay = dice.roll(40);
        let mut moved = Watermark::SQL_START;
        let mut blocks: Vec<Block> = Vec::new();
        let mut place = 0;
        for feed in feeds {
            if blocks.is_empty() || dice.roll(3) > 0 {
                blocks.push(Block { batches: Vec::new(), watermark: Watermark::MIN });
                place = 0;
            }
            let batch = event_batch(&stage, &feed, (&mut moved, delay), &mut place);
            let block = blocks.last_mut().unwrap();
            block.batches.push((feed.side, batch));
            block.watermark = WatermarkStart::Sql.emitted(moved);
        }
        blocks.push(Block { batches: Vec::new(), watermark: Watermark::MAX });
        Job { stage, blocks }
    }

    fn operator(&self) -> Box<dyn WindowOperator + Send> {
        operator(&self.stage, &context()).unwrap()
    }

    /// Gives each operator its rows of the block; what comes out stands by time, then by shard, or in any order.
    fn give(&self, operators: &mut Operators, block: &Block, in_order: bool) -> Given {
        let groups = KeyGroups::new(KEY_GROUPS, operators.len() as u32);
        let mut rows = Vec::new();
        let mut emit = |emitted: Emitted| {
            show_all(&emitted, &mut rows);
            Ok(())
        };
        for (shard, operator) in operators.iter_mut().enumerate() {
            for (side, batch) in &block.batches {
                let to_all = matches!(self.stage.lateness(*side), crate::plan::Lateness::EveryWatermark);
                let part = part_of(batch, (groups, shard as u32), to_all);
                if part.rows.num_rows() > 0 || !part.marks.is_empty() {
                    operator.process(*side, &part, &mut emit).unwrap();
                }
            }
            operator.advance(block.watermark, &mut emit).unwrap();
        }
        match in_order {
            true => rows.sort_by_key(|(time, _)| *time),
            false => rows.sort(),
        }
        let late = operators.iter().map(|operator| operator.late_rows()).sum();
        let fired = operators.iter().map(|operator| operator.fired_windows()).sum();
        Given { rows, late, fired }
    }

    /// What the blocks give if `between` happens to the operators before each of them.
    fn run(&self, in_order: bool, mut between: impl FnMut(Operators) -> Operators) -> Vec<Given> {
        let mut operators = vec![self.operator()];
        let mut given = Vec::new();
        for block in &self.blocks {
            operators = between(operators);
            given.push(self.give(&mut operators, block, in_order));
        }
        let open = operators.iter().map(|operator| operator.open_windows()).sum::<u64>();
        assert_eq!(open, 0, "windows that are left behind");
        given
    }

    /// What is compared on one shard: there the order may be that of arrival, but where a checkpoint seals tables and HOP
    /// puts windows together anew.
    fn is_in_order_alone(&self) -> bool {
        self.stage.is_ordered() || !matches!(&self.stage, StageSpec::Aggregate(_))
    }

    fn check(&self, seed: u64, folder: &Path) {
        let about = |how: &str| format!("seed {seed}, {how}: {:?}", self.stage);
        let alone = self.is_in_order_alone();
        let expected = self.run(alone, |operators| operators);
        let dice = &mut Dice(Random::new(seed));
        let written = self.run(alone, |mut operators| {
            if dice.roll(3) == 0 {
                let _: PathBuf = write(&mut *operators[0], folder, 0);
            }
            operators
        });
        same(&written, &expected, &about("written"));
        let restored = self.run(alone, |mut operators| {
            if dice.roll(3) == 0 { operators } else { vec![self.read(&write(&mut *operators[0], folder, 0))] }
        });
        same(&restored, &expected, &about("read"));
        let in_order = self.stage.is_ordered();
        let expected = if in_order == alone { expected } else { self.run(in_order, |operators| operators) };
        let dealt =
            self.run(
                in_order,
                |operators| {
                    if dice.roll(3) == 0 { operators } else { self.deal_anew(operators, dice, folder) }
                },
            );
        same(&dealt, &expected, &about("dealt out anew"));
    }

    fn read(&self, path: &Path) -> Box<dyn WindowOperator + Send> {
        let mut reader = StateFile::open(path).unwrap().into_reader();
        let mut operator = self.operator();
        operator.archive(&mut reader.stage(STAGE)).unwrap();
        reader.end_stage().unwrap();
        operator
    }

    /// The same keys on another number of shards.
    fn deal_anew(&self, mut operators: Operators, dice: &mut Dice, folder: &Path) -> Operators {
        let files = operators.iter_mut().enumerate().map(|(shard, operator)| write(&mut **operator, folder, shard));
        let files: Vec<PathBuf> = files.collect();
        let shards = 1 + dice.roll(SHARDS_MAX) as u32;
        let (groups, counting) = (KeyGroups::new(KEY_GROUPS, shards), dice.roll(i64::from(shards)) as u32);
        let restored = (0..shards).map(|shard| {
            let wanted = |tag| groups.owner_of(KeyHash::from(tag) << 32) == shard;
            let mut fresh = self.operator();
            for file in &files {
                fresh.take_over(self.read(file), &wanted, shard == counting).unwrap();
            }
            fresh
        });
        restored.collect()
    }
}

fn write(operator: &mut dyn WindowOperator, folder: &Path, shard: usize) -> PathBuf {
    // Every table is sealed, however small.
    let mut state = StateWriter::sealing(0);
    operator.archive(&mut state.stage(STAGE)).unwrap();
    let path = folder.join(format!("{shard}.state"));
    let folder = CheckpointRoot::new(folder).run("run").begin(1).unwrap();
    let entry = folder.write_state(&state, (shard, 1), &mut Kept::default()).unwrap();
    fs::rename(folder.path().join(entry.name), &path).unwrap();
    path
}

/// Compares block by block: the first difference says most.
fn same(given: &[Given], expected: &[Given], about: &str) {
    for (block, (given, expected)) in given.iter().zip(expected).enumerate() {
        if given != expected {
            let at = given.rows.iter().zip(&expected.rows).position(|(a, b)| a != b);
            let at = at.unwrap_or(given.rows.len().min(expected.rows.len()));
            let (a, b) = (given.rows.get(at), expected.rows.get(at));
            let counts = |given: &Given| (given.rows.len(), given.late, given.fired);
            panic!("block {block}, row {at}: {a:?}, not {b:?}; {:?} {:?}, {about}", counts(given), counts(expected));
        }
    }
}

/// The rows of one shard, with their marks, or (`to_all`) with those of all rows.
fn part_of(batch: &EventBatch, (groups, shard): (KeyGroups, u32), to_all: bool) -> EventBatch {
    let owner = |row: u32| batch.hashes.get(row as usize).map_or(0, |&hash| groups.owner_of(hash));
    let rows: Vec<u32> = (0..batch.rows.num_rows() as u32).filter(|&row| owner(row) == shard).collect();
    let number = |row: u32| match rows.binary_search(&row) {
        Ok(number) => Some(number as u32),
        Err(number) => to_all.then_some(number as u32),
    };
    let marks = batch.marks.iter().filter_map(|mark| Some(Mark { row: number(mark.row)?, ..*mark })).collect();
    let hashes = rows.iter().filter_map(|&row| batch.hashes.get(row as usize)).copied().collect();
    let rows = take_record_batch(&batch.rows, &UInt32Array::from(rows)).unwrap();
    EventBatch { rows, hashes, marks }
}

/// The rows as a shard gets them; the watermark moves on.
fn event_batch(stage: &StageSpec, feed: &Feed, (moved, delay): (&mut Watermark, i64), place: &mut i64) -> EventBatch {
    let mut deadlines = Deadlines::new(stage.lateness(feed.side)).unwrap();
    let mut due = Vec::new();
    deadlines.of(&feed.rows, &mut due).unwrap();
    let mut marks = Vec::new();
    for (row, &time) in feed.times.iter().enumerate() {
        let watermark = WatermarkStart::Sql.emitted(*moved);
        if due[row] <= deadlines.horizon(watermark) {
            marks.push(Mark { row: row as u32, watermark });
        }
        *moved = (*moved).max(Watermark(time.saturating_sub(delay)));
    }
    let (mut hashes, mut rows) = (Vec::new(), feed.rows.clone());
    if !stage.keys(feed.side).is_empty() {
        hash_keys(&rows, stage.keys(feed.side), &mut hashes).unwrap();
    }
    if stage.wants_places() {
        let first = *place;
        *place += rows.num_rows() as i64;
        let places: ArrayRef = Arc::new(Int64Array::from_iter_values(first..*place));
        let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        let columns = columns.into_iter().zip(rows.columns().iter().cloned());
        rows = RecordBatch::try_from_iter(columns.chain([("$place".to_string(), places)])).unwrap();
    }
    EventBatch { rows, hashes, marks }
}

fn show_all(emitted: &Emitted, out: &mut Vec<(i64, String)>) {
    let options = FormatOptions::default().with_null("NULL");
    let cells = emitted.rows.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap());
    let cells: Vec<ArrayFormatter> = cells.collect();
    for row in 0..emitted.rows.num_rows() {
        let text: Vec<String> = cells.iter().map(|cell| cell.value(row).to_string()).collect();
        let time = emitted.times.get(row).copied().unwrap_or(emitted.time);
        let before = emitted.before.get(row).copied().flatten();
        out.push((time, format!("{} {before:?}", text.join(" "))));
    }
}

/// Rows with values that sums and orders trip over.
pub(super) fn odd_rows(dice: &mut Dice) -> Vec<Row> {
    let count = dice.roll(150);
    let mut rows = rows(dice, count);
    for row in &mut rows {
        row.double = row.double.map(|double| match dice.roll(12) {
            0 => f64::NAN,
            1 => -0.0,
            2 => 1e16,
            _ => double / 10.0 - 0.3,
        });
        row.text = row.text.take().map(|text| match dice.roll(4) {
            0 => format!("[\"{text}\"]"),
            1 => "[1]".to_string(),
            _ => text,
        });
        row.decimal = match dice.roll(6) {
            0 => None,
            1 => Some((10_i128.pow(38) - 1) * if dice.roll(2) == 0 { 1 } else { -1 }),
            _ => Some(i128::from(dice.roll(5) - 2)),
        };
    }
    rows
}

/// Rows in pieces.
fn pieces<T>(dice: &mut Dice, mut rows: Vec<T>) -> Vec<Vec<T>> {
    let mut pieces = Vec::new();
    while !rows.is_empty() {
        let rest = rows.split_off(rows.len().min(dice.roll(25) as usize));
        pieces.push(std::mem::replace(&mut rows, rest));
    }
    pieces
}

/// Rows of one side.
fn feeds(dice: &mut Dice, rows: Vec<Row>, schema: &Schema) -> Vec<Feed> {
    let feed = |rows: Vec<Row>| Feed {
        side: 0,
        rows: batch_of(&rows, schema),
        times: rows.iter().map(|row| row.time).collect(),
    };
    pieces(dice, rows).into_iter().map(feed).collect()
}

/// Keys of every layout.
fn key_columns(dice: &mut Dice) -> Vec<usize> {
    let all: [&[usize]; 7] = [&[], &[KEY], &[NAME], &[KEY, NUMBER], &[DECIMAL], &[KEY, NAME], &[KEY, NAME, DECIMAL]];
    all[dice.roll(7) as usize].to_vec()
}

/// Runs jobs by seed: so many, or as many times as many as `FUZZ_TIMES` says.
fn check_all(jobs: u64, job: impl Fn(&mut Dice) -> Job) {
    let folder = tempfile::tempdir().unwrap();
    let times = std::env::var("FUZZ_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    for seed in 0..jobs.saturating_mul(times) {
        job(&mut Dice(Random::new(seed))).check(seed, folder.path());
    }
}

//! Shards under a seeded scheduler, against a slow and obvious twin.
//!
//! One thread steps the shards in a random order, with tiny queues and tiny blocks, so that every
//! interleaving of reading, sending and firing may come up. A seed that fails is printed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{Int64Type, TimestampMillisecondType};

use super::program::Program;
use super::scan::SplitEntry;
use super::{Columns, ColumnsParts, Output, START};
use crate::aggregate::{AggregateCall, AggregateKind, Setting};
use crate::error::Result;
use crate::exchange::progress::Progress;
use crate::exchange::{Order, mesh};
use crate::expr::Expr;
use crate::format::{FormatSpec, ParquetOptions};
use crate::metrics::{ShardMetrics, Totals};
use crate::plan::{
    Config, FilesSpec, JobPlan, Node, Pipeline, ScanSpec, SinkConnector, SinkSpec, SourceSpec, StageSpec,
    WatermarkSpec, WindowAggregateSpec, WindowSpec,
};
use crate::random::Random;
use crate::shard::{Shard, ShardParts, Work};
use crate::source::{BlockStats, Extent, Position, Split};
use crate::time::{Watermark, window_start};
use crate::types::{Field, Schema, Type};

#[derive(Debug, Clone, Copy)]
struct Row {
    key: i64,
    time: i64,
    value: i64,
}

/// Splits of blocks of rows.
type Input = Vec<Vec<Vec<Row>>>;

/// Blocks in memory, of which perhaps not all are there at the start.
struct MemorySplit {
    blocks: Vec<Vec<Row>>,
    there: AtomicUsize,
    /// Decides when one more block appears.
    whim: AtomicU64,
}

impl MemorySplit {
    fn new(blocks: &[Vec<Row>], random: &mut Random) -> Self {
        // A split without blocks cannot grow: it is complete at the start.
        let open = random.below(2) == 0 && !blocks.is_empty();
        let there = if open { random.below(blocks.len() as u64) as usize } else { blocks.len() };
        MemorySplit { blocks: blocks.to_vec(), there: AtomicUsize::new(there), whim: AtomicU64::new(random.next()) }
    }
}

impl Split for MemorySplit {
    fn name(&self) -> &str {
        "memory"
    }
    fn extent(&self) -> Extent {
        let blocks = self.there.load(Ordering::Relaxed);
        Extent { blocks, complete: blocks == self.blocks.len() }
    }
    fn extend(&self) -> Extent {
        let appears = Random::new(self.whim.fetch_add(1, Ordering::Relaxed)).below(3) == 0;
        if appears && !self.extent().complete {
            self.there.fetch_add(1, Ordering::Relaxed);
        }
        self.extent()
    }
    fn bytes(&self) -> u64 {
        0
    }
    fn decode(
        &self,
        block: usize,
        _entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        for rows in self.blocks[block].chunks(batch_rows) {
            let keys: StringArray = rows.iter().map(|row| Some(format!("k{}", row.key))).collect();
            let times: TimestampMillisecondArray = rows.iter().map(|row| Some(row.time)).collect();
            let values: Int64Array = rows.iter().map(|row| Some(row.value)).collect();
            let columns: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(times), Arc::new(values)];
            out(RecordBatch::try_new(schema().to_arrow(), columns).expect("columns of the schema"))?;
        }
        Ok(BlockStats { rows: self.blocks[block].len() as u64, ..BlockStats::default() })
    }
    fn records(&self, _block: usize, _entry: u8, _rows: &[u64]) -> Result<Vec<(Position, String)>> {
        Ok(Vec::new())
    }
}

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("k", Type::string().nullable()),
        Field::new("ts", Type::Timestamp(3).nullable()),
        Field::new("v", Type::BigInt.nullable()),
    ])
}

fn scan() -> ScanSpec {
    let columns = schema().fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect();
    ScanSpec {
        table: "events".into(),
        source: SourceSpec::Files(FilesSpec::new("", FormatSpec::Parquet(ParquetOptions::default()))),
        file_schema: schema(),
        projection: vec![0, 1, 2],
        columns,
        // No delay: every row behind the one before is behind the watermark.
        watermark: Some(WatermarkSpec {
            place: None,
            time: 1,
            expression: Expr::column(1, Type::Timestamp(3).nullable()),
            text: "ts".into(),
            current: None,
        }),
        schema: schema(),
    }
}

/// COUNT(*) and SUM(v) by k and window.
fn aggregate(window: WindowSpec) -> WindowAggregateSpec {
    let bigint = Type::BigInt.nullable();
    let call = |kind, args: Vec<usize>, inputs| AggregateCall {
        kind,
        distinct: false,
        args,
        filter: None,
        inputs,
        setting: Setting::None,
        output: bigint.clone(),
    };
    let mut fields = vec![schema().fields[0].clone(), Field::new("n", bigint.clone()), Field::new("s", bigint.clone())];
    for name in ["window_start", "window_end", "window_time"] {
        fields.push(Field::new(name, Type::Timestamp(3).nullable()));
    }
    WindowAggregateSpec {
        window,
        keys: vec![0],
        time: 1,
        zone: None,
        aggregates: vec![
            call(AggregateKind::Count, vec![], vec![]),
            call(AggregateKind::Sum, vec![2], vec![bigint.clone()]),
        ],
        input: schema(),
        schema: Schema::new(fields),
        set: None,
        ordered: false,
        oldest_first: false,
    }
}

/// window_time, SUM(v) of the first window, summed again in windows of `second_ms`.
fn plan(window: &WindowSpec, second_ms: Option<i64>) -> JobPlan {
    let first = aggregate(window.clone());
    let mut root =
        Node::Stage { inputs: vec![Node::Scan(Box::new(scan()))], spec: Box::new(StageSpec::Aggregate(first)) };
    if let Some(size_ms) = second_ms {
        let column = |index: usize| Expr::column(index, root.schema().fields[index].data_type.clone());
        let exprs = vec![column(0), column(5), column(2)];
        root = Node::Calc { input: Box::new(root), filter: None, exprs, schema: schema() };
        let spec = aggregate(WindowSpec::Tumble { size_ms, offset_ms: 0 });
        root = Node::Stage { inputs: vec![root], spec: Box::new(StageSpec::Aggregate(spec)) };
    }
    let sink = SinkSpec {
        table: "out".into(),
        connector: SinkConnector::Collect,
        schema: root.schema().clone(),
        changelog: false,
    };
    JobPlan { pipelines: vec![Pipeline { root, sink }], config: Config::default() }
}

type Results = BTreeMap<(String, i64, i64), Vec<(i64, i64)>>;

struct Collect(Arc<Mutex<Results>>);

impl Output for Collect {
    fn write(&mut self, _seq: u64, _order: i64, batch: &RecordBatch) -> Result<()> {
        let (keys, counts) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
        let sums = batch.column(2).as_primitive::<Int64Type>();
        let time = |column: usize, row| batch.column(column).as_primitive::<TimestampMillisecondType>().value(row);
        let mut results = self.0.lock().unwrap();
        for row in 0..batch.num_rows() {
            let place = (keys.value(row).to_string(), time(3, row), time(4, row));
            results.entry(place).or_default().push((counts.value(row), sums.value(row)));
        }
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Runs the plan with shards stepped in random order; also counts the late rows.
fn simulate(plan: &JobPlan, input: &Input, shards: usize, random: &mut Random) -> (Results, u64) {
    let batch_rows = [1, 2, 7, 8192][random.below(4) as usize];
    let program = Program::new(plan, shards, batch_rows, 0).unwrap();
    let mut split =
        |blocks: &Vec<Vec<Row>>| SplitEntry { branch: 0, split: Arc::new(MemorySplit::new(blocks, random)) };
    let splits: Arc<Vec<SplitEntry>> = Arc::new(input.iter().map(&mut split).collect());
    let extents: Vec<Extent> = splits.iter().map(|entry| entry.split.extent()).collect();
    let progress = Arc::new(Progress::new(&extents, shards, 1 + random.below(8) as usize, Order::LowestWatermark));
    let results = Arc::new(Mutex::new(Results::new()));
    let metrics: Vec<Arc<ShardMetrics>> = (0..shards).map(|_| Arc::new(ShardMetrics::new(1))).collect();
    let capacity = 1 + random.below(3) as usize;
    let layout = program.layout(&splits);
    let mut running: Vec<Shard<Columns>> = mesh::endpoints(shards, capacity)
        .into_iter()
        .zip(&metrics)
        .map(|(endpoint, metrics)| {
            let parts = ColumnsParts {
                program: program.clone(),
                layout: layout.clone(),
                splits: splits.clone(),
                outputs: vec![Box::new(Collect(results.clone()))],
                aside: None,
                late: None,
                cuts: None,
                restored: None,
                memory: None,
                shard: endpoint.shard(),
                metrics: metrics.clone(),
            };
            let columns = Columns::new(parts).unwrap();
            let (layout, progress) = (layout.clone(), progress.clone());
            Shard::new(ShardParts { layout, progress, start: START, place: None, endpoint }, columns)
        })
        .collect();
    let mut idle_steps = 0;
    while !running.is_empty() {
        let picked = random.below(running.len() as u64) as usize;
        match running[picked].step().unwrap() {
            Work::Finished => {
                running.swap_remove(picked).finish().unwrap();
                idle_steps = 0;
            }
            Work::Done => idle_steps = 0,
            Work::Waiting => idle_steps += 1,
        }
        assert!(idle_steps < 10_000, "the shards wait for each other");
    }
    let totals = Totals::of(metrics.iter().map(Arc::as_ref));
    let rows: usize = input.iter().flatten().map(Vec::len).sum();
    assert_eq!(totals.rows_decoded, rows as u64);
    let results = std::mem::take(&mut *results.lock().unwrap());
    (results, totals.rows_late)
}

/// Start and end to count and sum so far.
type Windows = BTreeMap<(i64, i64), (i64, i64)>;

/// A watermark that has not moved from 0 was never sent.
fn emitted(watermark: i64) -> i64 {
    if watermark > 0 { watermark } else { i64::MIN }
}

/// The twin: rows one by one, windows in a map, no batches, no shards.
struct Twin {
    window: WindowSpec,
    open: BTreeMap<i64, Windows>,
    results: Results,
    late: u64,
}

impl Twin {
    fn run(window: &WindowSpec, input: &Input) -> (Results, u64) {
        let mut twin = Twin { window: window.clone(), open: BTreeMap::new(), results: Results::new(), late: 0 };
        let mut next = vec![0; input.len()];
        let mut watermarks = vec![0_i64; input.len()];
        loop {
            let active: Vec<usize> = (0..input.len()).filter(|&split| next[split] < input[split].len()).collect();
            let Some(&split) = active.iter().min_by_key(|&&split| watermarks[split]) else { break };
            let others =
                active.iter().filter(|&&s| s != split).map(|&s| emitted(watermarks[s])).min().unwrap_or(i64::MAX);
            for row in &input[split][next[split]] {
                twin.fire(emitted(watermarks[split]).min(others));
                twin.add(*row, emitted(watermarks[split]).min(others));
                watermarks[split] = watermarks[split].max(row.time);
            }
            next[split] += 1;
        }
        twin.fire(i64::MAX);
        (twin.results, twin.late)
    }

    fn fire(&mut self, watermark: i64) {
        for (key, windows) in &mut self.open {
            windows.retain(|&(start, end), &mut content| {
                let fires = Watermark(watermark).closes(end);
                if fires {
                    self.results.entry((format!("k{key}"), start, end)).or_default().push(content);
                }
                !fires
            });
        }
    }

    fn add(&mut self, row: Row, watermark: i64) {
        let windows = self.open.entry(row.key).or_default();
        if let WindowSpec::Session { gap_ms } = self.window {
            let (mut start, mut end, mut content) = (row.time, row.time + gap_ms, (1, row.value));
            let touching: Vec<(i64, i64)> =
                windows.keys().copied().filter(|&(s, e)| s <= row.time + gap_ms && row.time <= e).collect();
            let merged_end = touching.iter().map(|w| w.1).chain([end]).max().unwrap();
            if Watermark(watermark).closes(merged_end) {
                self.late += 1;
                return;
            }
            for window in touching {
                let other = windows.remove(&window).unwrap();
                (start, end) = (start.min(window.0), end.max(window.1));
                content = (content.0 + other.0, content.1 + other.1);
            }
            windows.insert((start, end), content);
            return;
        }
        let mut all_closed = true;
        for (start, end) in windows_of(&self.window, row.time) {
            if !Watermark(watermark).closes(end) {
                all_closed = false;
                let content = windows.entry((start, end)).or_default();
                *content = (content.0 + 1, content.1 + row.value);
            }
        }
        self.late += u64::from(all_closed);
    }
}

/// Every window of a time, by trying all starts.
fn windows_of(window: &WindowSpec, time: i64) -> Vec<(i64, i64)> {
    match *window {
        WindowSpec::Tumble { size_ms, offset_ms } => {
            let start = window_start(time, offset_ms, size_ms);
            vec![(start, start + size_ms)]
        }
        WindowSpec::Hop { size_ms, slide_ms, offset_ms } => (time - size_ms + 1..=time)
            .filter(|start| (start - offset_ms).rem_euclid(slide_ms) == 0)
            .map(|start| (start, start + size_ms))
            .collect(),
        WindowSpec::Cumulate { size_ms, step_ms, offset_ms } => {
            let start = window_start(time, offset_ms, size_ms);
            (1..=size_ms / step_ms).map(|n| (start, start + n * step_ms)).filter(|w| w.1 > time).collect()
        }
        _ => unreachable!("sessions are not static"),
    }
}

fn random_window(random: &mut Random) -> WindowSpec {
    let step = random.between(1, 9);
    match random.below(4) {
        0 => WindowSpec::Tumble { size_ms: step, offset_ms: random.between(-step + 1, step - 1) },
        1 => WindowSpec::Hop { size_ms: step * random.between(1, 5), slide_ms: step, offset_ms: random.between(0, 3) },
        2 => WindowSpec::Cumulate { size_ms: step * random.between(1, 5), step_ms: step, offset_ms: 0 },
        _ => WindowSpec::Session { gap_ms: step },
    }
}

fn random_input(random: &mut Random) -> Input {
    let splits = 1 + random.below(3);
    let disorder = random.between(0, 15);
    // Sometimes more than what all shards may have in flight.
    let most = if random.below(8) == 0 { 50 } else { 6 };
    (0..splits)
        .map(|_| {
            let mut now = random.between(-20, 30);
            (0..random.below(most))
                .map(|_| {
                    (0..random.below(9))
                        .map(|_| {
                            now += random.between(0, 4);
                            let time = now - random.between(0, disorder);
                            Row { key: random.between(0, 4), time, value: random.between(-9, 9) }
                        })
                        .collect()
                })
                .collect()
        })
        .collect()
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let (window, input) = (random_window(&mut random), random_input(&mut random));
    let expected = Twin::run(&window, &input);
    let shards = [1, 2, 3, 7][random.below(4) as usize];
    let got = simulate(&plan(&window, None), &input, shards, &mut random);
    assert_eq!(got, expected, "seed {seed}, {window:?}, {shards} shards, {input:?}");
    if seed.is_multiple_of(4) {
        let second_ms = random.between(1, 40);
        let expected = cascade(&expected.0, second_ms);
        let got = simulate(&plan(&window, Some(second_ms)), &input, shards, &mut random).0;
        assert_eq!(got, expected, "seed {seed}, {window:?} then {second_ms} ms, {shards} shards, {input:?}");
    }
}

/// What a second tumbling window makes of the results of the first: nothing of it is ever late.
fn cascade(first: &Results, size_ms: i64) -> Results {
    let mut second: BTreeMap<(String, i64, i64), (i64, i64)> = BTreeMap::new();
    for ((key, _, end), contents) in first {
        let start = window_start(end - 1, 0, size_ms);
        for (_, sum) in contents {
            let content = second.entry((key.clone(), start, start + size_ms)).or_default();
            *content = (content.0 + 1, content.1 + sum);
        }
    }
    second.into_iter().map(|(place, content)| (place, vec![content])).collect()
}

#[test]
fn ten_thousand_seeds_of_small_jobs_equal_their_twin() {
    for seed in 0..10_000 {
        check(seed);
    }
}

//! Shards that move plain numbers, under a seeded scheduler: the machine without SQL, in both orders of blocks.
//!
//! Splits grow by and by, become idle and wake up. What every shard saw is compared with what the others saw, and with
//! Flink's way to move the watermark of an operator with several inputs, written out one event after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use super::*;
use crate::exchange::{Order, Stamp, mesh};
use crate::random::Random;
use crate::source::Extent;
use crate::watermark::Peaks;

const START: WatermarkStart = WatermarkStart::DataStream;

/// What a block will have: rows with a time and nothing else.
struct Script {
    times: Vec<i64>,
    idle: bool,
}

struct GrowingSplit {
    branch: usize,
    blocks: Vec<Script>,
    there: AtomicUsize,
    /// Decides when one more block appears.
    whim: AtomicU64,
    /// The block whose watermark is asked for next.
    next: AtomicUsize,
}

/// What the shards of a job share.
struct World {
    splits: Vec<GrowingSplit>,
    clock: AtomicI64,
    /// Watermarks follow from the blocks alone.
    has_peaks: bool,
}

/// Split, block and row.
type Row = (usize, usize, usize);

#[derive(Clone, Copy)]
struct Number {
    row: Row,
    time: i64,
}

/// What one shard saw.
#[derive(Default)]
struct Seen {
    steps: Vec<Step>,
    /// By step, then by stage.
    watermarks: Vec<Vec<Watermark>>,
    /// By stage and row: the watermark before the row.
    before: BTreeMap<(usize, Row), Watermark>,
    /// By stage and row: how often it came.
    came: BTreeMap<(usize, Row), usize>,
}

struct Numbers {
    world: Arc<World>,
    layout: Arc<Layout>,
    shards: usize,
    seen: Seen,
    reached: Vec<Watermark>,
}

impl GrowingSplit {
    fn extent(&self) -> Extent {
        let blocks = self.there.load(Ordering::Relaxed);
        Extent { blocks, complete: blocks == self.blocks.len() }
    }
}

impl Dataflow for Numbers {
    type Block = Vec<Number>;
    type Part = Number;
    type Outcome = Seen;

    fn extend(&self, split: usize) -> Extent {
        let split = &self.world.splits[split];
        let appears = Random::new(split.whim.fetch_add(1, Ordering::Relaxed)).below(3) == 0;
        if appears && !split.extent().complete {
            split.there.fetch_add(1, Ordering::Relaxed);
        }
        split.extent()
    }

    fn stamp(&self, split: usize, block: usize) -> Stamp {
        let idle = self.world.splits[split].blocks[block].idle;
        Stamp { clock_ms: self.world.clock.load(Ordering::Relaxed), idle }
    }

    fn read(&mut self, split: usize, block: usize, _entry: u8) -> Result<Vec<Number>> {
        let times = self.world.splits[split].blocks[block].times.iter();
        Ok(times.enumerate().map(|(row, &time)| Number { row: (split, block, row), time }).collect())
    }

    fn peaks(&self, block: &Vec<Number>) -> Option<Peaks> {
        let first = block.iter().map(|number| number.time).max().unwrap_or(i64::MIN);
        self.world.has_peaks.then_some(Peaks { first, ..Peaks::NONE })
    }

    fn after(&mut self, block: &mut Vec<Number>, start: Watermark) -> Watermark {
        if let Some(number) = block.first() {
            // Blocks without rows were counted by those who held them.
            let (split, block, _) = number.row;
            let before = self.world.splits[split].next.swap(block + 1, Ordering::Relaxed);
            assert!(before <= block, "blocks of a split change places");
        }
        Watermark(block.iter().map(|number| number.time).max().unwrap_or(i64::MIN).max(start.0))
    }

    fn route(
        &mut self,
        step: &Step,
        block: Vec<Number>,
        inputs: &[InputWatermark],
        out: &mut Outgoing<Number>,
    ) -> Result<()> {
        for port in out.ports().to_vec() {
            let stage = self.layout.port(port).stage;
            let mut own = step.start.0;
            for number in &block {
                let before = inputs[stage].with(START.emitted(Watermark(own)));
                self.seen.before.insert((stage, number.row), before);
                out.push(port, number.time.rem_euclid(self.shards as i64) as usize, *number);
                own = own.max(number.time);
            }
        }
        Ok(())
    }

    fn run_stage(
        &mut self,
        stage: usize,
        step: &Step,
        (_, watermark): (&[InputWatermark], Watermark),
        parts: Vec<Number>,
        out: &mut Outgoing<Number>,
    ) -> Result<()> {
        for number in parts {
            assert_eq!((number.row.0, number.row.1), (step.split, step.block), "rows of another step");
            *self.seen.came.entry((stage, number.row)).or_default() += 1;
            for port in out.ports().to_vec() {
                out.push(port, (number.time + 1).rem_euclid(self.shards as i64) as usize, number);
            }
        }
        self.reached[stage] = watermark;
        Ok(())
    }

    fn completed(&mut self, step: &Step) {
        self.seen.steps.push(*step);
        self.seen.watermarks.push(self.reached.clone());
    }

    fn finish(self, _peaks: &[Peaks]) -> Result<Seen> {
        Ok(self.seen)
    }
}

/// Flink's StatusWatermarkValve: one input of an operator after the other.
struct Valve {
    inputs: BTreeMap<usize, Input>,
    last: i64,
}

struct Input {
    watermark: i64,
    active: bool,
    aligned: bool,
}

impl Valve {
    fn new(splits: impl Iterator<Item = usize>) -> Self {
        let input = |split| (split, Input { watermark: i64::MIN, active: true, aligned: true });
        Valve { inputs: splits.map(input).collect(), last: i64::MIN }
    }

    fn watermark(&mut self, split: usize, watermark: i64) {
        let Some(input) = self.inputs.get_mut(&split) else { return };
        if input.active && watermark > input.watermark {
            input.watermark = watermark;
            input.aligned |= watermark >= self.last;
            self.follow_lowest();
        }
    }

    fn follow_lowest(&mut self) {
        let aligned = self.inputs.values().filter(|input| input.aligned);
        self.last = aligned.map(|input| input.watermark).min().unwrap_or(i64::MIN).max(self.last);
    }

    fn status(&mut self, split: usize, active: bool) {
        let Some(input) = self.inputs.get_mut(&split) else { return };
        if input.active == active {
            return;
        }
        input.active = active;
        input.aligned = active && input.watermark >= self.last;
        if active || input.watermark != self.last {
            return;
        }
        if self.inputs.values().any(|input| input.active) {
            self.follow_lowest();
        } else {
            self.last = self.inputs.values().map(|input| input.watermark).max().unwrap_or(self.last).max(self.last);
        }
    }
}

/// What a machine with one event at a time sees in the order of `steps`.
fn twin(world: &World, layout: &Layout, steps: &[Step]) -> Seen {
    let reaching = |stage| (0..layout.splits()).filter(move |&split| layout.reaches(split, stage));
    let mut valves: Vec<Valve> = (0..layout.stages()).map(|stage| Valve::new(reaching(stage))).collect();
    for (split, _) in world.splits.iter().enumerate().filter(|(_, split)| split.blocks.is_empty()) {
        valves.iter_mut().for_each(|valve| valve.watermark(split, i64::MAX));
    }
    let mut seen = Seen::default();
    for step in steps {
        let (split, script) = (step.split, &world.splits[step.split].blocks[step.block]);
        for (stage, valve) in valves.iter_mut().enumerate() {
            if !step.stamp.idle {
                valve.status(split, true);
            }
            for (row, &time) in script.times.iter().enumerate() {
                let direct = layout.fed_by(Producer::Branch(world.splits[split].branch));
                if direct.iter().any(|&port| layout.port(port).stage == stage) {
                    seen.before.insert((stage, (split, step.block, row)), Watermark(valve.last));
                }
                valve.watermark(split, time);
            }
            if step.stamp.idle {
                valve.status(split, false);
            }
            if step.block + 1 == world.splits[split].blocks.len() {
                valve.status(split, true);
                valve.watermark(split, i64::MAX);
            }
        }
        seen.steps.push(*step);
        seen.watermarks.push(valves.iter().map(|valve| Watermark(valve.last)).collect());
    }
    seen
}

fn random_world(random: &mut Random) -> World {
    let split = |random: &mut Random| {
        let mut now = random.between(-30, 30);
        let blocks: Vec<Script> = (0..random.below(14))
            .map(|_| {
                let idle = random.below(4) == 0;
                let rows = if idle { 0 } else { random.below(5) };
                let mut time = || {
                    now += random.between(0, 5);
                    now - random.between(0, 8)
                };
                Script { times: (0..rows).map(|_| time()).collect(), idle }
            })
            .collect();
        // A split without blocks cannot grow: it is complete at the start.
        let there = random.below(blocks.len() as u64 + 1) as usize;
        GrowingSplit {
            branch: random.below(2) as usize,
            blocks,
            there: AtomicUsize::new(there),
            whim: AtomicU64::new(random.next()),
            next: AtomicUsize::new(0),
        }
    };
    let splits = (0..1 + random.below(4)).map(|_| split(random)).collect();
    World { splits, clock: AtomicI64::new(0), has_peaks: random.below(2) == 0 }
}

/// Both branches feed the first stage, which feeds the second; the first branch feeds the second too, perhaps twice.
fn random_layout(world: &World, random: &mut Random) -> Layout {
    let port = |stage, from| Port { stage, from };
    let mut ports = vec![port(0, Producer::Branch(0)), port(0, Producer::Branch(1)), port(1, Producer::Stage(0))];
    ports.extend((0..random.below(3)).map(|_| port(1, Producer::Branch(0))));
    Layout::new(&ports, &[0, 0], 2, world.splits.iter().map(|split| split.branch).collect())
}

/// Steps the shards in random order to their end.
fn simulate(world: &Arc<World>, layout: &Arc<Layout>, order: Order, random: &mut Random) -> Vec<Seen> {
    let shards = [1, 2, 3, 7][random.below(4) as usize];
    let extents: Vec<Extent> = world.splits.iter().map(GrowingSplit::extent).collect();
    let progress = Arc::new(Progress::new(&extents, shards, 1 + random.below(8) as usize, order));
    let shard = |endpoint| {
        let (world, layout, progress) = (world.clone(), layout.clone(), progress.clone());
        let reached = vec![Watermark::MIN; layout.stages()];
        let flow = Numbers { world, layout: layout.clone(), shards, seen: Seen::default(), reached };
        Shard::new(ShardParts { layout, progress, start: START, place: None, endpoint }, flow)
    };
    let endpoints = mesh::endpoints(shards, 1 + random.below(3) as usize);
    let mut running: Vec<Shard<Numbers>> = endpoints.into_iter().map(shard).collect();
    let (mut seen, mut idle_steps) = (Vec::new(), 0);
    while !running.is_empty() {
        let picked = random.below(running.len() as u64) as usize;
        world.clock.fetch_add(random.between(-2, 3), Ordering::Relaxed);
        match running[picked].step().unwrap() {
            Work::Finished => {
                seen.push(running.swap_remove(picked).finish().unwrap());
                idle_steps = 0;
            }
            Work::Done => idle_steps = 0,
            Work::Waiting => idle_steps += 1,
        }
        assert!(idle_steps < 10_000, "the shards wait for each other");
    }
    seen
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let world = Arc::new(random_world(&mut random));
    let layout = Arc::new(random_layout(&world, &mut random));
    let order = [Order::LowestWatermark, Order::Arrival][random.below(2) as usize];
    let seen = simulate(&world, &layout, order, &mut random);
    let steps = &seen[0].steps;
    let expected = twin(&world, &layout, steps);
    for shard in &seen {
        assert_eq!(&shard.steps, steps, "seed {seed}: the shards see one order");
        assert_eq!(shard.watermarks, expected.watermarks, "seed {seed}: {steps:?}");
    }
    assert!(steps.is_sorted_by_key(|step| step.stamp.clock_ms), "seed {seed}: the clock goes back");
    assert!(expected.watermarks.is_sorted_by(|a, b| a[0] <= b[0] && a[1] <= b[1]), "seed {seed}");
    for (number, split) in world.splits.iter().enumerate() {
        let blocks: Vec<usize> = steps.iter().filter(|step| step.split == number).map(|step| step.block).collect();
        assert_eq!(blocks, (0..split.blocks.len()).collect::<Vec<_>>(), "seed {seed}: split {number}");
    }
    let before: BTreeMap<_, _> = seen.iter().flat_map(|shard| shard.before.clone()).collect();
    assert_eq!(before, expected.before, "seed {seed}: {steps:?}");
    check_rows(seed, &world, &layout, &seen);
}

/// Every row came to every stage, once for every way there.
fn check_rows(seed: u64, world: &World, layout: &Layout, seen: &[Seen]) {
    let mut came: BTreeMap<(usize, Row), usize> = BTreeMap::new();
    for (place, times) in seen.iter().flat_map(|shard| &shard.came) {
        *came.entry(*place).or_default() += times;
    }
    let mut expected = BTreeMap::new();
    for (number, split) in world.splits.iter().enumerate() {
        let direct = layout.fed_by(Producer::Branch(split.branch)).iter();
        let second = direct.filter(|&&port| layout.port(port).stage == 1).count();
        for (block, script) in split.blocks.iter().enumerate() {
            for row in 0..script.times.len() {
                expected.insert((0, (number, block, row)), 1);
                expected.insert((1, (number, block, row)), 1 + second);
            }
        }
    }
    assert_eq!(came, expected, "seed {seed}");
}

#[test]
fn five_thousand_seeds_see_one_order_and_the_watermarks_of_flink() {
    for seed in 0..5_000 {
        check(seed);
    }
}

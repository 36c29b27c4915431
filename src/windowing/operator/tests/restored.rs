//! Operators that are written to files between two blocks and go on in fresh ones give the same as one that nobody
//! disturbs, to the last bit: on one shard, and when the shards become more or fewer.

use std::path::{Path, PathBuf};

use super::timeline::{Block, Outcome, run_block};
use super::{Kind, Operator, by_key, make, run};
use crate::key::{KeyGroups, KeyHash};
use crate::random::Random;
use crate::snapshot::{StateFile, StateWriter};
use crate::windowing::Taking;
use crate::windowing::hash::key_hash;
use crate::windowing::operator::KeyedWindowOperator;
use crate::windowing::output::OutputTag;

const KEY_GROUPS: u32 = 64;
const SHARDS_MAX: u64 = 4;
/// Stages have numbers in a file; any will do.
const STAGE: usize = 3;

/// Writes the state of the operators of all shards, and has it read by as many fresh ones.
pub fn deal_anew<K, T, Out>(
    operators: &mut [Box<dyn KeyedWindowOperator<K, T, Out>>],
    fresh: Vec<Box<dyn KeyedWindowOperator<K, T, Out>>>,
    owner: impl Fn(KeyHash, usize) -> usize,
    folder: &Path,
) -> Vec<Box<dyn KeyedWindowOperator<K, T, Out>>> {
    let (before, now) = (operators.len(), fresh.len());
    let write = |(shard, operator): (usize, &mut Box<dyn KeyedWindowOperator<K, T, Out>>)| {
        let (mut state, path) = (StateWriter::default(), folder.join(format!("{shard}.state")));
        operator.archive(&mut state.stage(STAGE), &Taking::ALL).unwrap();
        state.write_whole((1, shard, before), &mut std::fs::File::create(&path).unwrap()).unwrap();
        path
    };
    let files: Vec<PathBuf> = operators.iter_mut().enumerate().map(write).collect();
    let read = |(shard, mut operator): (usize, Box<dyn KeyedWindowOperator<K, T, Out>>)| {
        let wanted = |hash| owner(hash, now) == shard;
        for file in &files {
            let mut reader = StateFile::open(file).unwrap().into_reader();
            operator.archive(&mut reader.stage(STAGE), &Taking { wanted: &wanted, counts: shard == 0 }).unwrap();
            reader.end_stage().unwrap();
        }
        operator
    };
    fresh.into_iter().enumerate().map(read).collect()
}

fn owner(hash: KeyHash, shards: usize) -> usize {
    KeyGroups::new(KEY_GROUPS, shards as u32).owner_of(hash) as usize
}

/// What the shards give together.
fn together(outcomes: Vec<Outcome>) -> Outcome {
    let mut all = Outcome { results: Vec::new(), late: Vec::new(), counts: [0; 4] };
    for outcome in outcomes {
        all.results.extend(outcome.results);
        all.late.extend(outcome.late);
        all.counts.iter_mut().zip(outcome.counts).for_each(|(all, count)| *all += count);
    }
    all.results = by_key(&all.results);
    all.late.sort_by_key(|&(place, ..)| place);
    all
}

/// Runs the blocks on operators that often go on in others.
fn broken_off(
    blocks: &[Block],
    new: impl Fn() -> Operator,
    tag: &OutputTag<super::Element>,
    (random, shards_max): (&mut Random, u64),
    folder: &Path,
) -> Vec<Outcome> {
    let mut operators = vec![new()];
    let mut outcomes = Vec::new();
    for block in blocks {
        if random.below(3) > 0 {
            let fresh = (0..1 + random.below(shards_max)).map(|_| new()).collect();
            operators = deal_anew(&mut operators, fresh, owner, folder);
        }
        let shards = operators.len();
        let give = |(shard, operator): (usize, &mut Operator)| {
            run_block(block, &mut **operator, tag, (&mut *random, 9), |row| owner(row.hash, shards) == shard)
        };
        outcomes.push(together(operators.iter_mut().enumerate().map(give).collect()));
    }
    outcomes
}

fn compare(seed: u64, sessions: bool, folder: &Path) {
    let mut random = Random::new(seed);
    let kind = Kind::random(&mut random, sessions);
    let blocks = make(&mut random, &kind);
    // Keys whose hashes are not their own are refused.
    if blocks.iter().flat_map(|block| &block.rows).any(|row| row.hash != key_hash(&row.key)) {
        return;
    }
    let tag = OutputTag::new("late");
    for (name, new) in [
        ("fast", &(|| kind.fast(&tag)) as &dyn Fn() -> Operator),
        ("general", &|| kind.general(&tag)),
        ("with the ends of time", &|| kind.with_edge(&tag)),
    ] {
        let expected = run(&blocks, &mut *new(), &tag, (&mut random, 1), |_| true);
        for shards_max in [1, SHARDS_MAX] {
            let found = broken_off(&blocks, new, &tag, (&mut random, shards_max), folder);
            for (number, (found, expected)) in found.into_iter().zip(&expected).enumerate() {
                let expected = together(vec![expected.clone()]);
                assert_eq!(found, expected, "seed {seed}, up to {shards_max} shards, {name}, block {number}: {kind:?}");
            }
        }
    }
}

fn compare_all(seeds: u64, sessions: bool) {
    let folder = tempfile::tempdir().unwrap();
    let times = std::env::var("FUZZ_TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    (0..seeds.saturating_mul(times)).for_each(|seed| compare(seed, sessions, folder.path()));
}

#[test]
fn slices_go_on_from_files_as_if_nothing_had_happened() {
    compare_all(400, false);
}

#[test]
fn sessions_go_on_from_files_as_if_nothing_had_happened() {
    compare_all(300, true);
}

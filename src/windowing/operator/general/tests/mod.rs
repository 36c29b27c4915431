//! The operator against what Flink has answered, and against its twin.

mod build;
mod case;
mod drive;
mod generate;
mod rules;
mod twin;

use std::path::Path;

use serde_json::{Value as Json, json};

use case::{Case, Function, Outcome, Value, Windows};
use drive::{Block, BlockOutput, Shards, blocks};
use twin::Twin;

use crate::random::Random;
use crate::windowing::operator::OperatorCounts;

/// An output as the recorded cases have it.
fn recorded_form(step: &Json, (results, late): &BlockOutput) -> Vec<Json> {
    let value = |value: &Value| match value {
        Value::Null => Json::Null,
        Value::Int(v) => json!(v),
        Value::Float(v) => json!(v),
        Value::List(v) => json!(v),
    };
    let result = |outcome: &Outcome| {
        let (key, value) = (&outcome.key, value(&outcome.value));
        match outcome.window {
            Some((start, end)) => {
                json!({"step": step, "kind": "result", "k": key, "start": start, "end": end, "value": value})
            }
            None => json!({"step": step, "kind": "result", "k": key, "value": value}),
        }
    };
    let late = late.iter().map(|e| json!({"step": step, "kind": "late", "k": e.k, "t": e.t, "value": e.v}));
    results.iter().map(result).chain(late).collect()
}

/// Sorted; numbers that are equal look equal, and so do lists of equal elements where their order is not ours.
fn comparable(entries: &[Json], any_order: bool) -> Vec<String> {
    let mut texts: Vec<String> = entries
        .iter()
        .map(|entry| {
            let mut entry = entry.clone();
            if let Some(list) = entry["value"].as_array_mut().filter(|_| any_order) {
                list.sort_by_key(|v| v.as_i64());
            }
            if let Some(float) = entry["value"].as_f64().filter(|_| entry["value"].is_f64()) {
                entry["value"] = json!(format!("{float:.9e}"));
            }
            let mut fields: Vec<String> =
                entry.as_object().expect("an object").iter().map(|(name, value)| format!("{name}={value}")).collect();
            fields.sort();
            fields.join(" ")
        })
        .collect();
    texts.sort();
    texts
}

/// `None` where all is well.
fn fault(recorded: &Json) -> Option<String> {
    let case = Case::read(recorded);
    let any_order = recorded["merge_order"].as_bool().unwrap_or(false);
    if any_order && case.evictor.is_some() {
        return None;
    }
    let mut random = Random::new(1);
    let mut run = || -> crate::error::Result<(Vec<Json>, u64)> {
        let mut shards = Shards::new(&case, 1)?;
        let (mut entries, blocks) = (Vec::new(), blocks(&case.steps, || true));
        for (step, block) in blocks.iter().enumerate() {
            let step = if step + 1 == blocks.len() { json!("end") } else { json!(step) };
            entries.extend(recorded_form(&step, &shards.run(block, &mut random)?));
        }
        Ok((entries, shards.counts().late_dropped))
    };
    match (run(), recorded.get("expected_error")) {
        (Err(_), Some(_)) => None,
        (Err(error), None) => Some(format!("{error}")),
        (Ok(_), Some(error)) => Some(format!("Flink refuses it: {error}")),
        (Ok((entries, dropped)), None) => {
            let expected = comparable(recorded["expected"].as_array().expect("a list"), any_order);
            let found = comparable(&entries, any_order);
            let dropped_is_wrong = !case.side_output && recorded["late_dropped"] != json!(dropped);
            (expected != found || dropped_is_wrong)
                .then(|| format!("expected {expected:#?}, found {found:#?}, {dropped} late"))
        }
    }
}

#[test]
fn every_recorded_timeline_gives_what_flink_gave() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/conformance/timeline");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut faults = Vec::new();
    for file in &files {
        let recorded: Json = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        if let Some(fault) = fault(&recorded) {
            faults.push(format!("{}: {fault}", file.display()));
        }
    }
    assert!(files.len() >= 265, "{} recorded cases", files.len());
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), files.len(), faults.join("\n"));
}

/// What is counted, as the twin knows it.
fn counts_of(twin: &Twin, buffers: bool) -> OperatorCounts {
    OperatorCounts {
        late_dropped: twin.late_dropped,
        late_side_output: twin.late_side_output,
        open_windows: twin.open_windows(),
        fired: twin.fired,
        unfired_at_cleanup: twin.unfired(),
        buffered_elements: if buffers { twin.elements() } else { 0 },
        accumulators: if buffers { 0 } else { twin.with_contents() },
        state_bytes: 0,
    }
}

/// Runs a case on the operator and on its twin, block by block.
fn compare(case: &Case, blocks: &[Block], shards: usize, random: &mut Random) -> Result<(), String> {
    let mut operator = Shards::new(case, shards).map_err(|error| format!("refused: {error}"))?;
    let mut twin = Twin::new(case);
    let keeps = matches!(case.windows, Windows::CountSliding { .. }) || case.evictor.is_some();
    let buffers = keeps || case.function == Function::List;
    for (number, block) in blocks.iter().enumerate() {
        let found = operator.run(block, random).map_err(|error| format!("block {number}: {error}"))?;
        let expected = twin.run(block);
        if found != expected {
            let lines = |(results, late): BlockOutput| {
                results
                    .iter()
                    .map(|one| format!("{one:?}\n"))
                    .chain(late.iter().map(|one| format!("{one:?}\n")))
                    .collect::<String>()
            };
            return Err(format!("block {number} {block:?}:\nexpected\n{}found\n{}", lines(expected), lines(found)));
        }
        let (found, expected) = (operator.counts(), counts_of(&twin, buffers));
        if found != expected {
            return Err(format!("block {number}: expected {expected:#?}\nfound {found:#?}"));
        }
    }
    Ok(())
}

fn compare_seeds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = Random::new(seed);
        let case = generate::case(&mut random);
        let one_by_one = blocks(&case.steps, || true);
        let length = 1 + random.below(12);
        let coarse = blocks(&case.steps, || random.below(length) == 0);
        for (blocks, shards) in [(&one_by_one, 1), (&coarse, 1), (&coarse, 3)] {
            if let Err(fault) = compare(&case, blocks, shards, &mut random) {
                panic!("seed {seed}, {shards} shards, {case:?}\n{fault}");
            }
        }
    }
}

#[test]
fn generated_timelines_give_what_the_twin_gives_in_any_batches_on_any_shards() {
    compare_seeds(0..10_000);
}

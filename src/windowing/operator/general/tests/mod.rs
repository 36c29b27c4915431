//! The operator against what Flink has answered, and against its twin.

mod build;
mod case;
mod drive;
mod generate;
mod rules;
mod twin;

use std::path::Path;

use serde_json::{Value as Json, json};

use case::{Case, Ev, Firing, Function, Outcome, Step, Value, Windows};
use drive::{Block, BlockOutput, Shards, blocks};
use twin::Twin;

use crate::random::Random;
use crate::windowing::function::PaneTiming;
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
        without_window: twin.without_window,
        open_windows: twin.open_windows(),
        fired: twin.fired,
        unfired_at_cleanup: twin.unfired(),
        buffered_elements: if buffers { twin.elements() } else { 0 },
        accumulators: if buffers { 0 } else { twin.with_contents() },
        state_bytes: 0,
    }
}

/// Runs a case on the operator and on its twin, block by block. `folder`: the operator often goes on in fresh ones, whose
/// state is in files there.
fn compare(
    case: &Case,
    blocks: &[Block],
    shards: usize,
    (random, folder): (&mut Random, Option<&Path>),
) -> Result<(), String> {
    let mut operator = Shards::new(case, shards).map_err(|error| format!("refused: {error}"))?;
    let mut twin = Twin::new(case);
    let keeps = matches!(case.windows, Windows::CountSliding { .. }) || case.evictor.is_some();
    let buffers = keeps || case.function == Function::List;
    for (number, block) in blocks.iter().enumerate() {
        if let Some(folder) = folder.filter(|_| random.below(3) == 0) {
            let restored = operator.go_on(case, 1 + random.below(4) as usize, folder);
            restored.map_err(|error| format!("before block {number}: {error}"))?;
        }
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
            if let Err(fault) = compare(&case, blocks, shards, (&mut random, None)) {
                panic!("seed {seed}, {shards} shards, {case:?}\n{fault}");
            }
        }
    }
}

#[test]
fn generated_timelines_give_what_the_twin_gives_in_any_batches_on_any_shards() {
    compare_seeds(0..10_000);
}

#[test]
fn generated_timelines_give_the_same_when_they_go_on_from_files() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let case = generate::case(&mut random);
        let length = 1 + random.below(12);
        let coarse = blocks(&case.steps, || random.below(length) == 0);
        if let Err(fault) = compare(&case, &coarse, 1, (&mut random, Some(folder.path()))) {
            panic!("seed {seed}, {case:?}\n{fault}");
        }
    }
}

/// The results of a case, one step a block.
fn results(case: &Case) -> Vec<Outcome> {
    let (mut shards, mut random) = (Shards::new(case, 1).unwrap(), Random::new(1));
    blocks(&case.steps, || true).iter().flat_map(|block| shards.run(block, &mut random).unwrap().0).collect()
}

fn element(t: i64, v: i64, gap: i64) -> Step {
    Step::Element(Ev { k: String::from("a"), t, v, gap })
}

fn lists(windows: Windows, trigger: Option<Firing>, steps: Vec<Step>) -> Case {
    let (evictor, lateness, side_output, function) = (None, 0, false, Function::List);
    Case { windows, trigger, evictor, lateness, side_output, function, steps }
}

#[test]
fn a_session_as_long_as_one_that_has_grown_joins_it() {
    // Flink gives the window of the last element a state of its own and loses the first two.
    let steps = vec![element(0, 1, 5), element(3, 2, 7), element(0, 4, 10)];
    let results = results(&lists(Windows::DynamicSession, None, steps));
    let [only] = &results[..] else { panic!("{results:?}") };
    assert_eq!((&only.value, only.window), (&Value::List(vec![1, 2, 4]), Some((0, 10))));
}

#[test]
fn a_trigger_at_intervals_ends_with_the_input_where_the_window_has_no_end() {
    // In Flink it goes on up to the greatest time. What is registered when the input ends still fires: the next
    // interval, and the end of the window.
    let steps = vec![element(1, 1, 0), Step::Watermark(25), element(26, 2, 0)];
    let results = results(&lists(Windows::Global { end_of_stream: false }, Some(Firing::Continuous(10)), steps));
    let found: Vec<_> = results.iter().map(|one| (one.value.clone(), one.timing, one.index)).collect();
    let (one, two) = (Value::List(vec![1]), Value::List(vec![1, 2]));
    let expected = [
        (one.clone(), PaneTiming::Early, 0),
        (one, PaneTiming::Early, 1),
        (two.clone(), PaneTiming::Early, 2),
        (two, PaneTiming::OnTime, 3),
    ];
    assert_eq!(found, expected);
}

#[test]
fn firings_are_early_on_time_or_late_and_numbered_through_merges() {
    let trigger = Some(Firing::EarlyCount(2));
    let steps = vec![
        element(0, 1, 0),
        element(1, 2, 0), // fires: early
        element(15, 4, 0),
        element(8, 8, 0),    // joins both: a count of 2, fires
        Step::Watermark(24), // fires at the end, purges
        element(9, 16, 0),   // its timer is in the past: fires when the watermark moves
        Step::Watermark(25),
    ];
    let case = Case { lateness: 10, ..lists(Windows::Session { gap: 10 }, trigger, steps) };
    let found: Vec<_> = results(&case).iter().map(|one| (one.timing, one.index, one.value.clone())).collect();
    let expected = [
        (PaneTiming::Early, 0, Value::List(vec![1, 2])),
        (PaneTiming::Early, 1, Value::List(vec![1, 2, 4, 8])),
        (PaneTiming::OnTime, 2, Value::List(vec![1, 2, 4, 8])),
        (PaneTiming::Late, 3, Value::List(vec![16])),
    ];
    assert_eq!(found, expected);
}

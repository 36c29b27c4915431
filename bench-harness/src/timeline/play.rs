//! Feeding a script to its program.

use std::path::Path;

use transom::api::testing::TestHarness;
use transom::api::{StreamExecutionEnvironment, WatermarkStrategy};
use transom::error::{Error, Result};
use transom::job::RunOptions;

use super::program::{self, Event, Form, Taken};
use super::script::{At, Output, Script, Step, Value, What};

/// What a run gave.
#[derive(Debug, Clone)]
pub struct Played {
    pub outputs: Vec<Output>,
    pub late_dropped: u64,
}

/// Each step by itself.
///
/// # Errors
/// The program's faults, and those of its functions.
pub fn step_by_step(script: &Script, form: Form) -> Result<Played> {
    let mut fed = Fed::new(script, form)?;
    for (number, step) in script.steps.iter().enumerate() {
        fed.step(number, step)?;
    }
    fed.end()
}

/// Elements between two watermarks as one batch; what came of it is said to be of its first step.
///
/// # Errors
/// As [`step_by_step`].
pub fn in_batches(script: &Script, form: Form) -> Result<Played> {
    let mut fed = Fed::new(script, form)?;
    let mut start = 0;
    for batch in script.steps.chunk_by(|a, b| is_element(a) && is_element(b)) {
        match &batch[0] {
            Step::Watermark(watermark) => fed.harness.process_watermark(*watermark)?,
            Step::Element { .. } => {
                let timed = batch.iter().map(|step| (event(step), time(step))).collect();
                fed.harness.process_elements(timed)?;
            }
        }
        fed.take(At::Step(start));
        start += batch.len();
    }
    fed.end()
}

/// The number of the first step of the batch to which a step belongs.
pub fn batch_of(script: &Script, step: usize) -> usize {
    let steps = &script.steps[..=step];
    if !is_element(&steps[step]) {
        return step;
    }
    steps.iter().rposition(|step| !is_element(step)).map_or(0, |watermark| watermark + 1)
}

/// As a job: records of a source, some of which only carry a watermark. Which step an output belongs to is not known.
///
/// # Errors
/// As [`step_by_step`].
pub fn executed(script: &Script, form: Form, shards: usize, block_rows: usize) -> Result<Played> {
    let environment = StreamExecutionEnvironment::new();
    environment.on_warning(|_| {});
    environment.set_run_options(RunOptions { shards, batch_rows: block_rows, ..RunOptions::default() });
    let strategy = WatermarkStrategy::for_punctuated(|step: &Step, _| watermark(step)).with_timestamp_assigner(time);
    let steps = environment.from_collection(script.steps.clone()).assign_timestamps_and_watermarks(strategy);
    let taken = program::build(script, form, &steps.filter(is_element).map(|step| event(&step)))?;
    let result = environment.execute()?;
    let mut outputs = Vec::new();
    collect(&taken, At::End, &mut outputs);
    Ok(Played { outputs, late_dropped: result.late_records_dropped() })
}

pub(super) fn is_element(step: &Step) -> bool {
    watermark(step).is_none()
}

pub(super) fn watermark(step: &Step) -> Option<i64> {
    match step {
        Step::Element { .. } => None,
        Step::Watermark(watermark) => Some(*watermark),
    }
}

pub(super) fn time(step: &Step) -> i64 {
    match step {
        Step::Element { time, .. } => *time,
        Step::Watermark(watermark) => *watermark,
    }
}

pub(super) fn event(step: &Step) -> Event {
    match step {
        Step::Element { key, time, value, gap } => Event { key: key.clone(), time: *time, value: *value, gap: *gap },
        Step::Watermark(_) => Event { key: String::new(), time: 0, value: 0, gap: 0 },
    }
}

/// A program in a test harness, and what it has given so far.
pub(super) struct Fed {
    harness: TestHarness<Event>,
    taken: Taken,
    outputs: Vec<Output>,
}

impl Fed {
    pub fn new(script: &Script, form: Form) -> Result<Self> {
        let mut built = None;
        let harness = TestHarness::new(|input| built = Some(program::build(script, form, &input)))?;
        let taken = built.unwrap_or_else(|| Err(Error::internal("the program was not built")))?;
        Ok(Fed { harness, taken, outputs: Vec::new() })
    }
    pub fn step(&mut self, number: usize, step: &Step) -> Result<()> {
        match step {
            Step::Element { time, .. } => self.harness.process_element(event(step), *time)?,
            Step::Watermark(watermark) => self.harness.process_watermark(*watermark)?,
        }
        self.take(At::Step(number));
        Ok(())
    }
    /// Goes on in a fresh program, with the state that the file at `path` takes.
    pub fn go_on(self, script: &Script, form: Form, path: &Path) -> Result<Self> {
        let Fed { mut harness, outputs, .. } = self;
        harness.snapshot(path)?;
        let mut fresh = Fed { outputs, ..Fed::new(script, form)? };
        fresh.harness.initialize_state(path)?;
        Ok(fresh)
    }
    pub fn take(&mut self, at: At) {
        collect(&self.taken, at, &mut self.outputs);
    }
    pub fn end(mut self) -> Result<Played> {
        self.harness.end_input()?;
        self.take(At::End);
        let late_dropped = self.harness.operator_counts().iter().map(|counts| counts.late_dropped).sum();
        Ok(Played { outputs: self.outputs, late_dropped })
    }
}

/// An element that was too late.
pub(super) fn late_output(event: Event, at: At) -> Output {
    let Event { key, time, value, .. } = event;
    Output { at, key, what: What::Late(time), value: Value::Integer(value) }
}

/// A result of a window.
pub(super) fn result_output((key, window, value): program::Found, at: At) -> Output {
    Output { at, key, what: What::Result(window), value }
}

fn collect(taken: &Taken, at: At, outputs: &mut Vec<Output>) {
    let results = taken.results.take().into_iter();
    outputs.extend(results.map(|found| result_output(found, at)));
    if let Some(late) = &taken.late {
        let late = late.take_timed().into_iter();
        outputs.extend(late.map(|(event, time)| late_output(Event { time, ..event }, at)));
    }
}

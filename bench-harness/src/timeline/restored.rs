//! Scripts that are broken off and gone on with.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tempfile::TempDir;
use transom::api::{RestoreFrom, RowBuilder, StreamExecutionEnvironment, TableSink, WatermarkStrategy};
use transom::error::{Error, Result};
use transom::job::RunOptions;

use super::play::{self, Fed, Played};
use super::program::{self, Form, Streams};
use super::script::{self, At, Output, Script, Step};
use crate::engine::{Restores, SHARDS};
use crate::json::Json;

/// Records of a block: so that short scripts have several.
const BLOCK_ROWS: usize = 3;
/// Cuts come by themselves.
const INTERVAL: Duration = Duration::from_secs(86_400);

/// Each step by itself; behind every `every` of them the program's state is written to a file and read by a fresh one.
///
/// # Errors
/// As [`play::step_by_step`].
pub fn step_by_step(script: &Script, form: Form, every: usize, restores: &Restores) -> Result<Played> {
    let folder = folder()?;
    let mut fed = Fed::new(script, form)?;
    for (number, step) in script.steps.iter().enumerate() {
        fed.step(number, step)?;
        if (number + 1).is_multiple_of(every) {
            fed = fed.go_on(script, form, &folder.path().join("state"))?;
            restores.note();
        }
    }
    fed.end()
}

/// As a job that is broken off at every checkpoint, one a block, and goes on from there on another number of shards. What
/// comes of it is in files.
///
/// # Errors
/// As [`play::executed`].
pub fn executed(script: &Script, form: Form, restores: &Restores) -> Result<Played> {
    let folder = folder()?;
    for (run, shards) in SHARDS.into_iter().cycle().enumerate() {
        let environment = StreamExecutionEnvironment::new();
        let options =
            RunOptions { shards, batch_rows: BLOCK_ROWS, checkpoint_blocks: Some(1), ..RunOptions::default() };
        environment.on_warning(|_| {}).set_run_options(options).set_job_name("timeline");
        environment.set_checkpoint_storage(folder.path().join("checkpoints")).enable_checkpointing(INTERVAL);
        if run > 0 {
            environment.restore(RestoreFrom::Latest);
        }
        let broken = Rc::new(Cell::new(false));
        let breaks = broken.clone();
        environment.on_checkpoint(move |_| {
            breaks.set(true);
            Err(Error::cancelled())
        });
        build(script, form, &environment, folder.path())?;
        match environment.execute() {
            Err(_) if broken.get() => restores.note(),
            Err(error) => return Err(error),
            Ok(result) => {
                let outputs = read(script, folder.path())?;
                return Ok(Played { outputs, late_dropped: result.late_records_dropped() });
            }
        }
    }
    Err(Error::internal("a job without an end"))
}

fn folder() -> Result<TempDir> {
    tempfile::tempdir().map_err(|error| Error::io("create", "a temporary folder", error))
}

fn build(script: &Script, form: Form, environment: &StreamExecutionEnvironment, folder: &Path) -> Result<()> {
    let watermarks = WatermarkStrategy::for_punctuated(|step: &Step, _| play::watermark(step));
    let strategy = watermarks.with_timestamp_assigner(play::time);
    let steps = environment.from_collection(script.steps.clone()).assign_timestamps_and_watermarks(strategy);
    let elements = steps.filter(play::is_element).map(|step| play::event(&step));
    let Streams { results, late } = program::streams(script, form, &elements)?;
    results.map(|found| play::result_output(found, At::End)).sink_to(lines(&folder.join("results.txt"))?);
    if let Some(late) = late {
        late.map(|event| play::late_output(event, At::End)).sink_to(lines(&folder.join("late.txt"))?);
    }
    Ok(())
}

/// A file with a line for each output.
fn lines(path: &Path) -> Result<TableSink<Output>> {
    let ddl = format!(
        "CREATE TABLE outputs (line STRING) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'raw')",
        path.display()
    );
    TableSink::from_ddl(&ddl, |output: Output, row: &mut RowBuilder| row.set(0, output.to_json().to_string().as_str()))
}

fn read(script: &Script, folder: &Path) -> Result<Vec<Output>> {
    let mut outputs = Vec::new();
    for path in ["results.txt", "late.txt"].map(|name| folder.join(name)).into_iter().filter(|path| path.exists()) {
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io("read", path.display(), error))?;
        for line in text.lines() {
            let output = Json::parse(line).and_then(|json| script::output(&json, script.function));
            outputs.push(output.map_err(|why| Error::internal(format!("{line}: {why}")))?);
        }
    }
    Ok(outputs)
}

//! The only door to the engine.

use std::collections::BTreeMap;

use transom::error::Result;
use transom::job::{NoReport, RunOptions};
use transom::runner::run_script;
use transom::sql::ScriptOptions;

/// A script and how to run it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub text: String,
    /// File name for messages.
    pub file: String,
    /// `${NAME}` in the script.
    pub variables: BTreeMap<String, String>,
    pub tuning: Tuning,
}

/// What may change speed, but never answers. `None`: the engine's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tuning {
    pub shards: Option<usize>,
    pub batch_rows: Option<usize>,
    pub block_bytes: Option<usize>,
}

/// Runs the whole script and waits for its jobs.
///
/// # Errors
/// The engine's, as it is.
pub fn run(request: &Request) -> Result<()> {
    let Tuning { shards, batch_rows, block_bytes } = request.tuning;
    let defaults = RunOptions::default();
    let options = RunOptions {
        shards: shards.unwrap_or(defaults.shards),
        batch_rows: batch_rows.unwrap_or(defaults.batch_rows),
        block_bytes: block_bytes.unwrap_or(defaults.block_bytes),
        ..defaults
    };
    let script =
        ScriptOptions { file: request.file.clone(), variables: request.variables.clone(), ..ScriptOptions::default() };
    run_script(&request.text, &script, &options, &mut NoReport).map(drop)
}

//! The only door to the engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use transom::error::{Error, Result};
use transom::job::{Completed, NoReport, Report, RestoreFrom, RunOptions};
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
    /// Break the jobs off at every checkpoint, go on from it, and count how often.
    pub restores: Option<Restores>,
}

/// How often jobs went on from checkpoints.
#[derive(Debug, Clone, Default)]
pub struct Restores(Arc<AtomicUsize>);

impl Restores {
    /// One more.
    pub fn note(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
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
    match &request.restores {
        None => run_script(&request.text, &script, &options, &mut NoReport).map(drop),
        Some(restores) => run_in_pieces(&request.text, script, options, restores),
    }
}

/// The numbers of shards that take turns: state is dealt out anew at every restore but those to as many as before.
pub const SHARDS: [usize; 4] = [2, 2, 7, 1];
/// Then pieces become twice as long.
const PIECES_OF_A_LENGTH: usize = 10;
/// So that even small inputs have several blocks.
const SMALL_BLOCK_BYTES: usize = 100;

/// Takes a checkpoint after every block of input, breaks off at each of them, and goes on from there.
fn run_in_pieces(text: &str, mut script: ScriptOptions, mut options: RunOptions, restores: &Restores) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| Error::io("create", "a folder for checkpoints", error))?;
    let settings = [("interval", "1 d".to_string()), ("dir", folder.path().display().to_string())];
    for (key, value) in settings {
        script.overrides.push((format!("execution.checkpointing.{key}"), value));
    }
    options.block_bytes = options.block_bytes.min(SMALL_BLOCK_BYTES);
    for (piece, shards) in SHARDS.into_iter().cycle().enumerate() {
        options.shards = shards;
        // The pieces of long inputs grow, or they would never end.
        options.checkpoint_blocks = Some(1 << (piece / PIECES_OF_A_LENGTH).min(20));
        let mut breaking = Breaking { broken: false };
        match run_script(text, &script, &options, &mut breaking) {
            Err(_) if breaking.broken => {
                options.restore = Some(RestoreFrom::Latest);
                restores.note();
            }
            result => return result.map(drop),
        }
    }
    Ok(())
}

/// Stops the job at its first checkpoint.
struct Breaking {
    broken: bool,
}

impl Report for Breaking {
    fn checkpointed(&mut self, _checkpoint: &Completed) -> Result<()> {
        self.broken = true;
        Err(Error::cancelled())
    }
}

//! The only door to the engine.

use std::collections::BTreeMap;

use transom::error::{Error, Result};

/// False while [`run`] has no engine behind it; tests that need answers then have nothing to check.
pub const CONNECTED: bool = false;

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
#[derive(Debug, Clone, Copy, Default)]
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
    let _ = request;
    Err(Error::internal("the harness was built without an engine"))
}

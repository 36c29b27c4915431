//! The front end for Flink SQL scripts: text in, job plans out. Nothing here reads data.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::plan::JobPlan;
use crate::types::Schema;

/// What the command line adds to a script.
#[derive(Debug, Clone, Default)]
pub struct ScriptOptions {
    /// File name for messages.
    pub file: String,
    /// `${NAME}` in the script stands for the value (`--set NAME=value`).
    pub variables: BTreeMap<String, String>,
    /// `-D key=value`: overrides what the script sets.
    pub overrides: Vec<(String, String)>,
}

/// A statement ready to run, in script order. DDL and SET have taken effect and leave no statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Number of the statement in the script, from 1.
    pub number: usize,
    /// Line where it starts.
    pub line: u64,
    pub action: Action,
}

#[derive(Debug, Clone)]
pub enum Action {
    /// INSERT INTO (or a statement set).
    Insert(JobPlan),
    /// SELECT: one pipeline whose sink is [`crate::plan::SinkConnector::Collect`].
    Select { plan: JobPlan, schema: Schema },
    /// EXPLAIN: the text to print.
    Explain(String),
}

/// A compiled script.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub statements: Vec<Statement>,
    /// Settings and options that do not do what their author may think, one sentence each.
    pub warnings: Vec<String>,
}

/// Parses, checks and plans a whole script before anything runs.
///
/// # Errors
/// Kind Script or Unsupported, with file, line, column and number of the statement.
pub fn compile(text: &str, options: &ScriptOptions) -> Result<Script> {
    let _ = (text, options);
    Err(Error::internal("the SQL front end is not there yet"))
}

/// The plan as text, as `transom explain` prints it: operators indented from the sink down, each window
/// operator with its key, windows, slices, watermark rule and chosen operator.
pub fn explain(plan: &JobPlan) -> String {
    format!("{} pipelines", plan.pipelines.len())
}

//! The front end for Flink SQL scripts: text in, job plans out. Nothing here reads data.

mod aggregate;
mod alter;
mod answer;
mod binder;
mod catalog;
mod conditions;
mod constant;
mod ddl;
mod definition;
mod dialect;
mod digits;
mod exists;
mod explain;
mod files;
mod function;
mod group;
mod group_window;
mod grouping;
mod inquiry;
mod interval;
mod join;
mod json;
mod lexeme;
mod like;
mod lint;
mod live;
mod logical;
mod lower;
mod near;
mod over;
mod processing;
mod query;
mod rank;
mod render;
mod scope;
mod session;
mod setting_keys;
mod settings;
mod settle;
mod sink;
mod split;
mod statement;
pub mod table;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod unnest;
mod updating;
mod values;
mod versions;
mod window;

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::plan::JobPlan;
use crate::types::Schema;
pub use answer::Answer;
pub use explain::{Amount, Counted, Look, StateSize, duration, explain, findings, look_at_times, state_sizes};
pub use lexeme::{Lexeme, LexemeKind, is_wordy, lexemes};
pub use lint::{Lint, Rule};
pub use live::{LiveSession, Prepared, Relation, function_names};
pub use setting_keys::{RESULT_MODE, setting_names};
pub use split::{Piece, Pieces, pieces};

/// Stack for binding a script: syntax trees are walked by recursion, and callers' stacks may be small.
const STACK_BYTES: usize = 64 << 20;

/// What the command line adds to a script.
#[derive(Debug, Clone, Default)]
pub struct ScriptOptions {
    /// File name for messages.
    pub file: String,
    /// `${NAME}` in the script stands for the value (`--set NAME=value`).
    pub variables: BTreeMap<String, String>,
    /// `-D key=value`: overrides what the script sets.
    pub overrides: Vec<(String, String)>,
    /// The script itself came from stdin, so that no table can be read from there.
    pub script_on_stdin: bool,
}

/// A statement ready to run, in script order. DDL and SET have taken effect and leave no statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Number of the statement in the script, from 1.
    pub number: usize,
    /// Line where it starts.
    pub line: u64,
    pub action: Action,
    /// What is allowed, and hardly meant: in the order of the places.
    pub lints: Vec<Lint>,
}

impl Statement {
    /// Settings that were accepted, but mean nothing on one machine.
    pub fn ignored_settings(&self) -> impl Iterator<Item = &str> {
        self.plan().into_iter().flat_map(|plan| &plan.config.ignored).map(String::as_str)
    }

    /// Of its job, if it is one.
    pub fn plan(&self) -> Option<&JobPlan> {
        match &self.action {
            Action::Insert(plan) | Action::Select { plan, .. } => Some(plan),
            Action::Explain(_) | Action::Answer(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Action {
    /// INSERT INTO (or a statement set).
    Insert(JobPlan),
    /// SELECT: one pipeline whose sink is [`crate::plan::SinkConnector::Collect`].
    Select { plan: JobPlan, schema: Schema },
    /// EXPLAIN: the plan to put into words.
    Explain(JobPlan),
    /// SHOW or DESCRIBE: what the catalog says at this point of the script.
    Answer(Answer),
}

/// A compiled script.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub statements: Vec<Statement>,
    /// What a run says before it begins: of the command line, and the findings that are warnings.
    pub warnings: Vec<String>,
}

/// Parses, checks and plans a whole script before anything runs.
///
/// # Errors
/// Kind Script or Unsupported, with file, line, column and number of the statement.
pub fn compile(text: &str, options: &ScriptOptions) -> Result<Script> {
    on_deep_stack(&options.file, || compile_here(text, options))
}

/// Works on a script where there is stack enough. `file`: its name, for messages.
fn on_deep_stack<R: Send>(file: &str, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    deep_stack(work).map_err(|error| match error.place() {
        Some(_) => error.in_file(file),
        None => error,
    })
}

fn deep_stack<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("sql".to_string()).stack_size(STACK_BYTES);
        let handle = thread.spawn_scoped(scope, work).map_err(|error| Error::io("start", "a thread", error))?;
        handle.join().unwrap_or_else(|_| Err(Error::internal("the SQL front end broke")))
    })
}

fn compile_here(text: &str, options: &ScriptOptions) -> Result<Script> {
    let mut session = session::Session::new(text, &options.overrides)?;
    session.file.clone_from(&options.file);
    let mut script = Script::default();
    for (index, tokens) in text::statements(text, &options.variables)?.iter().enumerate() {
        let number = index + 1;
        let action = statement::parse(&tokens.tokens).and_then(|statement| session.execute(&statement, &tokens.tokens));
        let action = action.map_err(|error| error.at(tokens.line, 1).in_statement(number))?;
        if let Some(action) = action {
            let lints = std::mem::take(&mut session.lints).into_iter().map(|lint| lint.in_file(&options.file));
            script.statements.push(Statement { number, line: tokens.line, action, lints: lints.collect() });
        }
    }
    let settings = session.settings.lints().into_iter().map(|lint| lint.in_file(&options.file));
    // The text of EXPLAIN has its own.
    let run = script.statements.iter().filter(|statement| !matches!(statement.action, Action::Explain(_)));
    let lints = run.flat_map(|statement| statement.lints.iter().cloned()).chain(settings);
    let lints = lint::in_order(lints.filter(|lint| lint.rule.warns()).collect());
    script.warnings = session.warnings.into_iter().chain(lints.iter().map(Lint::to_string)).collect();
    Ok(script)
}

//! `transom explain`.

use std::io::Write;

use transom::error::{Error, Result};
use transom::runner;
use transom::sql::{self, Action, Lint, Statement};

use super::{Loaded, say};

pub fn explain(loaded: &Loaded) -> Result<()> {
    let script = sql::compile(&loaded.text, &loaded.options)?;
    let mut text = String::new();
    let mut told: Vec<Lint> = Vec::new();
    for statement in &script.statements {
        text.push_str(&format!("== statement {}, line {}\n", statement.number, statement.line));
        // Of a table that several statements read, the first one tells.
        let new: Vec<Lint> = statement.lints.iter().filter(|lint| !told.contains(lint)).cloned().collect();
        text.push_str(&explained(statement, &new));
        text.push('\n');
        told.extend(new);
    }
    for warning in &script.warnings {
        if !told.iter().any(|lint| lint.to_string() == *warning) {
            say(&format!("warning: {warning}\n"));
        }
    }
    if script.statements.is_empty() {
        say("nothing to explain: the script has no INSERT or SELECT\n");
    }
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| Error::io("write to", "stdout", error))
}

fn explained(statement: &Statement, lints: &[Lint]) -> String {
    match &statement.action {
        Action::Answer(_) => "the catalog answers; there is nothing to plan\n".to_string(),
        Action::Insert(plan) | Action::Select { plan, .. } | Action::Explain(plan) => runner::explain(plan, lints),
    }
}

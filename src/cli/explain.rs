//! `transom explain`.

use std::io::Write;

use transom::error::{Error, Result};
use transom::runner;
use transom::sql::{self, Action, Lint};

use super::{Loaded, say};

pub fn explain(loaded: &Loaded) -> Result<()> {
    let script = sql::compile(&loaded.text, &loaded.options)?;
    let mut text = String::new();
    let mut told: Vec<Lint> = Vec::new();
    for statement in &script.statements {
        text.push_str(&format!("== statement {}, line {}\n", statement.number, statement.line));
        match &statement.action {
            Action::Answer(_) => text.push_str("the catalog answers; there is nothing to plan\n"),
            Action::Insert(plan) | Action::Select { plan, .. } | Action::Explain(plan) => {
                // Of a table or view that several statements read, the first one tells.
                let mut new = runner::findings(statement, plan);
                new.retain(|lint| !told.contains(lint));
                text.push_str(&runner::explain(plan, &new));
                told.append(&mut new);
            }
        }
        text.push('\n');
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

//! `transom explain`.

mod estimate;

use std::io::Write;

use transom::error::{Error, Result};
use transom::sql::{self, Action};

use super::{Loaded, say};

pub fn explain(loaded: &Loaded) -> Result<()> {
    let script = sql::compile(&loaded.text, &loaded.options)?;
    let mut text = String::new();
    for statement in &script.statements {
        text.push_str(&format!("== statement {}, line {}\n", statement.number, statement.line));
        text.push_str(&match &statement.action {
            Action::Explain(explained) => explained.clone(),
            Action::Answer(_) => "the catalog answers; there is nothing to plan\n".to_string(),
            Action::Insert(plan) | Action::Select { plan, .. } => {
                let estimate = estimate::estimate(plan);
                let plan = sql::explain(plan);
                if estimate.is_empty() { plan } else { format!("{plan}\n{estimate}") }
            }
        });
        text.push('\n');
    }
    for warning in &script.warnings {
        say(&format!("warning: {warning}\n"));
    }
    if script.statements.is_empty() {
        say("nothing to explain: the script has no INSERT or SELECT\n");
    }
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| Error::io("write to", "stdout", error))
}

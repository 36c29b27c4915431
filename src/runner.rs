//! Runs a whole Flink SQL script: the public door for the binary, the harness and programs.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::job::{self, JobSummary, Report, RunOptions};
use crate::sql::{self, Action, ScriptOptions, Statement};

/// What the jobs of a script came to, in script order.
#[derive(Debug, Clone, Default)]
pub struct ScriptSummary {
    pub jobs: Vec<JobSummary>,
}

/// Checks the whole script, then runs its statements one after the other.
///
/// # Errors
/// The first error; the statements before it have run (none if the script itself is wrong).
pub fn run_script(
    text: &str,
    options: &ScriptOptions,
    run: &RunOptions,
    report: &mut dyn Report,
) -> Result<ScriptSummary> {
    let mut script = sql::compile(text, options)?;
    for warning in &script.warnings {
        report.notice(warning);
    }
    let ignored: BTreeSet<&str> = script.statements.iter().flat_map(Statement::ignored_settings).collect();
    if !ignored.is_empty() {
        let list = ignored.into_iter().collect::<Vec<_>>().join(", ");
        report.notice(&format!("settings that mean nothing on one machine: {list}"));
    }
    check_files(&script, options.script_on_stdin).map_err(|error| error.in_file(&options.file))?;
    share_quarantines(&mut script);
    let mut summary = ScriptSummary::default();
    for statement in &script.statements {
        let placed = |error: Error| error.in_statement(statement.number).from_line(statement.line);
        let plan = match &statement.action {
            Action::Explain(text) => {
                report.explain(text)?;
                continue;
            }
            Action::Answer(answer) => {
                report.answer(&answer.schema, &answer.rows)?;
                continue;
            }
            Action::Insert(plan) | Action::Select { plan, .. } => plan,
        };
        report.statement_begins(plan)?;
        let job = job::run(plan, run, report).map_err(placed)?;
        report.statement_ends(&job)?;
        job.warnings.iter().for_each(|warning| report.warning(warning));
        summary.jobs.push(job);
    }
    Ok(summary)
}

/// The statements of a script that name the same quarantine fill one file.
fn share_quarantines(script: &mut sql::Script) {
    let mut begun = BTreeSet::new();
    for statement in &mut script.statements {
        if let Action::Insert(plan) | Action::Select { plan, .. } = &mut statement.action
            && let Some(quarantine) = &mut plan.config.quarantine
        {
            quarantine.append = !begun.insert(quarantine.path.clone());
        }
    }
}

/// Refuses a script of which one statement would replace a file that another has written, or that reads stdin twice.
fn check_files(script: &sql::Script, script_on_stdin: bool) -> Result<()> {
    let mut claims = job::Claims::default();
    if script_on_stdin {
        claims.script_from_stdin();
    }
    for statement in &script.statements {
        let claimed = match &statement.action {
            Action::Insert(plan) => {
                claims.add(plan, statement.number).and_then(|()| claims.add_stdin(plan, statement.number))
            }
            Action::Select { plan, .. } => claims.add_stdin(plan, statement.number),
            Action::Explain(_) | Action::Answer(_) => Ok(()),
        };
        claimed.map_err(|error| error.at(statement.line, 1).in_statement(statement.number))?;
    }
    Ok(())
}

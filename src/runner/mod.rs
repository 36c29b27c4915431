//! Runs a whole Flink SQL script: the public door for the binary, the harness and programs.

mod explain;
mod sample;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::job::{self, Checkpoint, JobSummary, Origin, Report, RestoreFrom, Resume, RunOptions};
use crate::sql::{self, Action, ScriptOptions, Statement};
pub use explain::{explain, findings};

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
    let mut claims = claims(options.script_on_stdin);
    check_files(&script.statements, &mut claims).map_err(|error| error.in_file(&options.file))?;
    let mut begun = BTreeSet::new();
    script.statements.iter_mut().for_each(|statement| share_asides(statement, &mut begun));
    let (done, mut checkpoint) = match restored(&script.statements, (options, run), report)? {
        None => (0, None),
        Some(Resume::Behind(done)) => (done, None),
        Some(Resume::From(checkpoint)) => (checkpoint.manifest.statement - 1, Some(*checkpoint)),
    };
    let mut summary = ScriptSummary::default();
    for statement in &script.statements {
        let placed = |error: Error| error.in_statement(statement.number).from_line(statement.line);
        let is_job = statement.plan().is_some();
        if is_job && statement.number as u64 <= done {
            report.notice(&format!("statement {} has ended well before; it is not run again", statement.number));
            continue;
        }
        let checkpoint = if is_job { checkpoint.take() } else { None };
        let origin = Origin { script: options.file.clone(), statement: statement.number, checkpoint };
        let job = carry_out(statement, (run, &origin), report, placed)?;
        let is_stopped = job.as_ref().is_some_and(|job| job.stopped.is_some());
        summary.jobs.extend(job);
        if is_stopped {
            break;
        }
    }
    Ok(summary)
}

/// The checkpoint that the script is to go on from.
fn restored(
    statements: &[Statement],
    (options, run): (&ScriptOptions, &RunOptions),
    report: &mut dyn Report,
) -> Result<Option<Resume>> {
    let folders = || statements.iter().filter_map(|statement| statement.plan()?.config.checkpoints.folder.as_ref());
    if run.restore.is_none() {
        folders().try_for_each(|folder| Checkpoint::begin_anew((&run.disk, folder), &options.file))?;
    }
    let Some(from) = &run.restore else { return Ok(None) };
    let checkpoint = match from {
        RestoreFrom::Path(path) => Checkpoint::at(path)?,
        RestoreFrom::Latest => {
            let folder = folders().next().ok_or_else(|| {
                Error::usage("--restore latest needs to know where checkpoints are")
                    .help("SET 'execution.checkpointing.dir' in the script, or name the checkpoint: --restore PATH")
            })?;
            let mut damaged = |error: &Error| report.warning(&format!("passed over: {error}"));
            match Checkpoint::latest((&run.disk, folder), &options.file, &mut damaged)? {
                Resume::From(checkpoint) => *checkpoint,
                behind @ Resume::Behind(_) => return Ok(Some(behind)),
            }
        }
    };
    let ours =
        |statement: &&Statement| statement.number as u64 == checkpoint.manifest.statement && statement.plan().is_some();
    if !statements.iter().any(|statement| ours(&statement)) {
        let (folder, statement) = (checkpoint.folder.display(), checkpoint.manifest.statement);
        return Err(Error::usage(format!(
            "{folder} is of another script: its job was statement {statement}, which is none of this script's"
        ))
        .help("restore it with the script as it was, or run this one from its beginning, without --restore"));
    }
    let written = jiff::Timestamp::from_millisecond(checkpoint.manifest.created_ms);
    let written = written.map(|time| format!("{time:.0}")).unwrap_or_default();
    report.notice(&format!("goes on from {}, of {written}", checkpoint.folder.display()));
    Ok(Some(Resume::From(Box::new(checkpoint))))
}

/// Runs statements as a session comes to them.
#[derive(Debug)]
pub struct SessionRunner {
    claims: job::Claims,
    asides: BTreeSet<String>,
}

impl SessionRunner {
    /// `script_on_stdin`: the statements themselves come from stdin, so that no table can be read from there.
    pub fn new(script_on_stdin: bool) -> SessionRunner {
        SessionRunner { claims: claims(script_on_stdin), asides: BTreeSet::new() }
    }

    /// Runs a statement to its end; with what its job came to, if it was one.
    ///
    /// # Errors
    /// Those of the job; kind Script where it cannot have the files that it wants.
    pub fn run(
        &mut self,
        mut statement: Statement,
        run: &RunOptions,
        report: &mut dyn Report,
    ) -> Result<Option<JobSummary>> {
        self.claims.forget_files();
        check_files(std::slice::from_ref(&statement), &mut self.claims)?;
        share_asides(&mut statement, &mut self.asides);
        carry_out(&statement, (run, &Origin::default()), report, |error| error)
    }
}

/// Runs a statement. `placed`: says of an error of its job where it is.
fn carry_out(
    statement: &Statement,
    (run, origin): (&RunOptions, &Origin),
    report: &mut dyn Report,
    placed: impl Fn(Error) -> Error,
) -> Result<Option<JobSummary>> {
    let plan = match &statement.action {
        Action::Explain(plan) => return report.explain(&explain(plan, &findings(statement, plan))).map(|()| None),
        Action::Answer(answer) => return report.answer(&answer.schema, &answer.rows).map(|()| None),
        Action::Insert(plan) | Action::Select { plan, .. } => plan,
    };
    report.statement_begins(plan)?;
    let job = job::run_from(plan, run, origin, report).map_err(placed)?;
    if job.stopped.is_none() {
        report.statement_ends(&job)?;
    }
    job.warnings.iter().for_each(|warning| report.warning(warning));
    Ok(Some(job))
}

/// The statements that name the same quarantine, or the same file of late rows, fill one file. `begun`: the files that have been begun.
fn share_asides(statement: &mut Statement, begun: &mut BTreeSet<String>) {
    if let Action::Insert(plan) | Action::Select { plan, .. } = &mut statement.action {
        if let Some(quarantine) = &mut plan.config.quarantine {
            quarantine.append = !begun.insert(quarantine.path.clone());
        }
        if let Some(late) = &mut plan.config.late_rows {
            late.append = !begun.insert(late.path.clone());
        }
    }
}

fn claims(script_on_stdin: bool) -> job::Claims {
    let mut claims = job::Claims::default();
    if script_on_stdin {
        claims.script_from_stdin();
    }
    claims
}

/// Refuses statements of which one would replace a file that another has written, or that reads stdin twice.
fn check_files(statements: &[Statement], claims: &mut job::Claims) -> Result<()> {
    for statement in statements {
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

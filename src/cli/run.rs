//! `transom run`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
use arrow::array::RecordBatch;
use clap::{Args, ValueEnum};
use transom::error::{Error, Result};
use transom::io::uring::Executor;
use transom::job::{JobSummary, Report, RestoreFrom, RunOptions, SavepointRequest, Snapshot};
use transom::numbers::memory_size;
use transom::plan::{JobPlan, SinkSpec};
use transom::runner::run_script;
use transom::types::Schema;

use super::progress::Progress;
use super::results::{Output, Results};
use super::savepoint::Doors;
use super::{Loaded, ScriptArgs, note, say, summary};

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub script: ScriptArgs,
    #[command(flatten)]
    flags: RunFlags,
}

/// How a script runs and what is shown of it.
#[derive(Args)]
pub struct RunFlags {
    /// Threads to run on [default: the cores of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    shards: Option<u16>,
    /// Rows in a batch; changes the speed, never the answer
    #[arg(long, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    batch_rows: u32,
    /// How to print the rows of a SELECT
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    /// Print results and errors only
    #[arg(short, long)]
    pub quiet: bool,
    /// Put records that cannot be read, and rows without an event time, into FILE instead of failing
    #[arg(long, value_name = "FILE")]
    quarantine: Option<String>,
    /// Go on from a checkpoint: the latest of this script, or the one in a folder chk-N
    #[arg(long, value_name = "latest|PATH")]
    restore: Option<String>,
    /// Memory that the state of the job may take, such as 12GiB or 500MB; what does not fit goes to --state-dir
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// A folder on a disk for state that does not fit into --memory
    #[arg(long, value_name = "DIR", requires = "memory")]
    state_dir: Option<PathBuf>,
    /// Go on from a checkpoint of a script that had more: drop the state of operators and sinks that are gone
    #[arg(long, requires = "restore")]
    allow_non_restored_state: bool,
    /// What shards run on
    #[arg(long, value_enum, default_value_t = ExecutorArg::Auto)]
    executor: ExecutorArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum ExecutorArg {
    /// io_uring where it works, else plain threads
    Auto,
    /// Plain threads
    Threads,
}

/// A number of bytes, with a unit as Flink's options have them or without.
fn size(text: &str) -> std::result::Result<u64, String> {
    memory_size(text).filter(|&bytes| bytes > 0).ok_or_else(|| "a size such as 12GiB, 500MB or 1073741824".to_string())
}

pub fn run(args: &RunArgs, loaded: &Loaded) -> Result<()> {
    execute(&args.flags, loaded)
}

/// Runs a script with its results on stdout.
pub fn execute(args: &RunFlags, loaded: &Loaded) -> Result<()> {
    // Before there is any thread, so that none takes the signal.
    let doors = Doors::open();
    let cancel = Arc::new(AtomicBool::new(false));
    let interrupted = cancel.clone();
    // Ctrl-C, SIGTERM and SIGHUP let the job take a last checkpoint, or undo what it wrote; a second one ends the process
    // at once.
    ctrlc::set_handler(move || {
        if interrupted.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Error::usage(format!("cannot listen for Ctrl-C: {error}")))?;
    let defaults = RunOptions::default();
    let options = RunOptions {
        shards: args.shards.map_or(defaults.shards, usize::from),
        batch_rows: args.batch_rows as usize,
        executor: match args.executor {
            ExecutorArg::Auto => Executor::Auto,
            ExecutorArg::Threads => Executor::Threads,
        },
        cancel,
        restore: args.restore.as_ref().map(|from| match from.as_str() {
            "latest" => RestoreFrom::Latest,
            path => RestoreFrom::Path(path.into()),
        }),
        drops_state: args.allow_non_restored_state,
        memory: args.memory,
        state_folder: args.state_dir.clone(),
        ..defaults
    };
    let shows_progress = !args.quiet && std::io::stderr().is_terminal();
    let mut report = Terminal {
        quiet: args.quiet,
        progress: shows_progress.then(Progress::new),
        results: Results::new(args.output),
        doors,
        answered: false,
    };
    let mut script = loaded.options.clone();
    if let Some(path) = &args.quarantine {
        script.overrides.push(("transom.quarantine.path".to_string(), path.clone()));
    }
    let outcome = run_script(&loaded.text, &script, &options, &mut report);
    report.clear_progress();
    report.results.flush()?;
    let summary = outcome?;
    if summary.jobs.is_empty() && !report.answered && !args.quiet {
        note("nothing ran: the script has no INSERT or SELECT");
    }
    Ok(())
}

struct Terminal {
    quiet: bool,
    progress: Option<Progress>,
    results: Results,
    /// Where somebody may ask for a savepoint.
    doors: Doors,
    /// A statement without a job has printed what it had to say.
    answered: bool,
}

impl Terminal {
    fn clear_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
    }
}

impl Report for Terminal {
    fn notice(&mut self, text: &str) {
        if !self.quiet {
            self.clear_progress();
            note(text);
        }
    }
    fn warning(&mut self, text: &str) {
        if !self.quiet {
            self.clear_progress();
            let yellow = AnsiColor::Yellow.on_default().bold();
            say(&format!("{yellow}warning:{yellow:#} {text}\n"));
        }
    }
    fn progress(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.results.pause()?;
        if let Some(progress) = &mut self.progress {
            progress.show(snapshot);
        }
        Ok(())
    }
    fn savepoint_requested(&mut self) -> Option<SavepointRequest> {
        self.doors.next()
    }
    fn statement_begins(&mut self, plan: &JobPlan) -> Result<()> {
        self.results.begin(plan)
    }
    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        self.clear_progress();
        self.results.rows(batch)
    }
    fn print(&mut self, sink: &SinkSpec, batch: &RecordBatch) -> Result<()> {
        self.clear_progress();
        self.results.print(sink, batch)
    }
    fn explain(&mut self, text: &str) -> Result<()> {
        self.answered = true;
        self.results.text(text)
    }
    fn answer(&mut self, schema: &Schema, rows: &RecordBatch) -> Result<()> {
        self.answered = true;
        self.results.answer(schema, rows)
    }
    fn statement_ends(&mut self, job: &JobSummary) -> Result<()> {
        self.clear_progress();
        self.results.end()?;
        if !self.quiet {
            say(&summary::text(job));
        }
        Ok(())
    }
}

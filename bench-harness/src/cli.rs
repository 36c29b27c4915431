//! The command line: flags to plans, results to exit codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use transom::numbers::grouped;

use crate::chaos::jobs as chaos_jobs;
use crate::engine::Tuning;
use crate::number::parse_count;
use crate::programs::job::Job;
use crate::programs::{self, child};
use crate::state::{self, job as state_jobs};
use crate::throughput::{self, SinkKind};
use crate::timeline::script::Script;
use crate::workload::format::{self, Format};
use crate::workload::reference::Query;
use crate::workload::{Distribution, RATE_PER_S, Spec};
use crate::{chaos, conformance, random_sql, supervise, timeline};

#[derive(Debug, Parser)]
#[command(name = "bench-harness", version, about = "Judges and measures Transom from outside", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Conformance(ConformanceArgs),
    Chaos(ChaosArgs),
    State(StateArgs),
    Generate(GenerateArgs),
    RandomSql(RandomSqlArgs),
    Throughput(ThroughputArgs),
    Api(ApiArgs),
    ApiMemory(ApiArgs),
    /// Runs one program given on stdin and tells what came of it.
    #[command(name = child::COMMAND, hide = true)]
    RunProgram,
    /// Runs one script given on stdin and tells what came of it.
    #[command(name = supervise::CHILD_COMMAND, hide = true)]
    RunScript,
}

/// Run recorded cases and compare with Flink's answers
///
/// Exit code 0: none failed; 1: some failed; 2: the command line or a case is wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness conformance datasets/conformance
  bench-harness conformance datasets/conformance/sql --only '*hop*' --show-skipped
  bench-harness conformance datasets/conformance/sql/001-tumble-basic --shards 3 --batch-rows 2
  bench-harness conformance --print datasets/conformance/timeline/001-worked-example.json")]
struct ConformanceArgs {
    /// Case folders, folders of cases (searched to the bottom), timeline .json files
    #[arg(required_unless_present = "print")]
    paths: Vec<PathBuf>,
    /// Only cases whose whole name matches; * and ? are wildcards; may be repeated
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    #[command(flatten)]
    tuning: TuningArgs,
    /// Cases at the same time [default: one per core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds before a case counts as hanging
    #[arg(long, value_name = "S", default_value_t = 30)]
    time_limit: u64,
    /// Run each case in a process of its own: survives an abort
    #[arg(long)]
    isolate: bool,
    /// Name the skipped cases and why
    #[arg(long)]
    show_skipped: bool,
    /// Count cases that the engine refuses as not supported as skipped instead of failed
    #[arg(long)]
    skip_unsupported: bool,
    /// Judge also the cases that a folder's later.txt names; without this they count as skipped, or fail if they pass
    #[arg(long)]
    all: bool,
    /// Break each script off at a checkpoint after every block of its input, and go on from there on another number of
    /// shards; timelines also between their steps
    #[arg(long, conflicts_with = "isolate")]
    restore: bool,
    /// Run one timeline case and print its outputs as one JSON line; each step with what was expected on standard error
    #[arg(long, value_name = "CASE.json", conflicts_with_all = ["paths", "only"])]
    print: Option<PathBuf>,
}

/// Kill jobs at random moments and let them go on from their checkpoints: their output must be that of an undisturbed run
///
/// Each job runs as often as it takes for so many kills (kill -9), also while a checkpoint is written, while output is
/// shown and while the job ends; it goes on with --restore latest on 1, 2 and 7 shards by turns. Exit code 0: all equal;
/// 1: something differs; 2: the command line is wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness chaos --kills 30
  bench-harness chaos --jobs session,three-sinks --rows 2M --seed 7

Programs of the DataStream API are not among the jobs: tests/program_checkpoints.rs kills one.")]
struct ChaosArgs {
    /// How often each job is killed
    #[arg(long, value_name = "N", default_value_t = 10)]
    kills: u64,
    /// Same seed, same inputs and same choices of moments; when a moment comes depends on the machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rows of the larger table
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "400k")]
    rows: u64,
    /// Which ones [default: all]
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(chaos_jobs::Job::names()))]
    jobs: Vec<String>,
    /// The binary of the engine [default: transom beside this program]
    #[arg(long, value_name = "PATH")]
    transom: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct TuningArgs {
    /// Threads of the engine [default: one per core]
    #[arg(long, value_name = "N")]
    shards: Option<usize>,
    /// Most rows in a batch [default: the engine's]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    batch_rows: Option<u64>,
    /// Bytes of a block of input [default: the engine's]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    block_bytes: Option<u64>,
}

#[derive(Debug, Args)]
struct WorkloadArgs {
    /// Number of rows: 5000, 100k, 20M
    #[arg(long, value_name = "N", value_parser = parse_count)]
    rows: u64,
    /// Number of different keys
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "100k")]
    keys: u64,
    /// How often each key occurs
    #[arg(long, value_enum, default_value_t = Distribution::Uniform)]
    dist: Distribution,
    /// Rows are out of order by less than this
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    disorder_ms: u64,
    /// Share of rows that come too late, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    late_share: f64,
    /// By how much they do
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    late_by_ms: u64,
    /// Rows per second of event time [default: 20M in two hours]
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
    /// Same seed, same rows
    #[arg(long, default_value_t = 42)]
    seed: u64,
}

/// Run jobs with gigabytes of state: memory, disk, pauses at checkpoints, restore
///
/// Each answer is compared. Figures are of this machine; what has a ratio has its twin in the same run. Exit code 0: all
/// answers are right; 1: some are wrong; 2: a job fails.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness state --folder /var/tmp/state
  bench-harness state --folder target --scale 100 --jobs one-in-five,checkpoints")]
struct StateArgs {
    /// Which ones [default: all]
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(state_jobs::Job::names()))]
    jobs: Vec<String>,
    /// Divide keys and memory by N, to try it out
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    scale: u64,
    /// How often the job with checkpoints and its twin without run, in turn
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: usize,
    /// A folder on the disk that state and checkpoints go to
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// The binary of the engine [default: transom beside this program]
    #[arg(long, value_name = "PATH")]
    transom: Option<PathBuf>,
}

/// Make event data: ts, key, value (1 to 1000), channel
///
/// A file that is there already is kept; its name says what is in it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness generate --rows 20M --keys 100k --out data
  bench-harness generate --rows 1M --dist zipf --formats parquet,csv,json --late-share 0.01 --out data")]
struct GenerateArgs {
    #[command(flatten)]
    workload: WorkloadArgs,
    #[arg(long, value_enum, value_delimiter = ',', default_value = "parquet")]
    formats: Vec<Format>,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Draw random queries over random tables: case folders without answers
#[derive(Debug, Args)]
#[command(after_help = "Example:
  bench-harness random-sql --seed 1 --count 500 --out cases")]
struct RandomSqlArgs {
    /// Same seed, same cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: u64,
    /// Number of the first case, as its name begins
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Folder for the cases
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Time a window job over made data; prints a time only if the answer is right
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness throughput --rows 20M --format parquet
  bench-harness throughput --rows 5M --format csv --query session --dist zipf --shards 2 --repeat 5
  bench-harness throughput --rows 20M --format parquet --query hop --sink blackhole --json")]
struct ThroughputArgs {
    #[command(flatten)]
    workload: WorkloadArgs,
    #[arg(long, value_enum, default_value_t = Format::Parquet)]
    format: Format,
    #[arg(long, value_enum, default_value_t = Query::Tumble)]
    query: Query,
    #[arg(long, value_enum, default_value_t = SinkKind::Csv)]
    sink: SinkKind,
    #[command(flatten)]
    tuning: TuningArgs,
    /// Timed runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Where made data is kept and results are written
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    data: PathBuf,
    /// Seconds before a run is ended
    #[arg(long, value_name = "S", default_value_t = 600)]
    time_limit: u64,
    /// Also print the raw figures as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Time programs of the DataStream API beside SQL on the same rows (api), or show what they hold in memory (api-memory)
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  bench-harness api --rows 20M
  bench-harness api --rows 5M --jobs tumble,tumble-general --shards 2 --repeat 5
  bench-harness api-memory --rows 20M --jobs hop,hop-general,evictor")]
struct ApiArgs {
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Which ones [default: all for api; hop, hop-general, evictor for api-memory]
    #[arg(long, value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(Job::names()))]
    jobs: Vec<String>,
    #[command(flatten)]
    tuning: TuningArgs,
    /// Timed runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Where made data is kept
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    data: PathBuf,
    /// Seconds before a run is ended
    #[arg(long, value_name = "S", default_value_t = 600)]
    time_limit: u64,
}

impl TuningArgs {
    fn tuning(&self) -> Tuning {
        let count = |n: Option<u64>| n.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Tuning { shards: self.shards, batch_rows: count(self.batch_rows), block_bytes: count(self.block_bytes) }
    }
}

impl WorkloadArgs {
    fn spec(&self) -> Result<Spec, String> {
        let spec = Spec {
            rows: self.rows,
            keys: self.keys,
            distribution: self.dist,
            disorder_ms: self.disorder_ms,
            late_share: self.late_share,
            late_by_ms: self.late_by_ms,
            rate_per_s: self.rate.unwrap_or(RATE_PER_S),
            seed: self.seed,
        };
        spec.check().map(|()| spec)
    }
}

/// The binary of the engine, by default the one beside this program.
fn engine(named: Option<PathBuf>) -> Result<PathBuf, String> {
    let beside = || std::env::current_exe().map(|program| program.with_file_name("transom"));
    named.map_or_else(beside, Ok).map_err(|e| format!("where is this program: {e}"))
}

impl StateArgs {
    fn plan(self) -> Result<state::Plan, String> {
        let transom = engine(self.transom)?;
        let wanted = |job: &state_jobs::Job| self.jobs.is_empty() || self.jobs.iter().any(|name| name == job.name);
        let jobs = state_jobs::JOBS.into_iter().filter(wanted).collect();
        Ok(state::Plan { jobs, scale: self.scale, repeat: self.repeat, transom, folder: self.folder })
    }
}

impl ChaosArgs {
    fn plan(self) -> Result<chaos::Plan, String> {
        let transom = engine(self.transom)?;
        let jobs = match self.jobs.as_slice() {
            [] => chaos_jobs::JOBS.to_vec(),
            names => names.iter().filter_map(|name| chaos_jobs::Job::parse(name)).collect(),
        };
        Ok(chaos::Plan { kills: self.kills, seed: self.seed, rows: self.rows, jobs, transom })
    }
}

impl RandomSqlArgs {
    fn plan(self) -> random_sql::Plan {
        random_sql::Plan { seed: self.seed, count: self.count, first: self.first, folder: self.out }
    }
}

/// Runs the command line; 0: done, 1: something failed, 2: the command line is wrong.
pub fn main() -> ExitCode {
    let done = |result: Result<(), String>, code: u8| result.map(|()| true).map_err(|e| (e, code));
    let result = match Cli::parse().command {
        Command::Conformance(args) => match &args.print {
            Some(case) => print_timeline(case).map_err(|e| (e, 2)),
            None => conformance::run(&conformance_plan(args)).map_err(|e| (e, 2)),
        },
        Command::Chaos(args) => args.plan().and_then(|plan| chaos::run(&plan)).map_err(|e| (e, 2)),
        Command::State(args) => args.plan().and_then(|plan| state::run(&plan)).map_err(|e| (e, 2)),
        Command::Generate(args) => done(generate(&args), 1),
        Command::RandomSql(args) => done(random_sql::run(&args.plan()), 1),
        Command::Throughput(args) => match throughput_plan(&args) {
            Ok(plan) => done(throughput::run(&plan), 1),
            Err(e) => Err((e, 2)),
        },
        Command::Api(args) => match api_plan(&args, &Job::names()) {
            Ok(plan) => done(programs::run(&plan), 1),
            Err(e) => Err((e, 2)),
        },
        Command::ApiMemory(args) => match api_plan(&args, &["hop", "hop-general", "evictor"]) {
            Ok(plan) => done(programs::run_memory(&plan), 1),
            Err(e) => Err((e, 2)),
        },
        Command::RunProgram => done(child::main(), 2),
        Command::RunScript => done(supervise::child_main(), 2),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err((message, code)) => {
            eprintln!("error: {message}");
            ExitCode::from(code)
        }
    }
}

fn print_timeline(case: &Path) -> Result<bool, String> {
    let (line, steps) = timeline::print(&Script::load(case)?);
    eprint!("{steps}");
    println!("{line}");
    Ok(true)
}

fn conformance_plan(args: ConformanceArgs) -> conformance::Plan {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    conformance::Plan {
        tuning: args.tuning.tuning(),
        paths: args.paths,
        only: args.only,
        jobs: args.jobs.unwrap_or(cores),
        time_limit: Duration::from_secs(args.time_limit),
        isolate: args.isolate,
        show_skipped: args.show_skipped,
        skip_unsupported: args.skip_unsupported,
        all: args.all,
        restore: args.restore,
    }
}

fn generate(args: &GenerateArgs) -> Result<(), String> {
    let spec = args.workload.spec()?;
    let started = std::time::Instant::now();
    let files = format::write(&spec, &args.formats, &args.out).map_err(|e| format!("cannot write: {e}"))?;
    for file in &files {
        println!("{}", file.display());
    }
    eprintln!("{} rows in {:.1} s", grouped(spec.rows), started.elapsed().as_secs_f64());
    Ok(())
}

fn throughput_plan(args: &ThroughputArgs) -> Result<throughput::Plan, String> {
    Ok(throughput::Plan {
        spec: args.workload.spec()?,
        format: args.format,
        query: args.query,
        sink: args.sink,
        tuning: args.tuning.tuning(),
        repeat: args.repeat as usize,
        folder: args.data.clone(),
        time_limit: Duration::from_secs(args.time_limit),
        json: args.json,
    })
}

fn api_plan(args: &ApiArgs, default: &[&str]) -> Result<programs::Plan, String> {
    let chosen: Vec<&str> = args.jobs.iter().map(String::as_str).collect();
    let names = if chosen.is_empty() { default } else { chosen.as_slice() };
    Ok(programs::Plan {
        spec: args.workload.spec()?,
        jobs: names.iter().filter_map(|name| Job::parse(name)).collect(),
        tuning: args.tuning.tuning(),
        repeat: args.repeat as usize,
        folder: args.data.clone(),
        time_limit: Duration::from_secs(args.time_limit),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}

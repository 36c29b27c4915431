//! The command line. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 done, 1 the job failed, 2 the command line or the script is wrong, 130 interrupted.

mod changelog;
mod checkpoint;
mod diagnostic;
mod explain;
mod progress;
mod results;
mod run;
mod sample;
mod savepoint;
mod schema;
mod shell;
mod summary;
mod window;

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use transom::error::{Error, Result};
use transom::sql::ScriptOptions;

/// Runs Flink SQL window jobs on this machine, with Flink 2.3's answers.
#[derive(Parser)]
#[command(version, about, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script: its INSERTs write files, the rows of its SELECTs go to stdout
    Run(run::RunArgs),
    /// Print the plan of each statement of a script, the state it may need and what is hardly meant, without running it
    Explain(ScriptArgs),
    /// Take statements as they are typed, or from a file, and keep tables and settings between them
    Sql(shell::ShellArgs),
    /// Guess the table in a file: prints a CREATE TABLE statement, and on stderr what it was guessed from
    Schema(schema::SchemaArgs),
    /// Aggregate a file in windows, without a script
    Window(Box<window::WindowArgs>),
    /// Ask a run for a savepoint, and wait for it
    Savepoint(savepoint::SavepointArgs),
    /// List checkpoints, look into one, or look at every byte of them
    #[command(subcommand)]
    Checkpoint(checkpoint::CheckpointCommand),
}

const EXAMPLES: &str = "Examples:
  transom run job.sql                                  run a script on all cores
  transom run job.sql --set DATA=/data -o csv > a.csv  fill in ${DATA}, results as CSV
  cat job.sql | transom run -                          read the script from stdin
  zcat a.csv.gz | transom run job.sql                  read a table with 'path' = '-' from stdin
  transom sql                                          type statements, see their rows
  transom run job.sql --restore latest                 go on from the latest checkpoint of the script
  transom savepoint 4711 --stop                        end process 4711 at a savepoint; --restore PATH goes on
  transom explain job.sql                              show how it would run
  transom schema trips.csv                             guess the table in a file
  transom window trips.csv --key city --tumble 1h      count its rows by city and hour
  zcat a.csv.gz | transom window - --session 30m --agg 'count(*), sum(amount)'

Exit codes: 0 done, 1 the job failed, 2 the command line or the script is wrong, 130 interrupted";

/// The script and what is put into it.
#[derive(Args)]
struct ScriptArgs {
    /// File with Flink SQL statements; - reads them from stdin
    script: String,
    /// Put VALUE where the script says ${NAME}
    #[arg(long = "set", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Override an option that the script may SET
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// A script with its text.
struct Loaded {
    text: String,
    options: ScriptOptions,
}

impl ScriptArgs {
    fn load(&self) -> Result<Loaded> {
        load(&self.script, &script_options(&self.variables, &self.overrides)?)
    }
}

/// The options of `--set` and `-D`.
fn script_options(variables: &[String], overrides: &[String]) -> Result<ScriptOptions> {
    let mut options = ScriptOptions::default();
    for pair in variables {
        let (name, value) = split_pair(pair, "--set", "NAME=VALUE")?;
        options.variables.insert(name, value);
    }
    for pair in overrides {
        options.overrides.push(split_pair(pair, "-D", "KEY=VALUE")?);
    }
    Ok(options)
}

/// Reads a script from a file, or from stdin if the path is `-`.
fn load(path: &str, options: &ScriptOptions) -> Result<Loaded> {
    let mut options = ScriptOptions { file: path.to_string(), ..options.clone() };
    let bytes = if path == "-" {
        options.file = "<stdin>".to_string();
        options.script_on_stdin = true;
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        let message = format!("cannot read the script {path}: {error}");
        Error::usage(message).help("give the path of a file with SQL statements, or - for stdin")
    })?;
    let text = script_text(bytes, &options.file, 1)?;
    let text = text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_string);
    Ok(Loaded { text, options })
}

/// `line`: the number of its first line.
fn script_text(bytes: Vec<u8>, file: &str, line: u64) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let lines = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        Error::script("the script is not UTF-8 text")
            .at(line + lines as u64, 0)
            .in_file(file)
            .help("save the script as UTF-8")
    })
}

fn split_pair(pair: &str, flag: &str, form: &str) -> Result<(String, String)> {
    let split = pair.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = split.ok_or_else(|| Error::usage(format!("{flag} wants {form}, got '{pair}'")))?;
    Ok((name.trim().to_string(), value.to_string()))
}

/// To stderr, with colours on a terminal only, and not where NO_COLOR is set. A reader of stderr who has gone away, or
/// a full disk behind it, is no reason to stop a job.
fn say(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// A line to stderr about something the user should know.
fn note(text: &str) {
    say(&format!("note: {text}\n"));
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout and are no error; a closed pipe is none either.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match &cli.command {
        Command::Run(args) => with_script(&args.script, |loaded| run::run(args, loaded)),
        Command::Explain(args) => with_script(args, explain::explain),
        Command::Sql(args) => shell::shell(args),
        Command::Schema(args) => schema::schema(args).map_err(Failed::from),
        Command::Window(args) => window::window(args),
        Command::Savepoint(args) => savepoint::savepoint(args).map_err(Failed::from),
        Command::Checkpoint(command) => checkpoint::checkpoint(command).map_err(Failed::from),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed { error, script }) => {
            diagnostic::print(&error, script.as_ref());
            ExitCode::from(error.exit_code())
        }
    }
}

/// An error, and the script that its place is in.
struct Failed {
    error: Error,
    script: Option<Loaded>,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed { error, script: None }
    }
}

fn with_script(args: &ScriptArgs, command: impl FnOnce(&Loaded) -> Result<()>) -> Result<(), Failed> {
    let loaded = args.load()?;
    command(&loaded).map_err(|error| Failed { error, script: Some(loaded) })
}

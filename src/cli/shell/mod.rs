//! `transom sql`.

mod assist;
mod command;
mod complete;
mod interrupt;
mod prompt;
mod report;
mod tableau;
mod talk;

use std::io::IsTerminal;
use std::ops::ControlFlow;

use clap::Args;
use transom::error::Result;
use transom::sql::{LiveSession, ScriptOptions};

use self::interrupt::{FoundModes, Interrupts};
use self::prompt::{PROMPT, Prompt};
use self::talk::{Talk, TalkOptions};
use super::{Failed, Loaded, load, script_options};

#[derive(Args)]
pub struct ShellArgs {
    /// Run the statements of FILE and leave; - reads them from stdin
    #[arg(short, long, value_name = "FILE")]
    file: Option<String>,
    /// Run the statements of FILE first
    #[arg(short, long, value_name = "FILE")]
    init: Option<String>,
    /// Put VALUE where a statement says ${NAME}
    #[arg(long = "set", value_name = "NAME=VALUE")]
    variables: Vec<String>,
    /// Set an option of the session, as SET does
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Threads to run on [default: the cores of this machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    shards: Option<u16>,
    /// Print results and errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Where statements come from.
enum Source {
    Terminal(Box<Prompt>),
    Stdin,
    File(Loaded),
}

/// Runs statements as they come, from a terminal or a file.
pub fn shell(args: &ShellArgs) -> Result<(), Failed> {
    let options = script_options(&args.variables, &args.settings)?;
    let init = args.init.as_ref().map(|path| load(path, &options)).transpose()?;
    let source = match args.file.as_deref() {
        Some("-") => Source::Stdin,
        Some(path) => Source::File(load(path, &options)?),
        None if std::io::stdin().is_terminal() => Source::Terminal(Box::new(Prompt::new())),
        None => Source::Stdin,
    };
    let interactive = matches!(source, Source::Terminal(_));
    let interrupts = Interrupts::default();
    let modes = if interactive { FoundModes::without_echo_of_signals() } else { None };
    interrupts.listen(if interactive { 3 } else { 2 }, PROMPT, modes.clone())?;
    let talk = TalkOptions {
        interactive,
        quiet: args.quiet,
        shards: args.shards.map(usize::from),
        statements_on_stdin: !matches!(source, Source::File(_)),
    };
    converse(&options, &talk, &interrupts, init, source)
}

/// Everything but the reading of flags.
fn converse(
    options: &ScriptOptions,
    talk: &TalkOptions,
    interrupts: &Interrupts,
    init: Option<Loaded>,
    source: Source,
) -> Result<(), Failed> {
    let work = |session: &mut LiveSession| {
        let mut talk = Talk::new(session, options, talk, interrupts);
        let begun = init.map_or(Ok(ControlFlow::Continue(())), |init| talk.script(&init));
        Ok(begun.and_then(|next| match (next, source) {
            (ControlFlow::Break(()), _) => Ok(()),
            (_, Source::File(script)) => talk.script(&script).map(drop),
            (_, Source::Stdin) => talk.stream(std::io::stdin().lock()),
            (_, Source::Terminal(mut prompt)) => talk.terminal(&mut prompt),
        }))
    };
    LiveSession::with(options, work)?
}

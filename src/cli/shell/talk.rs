//! Takes statements one after the other and carries them out.

use std::io::BufRead;
use std::ops::ControlFlow;

use transom::error::{Error, ErrorKind, Result};
use transom::job::{Report, RunOptions};
use transom::runner::SessionRunner;
use transom::sql::{LiveSession, Piece, Pieces, RESULT_MODE, ScriptOptions, pieces};

use super::command::{Command, HELP};
use super::interrupt::Interrupts;
use super::prompt::{Input, Prompt};
use super::report::ShellReport;
use super::tableau::WIDTH_DEFAULT;
use crate::cli::{Failed, Loaded, diagnostic, say, script_text};

/// The widths of columns without a natural one; the second is what it was called before Flink 1.18.
const WIDTH_SETTINGS: [&str; 2] = ["table.display.max-column-width", "sql-client.display.max-column-width"];

/// How the shell was called.
pub struct TalkOptions {
    /// A person types the statements: faults are told and the next one is read.
    pub interactive: bool,
    pub quiet: bool,
    pub shards: Option<usize>,
    pub statements_on_stdin: bool,
}

/// Whether to go on with the next statement.
type Next = ControlFlow<()>;

/// A session with whoever gives the statements.
pub struct Talk<'s> {
    session: &'s mut LiveSession,
    options: &'s ScriptOptions,
    runner: SessionRunner,
    run: RunOptions,
    report: ShellReport,
    interrupts: &'s Interrupts,
    interactive: bool,
    quiet: bool,
    /// The result mode that was spoken about.
    mode: String,
}

impl<'s> Talk<'s> {
    pub fn new(
        session: &'s mut LiveSession,
        options: &'s ScriptOptions,
        talk: &TalkOptions,
        interrupts: &'s Interrupts,
    ) -> Talk<'s> {
        let defaults = RunOptions::default();
        let run = RunOptions {
            shards: talk.shards.unwrap_or(defaults.shards),
            cancel: interrupts.cancel.clone(),
            ..defaults
        };
        Talk {
            session,
            options,
            runner: SessionRunner::new(talk.statements_on_stdin),
            run,
            report: ShellReport::new(talk.interactive, talk.quiet),
            interrupts,
            interactive: talk.interactive,
            quiet: talk.quiet,
            mode: String::new(),
        }
    }

    /// Runs the statements of a file, up to the first that fails. Breaks at QUIT.
    pub fn script(&mut self, script: &Loaded) -> Result<Next, Failed> {
        let found = pieces(&script.text);
        let mut next = Next::Continue(());
        for (index, piece) in found.whole.iter().chain(&found.rest).enumerate() {
            let done = self.statement(script, piece, index + 1);
            next = done.map_err(|error| Self::failed(error.in_statement(index + 1).from_line(piece.line), script))?;
            if next.is_break() {
                break;
            }
        }
        Ok(next)
    }

    /// Runs statements as lines make them complete, up to the first that fails.
    pub fn stream(&mut self, mut lines: impl BufRead) -> Result<(), Failed> {
        let mut script = Loaded { text: String::new(), options: self.named("<stdin>") };
        let (mut done, mut lines_done, mut lines_read, mut number) = (0, 0, 0, 0);
        loop {
            let mut line = Vec::new();
            let read = self.interrupts.waiting(|| lines.read_until(b'\n', &mut line));
            let last = read.map_err(|error| Error::io("read from", "stdin", error))? == 0;
            let line = script_text(line, &script.options.file, lines_read + 1)?;
            let line = if lines_read == 0 { line.trim_start_matches('\u{feff}') } else { &line };
            script.text.push_str(line);
            lines_read += 1;
            let Pieces { whole, rest, open } = pieces(&script.text[done..]);
            if !last && (rest.is_some() || open) {
                continue;
            }
            for piece in whole.into_iter().chain(rest) {
                number += 1;
                let range = piece.range.start + done..piece.range.end + done;
                let piece = Piece { range, line: piece.line + lines_done, column: piece.column };
                let next = self.statement(&script, &piece, number);
                let next =
                    next.map_err(|error| Self::failed(error.in_statement(number).from_line(piece.line), &script))?;
                if next.is_break() {
                    return Ok(());
                }
            }
            if last {
                return Ok(());
            }
            lines_done = lines_read;
            done = script.text.len();
        }
    }

    /// Reads and runs statements until the user leaves.
    pub fn terminal(&mut self, prompt: &mut Prompt) -> Result<(), Failed> {
        if !self.quiet {
            say(&format!(
                "Transom {}, with the SQL of Flink 2.3. HELP; tells more, QUIT; leaves.\n\n",
                env!("CARGO_PKG_VERSION")
            ));
        }
        loop {
            prompt.offer(self.session.relations());
            let text = match prompt.read(self.interrupts)? {
                Input::Statements(text) => text,
                Input::Cleared => continue,
                Input::End => return Ok(()),
            };
            let input = Loaded { text, options: self.named("<input>") };
            if self.input(&input, prompt)?.is_break() {
                return Ok(());
            }
        }
    }

    /// Carries out what was typed, up to the first fault, and tells it.
    fn input(&mut self, input: &Loaded, prompt: &mut Prompt) -> Result<Next> {
        let found = pieces(&input.text);
        let mut left: Vec<&Piece> = found.whole.iter().chain(&found.rest).rev().collect();
        while let Some(piece) = left.pop() {
            if Command::of(&input.text[piece.range.clone()]) == Some(Command::Clear) {
                prompt.clear();
                continue;
            }
            match self.statement(input, piece, 1) {
                Ok(Next::Continue(())) => continue,
                Ok(Next::Break(())) => return Ok(Next::Break(())),
                Err(error) if error.kind() == ErrorKind::ClosedPipe => return Err(error),
                Err(error) if error.kind() == ErrorKind::Cancelled => {}
                Err(error) => diagnostic::print(&in_file(error, input), Some(input)),
            }
            match left.len() {
                0 => {}
                1 => self.report.notice("the statement behind it was not run"),
                more => self.report.notice(&format!("the {more} statements behind it were not run")),
            }
            break;
        }
        Ok(Next::Continue(()))
    }

    /// Carries out one statement of a text. The places of errors are in the text.
    fn statement(&mut self, script: &Loaded, piece: &Piece, number: usize) -> Result<Next> {
        match Command::of(&script.text[piece.range.clone()]) {
            Some(Command::Quit) => return Ok(Next::Break(())),
            Some(Command::Help) => return self.report.text(HELP).map(Next::Continue),
            Some(Command::Clear) => return Ok(Next::Continue(())),
            None => {}
        }
        if self.interactive {
            self.interrupts.begin();
        }
        self.session.in_file(&script.options.file);
        let prepared = self.session.prepare(&script.text, piece, number)?;
        for warning in &prepared.warnings {
            self.report.notice(warning);
        }
        self.take_settings();
        let Some(statement) = prepared.statement else {
            if self.interactive {
                self.report.info("Execute statement succeeded.");
            }
            return Ok(Next::Continue(()));
        };
        let effective = |key: &&str| *key != RESULT_MODE && !WIDTH_SETTINGS.contains(key);
        let ignored: Vec<String> = statement.ignored_settings().filter(effective).map(str::to_string).collect();
        self.report.name_ignored(ignored.iter().map(String::as_str));
        match self.runner.run(statement, &self.run, &mut self.report) {
            Ok(_) => Ok(Next::Continue(())),
            Err(error) => {
                self.report.broken_off(self.interactive && error.kind() == ErrorKind::Cancelled)?;
                Err(error)
            }
        }
    }

    /// Lets the settings that concern the shell take effect.
    fn take_settings(&mut self) {
        let width =
            WIDTH_SETTINGS.iter().find_map(|key| self.session.setting(key)).and_then(|text| text.trim().parse().ok());
        self.report.width_max = width.unwrap_or(WIDTH_DEFAULT);
        let mode = self.session.setting(RESULT_MODE).unwrap_or_default().to_ascii_lowercase();
        if mode != self.mode && mode == "table" {
            let text = "the mode 'table' needs a screen of its own; rows are printed as in the mode 'tableau'";
            self.report.notice(text);
        }
        self.mode = mode;
    }

    fn named(&self, file: &str) -> ScriptOptions {
        ScriptOptions { file: file.to_string(), ..self.options.clone() }
    }

    fn failed(error: Error, script: &Loaded) -> Failed {
        let error = in_file(error, script);
        let script = Loaded { text: script.text.clone(), options: script.options.clone() };
        Failed { error, script: Some(script) }
    }
}

/// Names the file where the error has a place.
fn in_file(error: Error, script: &Loaded) -> Error {
    if error.place().is_some() { error.in_file(&script.options.file) } else { error }
}

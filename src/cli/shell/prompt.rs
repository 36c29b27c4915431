//! Reads statements from a terminal.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use rustyline::config::{Behavior, ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use transom::error::{Error, Result};
use transom::sql::Relation;

use super::assist::Assist;
use super::command::is_complete;
use super::interrupt::Interrupts;
use crate::cli::note;

/// In front of what is typed.
pub const PROMPT: &str = "Transom SQL> ";
/// In front of the lines that follow, where there is no line editor.
const GOES_ON: &str = "          -> ";
/// Inputs that are kept.
const HISTORY_MAX: usize = 1_000;

/// What came from the terminal.
pub enum Input {
    Statements(String),
    /// Ctrl-C.
    Cleared,
    /// Ctrl-D, or the terminal has gone.
    End,
}

/// The reader of a terminal.
pub struct Prompt {
    /// `None` for terminals that cannot move their cursor.
    editor: Option<Box<Editor<Assist, FileHistory>>>,
    history: Option<PathBuf>,
}

impl Prompt {
    pub fn new() -> Prompt {
        let dumb = std::env::var("TERM").map_or(true, |term| ["dumb", "cons25", "emacs", ""].contains(&term.as_str()));
        let mut editor = if dumb { None } else { editor().ok().map(Box::new) };
        let history = editor.as_ref().and_then(|_| history_file());
        if let (Some(editor), Some(file)) = (&mut editor, history.as_ref().filter(|file| file.exists()))
            && let Err(error) = editor.load_history(file)
        {
            note(&format!("the history in {} cannot be read: {error}", file.display()));
        }
        Prompt { editor, history }
    }

    /// The tables and views to complete.
    pub fn offer(&mut self, relations: Vec<Relation>) {
        if let Some(assist) = self.editor.as_mut().and_then(|editor| editor.helper_mut()) {
            assist.relations = relations;
        }
    }

    /// Empties the screen.
    pub fn clear(&mut self) {
        if let Some(editor) = &mut self.editor {
            // A screen that stays full is no fault worth a message.
            let _ = editor.clear_screen();
        }
    }

    /// Reads until statements are complete.
    ///
    /// # Errors
    /// Kind Io, if the terminal fails.
    pub fn read(&mut self, interrupts: &Interrupts) -> Result<Input> {
        let Some(editor) = &mut self.editor else { return read_plainly(interrupts) };
        let coloured = format!("\x1b[1m{PROMPT}\x1b[0m");
        match interrupts.waiting(|| editor.readline(&(PROMPT, coloured.as_str()))) {
            Ok(text) => {
                self.remember(&text);
                Ok(Input::Statements(text))
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Ok(Input::Cleared),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(ReadlineError::Io(error)) => Err(Error::io("read from", "the terminal", error)),
            // The terminal has gone.
            Err(_) => Ok(Input::End),
        }
    }

    fn remember(&mut self, text: &str) {
        let Some(editor) = &mut self.editor else { return };
        let added = !text.trim().is_empty() && editor.add_history_entry(text.trim_end()).unwrap_or(false);
        let Some(file) = self.history.as_ref().filter(|_| added) else { return };
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.map_err(ReadlineError::Io).and_then(|()| editor.append_history(file));
        if let Err(error) = written {
            note(&format!("what is typed is not kept: {} cannot be written: {error}", file.display()));
            self.history = None;
        }
    }
}

fn editor() -> rustyline::Result<Editor<Assist, FileHistory>> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let config = Config::builder()
        .max_history_size(HISTORY_MAX)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .color_mode(if plain { ColorMode::Disabled } else { ColorMode::Enabled })
        // Stdout may be a file.
        .behavior(Behavior::PreferTerm)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Assist::default()));
    Ok(editor)
}

/// `transom/history` in the user's folder for the state of programs.
fn history_file() -> Option<PathBuf> {
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    let state = std::env::var_os("XDG_STATE_HOME").and_then(|folder| absolute(folder.into()));
    let folder = state.or_else(|| Some(absolute(std::env::home_dir()?)?.join(Path::new(".local/state"))))?;
    Some(folder.join("transom").join("history"))
}

/// With the editing that the system gives.
fn read_plainly(interrupts: &Interrupts) -> Result<Input> {
    let mut text = String::new();
    let mut prompt = PROMPT;
    loop {
        let mut stdout = std::io::stdout();
        write!(stdout, "{prompt}")
            .and_then(|()| stdout.flush())
            .map_err(|error| Error::io("write to", "stdout", error))?;
        let mut line = String::new();
        let (read, cleared) = interrupts.reading(|| std::io::stdin().lock().read_line(&mut line));
        let read = read.map_err(|error| Error::io("read from", "the terminal", error))?;
        if cleared {
            text.clear();
        }
        if read == 0 {
            return Ok(Input::End);
        }
        text.push_str(&line);
        if is_complete(&text) {
            return Ok(Input::Statements(text));
        }
        prompt = GOES_ON;
    }
}

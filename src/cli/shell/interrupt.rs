//! Ctrl-C, SIGTERM and SIGHUP: what they mean depends on what the shell does.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use transom::error::{Error, Result};

/// Statements run, or are about to: the signal ends the one that runs.
const RUNNING: u8 = 0;
/// Nothing runs: the signal ends the process. Where the line editor reads keys it comes from outside, for Ctrl-C is a key.
const WAITING: u8 = 1;
/// A terminal without a line editor reads a line: the signal clears what was typed.
const READING: u8 = 2;

/// What the signals have to know, and what they leave.
#[derive(Clone, Default)]
pub struct Interrupts {
    /// The statement that runs is to end.
    pub cancel: Arc<AtomicBool>,
    state: Arc<AtomicU8>,
    /// Signals since the last statement began, or since the last line was read.
    signals: Arc<AtomicU8>,
}

impl Interrupts {
    /// Starts to listen. To be called after the line editor has been made, which would else take Ctrl-C for itself.
    /// `patience`: the signals that a running statement gets before the process ends at once. `prompt`: shown again where
    /// a line was cleared. `modes`: to be brought back where the process ends.
    ///
    /// # Errors
    /// Kind Usage, if the system refuses.
    pub fn listen(&self, patience: u8, prompt: &'static str, modes: Option<FoundModes>) -> Result<()> {
        let (interrupts, mut modes) = (self.clone(), modes);
        ctrlc::set_handler(move || {
            let signals = interrupts.signals.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            match interrupts.state.load(Ordering::Relaxed) {
                RUNNING if signals < patience => interrupts.cancel.store(true, Ordering::Relaxed),
                READING if signals < 2 => {
                    let mut stdout = std::io::stdout();
                    let _ = write!(stdout, "\n{prompt}").and_then(|()| stdout.flush());
                }
                state => end(modes.take(), state == WAITING),
            }
        })
        .map_err(|error| Error::usage(format!("cannot listen for Ctrl-C: {error}")))
    }

    /// A statement is about to run.
    pub fn begin(&self) {
        self.cancel.store(false, Ordering::Relaxed);
        self.signals.store(0, Ordering::Relaxed);
    }

    /// Waits for statements, from the line editor or from a pipe.
    pub fn waiting<R>(&self, read: impl FnOnce() -> R) -> R {
        self.state.store(WAITING, Ordering::Relaxed);
        let read = read();
        self.state.store(RUNNING, Ordering::Relaxed);
        read
    }

    /// Reads a line without an editor; true if what was typed before was to be cleared.
    pub fn reading<R>(&self, read: impl FnOnce() -> R) -> (R, bool) {
        self.signals.store(0, Ordering::Relaxed);
        self.state.store(READING, Ordering::Relaxed);
        let read = read();
        self.state.store(RUNNING, Ordering::Relaxed);
        (read, self.signals.swap(0, Ordering::Relaxed) > 0)
    }
}

/// The modes of the terminal on stdin as they were found, which come back when this goes.
#[derive(Clone)]
pub struct FoundModes(Termios);

impl FoundModes {
    /// Keeps the terminal from printing `^C`, which would tear the line of progress. `None` if stdin is no terminal.
    pub fn without_echo_of_signals() -> Option<FoundModes> {
        let found = tcgetattr(std::io::stdin()).ok()?;
        let mut modes = found.clone();
        modes.local_flags.remove(LocalFlags::ECHOCTL);
        tcsetattr(std::io::stdin(), SetArg::TCSANOW, &modes).ok()?;
        Some(FoundModes(found))
    }
}

impl Drop for FoundModes {
    fn drop(&mut self) {
        // A terminal that has gone needs no modes.
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
    }
}

/// Ends the process. `modes`: how the terminal was, if statements are typed; `waiting`: the line editor has changed it.
fn end(modes: Option<FoundModes>, waiting: bool) -> ! {
    if modes.is_some() && waiting {
        // Pasted text comes without marks again.
        let _ = anstream::stderr().write_all(b"\x1b[?2004l\n");
    }
    drop(modes);
    std::process::exit(130);
}

//! One run of a script by the binary, which may be killed on its way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::output;
use crate::workload::random::Random;

/// Between two looks at what a run does.
const POLL: Duration = Duration::from_micros(100);
/// A run that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// When a run is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Never,
    /// So long after its start.
    Clock(Duration),
    /// A checkpoint is being written, this many after the start.
    Begun(u64),
    /// A checkpoint has become complete, this many after the start, and its parts get their names.
    Complete(u64, Duration),
    /// There are other visible files than at the start.
    Shown(Duration),
    /// The job has ended, and removes its checkpoints.
    Removing,
}

impl Moment {
    /// `whole`: how long an undisturbed run takes.
    pub fn draw(random: &mut Random, whole: Duration) -> Moment {
        let soon = Duration::from_micros(random.below(3000));
        match random.below(12) {
            0..=3 => Moment::Clock(whole.mul_f64(random.unit())),
            4..=6 => Moment::Begun(1 + random.below(2)),
            7..=9 => Moment::Complete(1 + random.below(2), soon),
            10 => Moment::Shown(soon),
            _ => Moment::Removing,
        }
    }
}

/// The folders of a round.
#[derive(Debug)]
pub struct Folders {
    pub out: PathBuf,
    pub checkpoints: PathBuf,
    pub stderr: PathBuf,
}

/// The checkpoints that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoints {
    /// The highest number of one that is complete; 0: there is none.
    pub complete: u64,
    /// The highest number of one that is not.
    pub begun: u64,
}

impl Checkpoints {
    pub fn below(root: &Path) -> Checkpoints {
        let mut found = Checkpoints::default();
        for run in entries(root) {
            for folder in entries(&run) {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let Some(number) = name.strip_prefix("chk-").and_then(|number| number.parse::<u64>().ok()) else {
                    continue;
                };
                let highest = if folder.join("_metadata").is_file() { &mut found.complete } else { &mut found.begun };
                *highest = number.max(*highest);
            }
        }
        found
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Well,
    /// By itself, with an error or after a time that is too long: what it said.
    Badly(String),
    Killed,
}

/// Runs the command up to its end or the moment. The highest number of a complete checkpoint seen goes up in `seen`.
///
/// # Errors
/// The binary cannot be started or watched.
pub fn run(command: &mut Command, folders: &Folders, moment: Moment, seen: &mut u64) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&folders.stderr)?);
    let mut watch = Watch::new(folders, moment);
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            let said = || fs::read_to_string(&folders.stderr).unwrap_or_default();
            return Ok(if status.success() {
                Ended::Well
            } else {
                Ended::Badly(format!("{status}: {}", said().trim()))
            });
        }
        let has_come = watch.has_come();
        *seen = watch.highest.max(*seen);
        if has_come {
            kill(&mut child)?;
            return Ok(Ended::Killed);
        }
        if watch.started.elapsed() > TIME_LIMIT {
            kill(&mut child)?;
            return Ok(Ended::Badly(format!("did not end in {} s", TIME_LIMIT.as_secs())));
        }
        std::thread::sleep(POLL);
    }
}

/// What `kill -9` does.
fn kill(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// Looks whether the moment has come.
struct Watch<'a> {
    folders: &'a Folders,
    moment: Moment,
    started: Instant,
    /// Highest number of a complete checkpoint at the start, and of all seen since.
    first: u64,
    highest: u64,
    shown: usize,
}

impl<'a> Watch<'a> {
    fn new(folders: &'a Folders, moment: Moment) -> Self {
        let first = Checkpoints::below(&folders.checkpoints).complete;
        let shown = output::visible_files(&folders.out);
        Watch { folders, moment, started: Instant::now(), first, highest: first, shown }
    }

    fn has_come(&mut self) -> bool {
        let now = Checkpoints::below(&self.folders.checkpoints);
        self.highest = self.highest.max(now.complete);
        match self.moment {
            Moment::Never => false,
            Moment::Clock(after) => self.started.elapsed() >= after,
            Moment::Begun(nth) => now.begun >= self.first + nth,
            Moment::Complete(nth, after) => now.complete >= self.first + nth && slept(after),
            Moment::Shown(after) => output::visible_files(&self.folders.out) != self.shown && slept(after),
            Moment::Removing => self.highest > 0 && now.complete == 0,
        }
    }
}

fn slept(time: Duration) -> bool {
    std::thread::sleep(time);
    true
}

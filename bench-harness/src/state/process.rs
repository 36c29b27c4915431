//! A process of the engine: its rows as they come, its memory while it runs, the checkpoints that it writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::process::status_bytes;

/// How often memory and checkpoints are looked at.
const LOOK: Duration = Duration::from_millis(50);

pub struct Running {
    child: Child,
    rows: BufReader<ChildStdout>,
    started: Instant,
    ended: Arc<AtomicBool>,
    watch: JoinHandle<Watched>,
    summary: JoinHandle<String>,
}

#[derive(Default)]
struct Watched {
    resident: u64,
    anonymous: u64,
    checkpoints: BTreeMap<u64, u64>,
}

/// What a run came to.
pub struct Ran {
    pub elapsed: Duration,
    /// Bytes of memory at most, and of that what is not of files.
    pub resident: u64,
    pub anonymous: u64,
    /// By number: bytes that a checkpoint wrote, which older ones do not have.
    pub checkpoints: BTreeMap<u64, u64>,
    summary: String,
}

impl Ran {
    /// What the summary says of something.
    pub fn line(&self, name: &str) -> Option<&str> {
        self.summary.lines().find_map(|line| line.trim_start().strip_prefix(name)).map(str::trim)
    }
}

impl Running {
    /// Starts the binary in a folder, with a script.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(transom: &Path, (place, script): (&Path, &str), args: &[&str]) -> Result<Running, String> {
        let failed = |error: std::io::Error| format!("cannot start {}: {error}", transom.display());
        fs::write(place.join("job.sql"), script).map_err(failed)?;
        let transom = transom.canonicalize().map_err(failed)?;
        let started = Instant::now();
        let mut child = Command::new(&transom)
            .current_dir(place)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("the process has no output".to_string());
        };
        let ended = Arc::new(AtomicBool::new(false));
        let (pid, stop, folder) = (child.id(), ended.clone(), place.join("checkpoints"));
        let watch = std::thread::spawn(move || watch(pid, &folder, &stop));
        let summary = std::thread::spawn(move || {
            let mut text = String::new();
            // What cannot be read is missing from the summary.
            let _ = err.read_to_string(&mut text);
            text
        });
        Ok(Running { child, rows: BufReader::new(out), started, ended, watch, summary })
    }

    fn next_row(&mut self) -> Result<Option<u64>, String> {
        let mut line = String::new();
        let read = self.rows.read_line(&mut line).map_err(|error| format!("cannot read rows: {error}"))?;
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        Ok((read > 0).then(|| digits.parse().unwrap_or(0)))
    }

    /// The time from the start until the first row was read; none, if the job ended without one.
    ///
    /// # Errors
    /// Its output cannot be read.
    pub fn first_row(&mut self) -> Result<Option<Duration>, String> {
        Ok(self.next_row()?.map(|_| self.started.elapsed()))
    }

    /// Waits until this row was read, and kills the process. Which row was the last to be seen.
    ///
    /// # Errors
    /// The job ends before that.
    pub fn kill_at_row(&mut self, row: u64) -> Result<u64, String> {
        while let Some(seen) = self.next_row()? {
            if seen >= row {
                self.child.kill().and_then(|()| self.child.wait()).map_err(|error| format!("cannot kill: {error}"))?;
                self.ended.store(true, Ordering::Relaxed);
                return Ok(seen);
            }
        }
        Err(format!("the job ended before row {row}"))
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// The job fails; with what it says.
    pub fn end(mut self) -> Result<Ran, String> {
        while self.next_row()?.is_some() {}
        let status = self.child.wait().map_err(|error| format!("cannot wait for the job: {error}"))?;
        let elapsed = self.started.elapsed();
        self.ended.store(true, Ordering::Relaxed);
        let (watched, summary) = (self.watch.join().unwrap_or_default(), self.summary.join().unwrap_or_default());
        if !status.success() {
            return Err(format!("the job failed ({status}):\n{summary}"));
        }
        let Watched { resident, anonymous, checkpoints } = watched;
        Ok(Ran { elapsed, resident, anonymous, checkpoints, summary })
    }
}

fn watch(pid: u32, checkpoints: &Path, ended: &AtomicBool) -> Watched {
    let mut watched = Watched::default();
    while !ended.load(Ordering::Relaxed) {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        watched.resident = watched.resident.max(status_bytes(&status, "VmRSS:"));
        watched.anonymous = watched.anonymous.max(status_bytes(&status, "RssAnon:"));
        for (number, size) in complete(checkpoints) {
            watched.checkpoints.insert(number, size);
        }
        std::thread::sleep(LOOK);
    }
    watched
}

/// The complete checkpoints, and what files of their own they have.
fn complete(root: &Path) -> Vec<(u64, u64)> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let number = |folder: &Path| folder.file_name()?.to_str()?.strip_prefix("chk-")?.parse::<u64>().ok();
    let mut found = Vec::new();
    for folder in entries(root).iter().flat_map(|run| entries(run)) {
        if let (Some(number), true) = (number(&folder), folder.join("_metadata").is_file()) {
            let own = entries(&folder)
                .into_iter()
                .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("shard-")));
            found.push((number, own.filter_map(|path| fs::metadata(path).ok()).map(|file| file.size()).sum()));
        }
    }
    found
}

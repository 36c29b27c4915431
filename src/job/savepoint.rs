//! Savepoints: checkpoints that somebody asks for while a job runs. They stay until somebody removes them.

use std::path::{Path, PathBuf};

use super::now_ms;
use crate::error::{Error, Result};
use crate::io::files::Disk;
use crate::snapshot::{Kept, Manifest, Pending, RunLock, StateWriter};

/// Told where the savepoint is, or why there is none.
pub type Answer = Box<dyn FnOnce(Result<PathBuf>) + Send>;

/// Somebody asks for a savepoint.
pub struct SavepointRequest {
    /// In which folder; none: that of the settings.
    pub folder: Option<PathBuf>,
    /// The job is to end there.
    pub stop: bool,
    answer: Option<Answer>,
}

impl SavepointRequest {
    pub fn new(folder: Option<PathBuf>, stop: bool, answer: impl FnOnce(Result<PathBuf>) + Send + 'static) -> Self {
        SavepointRequest { folder, stop, answer: Some(Box::new(answer)) }
    }

    pub(super) fn answer(mut self, result: Result<PathBuf>) {
        if let Some(answer) = self.answer.take() {
            answer(result);
        }
    }
}

impl Drop for SavepointRequest {
    /// Nobody waits in vain.
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer(Err(Error::data("the job ended before a savepoint was complete")
                .help("its results are complete if it ended well; its own messages say whether it did")));
        }
    }
}

/// A savepoint that is complete.
pub(super) struct Saved {
    pub folder: PathBuf,
    /// Held as long as the job lives: nobody goes on from it meanwhile.
    pub lock: RunLock,
}

/// Writes a savepoint below `root`: the state, and pieces of tables that are one file, which go with the job.
///
/// # Errors
/// Io, with the file; then nothing is left of it.
pub(super) fn write(disk: &Disk, root: &Path, mut manifest: Manifest, states: &[StateWriter]) -> Result<Saved> {
    let folder = unused(root);
    let pending = Pending::begin(disk, folder.clone(), manifest.checkpoint)?;
    let mut written = || {
        let lock = RunLock::take(&folder)?;
        manifest.files.clear();
        for (shard, state) in states.iter().enumerate() {
            // All of it: a savepoint stands for itself.
            let mut nothing = Kept::default();
            manifest.files.push(pending.write_state(state, (shard, states.len()), &mut nothing)?);
        }
        for part in manifest.sinks.iter().flat_map(|sink| &sink.files.parts).filter(|part| part.visible.is_empty()) {
            pending.keep(Path::new(&part.hidden))?;
        }
        pending.publish(&manifest)?;
        Ok(lock)
    };
    match written() {
        Ok(lock) => Ok(Saved { folder: std::path::absolute(&folder).unwrap_or(folder), lock }),
        Err(error) => {
            pending.abandon();
            Err(error)
        }
    }
}

/// A name that nothing has.
fn unused(root: &Path) -> PathBuf {
    let name = |number: i64| root.join(format!("savepoint-{number:x}-{:x}", std::process::id()));
    (now_ms()..).map(name).find(|folder| !folder.exists()).unwrap_or_else(|| name(0))
}

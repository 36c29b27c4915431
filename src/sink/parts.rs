//! The files that a table's rows go into: hidden until they count, then under their own names.
//!
//! A name has the mark of the run that wrote the file, the shard, and a number: `part-MARK-SHARD-NUMBER.FORMAT`. Until it
//! counts it is `.transom-MARK-part-SHARD-NUMBER.FORMAT`, in the folder of the table, so that it is on its file system
//! and a rename makes it visible at once. A file of a run that ended in the middle is known by these names.
//!
//! The mark of a run that goes on from a checkpoint begins with that of the job's first run, so that the next one also
//! knows the files of a run that ended before it had a checkpoint of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::filesystem::{create_folder, rename, unique_name};
use crate::error::{Error, ErrorKind, Result};
use crate::io::durable;
use crate::io::files::{Disk, Files};
use crate::snapshot::{Closed, ClosedPart, SinkMark, SinkState};

/// The files of one table, written by one run.
pub(super) struct PartFiles {
    pub disk: Disk,
    /// The folder of the table.
    pub root: PathBuf,
    /// The ending of all names.
    format: &'static str,
    /// A name that no other run has.
    pub unique: String,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Begun by this run; no checkpoint has them yet.
    begun: BTreeSet<ClosedPart>,
    /// Completed at a cut of which no checkpoint has come about yet: the next one has them too.
    closed: BTreeSet<ClosedPart>,
    /// In a checkpoint, to become a piece of the one file of the table.
    covered: BTreeSet<ClosedPart>,
    /// Of the runs that this one goes on from.
    earlier: Vec<SinkMark>,
    /// There is a checkpoint, which will be removed when the job has ended.
    is_checkpointed: bool,
}

impl Parts {
    fn mark(&self, unique: &str) -> String {
        self.earlier.first().map_or(unique.to_string(), |first| format!("{}{SUCCESSOR}{unique}", family(&first.mark)))
    }
}

/// Between the mark of a job's first run and what is a later run's own. Marks are hexadecimal digits.
const SUCCESSOR: char = 'x';

/// What the marks of all runs of a job begin with.
fn family(mark: &str) -> &str {
    mark.split(SUCCESSOR).next().unwrap_or(mark)
}

impl PartFiles {
    pub fn new((root, disk): (PathBuf, &Disk), format: &'static str) -> Self {
        PartFiles { disk: disk.clone(), root, format, unique: unique_name(), parts: Mutex::default() }
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A hidden file of the run that is no part.
    pub fn hidden(&self, what: &str) -> PathBuf {
        let mark = self.parts().mark(&self.unique);
        self.root.join(format!(".transom-{mark}-{what}.{}", self.format))
    }

    /// The folder of the hidden files, and how the names of those of all runs of the job begin.
    pub fn prefix(&self) -> (PathBuf, String) {
        let root = std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone());
        (root, format!(".transom-{}", family(&self.parts().mark(&self.unique))))
    }

    /// The number of the first file of a writer.
    pub fn first_number(&self) -> u64 {
        self.parts().earlier.iter().flat_map(|mark| mark.next.iter().copied()).max().unwrap_or(0)
    }

    /// A file is about to be written. `folder`: where it belongs, below the root; none: it becomes a piece of one file.
    pub fn begin(&self, (shard, number): (usize, u64), folder: Option<&str>) -> ClosedPart {
        let visible = folder.map(|folder| {
            let mark = self.parts().mark(&self.unique);
            let name = format!("part-{mark}-{shard}-{number}.{}", self.format);
            self.root.join(folder).join(name).display().to_string()
        });
        let hidden = self.hidden(&format!("part-{shard}-{number}"));
        let part = ClosedPart {
            number,
            shard: shard as u32,
            hidden: hidden.display().to_string(),
            visible: visible.unwrap_or_default(),
        };
        self.parts().begun.insert(part.clone());
        part
    }

    /// What a checkpoint has to know. `closed`: of each shard, at the cut.
    pub fn state(&self, closed: &[Closed]) -> SinkState {
        let mut parts = self.parts();
        parts.is_checkpointed = true;
        let mut marks = parts.earlier.clone();
        marks
            .push(SinkMark { mark: parts.mark(&self.unique), next: closed.iter().map(|closed| closed.next).collect() });
        parts.closed.extend(closed.iter().flat_map(|closed| closed.parts.iter().cloned()));
        let all: BTreeSet<ClosedPart> = parts.covered.union(&parts.closed).cloned().collect();
        SinkState { marks, parts: all.into_iter().collect() }
    }

    /// A checkpoint that is complete has these parts: whatever becomes of the job, they stay.
    pub fn cover(&self, covered: &[ClosedPart]) {
        let mut parts = self.parts();
        for part in covered {
            parts.begun.remove(part);
            parts.closed.remove(part);
        }
    }

    /// Parts that have a place of their own become visible there.
    pub fn publish(&self, covered: &[ClosedPart]) -> Result<BTreeSet<PathBuf>> {
        let mut folders = BTreeSet::new();
        for part in covered {
            if part.visible.is_empty() {
                self.parts().covered.insert(part.clone());
                continue;
            }
            let visible = Path::new(&part.visible);
            if let Some(folder) = visible.parent()
                && folders.insert(folder.to_path_buf())
            {
                create_folder(&*self.disk, folder)?;
            }
            rename(&*self.disk, Path::new(&part.hidden), visible)?;
            self.parts().begun.remove(part);
        }
        let synced = |folder: &PathBuf| durable::sync_folder(&*self.disk, folder);
        folders.iter().chain([&self.root]).try_for_each(synced)?;
        Ok(folders)
    }

    /// All parts there are, in the order of their numbers, for the end of the job. Where a checkpoint will be removed then,
    /// they are on the disk.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn all(&self) -> Result<Vec<ClosedPart>> {
        let parts = self.parts();
        let all: Vec<ClosedPart> = parts.begun.union(&parts.covered).cloned().collect();
        if parts.is_checkpointed {
            sync_parts(&*self.disk, &all)?;
        }
        Ok(all)
    }

    /// Whether pieces of one file must stay as they are: until the job has ended, it may go back to a checkpoint.
    pub fn has_covered(&self) -> bool {
        !self.parts().covered.is_empty()
    }

    /// No checkpoint is left: the pieces that it had are of no use any more. What cannot be removed stays hidden.
    pub fn settle(&self) {
        for part in std::mem::take(&mut self.parts().covered) {
            let _ = self.disk.remove(Path::new(&part.hidden));
        }
    }

    /// Removes what no checkpoint has. What cannot be removed stays hidden.
    pub fn abort(&self) {
        for part in std::mem::take(&mut self.parts().begun) {
            let _ = self.disk.remove(Path::new(&part.hidden));
        }
    }

    /// Goes on from a checkpoint: its parts become visible if they are not yet; what was written behind it goes, with
    /// `is_deep` also from the folders below.
    ///
    /// # Errors
    /// Io, with the file; Data, if a part is not there.
    pub fn restore(&self, state: &SinkState, is_deep: bool) -> Result<BTreeSet<PathBuf>> {
        for part in &state.parts {
            let visible = !part.visible.is_empty() && Path::new(&part.visible).exists();
            if !visible && !Path::new(&part.hidden).exists() {
                let message = format!("{} is gone, which the checkpoint needs", part.hidden);
                return Err(Error::new(ErrorKind::Data, message)
                    .help("restore an older checkpoint, or run the job from its beginning"));
            }
        }
        {
            let mut parts = self.parts();
            parts.earlier.clone_from(&state.marks);
            parts.is_checkpointed = true;
        }
        let hidden = |part: &&ClosedPart| Path::new(&part.hidden).exists();
        let folders = self.publish(&state.parts.iter().filter(hidden).cloned().collect::<Vec<_>>())?;
        let kept: BTreeSet<&str> = state.parts.iter().map(|part| part.hidden.as_str()).collect();
        self.remove_behind((&self.root, is_deep), &state.marks, &kept)?;
        Ok(folders)
    }

    /// Removes from a folder the hidden files of the job that are not to be kept, and the visible ones that a checkpoint
    /// with these marks does not know.
    fn remove_behind(&self, (folder, is_deep): (&Path, bool), marks: &[SinkMark], kept: &BTreeSet<&str>) -> Result<()> {
        for path in self.disk.list(folder).map_err(|error| Error::io("read", folder.display(), error))? {
            if path.is_dir() && !path.is_symlink() {
                if is_deep {
                    self.remove_behind((&path, is_deep), marks, kept)?;
                }
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_kept = kept.contains(&*path.display().to_string());
            if !is_kept && is_behind(&name, marks) {
                self.disk.remove(&path).map_err(|error| Error::io("remove", path.display(), error))?;
            }
        }
        Ok(())
    }
}

/// Makes sure that parts and their hidden names are on the disk.
///
/// # Errors
/// Io, with the file.
pub fn sync_parts(disk: &dyn Files, parts: &[ClosedPart]) -> Result<()> {
    let paths = || parts.iter().map(|part| Path::new(&part.hidden));
    paths().try_for_each(|path| durable::sync(disk, path))?;
    let folders: BTreeSet<&Path> = paths().filter_map(Path::parent).collect();
    folders.into_iter().try_for_each(|folder| durable::sync_folder(disk, folder))
}

/// Whether a file of this name was written behind the cut.
fn is_behind(name: &str, marks: &[SinkMark]) -> bool {
    let ours = |mark: &str| marks.first().is_some_and(|first| family(mark) == family(&first.mark));
    if let Some((mark, _)) = name.strip_prefix(".transom-").and_then(|rest| rest.split_once('-')) {
        return ours(mark);
    }
    let Some((mark, rest)) = name.strip_prefix("part-").and_then(|rest| rest.split_once('-')) else { return false };
    let Some((shard, number)) = shard_and_number(rest).filter(|_| ours(mark)) else { return false };
    // A run that the checkpoint does not know wrote all behind it.
    let known = marks.iter().find(|known| known.mark == mark);
    known.and_then(|known| known.next.get(shard)).is_none_or(|&next| number >= next)
}

/// Of `SHARD-NUMBER.FORMAT`.
fn shard_and_number(text: &str) -> Option<(usize, u64)> {
    let (shard, rest) = text.split_once('-')?;
    let (number, _) = rest.split_once('.')?;
    Some((shard.parse().ok()?, number.parse().ok()?))
}

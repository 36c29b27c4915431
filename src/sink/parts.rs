//! The files that a table's rows go into: hidden until they count, then under their own names.
//!
//! A name has the mark of the run that wrote the file, the shard, and a number: `part-MARK-SHARD-NUMBER.FORMAT`. Until it
//! counts it is `.transom-MARK-part-SHARD-NUMBER.FORMAT`, in the folder of the table, so that it is on its file system
//! and a rename makes it visible at once. A file of a run that ended in the middle is known by these names.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::filesystem::{create_folder, rename, sync, unique_name};
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::{Closed, ClosedPart, SinkMark, SinkState};

/// The files of one table, written by one run.
pub(super) struct PartFiles {
    /// The folder of the table.
    pub root: PathBuf,
    /// The ending of all names.
    format: &'static str,
    pub mark: String,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Begun by this run; no checkpoint has them yet.
    begun: BTreeSet<ClosedPart>,
    /// In a checkpoint, to become a piece of the one file of the table.
    covered: BTreeSet<ClosedPart>,
    /// Of the runs that this one goes on from.
    earlier: Vec<SinkMark>,
}

impl PartFiles {
    pub fn new(root: PathBuf, format: &'static str) -> Self {
        PartFiles { root, format, mark: unique_name(), parts: Mutex::default() }
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A hidden file of the run.
    pub fn hidden(&self, what: &str) -> PathBuf {
        self.root.join(format!(".transom-{}-{what}.{}", self.mark, self.format))
    }

    /// The folder of the hidden files, and how their names begin.
    pub fn prefix(&self) -> (PathBuf, String) {
        let root = std::path::absolute(&self.root).unwrap_or_else(|_| self.root.clone());
        (root, format!(".transom-{}-", self.mark))
    }

    /// The number of the first file of a writer.
    pub fn first_number(&self) -> u64 {
        self.parts().earlier.iter().flat_map(|mark| mark.next.iter().copied()).max().unwrap_or(0)
    }

    /// A file is about to be written. `folder`: where it belongs, below the root; none: it becomes a piece of one file.
    pub fn begin(&self, (shard, number): (usize, u64), folder: Option<&str>) -> ClosedPart {
        let visible = folder.map(|folder| {
            let name = format!("part-{}-{shard}-{number}.{}", self.mark, self.format);
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
        let parts = self.parts();
        let mut marks = parts.earlier.clone();
        marks.push(SinkMark { mark: self.mark.clone(), next: closed.iter().map(|closed| closed.next).collect() });
        let mut all = parts.covered.clone();
        all.extend(closed.iter().flat_map(|closed| closed.parts.iter().cloned()));
        SinkState { marks, parts: all.into_iter().collect() }
    }

    /// A checkpoint has these parts: those that have a place of their own become visible.
    pub fn publish(&self, covered: &[ClosedPart]) -> Result<BTreeSet<PathBuf>> {
        let mut folders = BTreeSet::new();
        for part in covered {
            if part.visible.is_empty() {
                let mut parts = self.parts();
                parts.begun.remove(part);
                parts.covered.insert(part.clone());
                continue;
            }
            let visible = Path::new(&part.visible);
            if let Some(folder) = visible.parent()
                && folders.insert(folder.to_path_buf())
            {
                create_folder(folder)?;
            }
            rename(Path::new(&part.hidden), visible)?;
            self.parts().begun.remove(part);
        }
        folders.iter().for_each(|folder| sync(folder));
        sync(&self.root);
        Ok(folders)
    }

    /// A checkpoint has parts that are pieces of the one file of the table: it needs them as they are.
    pub fn has_covered(&self) -> bool {
        !self.parts().covered.is_empty()
    }

    /// Takes all parts there are, in the order of their numbers.
    pub fn take(&self) -> Vec<ClosedPart> {
        let mut parts = self.parts();
        let mut all = std::mem::take(&mut parts.begun);
        all.append(&mut parts.covered);
        all.into_iter().collect()
    }

    /// Removes what no checkpoint has. What cannot be removed stays hidden.
    pub fn abort(&self) {
        for part in std::mem::take(&mut self.parts().begun) {
            let _ = fs::remove_file(&part.hidden);
        }
    }

    /// Goes on from a checkpoint: its parts become visible if they are not yet; what was written behind it goes.
    ///
    /// # Errors
    /// Io, with the file; Data, if a part is not there.
    pub fn restore(&self, state: &SinkState) -> Result<BTreeSet<PathBuf>> {
        for part in &state.parts {
            let visible = !part.visible.is_empty() && Path::new(&part.visible).exists();
            if !visible && !Path::new(&part.hidden).exists() {
                let message = format!("{} is gone, which the checkpoint needs", part.hidden);
                return Err(Error::new(ErrorKind::Data, message)
                    .help("restore an older checkpoint, or run the job from its beginning"));
            }
        }
        self.parts().earlier.clone_from(&state.marks);
        let hidden = |part: &&ClosedPart| Path::new(&part.hidden).exists();
        let folders = self.publish(&state.parts.iter().filter(hidden).cloned().collect::<Vec<_>>())?;
        let kept: BTreeSet<&str> = state.parts.iter().map(|part| part.hidden.as_str()).collect();
        remove_behind(&self.root, &state.marks, &kept)?;
        Ok(folders)
    }
}

/// Makes sure that parts are on the disk.
///
/// # Errors
/// Io, with the file.
pub fn sync_parts(parts: &[ClosedPart]) -> Result<()> {
    parts.iter().try_for_each(|part| {
        let synced = File::open(&part.hidden).and_then(|file| file.sync_all());
        synced.map_err(|error| Error::io("write", &part.hidden, error))
    })
}

/// Removes, below a folder, hidden files with one of the marks that are not to be kept, and visible ones that a checkpoint
/// with these marks does not know.
fn remove_behind(folder: &Path, marks: &[SinkMark], kept: &BTreeSet<&str>) -> Result<()> {
    let failed = |error| Error::io("read", folder.display(), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            remove_behind(&path, marks, kept)?;
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_behind = |mark: &SinkMark| {
            if name.starts_with(&format!(".transom-{}-", mark.mark)) {
                return !kept.contains(&*path.display().to_string());
            }
            let rest = name.strip_prefix(&format!("part-{}-", mark.mark));
            rest.and_then(shard_and_number)
                .is_some_and(|(shard, number)| mark.next.get(shard).is_none_or(|&next| number >= next))
        };
        if marks.iter().any(is_behind) {
            fs::remove_file(&path).map_err(|error| Error::io("remove", path.display(), error))?;
        }
    }
    Ok(())
}

/// Of `SHARD-NUMBER.FORMAT`.
fn shard_and_number(text: &str) -> Option<(usize, u64)> {
    let (shard, rest) = text.split_once('-')?;
    let (number, _) = rest.split_once('.')?;
    Some((shard.parse().ok()?, number.parse().ok()?))
}

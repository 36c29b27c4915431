//! Where checkpoints lie: `ROOT/RUN/chk-N/`, as Flink has them.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::format::Base;
use super::kept::Kept;
use super::manifest::{Manifest, StateFileEntry};
use super::reader::StateFile;
use super::writer::StateWriter;
use crate::error::{Error, ErrorKind, Result};
use crate::io::durable;
use crate::io::files::{Disk, Files, disk};

/// The manifest's name, which is Flink's.
pub const METADATA: &str = "_metadata";
const PREFIX: &str = "chk-";
/// Text on its way into a file of state is written in pieces of this size.
const BUFFER_BYTES: usize = 1 << 20;

/// The folder that has the checkpoints of several jobs, each run's in a folder of its own.
#[derive(Debug, Clone)]
pub struct CheckpointRoot {
    pub(super) disk: Disk,
    pub(super) folder: PathBuf,
}

/// The checkpoints of one run of a job.
#[derive(Debug, Clone)]
pub struct CheckpointFolder {
    pub(super) disk: Disk,
    folder: PathBuf,
}

/// A checkpoint that is not complete.
#[derive(Debug, Clone)]
pub struct Pending {
    disk: Disk,
    folder: PathBuf,
    checkpoint: u64,
}

impl CheckpointRoot {
    /// A folder of this machine; it need not be there.
    pub fn new(folder: &Path) -> Self {
        CheckpointRoot::on(disk(), folder)
    }

    /// A folder of a certain file system.
    pub fn on(disk: Disk, folder: &Path) -> Self {
        CheckpointRoot { disk, folder: folder.to_path_buf() }
    }

    /// The folder of the run with this name.
    pub fn run(&self, name: &str) -> CheckpointFolder {
        CheckpointFolder { disk: self.disk.clone(), folder: self.folder.join(name) }
    }

    /// The complete checkpoints of all runs, the newest first: their folders and manifests, or why a manifest cannot be
    /// read. It may also be the folder of one run.
    ///
    /// # Errors
    /// Io, with the folder that cannot be read.
    pub fn all(&self) -> Result<Vec<(PathBuf, Result<Manifest>)>> {
        Ok(self.complete(self.below()?))
    }

    /// As [`CheckpointRoot::all`], the savepoints that lie in the folder itself.
    ///
    /// # Errors
    /// As [`CheckpointRoot::all`].
    pub fn savepoints(&self) -> Result<Vec<(PathBuf, Result<Manifest>)>> {
        let folders = self.runs()?.into_iter().filter(|folder| number_of(folder).is_none());
        Ok(self.complete(folders.collect()))
    }

    fn complete(&self, folders: Vec<PathBuf>) -> Vec<(PathBuf, Result<Manifest>)> {
        let mut found: Vec<(PathBuf, Result<Manifest>)> = Vec::new();
        for folder in folders {
            let metadata = folder.join(METADATA);
            if metadata.is_file() {
                found.push((folder, Manifest::read_on(&*self.disk, &metadata)));
            }
        }
        // Damaged ones by the time of their file; two of one millisecond by their numbers.
        let time = |(folder, manifest): &(PathBuf, Result<Manifest>)| match manifest {
            Ok(manifest) => (manifest.created_ms, manifest.checkpoint),
            Err(_) => (written_ms(&folder.join(METADATA)), u64::MAX),
        };
        found.sort_by_key(|found| std::cmp::Reverse(time(found)));
        found
    }

    /// The folders that are no checkpoints yet, or never became one; in the order of their names.
    ///
    /// # Errors
    /// As [`CheckpointRoot::all`].
    pub fn incomplete(&self) -> Result<Vec<PathBuf>> {
        let mut folders = self.below()?;
        folders.retain(|folder| !folder.join(METADATA).is_file());
        folders.sort();
        Ok(folders)
    }

    /// The folders of all checkpoints, complete or not.
    fn below(&self) -> Result<Vec<PathBuf>> {
        let runs = self.runs()?;
        let numbered = std::iter::once(&self.folder).chain(&runs).flat_map(|run| numbered(&*self.disk, run));
        Ok(numbered.map(|(_, folder)| folder).collect())
    }

    /// What is in the folder, which is empty where it is not there.
    pub(super) fn runs(&self) -> Result<Vec<PathBuf>> {
        match self.disk.list(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(|error| Error::io("read", self.folder.display(), error)),
        }
    }
}

impl CheckpointFolder {
    /// For the run that wrote this checkpoint.
    pub fn around(disk: Disk, checkpoint: &Path) -> Self {
        CheckpointFolder { disk, folder: checkpoint.parent().unwrap_or(checkpoint).to_path_buf() }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The checkpoints of this run only.
    pub fn own(&self) -> CheckpointRoot {
        CheckpointRoot { disk: self.disk.clone(), folder: self.folder.clone() }
    }

    /// Those of this and of other runs.
    pub fn root(&self) -> CheckpointRoot {
        CheckpointRoot::on(self.disk.clone(), self.folder.parent().unwrap_or(&self.folder))
    }

    /// Begins a checkpoint. One of the same number, which a run that ended in the middle may have left, goes.
    ///
    /// # Errors
    /// Io, with the folder that cannot be made, or emptied.
    pub fn begin(&self, checkpoint: u64) -> Result<Pending> {
        Pending::begin(&self.disk, self.folder.join(format!("{PREFIX}{checkpoint}")), checkpoint)
    }

    /// Removes what belongs to checkpoints before `first`. What cannot be removed stays: it does no harm.
    pub fn forget_before(&self, first: u64) {
        for (number, folder) in numbered(&*self.disk, &self.folder) {
            if number < first {
                let _ = remove(&*self.disk, &folder);
            }
        }
    }

    /// Removes all checkpoints of the run.
    pub fn forget(&self) {
        self.forget_before(u64::MAX);
    }
}

fn written_ms(path: &Path) -> i64 {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(i64::MIN, |since| since.as_millis() as i64)
}

/// The folders of checkpoints in the folder of a run, with their numbers.
fn numbered(disk: &dyn Files, run: &Path) -> Vec<(u64, PathBuf)> {
    let entries = disk.list(run).unwrap_or_default();
    entries.into_iter().filter_map(|path| Some((number_of(&path)?, path))).collect()
}

fn number_of(checkpoint: &Path) -> Option<u64> {
    checkpoint.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()
}

/// Removes a checkpoint, if there is one: first what makes it one, and for good, so that no power cut brings back the
/// manifest of files that have gone.
pub(super) fn remove(disk: &dyn Files, folder: &Path) -> std::io::Result<()> {
    let there = |removed: std::io::Result<()>| match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    };
    if there(disk.remove(&folder.join(METADATA)))? {
        disk.sync_folder(folder)?;
    }
    there(disk.remove_folder(folder)).map(drop)
}

impl Pending {
    /// Begins in a folder; what is there under this name goes.
    ///
    /// # Errors
    /// As [`CheckpointFolder::begin`].
    pub fn begin(disk: &Disk, folder: PathBuf, checkpoint: u64) -> Result<Pending> {
        remove(&**disk, &folder).map_err(|error| Error::io("remove", folder.display(), error))?;
        durable::create_folder(&**disk, &folder)?;
        Ok(Pending { disk: disk.clone(), folder, checkpoint })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes the state of one shard, but for what files of earlier checkpoints have: these get a second name in this
    /// folder, so that it stands for itself. From any thread, several at a time.
    ///
    /// # Errors
    /// Io, with the file. A file whose bytes may not have reached the disk is never trusted: the checkpoint fails.
    pub fn write_state(
        &self,
        state: &StateWriter,
        (shard, shards): (usize, usize),
        kept: &mut Kept,
    ) -> Result<StateFileEntry> {
        let name = format!("shard-{shard}-of-{shards}.state");
        let bases = self.link(&name, kept.newest(), kept.bases(&state.unchanged(kept)));
        let path = self.folder.join(&name);
        let failed = |error| Error::io("write", path.display(), error);
        let file = self.disk.create(&path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let written = state.write((self.checkpoint, shard, shards), &bases, kept, &mut out).map_err(failed)?;
        out.flush().map_err(failed)?;
        out.get_mut().sync().map_err(failed)?;
        Ok(StateFileEntry { name, bytes: written.bytes, hash: written.hash })
    }

    /// Links files that the checkpoint `newest` has: its own file of this name, or those that it refers to. Those that
    /// can be linked; what is in others is written again.
    fn link(&self, name: &str, newest: u64, bases: Vec<Base>) -> Vec<Base> {
        let folder = self.folder.with_file_name(format!("{PREFIX}{newest}"));
        let linked = |base: &Base| {
            let there = if base.checkpoint == newest { name.to_string() } else { base.name(name) };
            let here = self.folder.join(base.name(name));
            // A copy, where there are no links, is not on the disk before it is synced.
            self.disk.link(&folder.join(there), &here).and_then(|()| self.disk.sync(&here)).is_ok()
        };
        bases.into_iter().filter(linked).collect()
    }

    /// Keeps a file of somebody else's with the checkpoint, under its name.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn keep(&self, path: &Path) -> Result<()> {
        let Some(name) = path.file_name() else { return Ok(()) };
        self.disk.link(path, &self.folder.join(name)).map_err(|error| Error::io("keep", path.display(), error))
    }

    /// Makes the checkpoint complete.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn publish(&self, manifest: &Manifest) -> Result<()> {
        // Whoever finds the manifest finds the rest.
        durable::sync_folder(&*self.disk, &self.folder)?;
        durable::write(&*self.disk, &self.folder.join(METADATA), &manifest.to_bytes()?)
    }

    /// Removes what there is of it. What cannot be removed is never read as a checkpoint.
    pub fn abandon(&self) {
        let _ = remove(&*self.disk, &self.folder);
    }
}

impl Manifest {
    /// Opens the files of state of the checkpoint in `folder` and checks every byte of them.
    ///
    /// # Errors
    /// Io, or Data with the file and the place.
    pub fn open_state(&self, folder: &Path) -> Result<Vec<StateFile>> {
        self.files.iter().map(|entry| self.open_file(folder, entry)).collect()
    }

    /// Opens the files of state once more, after every byte of them has been checked.
    ///
    /// # Errors
    /// As [`Manifest::open_state`], for the edges of the files.
    pub fn reopen_state(&self, folder: &Path) -> Result<Vec<StateFile>> {
        self.files.iter().map(|entry| self.named(folder, entry, StateFile::open_checked)).collect()
    }

    /// Opens one of the files of state and checks every byte of it.
    ///
    /// # Errors
    /// As [`Manifest::open_state`].
    pub fn open_file(&self, folder: &Path, entry: &StateFileEntry) -> Result<StateFile> {
        self.named(folder, entry, StateFile::open)
    }

    fn named(
        &self,
        folder: &Path,
        entry: &StateFileEntry,
        open: impl Fn(&Path) -> Result<StateFile>,
    ) -> Result<StateFile> {
        let path = folder.join(&entry.name);
        let file = open(&path)?;
        if file.hash() != entry.hash || file.checkpoint() != self.checkpoint {
            let message = format!("damaged: it is not the file that {METADATA} names");
            return Err(Error::new(ErrorKind::Data, message).in_file(path.display().to_string()));
        }
        Ok(file)
    }

    /// Sees that the files of state are there and have their sizes, without a look at their bytes.
    ///
    /// # Errors
    /// Io, or Data with the file.
    pub fn check_sizes(&self, folder: &Path) -> Result<()> {
        self.files.iter().try_for_each(|entry| {
            let path = folder.join(&entry.name);
            let metadata = fs::metadata(&path).map_err(|error| Error::io("read", path.display(), error))?;
            if metadata.len() == entry.bytes {
                return Ok(());
            }
            let message = format!("damaged: {} bytes, not {}", metadata.len(), entry.bytes);
            Err(Error::new(ErrorKind::Data, message).in_file(path.display().to_string()))
        })
    }
}

//! Where checkpoints lie: `ROOT/RUN/chk-N/`, as Flink has them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::format::Base;
use super::kept::Kept;
use super::manifest::{Manifest, StateFileEntry};
use super::reader::StateFile;
use super::writer::StateWriter;
use crate::error::{Error, ErrorKind, Result};

/// The manifest's name, which is Flink's.
pub const METADATA: &str = "_metadata";
const PREFIX: &str = "chk-";
/// Text on its way into a file of state is written in pieces of this size.
const BUFFER_BYTES: usize = 1 << 20;

/// The checkpoints of one run of a job.
#[derive(Debug, Clone)]
pub struct CheckpointFolder {
    folder: PathBuf,
}

/// A checkpoint that is not complete.
#[derive(Debug, Clone)]
pub struct Pending {
    folder: PathBuf,
    checkpoint: u64,
}

impl CheckpointFolder {
    /// For the run called `run`, below a folder that several jobs may share.
    pub fn new(root: &Path, run: &str) -> Self {
        CheckpointFolder { folder: root.join(run) }
    }

    /// For the run that wrote this checkpoint.
    pub fn around(checkpoint: &Path) -> Self {
        CheckpointFolder { folder: checkpoint.parent().unwrap_or(checkpoint).to_path_buf() }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Begins a checkpoint. One of the same number, which a run that ended in the middle may have left, goes.
    ///
    /// # Errors
    /// Io, with the folder that cannot be made.
    pub fn begin(&self, checkpoint: u64) -> Result<Pending> {
        let folder = self.folder.join(format!("{PREFIX}{checkpoint}"));
        remove(&folder);
        fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", folder.display(), error))?;
        Ok(Pending { folder, checkpoint })
    }

    /// Removes what belongs to checkpoints before `first`. What cannot be removed stays: it does no harm.
    pub fn forget_before(&self, first: u64) {
        for (number, folder) in numbered(&self.folder) {
            if number < first {
                remove(&folder);
            }
        }
    }

    /// Removes all checkpoints of the run.
    pub fn forget(&self) {
        self.forget_before(u64::MAX);
    }

    /// The complete checkpoints of all runs below `root`, the newest first: their folders and manifests, or why a
    /// manifest cannot be read. `root` may also be the folder of one run.
    ///
    /// # Errors
    /// Io, with the folder that cannot be read.
    pub fn all(root: &Path) -> Result<Vec<(PathBuf, Result<Manifest>)>> {
        let mut found: Vec<(PathBuf, Result<Manifest>)> = Vec::new();
        for folder in below(root)? {
            let metadata = folder.join(METADATA);
            if metadata.is_file() {
                found.push((folder, Manifest::read(&metadata)));
            }
        }
        // Damaged ones by the time of their file; two of one millisecond by their numbers.
        let time = |(folder, manifest): &(PathBuf, Result<Manifest>)| match manifest {
            Ok(manifest) => (manifest.created_ms, manifest.checkpoint),
            Err(_) => (written_ms(&folder.join(METADATA)), u64::MAX),
        };
        found.sort_by_key(|found| std::cmp::Reverse(time(found)));
        Ok(found)
    }

    /// The folders below `root` that are no checkpoints yet, or never became one; in the order of their names.
    ///
    /// # Errors
    /// As [`CheckpointFolder::all`].
    pub fn incomplete(root: &Path) -> Result<Vec<PathBuf>> {
        let mut folders = below(root)?;
        folders.retain(|folder| !folder.join(METADATA).is_file());
        folders.sort();
        Ok(folders)
    }
}

/// The folders of all checkpoints below a root, complete or not.
fn below(root: &Path) -> Result<Vec<PathBuf>> {
    let runs = fs::read_dir(root).map_err(|error| Error::io("read", root.display(), error))?;
    let runs = runs.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let numbered = std::iter::once(root.to_path_buf()).chain(runs).flat_map(|run| numbered(&run));
    Ok(numbered.map(|(_, folder)| folder).collect())
}

fn written_ms(path: &Path) -> i64 {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(i64::MIN, |since| since.as_millis() as i64)
}

/// The folders of checkpoints in the folder of a run, with their numbers.
fn numbered(run: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(run).into_iter().flatten().filter_map(|entry| entry.ok());
    let number = |name: &str| name.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    entries.filter_map(|entry| Some((number(&entry.file_name().to_string_lossy())?, entry.path()))).collect()
}

/// Removes a checkpoint: first what makes it one.
pub(super) fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(METADATA));
    let _ = fs::remove_dir_all(folder);
}

impl Pending {
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
        let file = File::create(&path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let written = state.write((self.checkpoint, shard, shards), &bases, kept, &mut out).map_err(failed)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        Ok(StateFileEntry { name, bytes: written.bytes, hash: written.hash })
    }

    /// Links files that the checkpoint `newest` has: its own file of this name, or those that it refers to. Those that
    /// can be linked; what is in others is written again.
    fn link(&self, name: &str, newest: u64, bases: Vec<Base>) -> Vec<Base> {
        let folder = self.folder.with_file_name(format!("{PREFIX}{newest}"));
        let linked = |base: &Base| {
            let there = if base.checkpoint == newest { name.to_string() } else { base.name(name) };
            fs::hard_link(folder.join(there), self.folder.join(base.name(name))).is_ok()
        };
        bases.into_iter().filter(linked).collect()
    }

    /// Makes the checkpoint complete.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn publish(&self, manifest: &Manifest) -> Result<()> {
        let (hidden, path) = (self.folder.join("_metadata.inprogress"), self.folder.join(METADATA));
        let failed = |error| Error::io("write", path.display(), error);
        let mut file = File::create(&hidden).map_err(failed)?;
        file.write_all(&manifest.to_bytes()?).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        sync_folder(&self.folder)?;
        fs::rename(&hidden, &path).map_err(failed)?;
        sync_folder(&self.folder)?;
        // The run's own folder and the folder of all runs may be new.
        self.folder.ancestors().skip(1).take(2).try_for_each(sync_folder)
    }

    /// Removes what there is of it.
    pub fn abandon(&self) {
        remove(&self.folder);
    }
}

fn sync_folder(folder: &Path) -> Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::io("write", folder.display(), error))
}

impl Manifest {
    /// Opens the files of state of the checkpoint in `folder` and checks every byte of them.
    ///
    /// # Errors
    /// Io, or Data with the file and the place.
    pub fn open_state(&self, folder: &Path) -> Result<Vec<StateFile>> {
        self.files.iter().map(|entry| self.open_file(folder, entry)).collect()
    }

    /// Opens one of the files of state and checks every byte of it.
    ///
    /// # Errors
    /// As [`Manifest::open_state`].
    pub fn open_file(&self, folder: &Path, entry: &StateFileEntry) -> Result<StateFile> {
        let path = folder.join(&entry.name);
        let file = StateFile::open(&path)?;
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

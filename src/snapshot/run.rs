//! A run of a job among others that share a folder: it holds a lock as long as it lives, and notes which files it may leave.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::folder::CheckpointFolder;
use super::manifest::Manifest;
use crate::error::{Error, Result};

const LOCK: &str = "lock";
const FILES: &str = "files";
/// Says which statement of which script has ended well.
const DONE: &str = "done";

/// Held by a run that lives.
#[derive(Debug)]
pub struct RunLock {
    /// The lock goes with the file.
    _file: File,
}

impl CheckpointFolder {
    /// Makes the folder of the run, and says that it lives.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn lock(&self) -> Result<RunLock> {
        let folder = self.path();
        fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder.display(), error))?;
        let path = folder.join(LOCK);
        let file = File::create(&path).map_err(|error| Error::io("create", path.display(), error))?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::internal(format!("{} is another run's", folder.display()))),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", path.display(), error)),
        }
    }

    /// Notes the folders in which the run writes, each with how the names of its hidden files begin.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn note_files(&self, prefixes: &[(PathBuf, String)]) -> Result<()> {
        let path = self.path().join(FILES);
        let failed = |error| Error::io("write", path.display(), error);
        // Paths may have any character but a zero.
        let lines = prefixes.iter().map(|(folder, prefix)| format!("{prefix}\0{}\0", folder.display()));
        fs::write(&path, lines.collect::<String>()).map_err(failed)?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(failed)
    }

    /// Notes that a statement of a script has ended well: whoever goes on with the script begins behind it.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn mark_done(&self, script: &str, statement: usize) -> Result<()> {
        let path = self.path().join(DONE);
        let failed = |error| Error::io("write", path.display(), error);
        fs::write(&path, format!("{statement}\0{script}")).map_err(failed)?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        File::open(self.path()).and_then(|folder| folder.sync_all()).map_err(failed)
    }

    /// The last statement of a script that is noted to have ended well, by any run below `root`; 0: none.
    pub fn done(root: &Path, script: &str) -> u64 {
        notes_of(root, script).into_iter().map(|(_, statement)| statement).max().unwrap_or(0)
    }

    /// Removes the checkpoints of statements of a script that have ended well, the last of them `statement`, and what their
    /// runs have left.
    ///
    /// # Errors
    /// As [`CheckpointFolder::clean_up`].
    pub fn clean_up_done(root: &Path, script: &str, statement: u64) -> Result<()> {
        for (folder, manifest) in Self::all(root)? {
            let is_done = |manifest: &Manifest| {
                same_script(&manifest.script, script) && manifest.statement <= statement && !Self::is_live(&folder)
            };
            if manifest.as_ref().is_ok_and(is_done) {
                super::folder::remove(&folder);
            }
        }
        Self::clean_up(root)
    }

    /// The script begins anew: what was noted of it goes.
    pub fn forget_done(root: &Path, script: &str) {
        for (path, _) in notes_of(root, script) {
            let _ = fs::remove_file(&path);
            if let Some(run) = path.parent().filter(|run| !is_live(run)) {
                Self::discard_run(run);
            }
        }
    }

    /// Whether the run that a checkpoint is of lives.
    pub fn is_live(checkpoint: &Path) -> bool {
        checkpoint.parent().is_some_and(is_live)
    }

    /// Removes what runs below `root` have left that live no more: hidden files that no checkpoint needs, checkpoints that
    /// were never complete, and folders without any. Nothing is removed while a manifest cannot be read, for nobody knows
    /// what it needs.
    ///
    /// # Errors
    /// Io, with the folder that cannot be read.
    pub fn clean_up(root: &Path) -> Result<()> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut complete: BTreeSet<PathBuf> = BTreeSet::new();
        for (folder, manifest) in Self::all(root)? {
            let Ok(manifest) = manifest else { return Ok(()) };
            let parts = manifest.sinks.into_iter().flat_map(|sink| sink.files.parts);
            // By their names, which no two runs share: paths may be relative to another folder.
            needed.extend(parts.filter_map(|part| name_of(Path::new(&part.hidden))));
            complete.insert(folder);
        }
        let runs = fs::read_dir(root).map_err(|error| Error::io("read", root.display(), error))?;
        let runs = runs.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        for run in runs.filter(|run| run.join(LOCK).is_file() && !is_live(run)) {
            remove_files(&run, &needed);
            for entry in fs::read_dir(&run).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
                if !complete.contains(&entry.path()) {
                    let _ = fs::remove_dir_all(entry.path());
                }
            }
            if !complete.iter().any(|checkpoint| checkpoint.starts_with(&run)) {
                Self::discard_run(&run);
            }
        }
        Ok(())
    }

    /// The run has left nothing: its notes go, and its folder if it has no checkpoint.
    pub fn leave(&self) {
        Self::discard_run(self.path());
    }

    /// Removes the folder of a run that has no checkpoint.
    fn discard_run(run: &Path) {
        let checkpoints = fs::read_dir(run).into_iter().flatten().flatten().any(|entry| entry.path().is_dir());
        if !checkpoints {
            let _ = fs::remove_file(run.join(FILES));
            let _ = fs::remove_file(run.join(LOCK));
            let _ = fs::remove_dir(run);
        }
    }
}

/// The notes of what has ended well of a script, which is known by its file's name, and the statement of each.
fn notes_of(root: &Path, script: &str) -> Vec<(PathBuf, u64)> {
    let runs = fs::read_dir(root).into_iter().flatten().flatten();
    let note = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        let (statement, of) = text.split_once('\0')?;
        same_script(of, script).then_some((path, statement.parse().ok()?))
    };
    runs.filter_map(|run| note(run.path().join(DONE))).collect()
}

/// A script is known by the name of its file, wherever that lies.
pub fn same_script(one: &str, other: &str) -> bool {
    name_of(Path::new(one)) == name_of(Path::new(other))
}

fn name_of(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn is_live(run: &Path) -> bool {
    let Ok(lock) = File::open(run.join(LOCK)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// What cannot be removed stays hidden.
fn remove_files(run: &Path, needed: &BTreeSet<String>) {
    let noted = fs::read_to_string(run.join(FILES)).unwrap_or_default();
    let noted: Vec<&str> = noted.split('\0').collect();
    for pair in noted.chunks_exact(2) {
        let [prefix, folder] = [pair[0], pair[1]];
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = name_of(&path).unwrap_or_default();
            // A probe is there for an instant, under a mark that nobody has noted yet.
            let is_probe = name.starts_with(".transom-") && name.ends_with("-probe");
            if is_probe || name.starts_with(prefix) && !needed.contains(&name) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

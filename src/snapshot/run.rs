//! A run of a job among others that share a folder: it holds a lock as long as it lives, and notes which files it may leave.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::folder::{CheckpointFolder, CheckpointRoot, METADATA, remove};
use super::manifest::Manifest;
use crate::error::{Error, Result};
use crate::io::durable;
use crate::io::files::Files;

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
        durable::create_folder(&*self.disk, self.path())?;
        RunLock::take(self.path())
    }

    /// Notes the folders in which the run writes, each with how the names of its hidden files begin.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn note_files(&self, prefixes: &[(PathBuf, String)]) -> Result<()> {
        // Paths may have any character but a zero.
        let lines = prefixes.iter().map(|(folder, prefix)| format!("{prefix}\0{}\0", folder.display()));
        durable::write(&*self.disk, &self.path().join(FILES), lines.collect::<String>().as_bytes())
    }

    /// Notes that a statement of a script has ended well: whoever goes on with the script begins behind it.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn mark_done(&self, script: &str, statement: usize) -> Result<()> {
        durable::write(&*self.disk, &self.path().join(DONE), format!("{statement}\0{script}").as_bytes())
    }

    /// Whether the run that a checkpoint is of lives.
    pub fn is_live(checkpoint: &Path) -> bool {
        // The job that took a savepoint holds a lock there.
        is_live(checkpoint) || checkpoint.parent().is_some_and(is_live)
    }

    /// The run has left nothing: its notes go, and its folder if it has no checkpoint.
    pub fn leave(&self) {
        discard_run(&*self.disk, self.path());
    }
}

impl RunLock {
    /// Says of a folder that whoever writes there lives, and which process it is.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn take(folder: &Path) -> Result<RunLock> {
        let path = folder.join(LOCK);
        let opened = File::options().write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| Error::io("create", path.display(), error))?;
        match file.try_lock() {
            Ok(()) => {
                let noted = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                noted.map_err(|error| Error::io("write", path.display(), error))?;
                Ok(RunLock { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(Error::internal(format!("{} is another run's", folder.display()))),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", path.display(), error)),
        }
    }
}

/// The process that lives in the folder of a run.
pub fn process_of(run: &Path) -> Option<u32> {
    if is_live(run) { std::fs::read_to_string(run.join(LOCK)).ok()?.parse().ok() } else { None }
}

impl CheckpointRoot {
    /// The folders of the runs that live.
    ///
    /// # Errors
    /// As [`CheckpointRoot::all`].
    pub fn live(&self) -> Result<Vec<PathBuf>> {
        Ok(self.runs()?.into_iter().filter(|run| is_live(run)).collect())
    }

    /// The last statement of a script that is noted to have ended well, by any run; 0: none.
    pub fn done(&self, script: &str) -> u64 {
        self.notes_of(script).into_iter().map(|(_, statement)| statement).max().unwrap_or(0)
    }

    /// Removes the checkpoints of statements of a script that have ended well, the last of them `statement`, and what their
    /// runs have left.
    ///
    /// # Errors
    /// As [`CheckpointRoot::clean_up`].
    pub fn clean_up_done(&self, script: &str, statement: u64) -> Result<()> {
        for (folder, manifest) in self.all()? {
            let is_done = |manifest: &Manifest| {
                same_script(&manifest.script, script)
                    && manifest.statement <= statement
                    && !CheckpointFolder::is_live(&folder)
            };
            if manifest.as_ref().is_ok_and(is_done) {
                remove(&*self.disk, &folder).map_err(|error| Error::io("remove", folder.display(), error))?;
            }
        }
        self.clean_up()
    }

    /// The script begins anew: what was noted of it goes.
    ///
    /// # Errors
    /// Io, with the note that stays, which would have the script passed over later.
    pub fn forget_done(&self, script: &str) -> Result<()> {
        for (path, _) in self.notes_of(script) {
            self.disk.remove(&path).map_err(|error| Error::io("remove", path.display(), error))?;
            let Some(run) = path.parent() else { continue };
            durable::sync_folder(&*self.disk, run)?;
            if !is_live(run) {
                discard_run(&*self.disk, run);
            }
        }
        Ok(())
    }

    /// Removes what runs have left that live no more: hidden files that no checkpoint needs, checkpoints that were never
    /// complete, and folders without any. Nothing is removed while a manifest cannot be read, for nobody knows what it
    /// needs.
    ///
    /// # Errors
    /// Io, with the folder that cannot be read.
    pub fn clean_up(&self) -> Result<()> {
        let disk = &*self.disk;
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut complete: BTreeSet<PathBuf> = BTreeSet::new();
        for (folder, manifest) in self.all()? {
            let Ok(manifest) = manifest else { return Ok(()) };
            let parts = manifest.sinks.into_iter().flat_map(|sink| sink.files.parts);
            // By their names, which no two runs share: paths may be relative to another folder.
            needed.extend(parts.filter_map(|part| name_of(Path::new(&part.hidden))));
            complete.insert(folder);
        }
        for run in self.runs()?.into_iter().filter(|run| is_dead_run(run)) {
            remove_files(disk, &run, &needed);
            let folders = disk.list(&run).unwrap_or_default().into_iter().filter(|path| path.is_dir());
            for folder in folders.filter(|folder| !complete.contains(folder)) {
                let _ = disk.remove_folder(&folder);
            }
            if !complete.iter().any(|checkpoint| checkpoint.starts_with(&run)) {
                discard_run(disk, &run);
            }
        }
        Ok(())
    }

    /// The notes of what has ended well of a script, and the statement of each.
    fn notes_of(&self, script: &str) -> Vec<(PathBuf, u64)> {
        let note = |path: PathBuf| {
            let text = String::from_utf8(self.disk.read(&path).ok()?).ok()?;
            let (statement, of) = text.split_once('\0')?;
            same_script(of, script).then_some((path, statement.parse().ok()?))
        };
        self.runs().unwrap_or_default().into_iter().filter_map(|run| note(run.join(DONE))).collect()
    }
}

/// Savepoints, which may lie there too, have a lock and a manifest.
fn is_dead_run(folder: &Path) -> bool {
    [LOCK, FILES, DONE].iter().any(|note| folder.join(note).is_file())
        && !folder.join(METADATA).is_file()
        && !is_live(folder)
}

/// Removes the notes of a run that has no checkpoint, and its folder if nothing else is left there.
fn discard_run(disk: &dyn Files, run: &Path) {
    let Ok(entries) = disk.list(run) else { return };
    if entries.iter().any(|path| path.is_dir()) {
        return;
    }
    let is_note = |path: &&PathBuf| {
        let name = name_of(path).unwrap_or_default();
        [FILES, LOCK].contains(&name.as_str()) || name.ends_with(durable::ON_ITS_WAY)
    };
    let notes: Vec<&PathBuf> = entries.iter().filter(is_note).collect();
    for note in &notes {
        let _ = disk.remove(note);
    }
    if notes.len() == entries.len() {
        let _ = disk.remove_folder(run);
    }
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
fn remove_files(disk: &dyn Files, run: &Path, needed: &BTreeSet<String>) {
    let noted = disk.read(&run.join(FILES)).unwrap_or_default();
    let noted = String::from_utf8_lossy(&noted);
    let noted: Vec<&str> = noted.split('\0').collect();
    for pair in noted.chunks_exact(2) {
        let [prefix, folder] = [pair[0], pair[1]];
        for path in disk.list(Path::new(folder)).unwrap_or_default() {
            let name = name_of(&path).unwrap_or_default();
            // A probe is there for an instant, under a mark that nobody has noted yet.
            let is_probe = name.starts_with(".transom-") && name.ends_with("-probe");
            if is_probe || name.starts_with(prefix) && !needed.contains(&name) {
                let _ = disk.remove(&path);
            }
        }
    }
}

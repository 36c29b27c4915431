//! A file system that loses what was not synced, for tests.
//!
//! What a process sees is a real folder, so that files can be mapped, locked and written past this module. Beside it
//! stands what the disk has: names by folder, bytes by file. Bytes get there when the file is synced, names when their
//! folder is. At a crash the real folder is made anew: of the names that were not synced some have got there and some
//! have not, in any order; of bytes that were not synced there are none, the first few, or zeros in their place.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::files::{Files, NewFile};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The machine stops at this call, counted from 1: it and all that follow fail, and have no effect.
    Crash(u64),
    /// This call fails with EIO.
    Fails(u64),
    /// From this call on nothing can be written, with ENOSPC.
    Full(u64),
}

#[derive(Debug)]
pub struct Simulated(Mutex<Disk>);

#[derive(Debug)]
struct Disk {
    root: PathBuf,
    fault: Option<Fault>,
    calls: u64,
    names: BTreeMap<PathBuf, Entry>,
    /// Of names, in the order in which they were asked for, that are not synced.
    pending: Vec<Change>,
    /// Of the files that a process sees, by their numbers.
    files: HashMap<u64, Arc<Mutex<Bytes>>>,
}

#[derive(Debug, Clone)]
enum Entry {
    Folder,
    File(Arc<Mutex<Bytes>>),
}

#[derive(Debug, Default)]
struct Bytes {
    /// None: never synced.
    synced: Option<Vec<u8>>,
    /// When the last name of the file was removed.
    last: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
enum Change {
    Make(PathBuf, Entry),
    /// With what has the name.
    Rename(PathBuf, PathBuf, Entry),
    Remove(PathBuf),
}

impl Change {
    /// The folder whose sync makes it last.
    fn folder(&self) -> &Path {
        let (Change::Make(path, _) | Change::Rename(_, path, _) | Change::Remove(path)) = self;
        path.parent().unwrap_or(path)
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        match self {
            Change::Make(path, entry) => {
                names.insert(path.clone(), entry.clone());
            }
            Change::Rename(from, to, entry) => {
                names.remove(from);
                names.insert(to.clone(), entry.clone());
            }
            Change::Remove(path) => {
                names.remove(path);
            }
        }
    }
}

/// Numbers that look random.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 31) % end.max(1)
    }
}

enum Access {
    /// The call takes place.
    Granted,
    Refused(io::Error),
}

impl Simulated {
    /// All that is below `root` is on the disk.
    pub fn new(root: &Path, fault: Option<Fault>) -> Self {
        let mut names = BTreeMap::new();
        let mut files = HashMap::new();
        load(root, &mut names, &mut files);
        let root = root.to_path_buf();
        Simulated(Mutex::new(Disk { root, fault, calls: 0, names, pending: Vec::new(), files }))
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.disk().calls
    }

    /// The machine stops: the folder is made anew of what the disk may have.
    pub fn crash(&self, random: &mut Random) {
        let mut disk = self.disk();
        let root = disk.root.clone();
        disk.discover(&root);
        let mut names = disk.names.clone();
        // None, all, the first few, or any of the changes that were not synced.
        let (way, share) = (random.below(4), random.below(disk.pending.len() as u64 + 1));
        for (number, change) in disk.pending.iter().enumerate() {
            let happened = match way {
                0 => false,
                1 => true,
                2 => (number as u64) < share,
                _ => random.below(2) == 0,
            };
            if happened {
                change.apply(&mut names);
            }
        }
        let seen: HashMap<*const Mutex<Bytes>, Vec<u8>> = disk.seen();
        for entry in fs::read_dir(&root).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        // A folder stands before what is in it; what is in one that was lost is lost.
        for (path, entry) in names.iter().filter(|(path, _)| path.parent().is_some_and(Path::is_dir)) {
            match entry {
                Entry::Folder => fs::create_dir(path).unwrap(),
                Entry::File(bytes) => {
                    let file = bytes.lock().unwrap();
                    let seen = seen.get(&Arc::as_ptr(bytes)).or(file.last.as_ref()).cloned().unwrap_or_default();
                    fs::write(path, survivor(&file.synced, seen, random)).unwrap();
                }
            }
        }
    }

    fn call<T>(&self, writes: bool, call: impl FnOnce(&mut Disk) -> io::Result<T>) -> io::Result<T> {
        let mut disk = self.disk();
        match disk.access(writes) {
            Access::Granted => call(&mut disk),
            Access::Refused(error) => Err(error),
        }
    }
}

/// The bytes that a file has behind a crash.
fn survivor(synced: &Option<Vec<u8>>, seen: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if synced.as_ref() == Some(&seen) {
        return seen;
    }
    let length = random.below(seen.len() as u64 + 1) as usize;
    match random.below(4) {
        0 => synced.clone().unwrap_or_default(),
        1 => seen[..length].to_vec(),
        2 => [&seen[..length], &vec![0; seen.len() - length]].concat(),
        _ => seen,
    }
}

fn load(folder: &Path, names: &mut BTreeMap<PathBuf, Entry>, files: &mut HashMap<u64, Arc<Mutex<Bytes>>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            load(&path, names, files);
            names.insert(path, Entry::Folder);
        } else {
            let bytes = Bytes { synced: Some(fs::read(&path).unwrap()), last: None };
            let bytes = Arc::new(Mutex::new(bytes));
            files.insert(fs::metadata(&path).unwrap().ino(), bytes.clone());
            names.insert(path, Entry::File(bytes));
        }
    }
}

impl Disk {
    fn access(&mut self, writes: bool) -> Access {
        self.calls += 1;
        let refused = |kind: i32| Access::Refused(io::Error::from_raw_os_error(kind));
        const EIO: i32 = 5;
        const ENOSPC: i32 = 28;
        match self.fault {
            Some(Fault::Crash(at)) if self.calls >= at => refused(EIO),
            Some(Fault::Fails(at)) if self.calls == at => refused(EIO),
            Some(Fault::Full(at)) if self.calls >= at && writes => refused(ENOSPC),
            _ => Access::Granted,
        }
    }

    fn bytes_of(&mut self, path: &Path) -> io::Result<Arc<Mutex<Bytes>>> {
        Ok(self.files.entry(fs::metadata(path)?.ino()).or_default().clone())
    }

    /// Names that were made past this module are as good as any other.
    fn discover(&mut self, folder: &Path) {
        let mut known = self.names.clone();
        self.pending.iter().for_each(|change| change.apply(&mut known));
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                if !known.contains_key(&path) {
                    self.pending.push(Change::Make(path.clone(), Entry::Folder));
                }
                self.discover(&path);
            } else if !known.contains_key(&path)
                && let Ok(bytes) = self.bytes_of(&path)
            {
                self.pending.push(Change::Make(path, Entry::File(bytes)));
            }
        }
    }

    fn changes(&mut self, change: Change) {
        self.pending.push(change);
    }

    fn forget(&mut self, path: &Path) {
        // The number may be another file's soon.
        let Ok(metadata) = fs::metadata(path) else { return };
        if let Some(bytes) = self.files.remove(&metadata.ino()) {
            bytes.lock().unwrap().last = fs::read(path).ok();
        }
    }

    /// What a process sees of the files that it can still see.
    fn seen(&mut self) -> HashMap<*const Mutex<Bytes>, Vec<u8>> {
        let mut known = self.names.clone();
        self.pending.iter().for_each(|change| change.apply(&mut known));
        let file = |(path, entry): (&PathBuf, &Entry)| match entry {
            Entry::File(bytes) => Some((Arc::as_ptr(bytes), fs::read(path).ok()?)),
            Entry::Folder => None,
        };
        known.iter().filter_map(file).collect()
    }
}

/// A handle of the disk that a crash may tear.
#[derive(Debug, Clone)]
pub struct Shared(pub Arc<Simulated>);

impl Files for Shared {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.call(true, |disk| {
            let missing: Vec<PathBuf> =
                folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
            fs::create_dir_all(folder)?;
            missing.into_iter().rev().for_each(|folder| disk.changes(Change::Make(folder, Entry::Folder)));
            Ok(())
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.0.call(true, |disk| {
            let is_new = !path.exists();
            let file = File::create(path)?;
            let bytes = disk.bytes_of(path)?;
            if is_new {
                disk.changes(Change::Make(path.to_path_buf(), Entry::File(bytes)));
            }
            Ok(Box::new(Writing { disk: self.0.clone(), file, path: path.to_path_buf() }) as Box<dyn NewFile>)
        })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.call(false, |_| fs::read(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.call(false, |_| fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.0.call(true, |disk| {
            let bytes = disk.bytes_of(path)?;
            bytes.lock().unwrap().synced = Some(fs::read(path)?);
            Ok(())
        })
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.call(true, |disk| {
            disk.discover(folder);
            let (here, others) =
                std::mem::take(&mut disk.pending).into_iter().partition(|change: &Change| change.folder() == folder);
            disk.pending = others;
            for change in here {
                change.apply(&mut disk.names);
                // Its old name has gone with it, whether that was ever there or not.
                if let Change::Rename(from, ..) = change {
                    disk.pending.retain(|other| !matches!(other, Change::Make(path, _) if *path == from));
                }
            }
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.call(true, |disk| {
            if let Some(folder) = from.parent() {
                disk.discover(folder);
            }
            disk.forget(to);
            fs::rename(from, to)?;
            let entry = Entry::File(disk.bytes_of(to)?);
            disk.changes(Change::Rename(from.to_path_buf(), to.to_path_buf(), entry));
            Ok(())
        })
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.call(true, |disk| {
            fs::copy(from, to)?;
            let bytes = disk.bytes_of(to)?;
            bytes.lock().unwrap().synced = Some(fs::read(to)?);
            disk.changes(Change::Make(to.to_path_buf(), Entry::File(bytes)));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.call(false, |disk| {
            if let Some(folder) = path.parent() {
                disk.discover(folder);
            }
            disk.forget(path);
            fs::remove_file(path)?;
            disk.changes(Change::Remove(path.to_path_buf()));
            Ok(())
        })
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.call(false, |disk| {
            disk.discover(folder);
            disk.remove_all(folder)
        })
    }
}

impl Disk {
    fn remove_all(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.remove_all(&path)?;
            } else {
                self.forget(&path);
                fs::remove_file(&path)?;
                self.changes(Change::Remove(path));
            }
        }
        fs::remove_dir(folder)?;
        self.changes(Change::Remove(folder.to_path_buf()));
        Ok(())
    }
}

struct Writing {
    disk: Arc<Simulated>,
    file: File,
    path: PathBuf,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Writing { disk, file, .. } = self;
        let refused = match disk.disk().access(true) {
            Access::Granted => return file.write(bytes),
            Access::Refused(error) => error,
        };
        // Some of it may have got there all the same.
        file.write_all(&bytes[..bytes.len() / 2])?;
        Err(refused)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Writing {
    fn sync(&mut self) -> io::Result<()> {
        Shared(self.disk.clone()).sync(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(root: &Path) -> Shared {
        Shared(Arc::new(Simulated::new(root, None)))
    }

    /// What may be there behind a crash, over many of them.
    fn outcomes(make: impl Fn(&Shared, &Path), path: &str) -> Vec<Option<Vec<u8>>> {
        let mut found = Vec::new();
        for seed in 0..60 {
            let folder = tempfile::tempdir().unwrap();
            let disk = on(folder.path());
            make(&disk, folder.path());
            disk.0.crash(&mut Random(seed));
            found.push(fs::read(folder.path().join(path)).ok());
        }
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn what_is_synced_stays_and_what_is_not_may_go_or_tear() {
        let write = |disk: &Shared, path: PathBuf, sync: bool| {
            let mut file = disk.create(&path).unwrap();
            file.write_all(b"ab").unwrap();
            if sync {
                file.sync().unwrap();
            }
        };
        let whole = Some(b"ab".to_vec());
        let made = outcomes(
            |disk, root| {
                write(disk, root.join("a"), true);
                disk.sync_folder(root).unwrap();
            },
            "a",
        );
        assert_eq!(made, std::slice::from_ref(&whole));
        let unnamed = outcomes(|disk, root| write(disk, root.join("a"), true), "a");
        assert_eq!(unnamed, [None, whole.clone()]);
        let torn = outcomes(|disk, root| write(disk, root.join("a"), false), "a");
        assert!(torn.contains(&None) && torn.contains(&whole) && torn.contains(&Some(b"a\0".to_vec())), "{torn:?}");
        let renamed = |disk: &Shared, root: &Path| {
            write(disk, root.join("a"), true);
            disk.sync_folder(root).unwrap();
            disk.rename(&root.join("a"), &root.join("b")).unwrap();
        };
        assert_eq!(outcomes(renamed, "b"), [None, whole]);
    }

    #[test]
    fn calls_fail_when_they_are_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Shared(Arc::new(Simulated::new(folder.path(), Some(Fault::Full(3)))));
        let path = folder.path().join("a");
        let mut file = disk.create(&path).unwrap();
        file.write_all(b"ab").unwrap();
        assert_eq!(file.write_all(b"cd").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(file.sync().is_err() && disk.read(&path).is_ok() && disk.remove(&path).is_ok());
        assert_eq!(disk.0.calls(), 6);
    }
}

//! The calls on files that decide on what a crash leaves: checkpoints and the files of tables are made, renamed and
//! removed through them, so that a test can break each of them.
//!
//! Rows do not pass here: a sink writes its parts as it likes, and [`Files::sync`] comes before anybody relies on them.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system. Nothing is on the disk before it is synced: what a file has, by [`NewFile::sync`] or [`Files::sync`];
/// that it has its name, or has none any more, by [`Files::sync_folder`].
pub trait Files: Debug + Send + Sync {
    /// Makes a folder with those above it; it may be there.
    ///
    /// # Errors
    /// The system's, here as in all that follows.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes an empty file, in place of one that may be there.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;
    /// The bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// What is in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;
    /// The bytes of a file that somebody else has written reach the disk.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder reach the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Gives a file another name on the same file system, in place of one that may have it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, or makes a copy under it where the file system has no links or is another one.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder with all that is in it.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;
}

/// A file that is being written.
pub trait NewFile: Write + Send {
    /// What was written reaches the disk.
    ///
    /// # Errors
    /// The system's. What the file has is not known then: nobody may try again and rely on it.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system that somebody works on.
pub type Disk = Arc<dyn Files>;

/// That of this machine.
pub fn disk() -> Disk {
    Arc::new(Local)
}

#[derive(Debug)]
struct Local;

impl Files for Local {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(File::create(path)?))
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // A relative path of one name has an empty parent.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match File::open(folder)?.sync_all() {
            // Some file systems have nothing to sync there, and say so.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                fs::copy(from, to)?;
                self.sync(to)
            }
            linked => linked,
        }
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir_all(folder)
    }
}

impl NewFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

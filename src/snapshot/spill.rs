//! State that outgrows memory: columns that hardly change go into files of a folder, and are read where they lie.
//!
//! A file has no name from the moment it is there, so that the system frees it with the last column that lies in it,
//! however the process ends.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::fcntl::OFlag;

use super::archive::Archive;
use crate::arena::Cells;
use crate::error::{Error, Result};

/// Columns begin at multiples of this: a page, on all machines that there are.
const PAGE: u64 = 1 << 16;
/// Left free on the disk.
const SPARE_BYTES: u64 = 256 << 20;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where the state of a shard goes that does not fit into memory.
#[derive(Debug, Clone)]
pub struct SpillFolder {
    path: PathBuf,
}

/// Columns on their way to the disk.
pub struct Spill {
    folder: PathBuf,
    file: File,
    end: u64,
    moved: u64,
}

impl SpillFolder {
    /// Makes the folder if need be.
    ///
    /// # Errors
    /// Io, with the folder.
    pub fn new(path: &Path) -> Result<SpillFolder> {
        fs::create_dir_all(path).map_err(|error| Error::io("create the folder", path.display(), error))?;
        Ok(SpillFolder { path: path.to_path_buf() })
    }

    /// A new file.
    ///
    /// # Errors
    /// Io, with the file.
    pub fn begin(&self) -> Result<Spill> {
        let unnamed = OpenOptions::new().read(true).write(true).custom_flags(OFlag::O_TMPFILE.bits()).open(&self.path);
        if let Ok(file) = unnamed {
            return Ok(Spill { folder: self.path.clone(), file, end: 0, moved: 0 });
        }
        // Not all file systems have files without a name.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(format!(".transom-state-{}-{number}", std::process::id()));
        let failed = |error| Error::io("create the file", path.display(), error);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
        fs::remove_file(&path).map_err(failed)?;
        Ok(Spill { folder: self.path.clone(), file, end: 0, moved: 0 })
    }
}

impl Spill {
    /// What is named moves into the file.
    pub fn archive(&mut self) -> Archive<'_> {
        Archive::spilling(self)
    }

    /// Bytes that have moved.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    pub(super) fn add(&mut self, cells: &mut dyn Cells) -> Result<()> {
        let bytes = cells.bytes().len() as u64;
        let failed = |error| Error::io("write state to", self.folder.display(), error);
        if bytes >= PAGE {
            self.check_room(bytes)?;
        }
        let moved = cells.spill(&self.file, self.end).map_err(failed)? as u64;
        self.end += moved.next_multiple_of(PAGE);
        self.moved += moved;
        Ok(())
    }

    /// The disk is never filled to the brim: others write to it too.
    fn check_room(&self, bytes: u64) -> Result<()> {
        let failed = |error: nix::Error| Error::io("read", self.folder.display(), error.into());
        let room = nix::sys::statvfs::statvfs(&self.folder).map_err(failed)?;
        let free = room.blocks_available() as u64 * room.fragment_size() as u64;
        if free >= bytes + SPARE_BYTES {
            return Ok(());
        }
        let message = format!(
            "{} has {} free: too little for state of {} and {} to spare",
            self.folder.display(),
            crate::numbers::bytes(free),
            crate::numbers::bytes(bytes),
            crate::numbers::bytes(SPARE_BYTES)
        );
        Err(Error::data(message).help("name a folder on a disk with more room: --state-dir DIR"))
    }
}

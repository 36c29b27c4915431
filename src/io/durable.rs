//! Files and names that last through a power cut, or an error that names them.
//!
//! A call that fails is never tried again: after a failed sync the system may have dropped the bytes and call the next
//! one a success. Whoever gets the error gives up what it was writing.

use std::io::Write;
use std::path::Path;

use super::files::Files;
use crate::error::{Error, Result};

/// How the name of a file ends that is not what it is to be yet.
pub const ON_ITS_WAY: &str = ".inprogress";

/// A file has these bytes, or what it had before.
///
/// # Errors
/// Io, with the file.
pub fn write(disk: &dyn Files, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(ON_ITS_WAY);
    let hidden = Path::new(&name);
    let written = || {
        let mut file = disk.create(hidden)?;
        file.write_all(bytes)?;
        file.sync()?;
        disk.rename(hidden, path)
    };
    written().map_err(|error| Error::io("write", path.display(), error))?;
    path.parent().map_or(Ok(()), |folder| sync_folder(disk, folder))
}

/// Makes a folder with those above it that are not there. Each of them lasts.
///
/// # Errors
/// Io, with the folder.
pub fn create_folder(disk: &dyn Files, folder: &Path) -> Result<()> {
    let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(missing).collect();
    disk.create_folder(folder).map_err(|error| Error::io("create the folder", folder.display(), error))?;
    made.into_iter().rev().filter_map(Path::parent).try_for_each(|above| sync_folder(disk, above))
}

/// What somebody has written into a file is on the disk.
///
/// # Errors
/// Io, with the file.
pub fn sync(disk: &dyn Files, path: &Path) -> Result<()> {
    disk.sync(path).map_err(|error| Error::io("write", path.display(), error))
}

/// Files that were made, renamed or removed in a folder stay so.
///
/// # Errors
/// Io, with the folder.
pub fn sync_folder(disk: &dyn Files, folder: &Path) -> Result<()> {
    disk.sync_folder(folder).map_err(|error| Error::io("write into", folder.display(), error))
}

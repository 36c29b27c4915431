//! Paths as Flink's `path` option spells them, and the files behind them.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;

use crate::error::{Error, ErrorKind, Result};

/// The path without `file://`; other schemes are refused.
///
/// # Errors
/// Unsupported, for the file system of another scheme.
pub fn local_path(path: &str) -> Result<&str> {
    let Some((scheme, rest)) = path.split_once(':') else { return Ok(path) };
    if scheme.eq_ignore_ascii_case("file") {
        // file:/a, file:///a and file://localhost/a are one and the same.
        let rest = match rest.strip_prefix("//") {
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => rest,
        };
        return Ok(rest);
    }
    if rest.starts_with("//") {
        return Err(Error::unsupported(format!("the file system of '{path}'"))
            .help("copy the files to this machine and give their path"));
    }
    Ok(path)
}

/// A file that a job reads. It may be opened again for each block, and is then checked to be the same one.
#[derive(Debug)]
pub struct InputFile {
    path: String,
    bytes: u64,
    /// Device and inode.
    identity: (u64, u64),
}

impl InputFile {
    /// Opens a file for the first time. Asks what it is before: opening a FIFO would wait for a writer.
    ///
    /// # Errors
    /// Io: not there, not to be read, or no regular file.
    pub fn open(path: &str) -> Result<(InputFile, File)> {
        let metadata = std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?;
        if !metadata.is_file() {
            return Err(Error::new(ErrorKind::Io, format!("cannot read {path}: it is not a regular file"))
                .help(format!("set 'path' = '-' and read it through stdin: transom run … < {path}")));
        }
        let (file, metadata) = opened(path)?;
        let identity = (metadata.dev(), metadata.ino());
        Ok((InputFile { path: path.to_string(), bytes: metadata.len(), identity }, file))
    }

    /// Opens the file once more.
    ///
    /// # Errors
    /// Io: it has gone, or another one has its name.
    pub fn reopen(&self) -> Result<File> {
        let (file, metadata) = opened(&self.path)?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            return Err(Error::new(
                ErrorKind::Io,
                format!("cannot read {}: it was replaced while the job was reading", self.path),
            )
            .help("run again when it does not change any more"));
        }
        Ok(file)
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its size when it was opened first.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn opened(path: &str) -> Result<(File, Metadata)> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let metadata = file.metadata().map_err(|error| Error::io("read", path, error))?;
    Ok((file, metadata))
}

//! A file of lines that a job fills beside its sinks, under a hidden name until it is committed.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// See the module.
pub(super) struct LinesFile {
    path: PathBuf,
    hidden: PathBuf,
    file: BufWriter<File>,
    append: bool,
}

impl LinesFile {
    /// Begins the hidden file. `setting`: what gave the path, with an `example` of one. `append`: an earlier statement
    /// has begun the file.
    ///
    /// # Errors
    /// Io, if nothing can be written there.
    pub fn open(path: &str, append: bool, (setting, example): (&str, &str)) -> Result<Self> {
        let path = PathBuf::from(crate::format::local_path(path)?);
        if path.is_dir() || path.file_name().is_none() {
            return Err(Error::new(ErrorKind::Io, format!("cannot write {}: it is a folder", path.display()))
                .help(format!("give '{setting}' the name of a file, such as {example}")));
        }
        let folder = folder_of(&path);
        fs::create_dir_all(&folder).map_err(|error| Error::io("create the folder", folder.display(), error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hidden = folder.join(format!(".transom-{}-{name}", std::process::id()));
        let file = File::create(&hidden).map_err(|error| Error::io("create", path.display(), error))?;
        Ok(LinesFile { path, hidden, file: BufWriter::new(file), append })
    }

    /// Adds a line, which has its end already.
    ///
    /// # Errors
    /// Io.
    pub fn write(&mut self, line: &str) -> Result<()> {
        self.file.write_all(line.as_bytes()).map_err(|error| self.unwritable(error))
    }

    fn unwritable(&self, error: std::io::Error) -> Error {
        Error::io("write", self.path.display(), error)
    }

    /// Gives the file its name, or adds its lines to those of the statements before.
    ///
    /// # Errors
    /// Io.
    pub fn commit(mut self) -> Result<()> {
        self.file.flush().map_err(|error| self.unwritable(error))?;
        let done = if self.append && self.path.exists() {
            append(&self.hidden, &self.path)
        } else {
            fs::rename(&self.hidden, &self.path)
        };
        done.map_err(|error| self.unwritable(error))
    }
}

impl Drop for LinesFile {
    fn drop(&mut self) {
        // Gone already where the file was committed.
        let _ = fs::remove_file(&self.hidden);
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where a record stands, as members of a JSON object.
pub(super) fn place_members(place: (u64, Option<u64>)) -> String {
    match place {
        (line, Some(column)) => format!("\"line\":{line},\"column\":{column}"),
        (row, None) => format!("\"row\":{row}"),
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn append(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut target = OpenOptions::new().append(true).open(to)?;
    std::io::copy(&mut File::open(from)?, &mut target).map(|_| ())
}

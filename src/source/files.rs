//! Which files a table's path stands for.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::partition;
use crate::error::{Error, ErrorKind, Result};
use crate::format::local_path;
use crate::plan::FilesSpec;

/// A file of a table.
#[derive(Debug)]
pub(super) struct Found {
    pub path: String,
    /// The values of the partition keys that its folders tell; `None` for NULL.
    pub partition: Vec<Option<String>>,
}

impl Found {
    pub fn of(path: String) -> Self {
        Found { path, partition: Vec::new() }
    }
}

/// The files of a table, sorted by path.
pub(super) fn find(files: &FilesSpec, table: &str) -> Result<Vec<Found>> {
    let path = local_path(&files.path)?;
    let mut found = Vec::new();
    let mut hidden = 0;
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => collect(Path::new(path), &mut found, &mut hidden)?,
        Ok(_) => found.push(PathBuf::from(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && has_wildcard(path) => {
            expand(path, &mut found, &mut hidden)?;
        }
        Err(error) => return Err(unreadable(Path::new(path), format!("{path} (table `{table}`)"), error)),
    }
    found.sort();
    found.dedup();
    if let Some(pattern) = &files.path_pattern {
        retain_matching(&mut found, pattern, path, table)?;
    }
    if found.is_empty() {
        let error =
            Error::new(ErrorKind::Io, format!("no file to read for table `{table}`: {path} holds or matches none"));
        return Err(match hidden {
            0 => error.help("check the path; relative paths start at the working directory"),
            _ => error.help("files and folders whose names start with '.' or '_' are not read"),
        });
    }
    if !files.partition_keys.is_empty() {
        return partitioned(files, Path::new(path), table, found);
    }
    found.into_iter().map(|path| text(path).map(Found::of)).collect()
}

/// Keeps the files of whose absolute path the pattern matches all.
fn retain_matching(found: &mut Vec<PathBuf>, pattern: &str, path: &str, table: &str) -> Result<()> {
    let regex = Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|_| Error::script(format!("'{pattern}' is not a regular expression")).help("correct the pattern"))?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let first = found.first().map(absolute);
    found.retain(|path| regex.is_match(&absolute(path).to_string_lossy()));
    match first {
        Some(first) if found.is_empty() => Err(Error::new(
            ErrorKind::Io,
            format!(
                "no file to read for table `{table}`: 'source.path.regex-pattern' = '{pattern}' matches none of {path}"
            ),
        )
        .help(format!("it must match the whole absolute path, for example of {}", first.display()))),
        _ => Ok(()),
    }
}

/// The files below the folders of partitions.
fn partitioned(files: &FilesSpec, root: &Path, table: &str, found: Vec<PathBuf>) -> Result<Vec<Found>> {
    if !root.is_dir() {
        let message = format!("cannot read {}: table `{table}` has partitions, and this is no folder", root.display());
        return Err(Error::new(ErrorKind::Io, message)
            .help("give the folder in which the folders of the partitions are, or leave out PARTITIONED BY"));
    }
    let mut partitioned = Vec::new();
    for path in found {
        if let Some(partition) = partition::values(root, &path, &files.partition_keys, &files.default_partition)? {
            partitioned.push(Found { path: text(path)?, partition });
        }
    }
    Ok(partitioned)
}

fn text(path: PathBuf) -> Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        Error::new(ErrorKind::Io, format!("the file name {path:?} is not UTF-8")).help("rename the file")
    })
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// By the last name of the path.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.as_encoded_bytes()).unwrap_or_default();
    matches!(name.first(), Some(b'.' | b'_'))
}

/// All files below a folder, at any depth.
fn collect(folder: &Path, found: &mut Vec<PathBuf>, hidden: &mut usize) -> Result<()> {
    let list = |error| Error::io("list", folder.display(), error);
    for entry in fs::read_dir(folder).map_err(list)? {
        let path = entry.map_err(list)?.path();
        if is_hidden(&path) {
            *hidden += 1;
            continue;
        }
        let metadata = fs::metadata(&path).map_err(|error| unreadable(&path, path.display(), error))?;
        if metadata.is_dir() {
            refuse_loop(&path)?;
            collect(&path, found, hidden)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// A link to a folder above it would be followed until the system gives up.
fn refuse_loop(folder: &Path) -> Result<()> {
    if !folder.is_symlink() {
        return Ok(());
    }
    let place = |path: &Path| fs::canonicalize(path).map_err(|error| Error::io("read", path.display(), error));
    let parent = folder.parent().map_or_else(|| Ok(PathBuf::new()), place)?;
    if parent.starts_with(place(folder)?) {
        return Err(Error::new(
            ErrorKind::Io,
            format!("cannot list {}: the link leads back to a folder above it", folder.display()),
        )
        .help("remove the link, or give a path beside it"));
    }
    Ok(())
}

fn expand(pattern: &str, found: &mut Vec<PathBuf>, hidden: &mut usize) -> Result<()> {
    let paths = glob::glob(pattern).map_err(|error| {
        Error::script(format!("'{pattern}' is not a valid pattern of file names: {}", error.msg))
            .help("'**' stands alone between two '/'; escape '[', '*' and '?' in names by [[], [*] and [?]")
    })?;
    // What stands before the first wildcard was asked for by name.
    let fixed: PathBuf =
        Path::new(pattern).components().take_while(|part| !has_wildcard(&part.as_os_str().to_string_lossy())).collect();
    for path in paths {
        let path = path.map_err(|error| Error::io("read", error.path().display().to_string(), error.into()))?;
        if path.strip_prefix(&fixed).unwrap_or(&path).components().any(|part| is_hidden(part.as_ref())) {
            *hidden += 1;
        } else if path.is_dir() {
            collect(&path, found, hidden)?;
        } else if let Err(error) = fs::metadata(&path) {
            return Err(unreadable(&path, path.display(), error));
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// The error of a path that cannot be looked at; a link that leads nowhere is called so.
fn unreadable(path: &Path, shown: impl std::fmt::Display, error: std::io::Error) -> Error {
    match fs::read_link(path) {
        Ok(target) if error.kind() == std::io::ErrorKind::NotFound => Error::new(
            ErrorKind::Io,
            format!("cannot read {shown}: the link leads to {}, which does not exist", target.display()),
        )
        .help("repair the link or remove it"),
        _ => Error::io("read", shown, error),
    }
}

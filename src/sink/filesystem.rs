//! A file or a folder as a table.
//!
//! The parts (`parts`) lie beside the target under hidden names. In a folder each becomes a file of its own; a table that
//! is one file is put together of them at the end.

use std::fs::{self, File};
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::RecordBatch;

use super::part::PartWriter;
use super::parts::PartFiles;
use super::{Sink, SinkWriter, part};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{FormatSpec, append_avro_parts, append_parquet_parts, local_path};
use crate::io::durable;
use crate::io::files::{Disk, Files};
use crate::snapshot::{Closed, ClosedPart, SinkState};
use crate::types::Schema;

/// Where the rows go in the end.
#[derive(Debug)]
enum Target {
    /// One file, replaced if it is there.
    File(PathBuf),
    /// A folder, to which files are added.
    Folder(PathBuf),
}

pub(super) struct Filesystem(Arc<Shared>);

struct Shared {
    target: Target,
    format: FormatSpec,
    schema: Schema,
    /// How many bytes each text part has before its rows.
    header_bytes: u64,
    /// Folders that were not there before, innermost first: they go again if the job fails.
    made: Vec<PathBuf>,
    files: PartFiles,
}

impl Target {
    fn new(path: &str) -> Result<Self> {
        let path = Path::new(local_path(path)?);
        Ok(if path.is_dir() || path.extension().is_none() {
            Target::Folder(path.to_path_buf())
        } else {
            Target::File(replaceable(path)?)
        })
    }
}

/// The file that a table with this path replaces, if it is one file.
pub(super) fn replaced_file(path: &str) -> Option<PathBuf> {
    match Target::new(path) {
        Ok(Target::File(file)) => Some(file),
        _ => None,
    }
}

impl Filesystem {
    pub fn open((path, disk): (&str, &Disk), format: &FormatSpec, schema: &Schema) -> Result<Self> {
        let target = Target::new(path)?;
        let folder = match &target {
            Target::Folder(folder) => folder.clone(),
            Target::File(file) => match file.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
                _ => PathBuf::from("."),
            },
        };
        let made = missing_folders(&folder);
        create_folder(&**disk, &folder)?;
        let shared = Shared {
            target,
            format: format.clone(),
            schema: schema.clone(),
            header_bytes: format.text_encoder(schema).map_or(0, |encoder| encoder.header().len() as u64),
            made,
            files: PartFiles::new((folder, disk), format.name()),
        };
        check_writable(&shared.files.root, &shared.files.unique)?;
        Ok(Filesystem(Arc::new(shared)))
    }
}

impl Shared {
    fn commit(&self) -> Result<()> {
        let parts = self.files.all()?;
        match &self.target {
            Target::Folder(_) => self.files.publish(&parts).map(drop),
            Target::File(file) => self.commit_file(file, parts.iter().map(|part| part.hidden.clone().into()).collect()),
        }
    }

    /// A new file of all parts.
    fn whole(&self, parts: &[PathBuf], append: impl Fn(&[PathBuf], &Path) -> Result<()>) -> Result<PathBuf> {
        let whole = self.files.hidden("whole");
        append(parts, &whole)?;
        Ok(whole)
    }

    fn commit_file(&self, file: &Path, mut parts: Vec<PathBuf>) -> Result<()> {
        if parts.is_empty() {
            let path = self.files.hidden("empty");
            part::create(&path, &self.format, &self.schema)?.finish()?;
            parts.push(path);
        }
        let disk = &*self.files.disk;
        let may_change = !self.files.has_covered();
        let whole = match self.format {
            _ if parts.len() == 1 && may_change => parts.remove(0),
            FormatSpec::Parquet(_) => self.whole(&parts, append_parquet_parts)?,
            FormatSpec::Avro(_) => self.whole(&parts, append_avro_parts)?,
            FormatSpec::Csv(_) | FormatSpec::Json(_) | FormatSpec::DebeziumJson(_) | FormatSpec::Raw(_) => {
                let first = parts.remove(0);
                let whole = if may_change { first } else { self.whole(&[first], copy_first)? };
                append_text(&whole, &parts, self.header_bytes)?;
                whole
            }
        };
        if !may_change {
            durable::sync(disk, &whole)?;
        }
        rename(disk, &whole, file)?;
        durable::sync_folder(disk, &self.files.root)?;
        // What is left was copied; pieces of a checkpoint stay until that is gone.
        self.files.abort();
        Ok(())
    }

    /// Leaves nothing behind but what a checkpoint has; what cannot be removed stays hidden.
    fn remove(&self) {
        self.files.abort();
        for path in [self.files.hidden("whole"), self.files.hidden("empty")] {
            let _ = self.files.disk.remove(&path);
        }
    }
}

impl Sink for Filesystem {
    fn writer(&self, shard: usize) -> Result<Box<dyn SinkWriter>> {
        let next = self.0.files.first_number();
        Ok(Box::new(Writer { shared: self.0.clone(), shard, next, open: None }))
    }

    fn commit(&self) -> Result<()> {
        let result = self.0.commit();
        if result.is_err() {
            self.0.remove();
        }
        result
    }

    fn cut_off(&self) {
        self.0.files.abort();
    }
    fn abort(&self) {
        self.0.remove();
        for folder in &self.0.made {
            // Only where it is empty: somebody else may write there too.
            let _ = fs::remove_dir(folder);
        }
    }

    fn settle(&self) {
        self.0.files.settle();
    }

    fn hidden_files(&self) -> Option<(PathBuf, String)> {
        Some(self.0.files.prefix())
    }
    fn state(&self, closed: &[Closed]) -> SinkState {
        self.0.files.state(closed)
    }
    fn publish(&self, state: &SinkState) -> Result<()> {
        self.0.files.cover(&state.parts);
        self.0.files.publish(&state.parts).map(drop)
    }
    fn restore(&self, state: &SinkState) -> Result<()> {
        self.0.files.restore(state, false).map(drop)
    }
}

impl Drop for Filesystem {
    /// A job that ends without a word (a panic of its caller) must not leave its parts lying about.
    fn drop(&mut self) {
        self.0.files.abort();
    }
}

/// One shard's writer: one file at a time, begun with its first rows.
struct Writer {
    shared: Arc<Shared>,
    shard: usize,
    next: u64,
    open: Option<(ClosedPart, Box<dyn PartWriter>)>,
}

impl SinkWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let open = match &mut self.open {
            Some((_, open)) => open,
            None => {
                let folder = matches!(self.shared.target, Target::Folder(_)).then_some("");
                let part = self.shared.files.begin((self.shard, self.next), folder);
                self.next += 1;
                let writer = part::create(Path::new(&part.hidden), &self.shared.format, &self.shared.schema)?;
                &mut self.open.insert((part, writer)).1
            }
        };
        open.write(batch)
    }

    fn close(&mut self) -> Result<Closed> {
        let mut parts = Vec::new();
        if let Some((part, writer)) = self.open.take() {
            writer.finish()?;
            parts.push(part);
        }
        Ok(Closed { parts, next: self.next })
    }
}

/// The file to replace: that behind a link, so that the link stays. Finds out now what would fail at the end.
fn replaceable(path: &Path) -> Result<PathBuf> {
    let path = match fs::read_link(path) {
        Ok(_) => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
        Err(_) => path.to_path_buf(),
    };
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(Error::new(ErrorKind::Io, format!("cannot replace {}: it is not a regular file", path.display()))
                .help("give the table another path"))
        }
        Err(error) if !matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {
            Err(Error::io("write", path.display(), error))
        }
        Err(error) if error.kind() == NotADirectory && path.parent().is_some_and(Path::is_dir) => {
            Err(Error::io("write", path.display(), error).help("leave out the '/' behind the name of the file"))
        }
        _ => Ok(path),
    }
}

/// Finds out now, not at the end of a long job, that nothing can be written into a folder.
pub(super) fn check_writable(folder: &Path, unique: &str) -> Result<()> {
    let probe = folder.join(format!(".transom-{unique}-probe"));
    File::create(&probe).map_err(|error| Error::io("write into", folder.display(), error))?;
    match fs::remove_file(&probe) {
        // Whoever cleans up behind a dead run may be faster.
        Err(error) if error.kind() != NotFound => Err(Error::io("remove", probe.display(), error)),
        _ => Ok(()),
    }
}

/// The folder and those above it that are not there yet, innermost first.
pub(super) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    folder.ancestors().take_while(missing).map(Path::to_path_buf).collect()
}

pub(super) fn create_folder(disk: &dyn Files, folder: &Path) -> Result<()> {
    let in_the_way = folder.ancestors().any(Path::is_file);
    durable::create_folder(disk, folder).map_err(|error| {
        if in_the_way {
            return error.help(
                "a file has this name or that of a folder above it; a path that ends in an extension, like out.csv, \
                 names a file",
            );
        }
        error
    })
}

pub(super) fn rename(disk: &dyn Files, from: &Path, to: &Path) -> Result<()> {
    disk.rename(from, to).map_err(|error| Error::io("rename the finished part to", to.display(), error))
}

fn copy_first(parts: &[PathBuf], whole: &Path) -> Result<()> {
    let copy = |part: &PathBuf| fs::copy(part, whole).map_err(|error| Error::io("write", whole.display(), error));
    parts.first().map_or(Ok(()), |part| copy(part).map(drop))
}

fn append_text(whole: &Path, parts: &[PathBuf], header_bytes: u64) -> Result<()> {
    let mut target =
        File::options().append(true).open(whole).map_err(|error| Error::io("write", whole.display(), error))?;
    for part in parts {
        let mut source = File::open(part).map_err(|error| Error::io("read", part.display(), error))?;
        source.seek(SeekFrom::Start(header_bytes)).map_err(|error| Error::io("read", part.display(), error))?;
        std::io::copy(&mut source, &mut target).map_err(|error| Error::io("write", whole.display(), error))?;
    }
    Ok(())
}

/// A name that no other job uses.
pub(super) fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}{:x}{count:x}", std::process::id(), nanos)
}

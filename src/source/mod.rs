//! Reading tables in blocks: each file is one split, cut into blocks that any shard may decode.

mod aside;
mod avro;
mod cutter;
mod files;
mod generate;
mod labelled;
mod lines;
mod packed;
mod parquet;
mod partition;
pub mod peek;
mod stdin;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod unpack;

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::error::{Error, ErrorKind, Result};
use crate::format::{FormatSpec, InputFile};
use crate::plan::{Codec, Compression, FilesSpec, ScanSpec, SourceSpec};
pub use aside::{Aside, Position, Reason, Rejected, Stretch, original_row};
use cutter::Cutter;
pub use stdin::NAME as STDIN;
use stream::StreamSplit;

/// A longer record of a text is an error: it would have to be held in memory, and is nearly always an open quote.
const RECORD_BYTES_MAX: usize = 64 << 20;
const BYTE_ORDER_MARK: &[u8; 3] = b"\xEF\xBB\xBF";

/// How the state of a block's entry maps to the state at its exit, for formats where a block cannot
/// be read without knowing what came before (a quote left open in CSV). State 0 is the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition(pub [u8; 8]);

impl Transition {
    pub const IDENTITY: Transition = Transition([0, 1, 2, 3, 4, 5, 6, 7]);
}

/// How many blocks of a split are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub blocks: usize,
    /// There will be no more.
    pub complete: bool,
}

impl Extent {
    /// A split whose blocks are all there.
    pub const fn whole(blocks: usize) -> Self {
        Extent { blocks, complete: true }
    }
    /// A block comes after the first `blocks`, now or later.
    pub fn has_after(self, blocks: usize) -> bool {
        blocks < self.blocks || !self.complete
    }
}

/// Called when a split may have grown.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Counts of one decoded block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockStats {
    /// Rows handed out.
    pub rows: u64,
    /// Records skipped because they were malformed (`ignore-parse-errors`).
    pub malformed: u64,
    /// Bytes of the file that the block stands for.
    pub bytes: u64,
    /// Records that cannot be read, where the split sets such aside.
    pub aside: Aside,
}

/// One file of a table. Shared by all shards; reading needs no lock.
pub trait Split: Send + Sync {
    /// The file's path, for messages.
    fn name(&self) -> &str;
    /// The blocks that are there by now. A split that is not complete has at least one block more, and whether it is
    /// complete once it has so many is a function of the data alone: the last block comes with the word that it is
    /// the last one.
    fn extent(&self) -> Extent;
    /// Makes one more block if that can be done now, and says what is there then. Never waits for anybody; may take as
    /// long as decoding a block.
    fn extend(&self) -> Extent {
        self.extent()
    }
    /// The job begins: from now on `wake` is called when there may be more blocks than there were. `alone`: the job
    /// reads nothing but this split, so that its answer does not depend on where blocks end.
    fn start(&self, _wake: &Wake, _alone: bool) {}
    /// The job goes on behind the first `blocks` blocks, which are not read again. Called once, before [`Split::start`].
    ///
    /// # Errors
    /// They cannot be passed over.
    fn pass_over(&self, _blocks: usize) -> Result<()> {
        Ok(())
    }
    /// Size in bytes, for progress.
    fn bytes(&self) -> u64;
    /// Columns that are read as NULL because the file has them not: "no column `k`", with the nearest name.
    fn missing(&self) -> Vec<String> {
        Vec::new()
    }
    /// Looks through a block for what later blocks must know: nothing, where each can be read by itself. Cheap against
    /// decoding it.
    fn probe(&self, _block: usize) -> Result<Transition> {
        Ok(Transition::IDENTITY)
    }
    /// Decodes a block into batches of at most `batch_rows` rows with the scan's projected physical
    /// columns, in file order, and hands each to `out`. `entry`: the state in which the block begins.
    ///
    /// # Errors
    /// Kind Data with file, line (row of Parquet, record of Avro), column and the offending text.
    fn decode(
        &self,
        block: usize,
        entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats>;
    /// The records of some of the rows that [`Split::decode`] hands out for a block, numbered from 0, ascending: where
    /// each stands and how it reads. Slow: decodes the block once more. Asked for before the block is released, and
    /// even while it is decoded.
    ///
    /// # Errors
    /// As [`Split::decode`].
    fn records(&self, block: usize, entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>>;
    /// The block has been decoded, and its records were asked for. A split that can be read only once drops it.
    fn release(&self, _block: usize) {}
    /// The text before a block; nothing where positions do not count from there. Slow: reads it once more.
    fn text_before(&self, _block: usize) -> Stretch {
        Stretch::default()
    }
    /// The text from the start of one block to that of a later one, likewise.
    fn text_between(&self, _from: usize, _to: usize) -> Stretch {
        Stretch::default()
    }
}

/// Text files that stay open. More are opened for each of their blocks, or a folder of many files would exhaust what
/// the system allows a process (often 1024): an eighth of that, if it is less.
const FILES_KEPT_OPEN: usize = 64;

fn files_kept_open() -> usize {
    crate::io::limits::open_files().map_or(FILES_KEPT_OPEN, |most| FILES_KEPT_OPEN.min(most / 8))
}

/// Opens every file of the table, in the order of their paths.
///
/// # Errors
/// No file there, unreadable, not of the format: with the path and the remedy.
pub fn open(scan: &ScanSpec, block_bytes: usize) -> Result<Vec<Arc<dyn Split>>> {
    open_with(scan, block_bytes, false)
}

/// As [`open`]. `set_aside`: records that cannot be read are no errors, but listed in [`BlockStats::aside`].
///
/// # Errors
/// As [`open`].
pub fn open_with(scan: &ScanSpec, block_bytes: usize, set_aside: bool) -> Result<Vec<Arc<dyn Split>>> {
    let files = match &scan.source {
        SourceSpec::Files(files) => files,
        SourceSpec::Datagen(spec) => return Ok(vec![Arc::new(generate::datagen(scan, spec))]),
        SourceSpec::Nexmark(spec) => return Ok(vec![Arc::new(generate::nexmark(scan, spec)?)]),
        SourceSpec::OneRow => return Ok(vec![Arc::new(generate::one_row())]),
    };
    if files.is_stdin() {
        return Ok(vec![open_stdin(scan, files, block_bytes, set_aside)?]);
    }
    let mut splits: Vec<Arc<dyn Split>> = Vec::new();
    let most = files_kept_open();
    for found in files::find(files, &scan.table)? {
        let path = found.path.as_str();
        let split: Arc<dyn Split> = match files.format {
            FormatSpec::Parquet(_) => {
                refuse_packed(path, files)?;
                Arc::new(parquet::ParquetSplit::open(scan, path, set_aside)?)
            }
            FormatSpec::Avro(_) => {
                refuse_packed(path, files)?;
                Arc::new(avro::AvroSplit::open(scan, path, block_bytes, set_aside)?)
            }
            FormatSpec::Csv(_) | FormatSpec::Json(_) | FormatSpec::DebeziumJson(_) | FormatSpec::Raw(_) => {
                open_text(scan, files, path, (block_bytes, splits.len() < most, set_aside))?
            }
        };
        splits.push(match files.columns.as_slice() {
            [] => split,
            columns => Arc::new(labelled::Labelled::new(split, scan, columns, &found)?),
        });
    }
    Ok(splits)
}

fn open_text(
    scan: &ScanSpec,
    files: &FilesSpec,
    path: &str,
    (block_bytes, keep, set_aside): (usize, bool, bool),
) -> Result<Arc<dyn Split>> {
    let (input, file) = InputFile::open(path)?;
    let mut start = [0u8; unpack::MAGIC_BYTES];
    // A file that cannot be read fails again, with its message, when its rows are wanted.
    let filled = std::os::unix::fs::FileExt::read_at(&file, &mut start, 0).unwrap_or(0);
    let Some(codec) = codec_of(files, path, &start[..filled])? else {
        let split = text::TextSplit::new(scan, &files.format, input, file, (block_bytes, keep))?;
        return Ok(Arc::new(split.setting_aside(set_aside)));
    };
    let bytes = input.bytes();
    let feed = Box::new(packed::PackedFile::new(input, keep.then_some(file), codec));
    let cutter = Cutter::new(scan, &files.format, feed, clamp_block(block_bytes))?;
    Ok(Arc::new(StreamSplit::new(scan, &files.format, (path, bytes), cutter).setting_aside(set_aside)))
}

fn open_stdin(scan: &ScanSpec, files: &FilesSpec, block_bytes: usize, set_aside: bool) -> Result<Arc<dyn Split>> {
    let feed = Box::new(stdin::Stdin::new(files.compression));
    let cutter = Cutter::new(scan, &files.format, feed, clamp_block(block_bytes))?;
    if let Some(column) = files.columns.first() {
        return Err(Error::script(format!("stdin is no file: the column `{}` has no value", column.name))
            .help("leave the column out of the query"));
    }
    Ok(Arc::new(StreamSplit::new(scan, &files.format, (stdin::NAME, 0), cutter).setting_aside(set_aside)))
}

/// The codec of a text file, if it is compressed.
fn codec_of(files: &FilesSpec, path: &str, start: &[u8]) -> Result<Option<Codec>> {
    match files.compression {
        Compression::None => Ok(None),
        Compression::Codec(codec) => Ok(Some(codec)),
        Compression::Auto => {
            if let Some((what, command)) = unpack::foreign(path, start) {
                let message = format!("{path} is {what}, which is not read");
                return Err(Error::new(ErrorKind::Unsupported, message).in_file(path).help(format!(
                    "unpack it first: {command} {path} > FILE; for a text with such a name set 'compression' = 'none'"
                )));
            }
            Ok(unpack::by_ending(path).or_else(|| unpack::by_content(start)))
        }
    }
}

/// Files of columns carry their own compression, and cannot be read from the start to the end.
fn refuse_packed(path: &str, files: &FilesSpec) -> Result<()> {
    let Some(codec) = unpack::by_ending(path) else { return Ok(()) };
    let (name, format) = (codec.name(), files.format.name());
    Err(Error::new(
        ErrorKind::Unsupported,
        format!("{path} is a {format} file compressed with {name}, which is not read"),
    )
    .in_file(path)
    .help(format!(
        "unpack it first: {} {path} > FILE.{format}; a {format} file is compressed inside",
        unpack::command(codec)
    )))
}

/// The first window of a block must not hold a record that is too long.
fn clamp_block(bytes: usize) -> u64 {
    (bytes as u64).clamp(1, RECORD_BYTES_MAX as u64 / 2)
}

fn too_long() -> Error {
    Error::data("this record is longer than 64 MiB")
        .help("look for a quote that is never closed, or a missing line end")
}

fn became_shorter(path: &str) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read {path}: it became shorter while it was read"))
        .help("run again when it does not change any more")
}

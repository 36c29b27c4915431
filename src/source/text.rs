//! A text file as a split, cut into blocks of bytes. A record belongs to the block in which it starts.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

use arrow::array::RecordBatch;

use super::aside::{Aside, Extent, Measure, Position, Reason, Rejected};
use super::{BlockStats, Split, Transition};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::format::{Failure, FormatSpec, InputFile, Notes, Step, local_path, record_text};
use crate::plan::{FilesSpec, ScanSpec};
use crate::types::Schema;

/// A longer record is an error: it would have to be held in memory, and is nearly always an open quote.
const RECORD_BYTES_MAX: usize = 64 << 20;
/// Read beyond the block's end at first, for its last record.
const TAIL_BYTES: usize = 4 << 10;
/// Read ahead of the block, to know what its first byte follows.
const LOOK_BACK: u64 = 1;
const BYTE_ORDER_MARK: &[u8; 3] = b"\xEF\xBB\xBF";

pub(super) struct TextSplit {
    input: InputFile,
    /// Opened for each block where this is none.
    kept: Option<File>,
    /// Where the text starts: behind the byte-order mark, if there is one.
    origin: u64,
    block_bytes: u64,
    format: FormatSpec,
    schema: Schema,
    projection: Vec<usize>,
    set_aside: bool,
}

thread_local! {
    /// The window of the file that is being read; kept, because each shard reads block after block.
    static WINDOW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A part of the file in memory.
struct Window<'a> {
    file: &'a File,
    /// As long as it ever was, so that its bytes need not be set to zero before each reading.
    buffer: &'a mut Vec<u8>,
    filled: usize,
    /// Offset in the file of the buffer's first byte.
    start: u64,
}

impl Window<'_> {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl TextSplit {
    /// `keep`: leave the file open, which spares opening it for each block.
    pub fn open(scan: &ScanSpec, files: &FilesSpec, path: &str, block_bytes: usize, keep: bool) -> Result<Self> {
        let (input, file) = InputFile::open(path)?;
        refuse_compressed(&file, files, path)?;
        let mut mark = [0u8; 3];
        let marked = file.read_exact_at(&mut mark, 0).is_ok() && mark == *BYTE_ORDER_MARK;
        Ok(TextSplit {
            input,
            kept: keep.then_some(file),
            origin: if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 },
            // The first window of a block must not hold a record that is too long.
            block_bytes: (block_bytes as u64).clamp(1, RECORD_BYTES_MAX as u64 / 2),
            format: files.format.clone(),
            schema: scan.file_schema.clone(),
            projection: scan.projection.clone(),
            set_aside: false,
        })
    }

    pub fn setting_aside(self, set_aside: bool) -> Self {
        TextSplit { set_aside, ..self }
    }

    fn with_file<R>(&self, use_file: impl FnOnce(&File) -> Result<R>) -> Result<R> {
        match &self.kept {
            Some(file) => use_file(file),
            None => use_file(&self.input.reopen()?),
        }
    }

    /// Where a block starts and where the next one does.
    fn range(&self, block: usize) -> (u64, u64) {
        let start = (block as u64).saturating_mul(self.block_bytes).saturating_add(self.origin).min(self.input.bytes());
        (start, start.saturating_add(self.block_bytes).min(self.input.bytes()))
    }

    /// An empty window that will start in front of `start`, if anything is there.
    fn window<'a>(&self, file: &'a File, buffer: &'a mut Vec<u8>, start: u64) -> Window<'a> {
        Window { file, buffer, filled: 0, start: if start > self.origin { start - LOOK_BACK } else { start } }
    }

    /// Extends the window to the offset `end` of the file. It may have become shorter since it was opened.
    fn fill(&self, window: &mut Window<'_>, end: u64) -> Result<()> {
        let wanted = (end.min(self.input.bytes()) - window.start) as usize;
        if window.buffer.len() < wanted {
            window.buffer.resize(wanted, 0);
        }
        while window.filled < wanted {
            let offset = window.start + window.filled as u64;
            match window.file.read_at(&mut window.buffer[window.filled..wanted], offset) {
                Ok(0) => {
                    return Err(Error::new(
                        ErrorKind::Io,
                        format!("cannot read {}: it became shorter while it was read", self.input.path()),
                    )
                    .help("run again when it does not change any more"));
                }
                Ok(count) => window.filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", self.input.path(), error)),
            }
        }
        Ok(())
    }

    /// Decodes a part of the file; the counts of rows and skipped records, and what was noted, with the window.
    fn decode_in(
        &self,
        (file, buffer): (&File, &mut Vec<u8>),
        (start, end): (u64, u64),
        (entry, batch_rows, notes): (u8, usize, Notes),
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
        noted: &mut dyn FnMut(&Notes, &[u8]),
    ) -> Result<(u64, u64)> {
        let Some(mut decoder) = self.format.text_decoder(&self.schema, &self.projection, batch_rows)? else {
            return Err(Error::internal("a text split of a format that is no text"));
        };
        *decoder.notes() = notes;
        let mut window = self.window(file, buffer, start);
        self.fill(&mut window, end + TAIL_BYTES as u64)?;
        let first = (start - window.start) as usize;
        let limit = (end - window.start) as usize;
        let before = first.checked_sub(1).map(|at| window.buffer[at]);
        let Some(mut at) = decoder.enter(window.bytes(), first, limit, entry, before) else {
            noted(decoder.notes(), window.bytes());
            return decoder.finish(out);
        };
        loop {
            let loaded = window.start + window.filled as u64;
            match decoder.decode(window.bytes(), at, limit, loaded >= self.input.bytes(), out) {
                Ok(Step::Done) => {
                    noted(decoder.notes(), window.bytes());
                    return decoder.finish(out);
                }
                Ok(Step::More(record)) => {
                    at = record;
                    if window.filled - at > RECORD_BYTES_MAX {
                        let error = Error::data("this record is longer than 64 MiB")
                            .help("look for a quote that is never closed, or a missing line end");
                        return Err(self.locate(file, window.start + at as u64, error));
                    }
                    let more = (window.filled as u64 / 2).max(TAIL_BYTES as u64);
                    // No further than the longest record, or a longer one would pass where its end is in the window.
                    let most = window.start + (at + RECORD_BYTES_MAX + 1) as u64;
                    self.fill(&mut window, (loaded + more).min(most))?;
                }
                Err(Failure::At(place, error)) => return Err(self.locate(file, window.start + place as u64, error)),
                Err(Failure::Other(error)) => return Err(error),
            }
        }
    }

    /// Adds line and column of an offset to an error. Counts the lines of the file up to there, which nobody
    /// does while all is well.
    #[cold]
    fn locate(&self, file: &File, offset: u64, error: Error) -> Error {
        let (line, column) = self.measure(file, offset).place();
        error.at_place(Place { file: self.input.path().to_string(), line, column, length: 0 })
    }
}

impl TextSplit {
    /// The text of the file before an offset.
    fn measure(&self, file: &File, offset: u64) -> Extent {
        let mut measure = self.measure_after(0);
        let mut chunk = vec![0u8; 1 << 16];
        let mut at = self.origin;
        while at < offset {
            let wanted = (offset - at).min(chunk.len() as u64) as usize;
            let Ok(count @ 1..) = file.read_at(&mut chunk[..wanted], at) else { break };
            measure.add(&chunk[..count]);
            at += count as u64;
        }
        measure.extent
    }

    fn measure_after(&self, before: u8) -> Measure {
        Measure { before, lone_returns: matches!(self.format, FormatSpec::Csv(_)), ..Measure::default() }
    }

    /// Hands a block's window and what was noted of it to `noted`; else as [`Split::decode`].
    fn decode_noting(
        &self,
        block: usize,
        (entry, batch_rows, notes): (u8, usize, Notes),
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
        noted: &mut dyn FnMut(&Notes, &[u8]),
    ) -> Result<(u64, u64)> {
        // Taken out, not borrowed: `out` may well decode a block itself.
        let mut buffer = WINDOW.take();
        let how = (entry, batch_rows, notes);
        let result = self.with_file(|file| self.decode_in((file, &mut buffer), self.range(block), how, out, noted));
        if buffer.capacity() <= 4 * self.block_bytes as usize + RECORD_BYTES_MAX / 16 {
            WINDOW.set(buffer);
        }
        result
    }

    /// The start of a block in its window, and the byte before it.
    fn first(&self, block: usize, window: &[u8]) -> (usize, u8) {
        let first = usize::from(self.range(block).0 > self.origin) * LOOK_BACK as usize;
        (first, first.checked_sub(1).and_then(|at| window.get(at).copied()).unwrap_or(0))
    }

    /// What a block set aside, with the places of the faults.
    fn aside(&self, block: usize, notes: &Notes, window: &[u8]) -> Aside {
        let (first, before) = self.first(block, window);
        let (start, end) = self.range(block);
        let mut measure = self.measure_after(before);
        let mut at = first;
        let mut rejected = Vec::with_capacity(notes.rejects.len());
        for reject in &notes.rejects {
            if reject.at < at {
                // The fault of a record before lies further on than this one.
                measure = self.measure_after(before);
                at = first;
            }
            measure.add(&window[at..reject.at]);
            at = reject.at;
            rejected.push(Rejected {
                position: Position::Text(measure.extent),
                reason: Reason::Unreadable(reject.reason.clone()),
                text: reject.text.clone(),
            });
        }
        let mut whole = self.measure_after(before);
        whole.add(&window[first..first + (end - start) as usize]);
        Aside { extent: whole.extent, rejected }
    }
}

/// Refuses a file that begins as a compressed one does. The beginnings are no UTF-8, except bzip2's, which is long.
fn refuse_compressed(file: &File, files: &FilesSpec, path: &str) -> Result<()> {
    let mut start = [0u8; 10];
    // A file that cannot be read fails again, with its message, when its rows are wanted.
    let filled = file.read_at(&mut start, 0).unwrap_or(0);
    let start = &start[..filled];
    let bzip2 = start.starts_with(b"BZh") && matches!(start.get(4..10), Some(b"1AY&SY" | b"\x17\x72\x45\x38\x50\x90"));
    let (name, tool, extension) = if start.starts_with(b"\x1F\x8B") {
        ("gzip", "gunzip", ".gz")
    } else if start.starts_with(b"\x28\xB5\x2F\xFD") {
        ("zstd", "unzstd", ".zst")
    } else if start.starts_with(b"\xFD7zXZ\0") {
        ("xz", "unxz", ".xz")
    } else if bzip2 {
        ("bzip2", "bunzip2", ".bz2")
    } else {
        return Ok(());
    };
    let alone = local_path(&files.path).is_ok_and(|named| named == path);
    // Beside its unpacked copy in a folder, the packed file would be read and refused again.
    let command = match (path.strip_suffix(extension), name) {
        (None, _) => format!("{tool} < {path} > UNPACKED"),
        (Some(_), "zstd") if !alone => format!("unzstd --rm {path}"),
        (Some(_), "zstd") => format!("unzstd {path}"),
        (Some(_), _) if !alone => format!("{tool} {path}"),
        (Some(_), _) => format!("{tool} -k {path}"),
    };
    let message = format!("{path} is compressed with {name}, which is not supported yet");
    Err(Error::new(ErrorKind::Unsupported, message).in_file(path).help(format!("unpack it first: {command}")))
}

impl Split for TextSplit {
    fn name(&self) -> &str {
        self.input.path()
    }
    fn block_count(&self) -> usize {
        usize::try_from((self.input.bytes() - self.origin).div_ceil(self.block_bytes)).unwrap_or(usize::MAX)
    }
    fn bytes(&self) -> u64 {
        self.input.bytes()
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        // Formats without a state need not even read the block.
        if self.format.transition(b"", 0).is_none() {
            return Ok(Transition::IDENTITY);
        }
        let (start, end) = self.range(block);
        WINDOW.with_borrow_mut(|buffer| {
            self.with_file(|file| {
                let mut window = self.window(file, buffer, start);
                self.fill(&mut window, end)?;
                let first = (start - window.start) as usize;
                let before = first.checked_sub(1).map_or(0, |at| window.buffer[at]);
                let transition = self.format.transition(&window.bytes()[first..], before);
                Ok(transition.map_or(Transition::IDENTITY, Transition))
            })
        })
    }
    fn decode(
        &self,
        block: usize,
        entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        let (start, end) = self.range(block);
        let mut aside = Aside::default();
        let notes = Notes { set_aside: self.set_aside, ..Notes::default() };
        let (rows, malformed) = self.decode_noting(block, (entry, batch_rows, notes), out, &mut |notes, window| {
            if self.set_aside {
                aside = self.aside(block, notes, window);
            }
        })?;
        Ok(BlockStats { rows, malformed, bytes: end - start, aside })
    }

    fn records(&self, block: usize, entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        let mut records = Vec::with_capacity(rows.len());
        let notes = Notes { set_aside: self.set_aside, trace: true, ..Notes::default() };
        self.decode_noting(
            block,
            (entry, crate::limits::BATCH_ROWS_DEFAULT, notes),
            &mut |_| Ok(()),
            &mut |notes, window| {
                let (mut at, before) = self.first(block, window);
                let mut measure = self.measure_after(before);
                for record in rows.iter().filter_map(|&row| notes.records.get(row as usize)) {
                    measure.add(&window[at.min(record.start)..record.start]);
                    at = record.start;
                    records.push((Position::Text(measure.extent), record_text(&window[record.clone()])));
                }
            },
        )?;
        Ok(records)
    }

    fn extent_before(&self, block: usize) -> Extent {
        let start = self.range(block).0;
        self.with_file(|file| Ok(self.measure(file, start))).unwrap_or_default()
    }
}

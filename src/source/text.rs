//! A text file as a split, cut into blocks of bytes. A record belongs to the block in which it starts.

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

use arrow::array::RecordBatch;

use super::aside::{Aside, Measure, Position, Stretch, Walk};
use super::{BYTE_ORDER_MARK, BlockStats, Extent, RECORD_BYTES_MAX, Split, Transition};
use crate::error::{Error, Place, Result};
use crate::format::{Failure, FormatSpec, Header, InputFile, Notes, Step, record_text};
use crate::plan::ScanSpec;
use crate::types::Schema;

/// Read beyond the block's end at first, for its last record.
const TAIL_BYTES: usize = 4 << 10;
/// Read ahead of the block, to know what its first byte follows.
const LOOK_BACK: u64 = 1;

pub(super) struct TextSplit {
    input: InputFile,
    /// Opened for each block where this is none.
    kept: Option<File>,
    /// Where the text starts: behind the byte-order mark, if there is one.
    text_start: u64,
    /// Where the records start: behind the header, if the format has one.
    origin: u64,
    header: Option<Header>,
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
    ///
    /// # Errors
    /// The header does not fit the table, or the file cannot be read.
    pub fn new(
        scan: &ScanSpec,
        format: &FormatSpec,
        input: InputFile,
        file: File,
        (block_bytes, keep): (usize, bool),
    ) -> Result<Self> {
        let mut mark = [0u8; 3];
        let marked = format.skips_mark() && file.read_exact_at(&mut mark, 0).is_ok() && mark == *BYTE_ORDER_MARK;
        let text_start = if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        let mut split = TextSplit {
            input,
            kept: None,
            text_start,
            origin: text_start,
            header: None,
            block_bytes: super::clamp_block(block_bytes),
            format: format.clone(),
            schema: scan.file_schema.clone(),
            projection: scan.projection.clone(),
            set_aside: false,
        };
        if split.format.has_header() {
            split.read_header(&file)?;
        }
        split.kept = keep.then_some(file);
        Ok(split)
    }

    /// Finds out which field of this file is which column, and where the first record behind the header starts.
    fn read_header(&mut self, file: &File) -> Result<()> {
        let mut buffer = Vec::new();
        let mut window = Window { file, buffer: &mut buffer, filled: 0, start: self.text_start };
        let mut wanted = TAIL_BYTES as u64;
        loop {
            self.fill(&mut window, self.text_start + wanted)?;
            let eof = window.start + window.filled as u64 >= self.input.bytes();
            match self.format.read_header(&self.schema, window.bytes(), eof) {
                Ok(Some(header)) => {
                    self.origin = self.text_start + header.length as u64;
                    self.header = Some(header);
                    return Ok(());
                }
                Ok(None) if wanted > RECORD_BYTES_MAX as u64 => {
                    return Err(self.locate(file, self.text_start, super::too_long()));
                }
                Ok(None) => wanted *= 4,
                Err(Failure::At(place, error)) => return Err(self.locate(file, self.text_start + place as u64, error)),
                Err(Failure::Other(error)) => return Err(error),
            }
        }
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
                    return Err(super::became_shorter(self.input.path()));
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
        let header = self.header.as_ref();
        let Some(mut decoder) = self.format.text_decoder(&self.schema, &self.projection, batch_rows, header)? else {
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
                        return Err(self.locate(file, window.start + at as u64, super::too_long()));
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
        let (line, column) = self.measure(file, self.text_start, offset).place();
        error.at_place(Place { file: self.input.path().to_string(), line, column, length: 0 })
    }
}

impl TextSplit {
    /// The text of the file between two offsets.
    fn measure(&self, file: &File, from: u64, to: u64) -> Stretch {
        let mut chunk = vec![0u8; 1 << 16];
        let mut at = from;
        // What it begins with may belong to the line end before it.
        if at > self.text_start && file.read_at(&mut chunk[..1], at - 1).is_err() {
            return Stretch::default();
        }
        let mut measure = self.measure_after(if at > self.text_start { chunk[0] } else { 0 });
        while at < to {
            let wanted = (to - at).min(chunk.len() as u64) as usize;
            let Ok(count @ 1..) = file.read_at(&mut chunk[..wanted], at) else { break };
            measure.add(&chunk[..count]);
            at += count as u64;
        }
        measure.stretch
    }

    fn measure_after(&self, before: u8) -> Measure {
        Measure::new(before, matches!(self.format, FormatSpec::Csv(_)))
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

    /// Goes through a block's window from the start of the block on.
    fn walk<'a>(&self, block: usize, window: &'a [u8]) -> Walk<'a> {
        let first = usize::from(self.range(block).0 > self.origin) * LOOK_BACK as usize;
        let before = first.checked_sub(1).and_then(|at| window.get(at).copied()).unwrap_or(0);
        Walk::new(window, first, self.measure_after(before))
    }

    /// What a block set aside, with the places of the faults.
    fn aside(&self, block: usize, notes: &Notes, window: &[u8]) -> Aside {
        let (start, end) = self.range(block);
        let mut walk = self.walk(block, window);
        let rejected = walk.rejected(notes, Position::Text);
        Aside { text: walk.over((end - start) as usize), rejected }
    }
}

impl Split for TextSplit {
    fn name(&self) -> &str {
        self.input.path()
    }
    fn extent(&self) -> Extent {
        let blocks = (self.input.bytes() - self.origin).div_ceil(self.block_bytes);
        Extent::whole(usize::try_from(blocks).unwrap_or(usize::MAX))
    }
    fn bytes(&self) -> u64 {
        self.input.bytes()
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        // Formats without a state need not even read the block.
        let Some(ahead) = self.format.look_ahead() else { return Ok(Transition::IDENTITY) };
        let (start, end) = self.range(block);
        WINDOW.with_borrow_mut(|buffer| {
            self.with_file(|file| {
                let mut window = self.window(file, buffer, start);
                self.fill(&mut window, end + ahead as u64)?;
                let first = (start - window.start) as usize;
                let before = first.checked_sub(1).map_or(0, |at| window.buffer[at]);
                let transition = self.format.transition(&window.bytes()[first..], (end - start) as usize, before);
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
                let mut walk = self.walk(block, window);
                for record in rows.iter().filter_map(|&row| notes.records.get(row as usize)) {
                    records.push((Position::Text(walk.to(record.start)), record_text(&window[record.clone()])));
                }
            },
        )?;
        Ok(records)
    }

    fn text_before(&self, block: usize) -> Stretch {
        let start = self.range(block).0;
        self.with_file(|file| Ok(self.measure(file, self.text_start, start))).unwrap_or_default()
    }
    fn text_between(&self, from: usize, to: usize) -> Stretch {
        let [from, to] = [from, to].map(|block| self.range(block).0);
        self.with_file(|file| Ok(self.measure(file, from, to))).unwrap_or_default()
    }
}

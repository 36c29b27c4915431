//! A text that can only be read from its start to its end (a compressed file, stdin) as a split. Its blocks are made
//! one after the other, by whichever shard wants the next one, and begin and end where records do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use arrow::array::RecordBatch;

use super::aside::{Aside, Measure, Position, Stretch, Walk};
use super::cutter::{Chunk, Cutter, Remainder};
use super::{BlockStats, Extent, Split, Wake, lines};
use crate::error::{Error, Place, Result};
use crate::format::{Failure, FormatSpec, Notes, Step, record_text};
use crate::plan::ScanSpec;
use crate::types::Schema;

/// Blocks that are made before anybody takes them.
const BLOCKS_AHEAD: usize = 4;

/// Where the bytes of a stream come from.
pub(super) trait Feed: Send {
    /// Appends about as many bytes as are wanted, or what is there.
    ///
    /// # Errors
    /// The stream cannot be read or unpacked; with its file.
    fn read(&mut self, wanted: usize, buffer: &mut Vec<u8>) -> Result<Fed>;
    /// Bytes of the file behind what was read since the last call.
    fn bytes_taken(&mut self) -> u64;
    /// See [`Split::start`]. True if bytes come at their own time.
    fn start(&mut self, _wake: &Wake) -> bool {
        false
    }
}

/// What a feed came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fed {
    Some,
    /// Nothing at this moment.
    Nothing,
    End,
}

pub(super) struct StreamSplit {
    name: String,
    bytes: u64,
    format: FormatSpec,
    schema: Schema,
    projection: Vec<usize>,
    cutter: Mutex<Cutter>,
    made: Mutex<Made>,
    set_aside: bool,
}

/// The blocks so far.
struct Made {
    extent: Extent,
    /// Those that may be decoded yet, or asked for their records.
    chunks: BTreeMap<usize, Arc<Chunk>>,
    /// How many have been taken.
    taken: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StreamSplit {
    /// `bytes`: size of the file, 0 if unknown.
    pub fn new(scan: &ScanSpec, format: &FormatSpec, (name, bytes): (&str, u64), cutter: Cutter) -> Self {
        StreamSplit {
            name: name.to_string(),
            bytes,
            format: format.clone(),
            schema: scan.file_schema.clone(),
            projection: scan.projection.clone(),
            cutter: Mutex::new(cutter),
            made: Mutex::new(Made { extent: Extent { blocks: 0, complete: false }, chunks: BTreeMap::new(), taken: 0 }),
            set_aside: false,
        }
    }

    pub fn setting_aside(self, set_aside: bool) -> Self {
        StreamSplit { set_aside, ..self }
    }

    /// Hands what was noted of a chunk to `noted`; the counts of rows and skipped records.
    fn decode_chunk(
        &self,
        chunk: &Chunk,
        (first, batch_rows, notes): (bool, usize, Notes),
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
        noted: &mut dyn FnMut(&Notes),
    ) -> Result<(u64, u64)> {
        let header = chunk.header.as_deref();
        let Some(mut decoder) = self.format.text_decoder(&self.schema, &self.projection, batch_rows, header)? else {
            return Err(Error::internal("a stream of a format that is no text"));
        };
        *decoder.notes() = notes;
        let (text, end) = (chunk.text.as_slice(), chunk.text.len());
        let before = if first { None } else { Some(b'\n') };
        let step = match decoder.enter(text, 0, end, 0, before) {
            Some(at) => decoder.decode(text, at, end, chunk.remainder.is_none(), out),
            None => Ok(Step::Done),
        };
        noted(decoder.notes());
        let place = match step {
            Ok(Step::Done) => end,
            Ok(Step::More(record)) => record,
            Err(Failure::At(place, error)) => return Err(self.locate(chunk, place, error)),
            Err(Failure::Other(error)) => return Err(error),
        };
        match &chunk.remainder {
            None => decoder.finish(out),
            Some(Remainder::TooLong) => Err(self.locate(chunk, place, super::too_long())),
            Some(Remainder::Failed(error)) if error.place().is_some() => Err(error.clone().in_file(&self.name)),
            Some(Remainder::Failed(error)) => {
                let (line, _) = lines::place(text, chunk.line, self.counts_returns());
                Err(error.clone().at_place(Place { file: self.name.clone(), line, ..Place::default() }))
            }
        }
    }

    fn walk<'a>(&self, chunk: &'a Chunk) -> Walk<'a> {
        Walk::new(&chunk.text, 0, Measure::new(0, self.counts_returns()))
    }

    fn counts_returns(&self) -> bool {
        matches!(self.format, FormatSpec::Csv(_))
    }

    #[cold]
    fn locate(&self, chunk: &Chunk, offset: usize, error: Error) -> Error {
        let (line, column) = lines::place(&chunk.text[..offset], chunk.line, self.counts_returns());
        error.at_place(Place { file: self.name.clone(), line, column, length: 0 })
    }
}

impl Split for StreamSplit {
    fn name(&self) -> &str {
        &self.name
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
    fn extent(&self) -> Extent {
        lock(&self.made).extent
    }
    fn extend(&self) -> Extent {
        let mut cutter = match self.cutter.try_lock() {
            Ok(cutter) => cutter,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another shard makes the next block.
            Err(TryLockError::WouldBlock) => return self.extent(),
        };
        let (extent, taken) = (self.extent(), lock(&self.made).taken);
        if extent.complete || extent.blocks - taken >= BLOCKS_AHEAD {
            return extent;
        }
        if let Some(chunk) = cutter.next_chunk() {
            let made = &mut *lock(&self.made);
            let block = made.extent.blocks;
            made.extent = Extent { blocks: block + 1, complete: chunk.last };
            made.chunks.insert(block, Arc::new(chunk));
        }
        self.extent()
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        let (mut cutter, mut made) = (lock(&self.cutter), lock(&self.made));
        while made.extent.blocks < blocks && !made.extent.complete {
            // A file has no moment without bytes.
            let Some(chunk) = cutter.next_chunk() else { break };
            made.extent = Extent { blocks: made.extent.blocks + 1, complete: chunk.last };
        }
        made.taken = made.extent.blocks;
        if made.extent.blocks == blocks { Ok(()) } else { Err(super::became_shorter(&self.name)) }
    }
    fn start(&self, wake: &Wake, alone: bool) {
        lock(&self.cutter).start(wake, alone);
    }
    fn decode(
        &self,
        block: usize,
        _entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        let chunk = {
            let mut made = lock(&self.made);
            made.taken += 1;
            made.chunks.get(&block).cloned()
        };
        let Some(chunk) = chunk else { return Err(Error::internal("a block of a stream is read twice")) };
        let mut rejected = Vec::new();
        let notes = Notes { set_aside: self.set_aside, ..Notes::default() };
        let (rows, malformed) = self.decode_chunk(&chunk, (block == 0, batch_rows, notes), out, &mut |notes| {
            rejected = self.walk(&chunk).rejected(notes, |stretch| behind(chunk.line, stretch));
        })?;
        Ok(BlockStats { rows, malformed, bytes: chunk.bytes, aside: Aside { rejected, ..Aside::default() } })
    }
    fn records(&self, block: usize, _entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        let chunk = lock(&self.made).chunks.get(&block).cloned();
        let Some(chunk) = chunk else { return Ok(Vec::new()) };
        let mut records = Vec::with_capacity(rows.len());
        let notes = Notes { set_aside: self.set_aside, trace: true, ..Notes::default() };
        let how = (block == 0, crate::limits::BATCH_ROWS_DEFAULT, notes);
        let mut noted = |notes: &Notes| {
            let mut walk = self.walk(&chunk);
            for record in rows.iter().filter_map(|&row| notes.records.get(row as usize)) {
                let place = behind(chunk.line, walk.to(record.start));
                records.push((place, record_text(&chunk.text[record.clone()])));
            }
        };
        let decoded = self.decode_chunk(&chunk, how, &mut |_| Ok(()), &mut noted);
        // A fault further on is that of the block, and not of these records.
        if records.len() < rows.len() {
            decoded?;
        }
        Ok(records)
    }
    fn release(&self, block: usize) {
        lock(&self.made).chunks.remove(&block);
    }
}

/// `line`: where the stretch begins.
fn behind(line: u64, stretch: Stretch) -> Position {
    let (lines, column) = stretch.place();
    Position::Place(line + lines - 1, column)
}

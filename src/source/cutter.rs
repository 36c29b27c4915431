//! Cuts a stream of text into blocks that begin and end where records do.

use std::sync::Arc;

use super::lines;
use super::stream::{Fed, Feed};
use super::{BYTE_ORDER_MARK, RECORD_BYTES_MAX, Wake};
use crate::error::{Error, Place, Result};
use crate::format::{Failure, FormatSpec, Header, TextDecoder};
use crate::plan::ScanSpec;
use crate::types::Schema;

/// Asked for at once from a feed.
const READ_BYTES: usize = 64 << 10;
/// Line ends that are tried from the last one back, to find one that ends a record.
const ENDS_TRIED: usize = 8;

/// A block of a stream.
pub(super) struct Chunk {
    /// From the start of a record on.
    pub text: Vec<u8>,
    /// The header of the stream, if the format has one.
    pub header: Option<Arc<Header>>,
    /// The number of its first line.
    pub line: u64,
    /// Bytes of the file that it stands for.
    pub bytes: u64,
    /// What keeps the stream from going on behind the text. `None`: the text ends with a record.
    pub remainder: Option<Remainder>,
    pub last: bool,
}

pub(super) enum Remainder {
    /// The last record of the text is longer than the longest.
    TooLong,
    Failed(Error),
}

pub(super) struct Cutter {
    feed: Box<dyn Feed>,
    /// A block ends with the record in which so many bytes of text are full, or twice, or three times as many: as a
    /// file that is not compressed is cut, so that the answer is the same.
    block_bytes: u64,
    /// Or with the last whole record that is there when somebody wants a block: rows that have come do not wait for
    /// more. Only where the answer does not depend on blocks.
    live: bool,
    format: FormatSpec,
    schema: Schema,
    header: Option<Arc<Header>>,
    /// Finds where records start; its rows are not wanted.
    decoder: Box<dyn TextDecoder>,
    /// From the start of a record on.
    buffer: Vec<u8>,
    /// Offset in the text of the buffer's first byte, and its line.
    start: u64,
    line: u64,
    blocks: u64,
    begun: bool,
    ended: bool,
}

impl Cutter {
    /// # Errors
    /// Internal, for a format that is no text.
    pub fn new(scan: &ScanSpec, format: &FormatSpec, feed: Box<dyn Feed>, block_bytes: u64) -> Result<Self> {
        let decoder = format.text_decoder(&scan.file_schema, &[], 1, None)?;
        Ok(Cutter {
            feed,
            block_bytes,
            live: false,
            format: format.clone(),
            schema: scan.file_schema.clone(),
            header: None,
            decoder: decoder.ok_or_else(|| Error::internal("a stream of a format that is no text"))?,
            buffer: Vec::new(),
            start: 0,
            line: 1,
            blocks: 0,
            begun: false,
            ended: false,
        })
    }

    pub fn start(&mut self, wake: &Wake, alone: bool) {
        self.live = self.feed.start(wake) && alone;
    }

    /// The next block, if it can be made now. Not called behind the last one.
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        match self.try_next() {
            Ok(chunk) => chunk,
            Err(error) => {
                let text = std::mem::take(&mut self.buffer);
                Some(self.chunk(text, Some(Remainder::Failed(error)), true))
            }
        }
    }

    fn try_next(&mut self) -> Result<Option<Chunk>> {
        loop {
            let target = self.target();
            if self.begun && self.buffer.len() > target {
                if let Some(cut) = self.record_start(target) {
                    return Ok(Some(self.cut(cut)));
                }
                if self.buffer.len() - target > RECORD_BYTES_MAX {
                    let text = std::mem::take(&mut self.buffer);
                    return Ok(Some(self.chunk(text, Some(Remainder::TooLong), true)));
                }
            }
            if self.ended {
                return Ok(Some(self.rest()));
            }
            // More and more of a long record, so that looking for its end costs little.
            let beyond = self.buffer.len().saturating_sub(target);
            let wanted = (target.saturating_sub(self.buffer.len()) + READ_BYTES).max(beyond);
            match self.feed.read(wanted, &mut self.buffer)? {
                Fed::Some => self.begin(false)?,
                Fed::End => {
                    self.ended = true;
                    self.begin(true)?;
                }
                Fed::Nothing => return Ok(self.whole_records()),
            }
        }
    }

    /// The block's end in the buffer, before it is moved to the end of a record.
    fn target(&self) -> usize {
        if self.live { self.block_bytes as usize } else { self.grid_end().saturating_sub(self.start) as usize }
    }

    fn grid_end(&self) -> u64 {
        (self.blocks + 1) * self.block_bytes
    }

    /// Drops the byte-order mark and reads the header, once there is enough to know them.
    fn begin(&mut self, all: bool) -> Result<()> {
        if self.begun
            || !(all || self.buffer.len() >= BYTE_ORDER_MARK.len() || !BYTE_ORDER_MARK.starts_with(&self.buffer))
        {
            return Ok(());
        }
        let mark = if self.format.skips_mark() && self.buffer.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let text = &self.buffer[mark..];
        let header = match self.format.has_header() {
            false => None,
            true => match self.format.read_header(&self.schema, text, all) {
                Ok(Some(header)) => Some(header),
                Ok(None) if self.buffer.len() > RECORD_BYTES_MAX => {
                    let place = Place { line: self.line, column: 1, ..Place::default() };
                    return self.refuse(super::too_long().at_place(place));
                }
                Ok(None) => return Ok(()),
                Err(Failure::At(at, error)) => {
                    let (line, column) =
                        lines::place(&text[..at], self.line, matches!(self.format, FormatSpec::Csv(_)));
                    return self.refuse(error.at_place(Place { line, column, ..Place::default() }));
                }
                Err(Failure::Other(error)) => return self.refuse(error),
            },
        };
        let length = header.as_ref().map_or(0, |header| header.length);
        self.line += lines::count(&text[..length], matches!(self.format, FormatSpec::Csv(_)));
        self.buffer.drain(..mark + length);
        self.header = header.map(Arc::new);
        self.begun = true;
        Ok(())
    }

    /// The stream cannot be read from its first line on.
    fn refuse(&mut self, error: Error) -> Result<()> {
        self.buffer.clear();
        Err(error)
    }

    /// Where the first record starts at `target` or behind it.
    fn record_start(&mut self, target: usize) -> Option<usize> {
        let (before, rest) = self.buffer.split_at(target);
        debug_assert!(!rest.is_empty());
        let Some(last) = before.last() else { return Some(0) };
        let state = self.format.transition(&self.buffer, target, b'\n').map_or(0, |states| states[0]);
        self.decoder.enter(&self.buffer, target, self.buffer.len(), state, Some(*last))
    }

    /// What is there of whole records, if they may go out before the block is full.
    fn whole_records(&mut self) -> Option<Chunk> {
        if !self.live || !self.begun {
            return None;
        }
        let ends = memchr::memrchr_iter(b'\n', &self.buffer).take(ENDS_TRIED);
        let is_record = |end: &usize| self.format.transition(&self.buffer, end + 1, b'\n').is_none_or(|s| s[0] == 0);
        let end = ends.into_iter().find(is_record)?;
        Some(self.cut(end + 1))
    }

    fn cut(&mut self, at: usize) -> Chunk {
        let mut next = Vec::with_capacity(self.target() + 2 * READ_BYTES);
        next.extend_from_slice(&self.buffer[at..]);
        let mut text = std::mem::replace(&mut self.buffer, next);
        text.truncate(at);
        self.chunk(text, None, false)
    }

    /// A block of what is left when all has been read.
    fn rest(&mut self) -> Chunk {
        // Behind a last record that begins in this block and ends in another one blocks without a record follow.
        let last = self.live || self.start + self.buffer.len() as u64 <= self.grid_end();
        let text = std::mem::take(&mut self.buffer);
        self.chunk(text, None, last)
    }

    fn chunk(&mut self, text: Vec<u8>, remainder: Option<Remainder>, last: bool) -> Chunk {
        let line = self.line;
        self.start += text.len() as u64;
        self.line += lines::count(&text, matches!(self.format, FormatSpec::Csv(_)));
        self.blocks += 1;
        Chunk { text, header: self.header.clone(), line, bytes: self.feed.bytes_taken(), remainder, last }
    }
}

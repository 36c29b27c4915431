//! What the decoders of text formats have in common: they work on a window of a file and leave
//! batches behind.

use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;

use super::column::{Column, TEXT_BYTES_MAX};
use crate::error::{Error, Result};
use crate::types::{Schema, Type};

/// Takes finished batches.
pub type Output<'a> = &'a mut dyn FnMut(RecordBatch) -> Result<()>;

/// How far a decoder came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Every record that starts in the block is decoded.
    Done,
    /// The record at this offset of the window runs past the window's end.
    More(usize),
}

/// Why a decoder stopped.
#[derive(Debug)]
pub enum Failure {
    /// The data is wrong at this offset of the window.
    At(usize, Error),
    /// Something else went wrong; it has its place already or needs none.
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

/// What a decoder writes down about records, where somebody asks for it. Offsets are those of the window.
#[derive(Debug, Default)]
pub struct Notes {
    /// Set records that cannot be read aside, instead of ending at the first one or skipping it.
    pub set_aside: bool,
    /// Those, in their order.
    pub rejects: Vec<Reject>,
    /// Write down where the record of each row stands, which is slow.
    pub trace: bool,
    /// By row.
    pub records: Vec<Range<usize>>,
}

/// A record that cannot be read.
#[derive(Debug)]
pub struct Reject {
    /// Where the fault is.
    pub at: usize,
    /// What is wrong with it.
    pub reason: String,
    /// The record, as [`record_text`] shows it.
    pub text: String,
}

/// Characters of a record that are kept when it is set aside.
pub const RECORD_CHARACTERS_MAX: usize = 1_000;

/// A record as it stands, without its line end: cut with a '…' behind 1,000 characters, and with
/// U+FFFD for what is not UTF-8.
pub fn record_text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let most = &bytes[..bytes.len().min(4 * RECORD_CHARACTERS_MAX + 4)];
    let text = String::from_utf8_lossy(most);
    match text.char_indices().nth(RECORD_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Decodes the records that start in one block of a text file.
pub trait TextDecoder: Send {
    /// The offset of the first record that starts at `from` or later but before `end`. `state`: the
    /// format's state at `from`; `before`: the byte in front of it, unless the file starts there.
    fn enter(&mut self, bytes: &[u8], from: usize, end: usize, state: u8, before: Option<u8>) -> Option<usize>;
    /// Decodes from the record at `from` until a record starts at `end` or later. `eof`: the window reaches the end
    /// of the file.
    ///
    /// # Errors
    /// The first record that is wrong, or what `out` returned.
    fn decode(&mut self, bytes: &[u8], from: usize, end: usize, eof: bool, out: Output<'_>) -> Result<Step, Failure>;
    /// Hands out the rows that are left; how many rows there were and how many records were skipped as malformed.
    ///
    /// # Errors
    /// What `out` returned.
    fn finish(&mut self, out: Output<'_>) -> Result<(u64, u64)>;
    /// What is to be written down, and was.
    fn notes(&mut self) -> &mut Notes;
}

/// Columns under construction with their names and types.
pub(crate) struct Rows {
    pub columns: Vec<Column>,
    /// Name and type of each column.
    pub fields: Vec<(String, Type)>,
    schema: SchemaRef,
    /// Rows in `columns`.
    pub count: usize,
    pub batch_rows: usize,
    total: u64,
    pub malformed: u64,
    pub notes: Notes,
}

impl Rows {
    pub fn new(file_schema: &Schema, projection: &[usize], batch_rows: usize) -> Result<Self> {
        let fields: Vec<_> = projection.iter().filter_map(|index| file_schema.fields.get(*index)).cloned().collect();
        let mut columns = Vec::with_capacity(fields.len());
        for field in &fields {
            let column = Column::new(&field.data_type.kind);
            columns.push(column.ok_or_else(|| {
                Error::internal(format!("column `{}` of type {} reached a decoder", field.name, field.data_type.kind))
            })?);
        }
        Ok(Rows {
            columns,
            schema: Schema::new(fields.clone()).to_arrow(),
            fields: fields.into_iter().map(|field| (field.name, field.data_type.kind)).collect(),
            count: 0,
            batch_rows: batch_rows.max(1),
            total: 0,
            malformed: 0,
            notes: Notes::default(),
        })
    }

    /// Sets a record aside of which nothing is left in the columns.
    #[cold]
    pub fn reject(&mut self, bytes: &[u8], record: Range<usize>, at: usize, error: &Error) {
        let text = record_text(&bytes[record]);
        self.notes.rejects.push(Reject { at, reason: error.message().to_string(), text });
    }

    /// Writes down where the rows came from that were added since the last call.
    #[inline]
    pub fn trace(&mut self, record: Range<usize>) {
        if self.notes.trace {
            let rows = self.total as usize + self.count;
            self.notes.records.resize(rows, record);
        }
    }

    /// Drops what the unfinished row has appended so far.
    #[cold]
    pub fn roll_back(&mut self) {
        for column in &mut self.columns {
            column.truncate(self.count);
        }
    }

    /// Counts a finished row, and hands the batch out when it is full.
    #[inline]
    pub fn end_row(&mut self, out: Output<'_>) -> Result<()> {
        self.count += 1;
        if self.count >= self.batch_rows || (self.count & 0x3F == 0 && self.text_is_long()) {
            self.flush(out)?;
        }
        Ok(())
    }

    fn text_is_long(&self) -> bool {
        self.columns.iter().any(|column| column.text_bytes() > TEXT_BYTES_MAX / 64)
    }

    /// Hands out the rows gathered so far, if any.
    pub fn flush(&mut self, out: Output<'_>) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let room = self.batch_rows.min(self.count * 2);
        let arrays = self.columns.iter_mut().map(|column| column.take(room)).collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| Error::internal(format!("cannot build a batch: {error}")))?;
        self.total += self.count as u64;
        self.count = 0;
        out(batch)
    }

    pub fn totals(&self) -> (u64, u64) {
        (self.total, self.malformed)
    }
}

/// The offset of the first byte that is not UTF-8 from `from` on; the window's length if there is none. A character
/// that the window cuts off counts as good.
pub(crate) fn first_invalid(bytes: &[u8], from: usize, eof: bool) -> usize {
    let text = &bytes[from..];
    if text.is_ascii() {
        return bytes.len();
    }
    match std::str::from_utf8(text) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() && !eof => bytes.len(),
        Err(error) => from + error.valid_up_to(),
    }
}

/// The error at the byte `at`, which is part of no character.
#[cold]
pub(crate) fn not_utf8(bytes: &[u8], at: usize) -> Failure {
    Failure::At(at, encoding_error(bytes, at))
}

/// Says which byte it is and how to convert the file. A byte that is alone among ASCII is Latin-1 nearly always.
#[cold]
pub(crate) fn encoding_error(bytes: &[u8], at: usize) -> Error {
    let byte = bytes.get(at).copied().unwrap_or_default();
    let alone = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_none_or(u8::is_ascii);
    let (guess, character) = match byte {
        0xA0.. if alone(at.checked_sub(1)) && alone(Some(at + 1)) => {
            ("ISO-8859-1", format!(", which is '{}' in Latin-1", char::from(byte)))
        }
        _ => ("ENCODING", String::new()),
    };
    Error::data(format!("the file is not UTF-8: here is the byte 0x{byte:02X}{character}"))
        .help(format!("convert it: iconv -f {guess} -t UTF-8 FILE > CONVERTED"))
}

/// A field's text for a message: shortened, and with what cannot be shown replaced.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const CHARACTERS: usize = 60;
    let lossy = String::from_utf8_lossy(&text[..text.len().min(CHARACTERS * 4)]);
    let shown: String = lossy.chars().take(CHARACTERS).flat_map(char::escape_debug).collect();
    let cut = lossy.chars().count() > CHARACTERS || text.len() > CHARACTERS * 4;
    if cut { format!("'{shown}…'") } else { format!("'{shown}'") }
}

//! One shard's part of a table, under a hidden name.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::format::{AvroPart, FormatSpec, ParquetPart, TextEncoder};
use crate::types::Schema;

/// Writes one file.
pub(super) trait PartWriter: Send {
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Lets go of the file and of all buffers until the next batch; false, if that cannot be done.
    fn rest(&mut self) -> Result<bool> {
        Ok(false)
    }
    /// Flushes; after this the part is complete, though not visible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Encoded text is written once so much of it is there.
const BUFFER_BYTES: usize = 1 << 18;

/// Rows of a text format on their way into a file.
struct TextPart {
    encoder: TextEncoder,
    /// Opened again where this is none.
    file: Option<File>,
    path: PathBuf,
    buffer: Vec<u8>,
}

/// Rows on their way into a Parquet file.
struct ColumnPart(Box<ParquetPart>);

/// Rows on their way into an Avro file.
struct RecordPart(AvroPart);

/// Creates the part's file, which must not exist yet.
pub(super) fn create(path: &Path, format: &FormatSpec, schema: &Schema) -> Result<Box<dyn PartWriter>> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| Error::io("create", path.display(), error))?;
    let shown = path.display().to_string();
    Ok(match format {
        FormatSpec::Parquet(options) => {
            Box::new(ColumnPart(Box::new(ParquetPart::new(file, &shown, schema, options)?)))
        }
        FormatSpec::Avro(options) => Box::new(RecordPart(AvroPart::new(file, &shown, schema, options)?)),
        FormatSpec::Csv(_) | FormatSpec::Json(_) | FormatSpec::DebeziumJson(_) | FormatSpec::Raw(_) => {
            let Some(encoder) = format.text_encoder(schema) else {
                return Err(Error::internal("a text format without an encoder"));
            };
            let buffer = encoder.header().to_vec();
            Box::new(TextPart { encoder, file: Some(file), path: path.to_path_buf(), buffer })
        }
    })
}

impl TextPart {
    fn flush(&mut self) -> Result<()> {
        let failed = |error| Error::io("write", self.path.display(), error);
        if self.buffer.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(OpenOptions::new().append(true).open(&self.path).map_err(failed)?),
        };
        let written = file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(failed)
    }
}

impl PartWriter for TextPart {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.encoder.encode(batch, &mut self.buffer)?;
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }
    fn rest(&mut self) -> Result<bool> {
        self.flush()?;
        self.file = None;
        self.buffer = Vec::new();
        Ok(true)
    }
    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

impl PartWriter for ColumnPart {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch)
    }
    fn finish(self: Box<Self>) -> Result<()> {
        self.0.finish()
    }
}

impl PartWriter for RecordPart {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch)
    }
    fn finish(self: Box<Self>) -> Result<()> {
        self.0.finish()
    }
}

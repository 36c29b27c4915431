//! Batches into Avro files, and files of one schema into a single one.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use xxhash_rust::xxh3::xxh3_128;

use super::AvroOptions;
use super::codec::Codec;
use super::container::{self, MARK_BYTES};
use super::encode::Column;
use super::schema;
use super::wire::put_long;
use crate::error::{Error, Result};
use crate::types::Schema;

/// A block is written once it has so many bytes; the default of Avro's own writer is near it.
const BLOCK_BYTES: usize = 64_000;

/// One Avro file being written.
pub struct AvroPart {
    schema: Schema,
    blocks: Blocks,
}

/// The blocks of a file, as they fill.
struct Blocks {
    file: File,
    path: String,
    codec: Codec,
    mark: [u8; MARK_BYTES],
    records: i64,
    block: Vec<u8>,
}

impl AvroPart {
    /// Starts a file; `path` is for messages.
    ///
    /// # Errors
    /// Io, if its start cannot be written.
    pub fn new(mut file: File, path: &str, schema: &Schema, options: &AvroOptions) -> Result<Self> {
        let json = schema::of_table(schema, options.legacy_timestamps);
        // The same for all parts of a table, so that their blocks can stand in one file.
        let mark = xxh3_128(format!("{} {json}", options.codec.name()).as_bytes()).to_be_bytes();
        let head = container::header_bytes(&json, options.codec, &mark);
        file.write_all(&head).map_err(|error| Error::io("write", path, error))?;
        let blocks = Blocks {
            file,
            path: path.to_string(),
            codec: options.codec,
            mark,
            records: 0,
            block: Vec::with_capacity(2 * BLOCK_BYTES),
        };
        Ok(AvroPart { schema: schema.clone(), blocks })
    }

    /// # Errors
    /// Data, for a value that Avro cannot hold; Io, if a block cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let fields = self.schema.fields.iter().zip(batch.columns());
        let columns = fields.map(|(field, array)| Column::new(&field.name, &field.data_type, array));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let blocks = &mut self.blocks;
        for row in 0..batch.num_rows() {
            columns.iter().try_for_each(|column| column.encode(row, &mut blocks.block))?;
            blocks.records += 1;
            if blocks.block.len() >= BLOCK_BYTES {
                blocks.end()?;
            }
        }
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Io, if the last block cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.blocks.end()
    }
}

impl Blocks {
    fn end(&mut self) -> Result<()> {
        if self.records == 0 {
            return Ok(());
        }
        let failed = |error| Error::io("write", &self.path, error);
        let packed = self.codec.compress(&self.block).map_err(failed)?;
        let mut out = Vec::with_capacity(packed.len() + 2 * MARK_BYTES);
        put_long(&mut out, self.records);
        put_long(&mut out, packed.len() as i64);
        out.extend_from_slice(&packed);
        out.extend_from_slice(&self.mark);
        self.file.write_all(&out).map_err(failed)?;
        self.records = 0;
        self.block.clear();
        Ok(())
    }
}

/// Writes the blocks of all parts, which are of one table, into `target`; nothing is decoded.
///
/// # Errors
/// Io, naming the file.
pub fn append_avro_parts(parts: &[PathBuf], target: &Path) -> Result<()> {
    let shown = target.display().to_string();
    let mut whole = File::create(target).map_err(|error| Error::io("create", &shown, error))?;
    for (number, part) in parts.iter().enumerate() {
        let name = part.display().to_string();
        let mut file = File::open(part).map_err(|error| Error::io("open", &name, error))?;
        if number > 0 {
            let header = header_length(&file, &name)?;
            file.seek(SeekFrom::Start(header)).map_err(|error| Error::io("read", &name, error))?;
        }
        std::io::copy(&mut file, &mut whole).map_err(|error| Error::io("write", &shown, error))?;
    }
    Ok(())
}

/// True if a finished file has no rows.
///
/// # Errors
/// Io, naming the file.
pub fn avro_is_empty(path: &Path) -> Result<bool> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io("open", &name, error))?;
    let header = header_length(&file, &name)?;
    Ok(size(&file, &name)? <= header)
}

fn size(file: &File, name: &str) -> Result<u64> {
    Ok(file.metadata().map_err(|error| Error::io("read", name, error))?.len())
}

fn header_length(file: &File, name: &str) -> Result<u64> {
    Ok(container::read_header(file, name, size(file, name)?)?.length)
}

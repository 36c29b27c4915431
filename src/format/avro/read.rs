//! Runs of blocks into columns of the declared types.

use std::fs::File;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;

use super::build::Builder;
use super::container::{self, Block, DAMAGED, Header, no_avro};
use super::plan::{Misfit, Record};
use super::schema::{FileSchema, Node};
use super::trial::{AvroReject, Trial};
use super::wire::Cursor;
use crate::error::{Error, Result, nearest};
use crate::format::InputFile;
use crate::format::remedy;
use crate::format::text::Output;
use crate::types::{Field, Schema};

/// Batches are handed out earlier where their records are long.
const BATCH_BYTES_MAX: usize = 32 << 20;
/// Records without any byte that a block may claim to have.
const EMPTY_RECORDS_MAX: u64 = 1 << 20;

/// Blocks of the file that are read at a time.
#[derive(Debug)]
struct Run {
    blocks: std::ops::Range<usize>,
    /// Records of the file in front of it.
    records_before: u64,
    bytes: u64,
}

/// One Avro file, opened for a projection. Reading needs no lock.
#[derive(Debug)]
pub struct AvroReader {
    input: InputFile,
    header: Header,
    blocks: Vec<Block>,
    runs: Vec<Run>,
    record: Record,
    fields: Vec<Field>,
    schema: SchemaRef,
}

impl AvroReader {
    /// Reads the file's header, compares its schema with the table's, and finds its blocks. Blocks of the file are read
    /// in runs of about `run_bytes`.
    ///
    /// # Errors
    /// Io if the file cannot be read; Data if it is no Avro file or cut short, or has a column with an unfit type, or
    /// lacks one that may not be NULL.
    pub fn open(path: &str, schema: &Schema, projection: &[usize], run_bytes: usize) -> Result<Self> {
        let (input, file) = InputFile::open(path)?;
        if input.bytes() == 0 {
            return Err(Error::data("an empty file is no Avro file").in_file(path).help("remove the file"));
        }
        let header = container::read_header(&file, path, input.bytes())?;
        let Node::Record(names) = header.schema.root() else {
            return Err(no_avro(path, "its rows are no records").help("only records can be read as rows"));
        };
        let fields: Vec<_> = projection.iter().filter_map(|index| schema.fields.get(*index)).cloned().collect();
        let record = Record::new(&header.schema, names, &fields)
            .map_err(|(column, misfit)| unfit(&column, misfit, names).in_file(path))?;
        let blocks = container::find_blocks(&file, path, input.bytes(), &header)?;
        Ok(AvroReader {
            runs: runs(&blocks, run_bytes as u64),
            schema: Schema::new(fields.clone()).to_arrow(),
            input,
            header,
            blocks,
            record,
            fields,
        })
    }

    pub fn path(&self) -> &str {
        self.input.path()
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.input.bytes()
    }

    /// Columns that are read as NULL because the file has them not: "no column `k`", with the nearest name.
    pub fn missing(&self) -> Vec<String> {
        let Node::Record(names) = self.header.schema.root() else { return Vec::new() };
        let names = || names.iter().map(|(name, _)| name.as_str());
        let lacking = self.fields.iter().filter(|field| !names().any(|name| name == field.name));
        lacking.map(|field| remedy::no_column(&field.name, names())).collect()
    }

    /// How many runs of blocks there are.
    pub fn block_count(&self) -> usize {
        self.runs.len()
    }

    /// Bytes of the file that a run stands for.
    pub fn block_bytes(&self, run: usize) -> u64 {
        self.runs.get(run).map_or(0, |run| run.bytes)
    }

    /// Rows of the file before a run.
    pub fn first_row(&self, run: usize) -> u64 {
        self.runs.get(run).map_or(0, |run| run.records_before)
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }
    pub(super) fn file_schema(&self) -> &FileSchema {
        &self.header.schema
    }
    pub(super) fn arrow_schema(&self) -> &SchemaRef {
        &self.schema
    }
    pub(super) fn builders(&self) -> Result<Vec<Builder>> {
        self.fields.iter().map(|field| Builder::new(&field.data_type.kind)).collect()
    }

    /// Decodes one run; the number of rows handed out. `rejects` takes, where it is there, the records that do not fit
    /// the declared types.
    ///
    /// # Errors
    /// Data, with the block's place and the record in the message; what `out` returned.
    pub fn decode(
        &self,
        run: usize,
        batch_rows: usize,
        rejects: Option<&mut Vec<AvroReject>>,
        out: Output<'_>,
    ) -> Result<u64> {
        let Some(run) = self.runs.get(run) else {
            return Err(Error::internal(format!("{} has no block {run}", self.input.path())));
        };
        let file = self.input.reopen()?;
        let mut batch = Batch::new(self, batch_rows)?;
        let mut trial = rejects.map(|rejects| Trial::new(self, rejects)).transpose()?;
        let mut record = run.records_before;
        for block in &self.blocks[run.blocks.clone()] {
            let numbers = (record, run.records_before);
            record = self.decode_block((&file, *block), numbers, (&mut batch, trial.as_mut()), out)?;
        }
        batch.flush(self, out)?;
        Ok(batch.total)
    }

    fn decode_block(
        &self,
        (file, block): (&File, Block),
        (mut record, first): (u64, u64),
        (batch, mut trial): (&mut Batch, Option<&mut Trial<'_>>),
        out: Output<'_>,
    ) -> Result<u64> {
        let packed = container::read_block(file, self.input.path(), block)?;
        let fault = |what: &str| {
            let offset = block.offset;
            Error::data(format!("the block at byte {offset}: {what}")).in_file(self.input.path()).help(DAMAGED)
        };
        let codec = self.header.codec;
        let bytes = codec
            .decompress(&packed)
            .map_err(|error| fault(&format!("it cannot be unpacked ({}): {error}", codec.name())))?;
        let mut cursor = Cursor::new(&bytes);
        if block.records > bytes.len() as u64 + EMPTY_RECORDS_MAX {
            return Err(fault(&format!("it claims {} records in {} bytes", block.records, bytes.len())));
        }
        for _ in 0..block.records {
            record += 1;
            let before = cursor.position();
            let refused = trial.as_mut().map(|trial| trial.set_aside(&bytes[before..], record - first - 1));
            if let Some(length) = refused.transpose()?.flatten() {
                cursor.take(length).map_err(|what| fault(&what))?;
                continue;
            }
            self.record.read(&mut cursor, &self.header.schema, &mut batch.columns).map_err(|what| {
                let offset = block.offset;
                Error::data(format!("record {record}, in the block at byte {offset}: {what}"))
                    .in_file(self.input.path())
                    .help("declare the column with a type that holds all of its values; or the file is damaged")
            })?;
            batch.rows += 1;
            batch.bytes += cursor.position() - before;
            if batch.rows >= batch.rows_max || batch.bytes >= BATCH_BYTES_MAX {
                batch.flush(self, out)?;
            }
        }
        if cursor.left() > 0 {
            return Err(fault(&format!("{} bytes are left behind its records", cursor.left())));
        }
        Ok(record)
    }
}

/// Rows on their way out.
struct Batch {
    columns: Vec<Builder>,
    rows: usize,
    rows_max: usize,
    bytes: usize,
    /// Rows that went out.
    total: u64,
}

impl Batch {
    fn new(reader: &AvroReader, rows_max: usize) -> Result<Self> {
        Ok(Batch { columns: reader.builders()?, rows: 0, rows_max: rows_max.max(1), bytes: 0, total: 0 })
    }

    fn flush(&mut self, reader: &AvroReader, out: Output<'_>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = self.columns.iter_mut().map(Builder::finish).collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(reader.schema.clone(), columns, &options)?;
        self.total += self.rows as u64;
        (self.rows, self.bytes) = (0, 0);
        out(batch)
    }
}

/// Cuts the blocks into runs.
fn runs(blocks: &[Block], run_bytes: u64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut records = 0;
    for (index, block) in blocks.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.bytes < run_bytes => {
                run.blocks.end = index + 1;
                run.bytes += block.bytes;
            }
            _ => runs.push(Run { blocks: index..index + 1, records_before: records, bytes: block.bytes }),
        }
        records = u64::saturating_add(records, block.records);
    }
    runs
}

fn unfit(column: &str, misfit: Misfit, names: &[(String, usize)]) -> Error {
    match misfit {
        Misfit::Type { found, fits, declared } => {
            let error = Error::data(format!(
                "column `{column}` is {found} in the file, but the table declares it as {declared}"
            ));
            match fits {
                Some(fits) => error.help(format!("declare it as {fits}")),
                None => error.help("leave the column out, or declare it with a type that fits"),
            }
        }
        Misfit::Missing => {
            let error = Error::data(format!("the file has no field `{column}`, which the table declares as NOT NULL"));
            match nearest(column, names.iter().map(|(name, _)| name.as_str())) {
                Some(near) => error.help(format!("did you mean `{near}`? names are case-sensitive")),
                None => error.help("declare it without NOT NULL to read NULL"),
            }
        }
    }
}

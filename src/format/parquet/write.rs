//! Batches into Parquet files, and files of one schema into a single one.

use std::fs::File;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, Field as ArrowField, Schema as ArrowSchema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::cast::to_nanoseconds;
use crate::error::{Error, Result};
use crate::format::print;
use crate::types::{Schema, Type};

/// Bounds what the writer holds in memory, and is what readers work on at a time.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// One Parquet file being written.
pub struct ParquetPart {
    writer: ArrowWriter<File>,
    path: String,
    /// Of the file, where timestamps of 7 to 9 digits are nanoseconds in 64 bits.
    schema: SchemaRef,
    /// Those columns.
    wide: Vec<usize>,
}

fn failed(doing: &str, path: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(inner) => Error::io(doing, path, *inner),
            Err(inner) => Error::internal(format!("cannot {doing} {path}: {inner}")),
        },
        error => Error::internal(format!("cannot {doing} {path}: {error}")),
    }
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_created_by(concat!("transom ", env!("CARGO_PKG_VERSION")).to_string())
        .build()
}

impl ParquetPart {
    /// Starts a file; `path` is for messages.
    ///
    /// # Errors
    /// Io, if its start cannot be written.
    pub fn new(file: File, path: &str, schema: &Schema) -> Result<Self> {
        let is_wide = |index: &usize| schema.fields[*index].data_type.kind.is_wide_timestamp();
        let wide = (0..schema.len()).filter(is_wide).collect();
        let mut part = Self::of_arrow(file, path, file_schema(schema))?;
        part.wide = wide;
        Ok(part)
    }

    /// Starts a file of batches that are written as they are.
    ///
    /// # Errors
    /// Io, if its start cannot be written.
    pub(crate) fn of_arrow(file: File, path: &str, schema: SchemaRef) -> Result<Self> {
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties()))
            .map_err(|error| failed("write", path, error))?;
        Ok(ParquetPart { writer, path: path.to_string(), schema, wide: Vec::new() })
    }

    /// # Errors
    /// Io, if a row group cannot be written; Data, for a timestamp of 7 to 9 digits that Parquet cannot hold.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let written =
            if self.wide.is_empty() { self.writer.write(batch) } else { self.writer.write(&self.narrow(batch)?) };
        written.map_err(|error| failed("write", &self.path, error))
    }

    /// The batch as the file has it.
    fn narrow(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        for index in &self.wide {
            let field = self.schema.field(*index);
            let zone = match field.data_type() {
                DataType::Timestamp(_, zone) => zone.clone(),
                _ => None,
            };
            columns[*index] = to_nanoseconds(&columns[*index], zone).map_err(|row| {
                let mut text = Vec::new();
                let nanos = columns[*index].as_primitive::<Decimal128Type>().value(row);
                print::wide_timestamp(&mut text, nanos, b' ', &mut print::DayText::default());
                let text = String::from_utf8_lossy(&text).into_owned();
                Error::data(format!(
                    "column `{}`: {text} does not fit into Parquet, whose nanoseconds reach from 1677-09-21 to 2262-04-11",
                    field.name()
                ))
                .in_file(&self.path)
                .help("declare the sink's column with 6 fractional digits or fewer, which reach all years")
            })?;
        }
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Io, if the footer cannot be written.
    pub fn finish(self) -> Result<()> {
        self.writer.close().map_err(|error| failed("write", &self.path, error))?;
        Ok(())
    }
}

/// The file's columns: Parquet counts nanoseconds in 64 bits.
fn file_schema(schema: &Schema) -> SchemaRef {
    let field = |field: &crate::types::Field| {
        let kind = &field.data_type.kind;
        let zone = matches!(kind, Type::TimestampLtz(_)).then(|| "UTC".into());
        let wide = kind.is_wide_timestamp();
        let found = if wide { DataType::Timestamp(TimeUnit::Nanosecond, zone) } else { kind.to_arrow() };
        ArrowField::new(&field.name, found, true)
    };
    Arc::new(ArrowSchema::new(schema.fields.iter().map(field).collect::<Vec<_>>()))
}

/// Writes the row groups of all parts, which have one schema, into `target`; nothing is decoded.
///
/// # Errors
/// Io, naming the file.
pub fn append_parquet_parts(parts: &[PathBuf], target: &Path) -> Result<()> {
    let shown = target.display().to_string();
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        let name = part.display().to_string();
        let file = File::open(part).map_err(|error| Error::io("open", &name, error))?;
        let metadata =
            ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| failed("read", &name, error))?;
        sources.push((file, metadata, name));
    }
    let Some((_, first, _)) = sources.first() else { return Ok(()) };
    let file = File::create(target).map_err(|error| Error::io("create", &shown, error))?;
    let schema = first.file_metadata().schema_descr().root_schema_ptr();
    let mut writer =
        SerializedFileWriter::new(file, schema, properties().into()).map_err(|error| failed("write", &shown, error))?;
    for entry in first.file_metadata().key_value_metadata().into_iter().flatten() {
        writer.append_key_value_metadata(entry.clone());
    }
    for (file, metadata, name) in &sources {
        append(&mut writer, file, metadata).map_err(|error| failed("copy", name, error))?;
    }
    writer.close().map_err(|error| failed("write", &shown, error))?;
    Ok(())
}

fn append(
    writer: &mut SerializedFileWriter<File>,
    file: &File,
    metadata: &ParquetMetaData,
) -> Result<(), ParquetError> {
    for group in metadata.row_groups() {
        let mut target = writer.next_row_group()?;
        for column in group.columns() {
            let close = ColumnCloseResult {
                bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                rows_written: u64::try_from(group.num_rows()).unwrap_or(0),
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            target.append_column(file, close)?;
        }
        target.close()?;
    }
    Ok(())
}

/// True if a finished file has no rows.
///
/// # Errors
/// Io, naming the file.
pub fn parquet_is_empty(path: &Path) -> Result<bool> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io("open", &name, error))?;
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| failed("read", &name, error))?;
    Ok(metadata.file_metadata().num_rows() == 0)
}

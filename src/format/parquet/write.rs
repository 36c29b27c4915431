//! Batches into Parquet files, and files of one schema into a single one.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::writer::SerializedFileWriter;

use super::ParquetOptions;
use super::layout::{file_schema, to_file};
use crate::error::{Error, Result};
use crate::types::Schema;

/// One Parquet file being written.
pub struct ParquetPart {
    writer: ArrowWriter<File>,
    path: String,
    /// Of the file.
    schema: SchemaRef,
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

impl ParquetPart {
    /// Starts a file; `path` is for messages.
    ///
    /// # Errors
    /// Io, if its start cannot be written.
    pub fn new(file: File, path: &str, schema: &Schema, options: &ParquetOptions) -> Result<Self> {
        Self::of_arrow(file, path, file_schema(schema, options.timestamp_unit), options)
    }

    /// Starts a file of batches that are written as they are.
    ///
    /// # Errors
    /// Io, if its start cannot be written.
    pub(crate) fn of_arrow(file: File, path: &str, schema: SchemaRef, options: &ParquetOptions) -> Result<Self> {
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(options.properties()))
            .map_err(|error| failed("write", path, error))?;
        Ok(ParquetPart { writer, path: path.to_string(), schema })
    }

    /// # Errors
    /// Io, if a row group cannot be written; Data, for a timestamp that Parquet cannot hold in its unit.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| to_file(field.name(), column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>>>().map_err(|error| error.in_file(&self.path))?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.writer.write(&batch).map_err(|error| failed("write", &self.path, error))
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
    let mut writer = SerializedFileWriter::new(file, schema, ParquetOptions::default().properties().into())
        .map_err(|error| failed("write", &shown, error))?;
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

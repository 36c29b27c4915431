//! Guesses a table from a Parquet file, which has types of its own.

use std::fs::File;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type, TimeUnit, TimestampMillisecondType};
use arrow::util::display::array_value_to_string;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::evidence::Evidence;
use super::form::Form;
use super::names::quoted;
use super::times::{self, Candidate, Place, Source};
use super::{Column, Guess};
use crate::error::{Error, Result};
use crate::format::{InputFile, ParquetReader, flink_type};
use crate::types::{Field, Schema, Type};

/// Rows that are shown and classified.
const ROWS_SHOWN: usize = 1_000;
/// Blocks whose times are measured, unless all are asked for.
const BLOCKS: usize = 8;

/// Guesses the table in a Parquet file. `all`: measures the times of every row, however many there are.
///
/// # Errors
/// Io, and Data for a file that is no Parquet file.
pub fn parquet(path: &str, all: bool) -> Result<Guess> {
    let (_, file) = InputFile::open(path)?;
    let wrong = |error: &dyn std::fmt::Display| {
        Error::data(format!("this is not a Parquet file: {error}"))
            .in_file(path)
            .help("it may be damaged or cut short; --format csv or json if it is text")
    };
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(|error| wrong(&error))?;
    let mut notes = Vec::new();
    let mut fields = Vec::new();
    for field in metadata.schema().fields() {
        match flink_type(field.data_type()) {
            Some(kind) => fields.push(Field::new(field.name(), kind.nullable())),
            None => notes.push(format!("column {} is left out: {} cannot be read", field.name(), field.data_type())),
        }
    }
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    let evidence = first_rows(&file, &metadata, &fields).map_err(|error| wrong(&error))?;
    let schema = Schema::new(fields);
    let columns: Vec<Column> = schema
        .fields
        .iter()
        .zip(&evidence)
        .map(|(field, evidence)| Column {
            name: field.name.clone(),
            kind: field.data_type.kind.clone(),
            expression: None,
            absent: nulls(&metadata, &field.name),
            examples: evidence.examples.clone(),
            reason: None,
        })
        .collect();
    let sources: Vec<Source<'_>> = columns
        .iter()
        .zip(&evidence)
        .enumerate()
        .map(|(index, (column, evidence))| Source {
            name: column.name.clone(),
            sql: quoted(&column.name),
            kind: column.kind.clone(),
            place: Place::Field(index),
            evidence,
        })
        .collect();
    let single = |candidate: &Candidate| candidate.places.len() == 1;
    let mut candidates: Vec<Candidate> = times::candidates(&sources).into_iter().filter(single).collect();
    let mut whole = true;
    for candidate in &mut candidates {
        whole &= measure(path, &schema, candidate, all)?;
    }
    let (times, refused) = times::ranked(candidates);
    notes.extend(refused.into_iter().take(3));
    let groups = metadata.metadata().num_row_groups();
    Ok(Guess {
        format: "parquet",
        options: Vec::new(),
        layout: format!("Parquet, {} columns, {groups} row groups", columns.len()),
        columns,
        partitions: Vec::new(),
        time: (!times.is_empty()).then_some(0),
        times,
        rows,
        whole,
        notes,
    })
}

/// What the first rows of each column look like.
fn first_rows(
    file: &File,
    metadata: &ArrowReaderMetadata,
    fields: &[Field],
) -> Result<Vec<Evidence>, Box<dyn std::error::Error>> {
    let mut evidence = vec![Evidence::default(); fields.len()];
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone());
    for batch in builder.with_limit(ROWS_SHOWN).with_batch_size(ROWS_SHOWN).build()? {
        let batch = batch?;
        for (field, evidence) in fields.iter().zip(&mut evidence) {
            let Some(column) = batch.column_by_name(&field.name) else { continue };
            // Names of zones are not printed without a table of zones.
            let column = &match column.data_type() {
                ArrowType::Timestamp(unit, Some(_)) => {
                    cast(column, &ArrowType::Timestamp(*unit, Some("+00:00".into())))?
                }
                _ => column.clone(),
            };
            let binary = matches!(field.data_type.kind, Type::Binary(_) | Type::VarBinary(_));
            for row in (0..column.len()).filter(|row| !column.is_null(*row) && !binary) {
                evidence.present(&array_value_to_string(column, row)?);
            }
        }
    }
    Ok(evidence)
}

/// NULLs of a column, if the file counts them.
fn nulls(metadata: &ArrowReaderMetadata, name: &str) -> Option<u64> {
    let schema = metadata.parquet_schema();
    let leaf = schema.columns().iter().position(|column| column.path().parts() == [name])?;
    let groups = metadata.metadata().row_groups().iter();
    groups.map(|group| group.column(leaf).statistics().and_then(|statistics| statistics.null_count_opt())).sum()
}

/// Looks at the times of one column; whether at all of them.
fn measure(path: &str, schema: &Schema, candidate: &mut Candidate, all: bool) -> Result<bool> {
    let [(_, Place::Field(index))] = candidate.places[..] else { return Ok(true) };
    // Milliseconds are enough, whatever the column holds.
    let mut schema = schema.clone();
    for field in &mut schema.fields {
        match &mut field.data_type.kind {
            Type::Timestamp(digits) | Type::TimestampLtz(digits) => *digits = 3,
            _ => {}
        }
    }
    let schema = &schema;
    let reader = ParquetReader::open(path, schema, &[index])?;
    let blocks = reader.block_count();
    let step = if all { 1 } else { blocks.div_ceil(BLOCKS).max(1) };
    for block in (0..blocks).step_by(step) {
        reader.decode(block, 8_192, None, &mut |batch: RecordBatch| {
            let column = batch.column(0);
            for row in 0..column.len() {
                let time = if column.is_null(row) { None } else { millis(column, row, &mut candidate.form) };
                candidate.disorder.observe(time);
            }
            Ok(())
        })?;
    }
    Ok(step == 1)
}

fn millis(column: &ArrayRef, row: usize, form: &mut Form) -> Option<i64> {
    match column.data_type() {
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            Some(column.as_primitive::<TimestampMillisecondType>().value(row))
        }
        ArrowType::Int64 => form.read(&column.as_primitive::<Int64Type>().value(row).to_string()),
        ArrowType::Utf8 => form.read(column.as_string::<i32>().value(row)),
        _ => form.read(&array_value_to_string(column, row).ok()?),
    }
}

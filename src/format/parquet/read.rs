//! Row groups into columns of the declared types.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::basic::{Compression, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::cast::{cast, fits, flink_type};
use crate::error::{Error, Result};
use crate::format::InputFile;
use crate::format::remedy;
use crate::format::text::Output;
use crate::types::{Schema, Type};

/// Longer row groups are read in several blocks. To skip the rows before a block costs little: whole pages are passed
/// over by their headers.
const BLOCK_ROWS_MAX: usize = 1 << 20;
/// So are row groups with wide columns, since each shard holds a few decoded blocks.
const BLOCK_BYTES_MAX: u64 = 32 << 20;
/// But not in smaller blocks than this.
const BLOCK_ROWS_MIN: usize = 1 << 12;

/// Rows of one row group.
#[derive(Debug, Clone, Copy)]
struct Block {
    row_group: usize,
    /// First row within the row group.
    first: usize,
    rows: usize,
    bytes: u64,
}

/// One Parquet file, opened for a projection. Reading needs no lock.
#[derive(Debug)]
pub struct ParquetReader {
    input: InputFile,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    blocks: Vec<Block>,
    /// For each column of the result, its place among the columns that the mask lets through.
    places: Vec<usize>,
    kinds: Vec<(String, Type)>,
    schema: SchemaRef,
}

impl ParquetReader {
    /// Reads the file's footer and compares its schema with the table's.
    ///
    /// # Errors
    /// Io if the file cannot be read; Data if it is no Parquet file, or lacks a column, or has it with an unfit type.
    pub fn open(path: &str, schema: &Schema, projection: &[usize]) -> Result<Self> {
        let (input, file) = InputFile::open(path)?;
        if input.bytes() == 0 {
            return Err(Error::data("an empty file is no Parquet file").in_file(path).help("remove the file"));
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&file, options).map_err(|error| no_parquet(path, error))?;
        let fields: Vec<_> = projection.iter().filter_map(|index| schema.fields.get(*index)).cloned().collect();
        let mut roots = Vec::with_capacity(fields.len());
        for field in &fields {
            roots.push(find(path, &metadata, &field.name, &field.data_type.kind)?);
        }
        let metadata = with_exact_int96(path, metadata, &fields, &roots)?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
        check_chunks(&metadata, &mask, input.bytes()).map_err(|error| error.in_file(path))?;
        let mut order = roots.clone();
        order.sort_unstable();
        let places = roots.iter().map(|root| order.partition_point(|other| other < root)).collect();
        Ok(ParquetReader {
            input,
            blocks: blocks(&metadata, &mask),
            mask,
            metadata,
            places,
            schema: Schema::new(fields.clone()).to_arrow(),
            kinds: fields.into_iter().map(|field| (field.name, field.data_type.kind)).collect(),
        })
    }

    pub fn path(&self) -> &str {
        self.input.path()
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.input.bytes()
    }

    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Compressed bytes that a block stands for, of all columns.
    pub fn block_bytes(&self, block: usize) -> u64 {
        self.blocks.get(block).map_or(0, |block| block.bytes)
    }

    /// Rows of the file before a block.
    pub fn first_row(&self, block: usize) -> u64 {
        self.blocks.iter().take(block).map(|block| block.rows as u64).sum()
    }

    /// Decodes one block; the number of rows handed out. `rejects` takes, where it is there, the number within the
    /// block (from 0) of each row that has no value of the declared type, and what is wrong with it.
    ///
    /// # Errors
    /// Data, with the row group and row in the message; what `out` returned.
    pub fn decode(
        &self,
        block: usize,
        batch_rows: usize,
        mut rejects: Option<&mut Vec<(u64, String)>>,
        out: Output<'_>,
    ) -> Result<u64> {
        let Some(block) = self.blocks.get(block).copied() else {
            return Err(Error::internal(format!("{} has no block {block}", self.input.path())));
        };
        let (mut rows, mut given) = (0, 0);
        for batch in self.reader(block, batch_rows)? {
            let batch = batch.map_err(|error| self.damaged(block, rows, &error))?;
            let count = batch.num_rows();
            let declared = match (self.declared(&batch, block, rows), &mut rejects) {
                (Err(_), Some(rejects)) => self.readable(&batch, block, rows, rejects)?,
                (declared, _) => declared?,
            };
            rows += count;
            given += declared.num_rows();
            if declared.num_rows() > 0 {
                out(declared)?;
            }
        }
        Ok(given as u64)
    }

    /// The batch in the declared types. `rows`: of the block, before it.
    fn declared(&self, batch: &RecordBatch, block: Block, rows: usize) -> Result<RecordBatch> {
        let columns = (0..self.places.len()).map(|i| self.column(batch, i, block, rows));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::internal(format!("cannot build a batch: {error}")))
    }

    /// The rows of a batch that can be read; the others are noted.
    #[cold]
    fn readable(
        &self,
        batch: &RecordBatch,
        block: Block,
        rows: usize,
        rejects: &mut Vec<(u64, String)>,
    ) -> Result<RecordBatch> {
        let mut keep = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let fault = self.declared(&batch.slice(row, 1), block, rows + row).err();
            keep.push(fault.is_none());
            rejects.extend(fault.map(|error| ((rows + row) as u64, error.message().to_string())));
        }
        let kept = arrow::compute::filter_record_batch(batch, &keep.into())?;
        self.declared(&kept, block, rows)
    }

    /// Some rows of a block, numbered from 0, ascending, as JSON objects of the columns that are read.
    ///
    /// # Errors
    /// Data, if the block cannot be decoded.
    pub fn rows_as_json(&self, block: usize, rows: &[u64]) -> Result<Vec<String>> {
        let mut texts = Vec::with_capacity(rows.len());
        let Some(block) = self.blocks.get(block).copied().filter(|_| !rows.is_empty()) else { return Ok(texts) };
        let mut before = 0;
        for batch in self.reader(block, crate::limits::BATCH_ROWS_DEFAULT)? {
            let batch = batch.map_err(|error| self.damaged(block, before, &error))?;
            let end = before + batch.num_rows();
            let here = rows[texts.len()..].iter().map(|&row| row as usize).take_while(|row| *row < end);
            for row in here.collect::<Vec<_>>() {
                texts.push(super::json::row(&batch, row - before)?);
            }
            if texts.len() == rows.len() {
                break;
            }
            before = end;
        }
        Ok(texts)
    }

    fn reader(&self, block: Block, batch_rows: usize) -> Result<ParquetRecordBatchReader> {
        // A file of its own, because readers share the position of a cloned one.
        let file = self.input.reopen()?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_projection(self.mask.clone())
            .with_batch_size(batch_rows.max(1))
            .with_row_groups(vec![block.row_group]);
        if block.rows < self.group_rows(block.row_group) {
            let mut selection = vec![RowSelector::skip(block.first), RowSelector::select(block.rows)];
            selection.retain(|selector| selector.row_count > 0);
            builder = builder.with_row_selection(RowSelection::from(selection));
        }
        builder.build().map_err(|error| self.damaged(block, 0, &error))
    }

    fn group_rows(&self, row_group: usize) -> usize {
        usize::try_from(self.metadata.metadata().row_group(row_group).num_rows()).unwrap_or(0)
    }

    fn column(&self, batch: &RecordBatch, index: usize, block: Block, rows: usize) -> Result<ArrayRef> {
        let array = batch.column(self.places[index]);
        let to = self.schema.field(index).data_type();
        cast(array, to).map_err(|error| {
            // Row by row to find the one; only on the way to the error.
            let row = (0..array.len()).find(|row| cast(&array.slice(*row, 1), to).is_err()).unwrap_or(0);
            let (name, kind) = &self.kinds[index];
            Error::data(format!(
                "column `{name}`, row {} of row group {}: its value is not {} {kind}: {error}",
                block.first + rows + row + 1,
                block.row_group + 1,
                remedy::article(kind)
            ))
            .in_file(self.input.path())
            .help("declare the column with a type that holds all of its values")
        })
    }

    fn damaged(&self, block: Block, rows: usize, error: &dyn std::fmt::Display) -> Error {
        let (row, group) = (block.first + rows + 1, block.row_group + 1);
        Error::data(format!("cannot read row {row} and following of row group {group}: {error}"))
            .in_file(self.input.path())
    }
}

fn no_parquet(path: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(inner) => Error::io("read", path, *inner),
            Err(inner) => Error::data(format!("cannot read this Parquet file: {inner}")).in_file(path),
        },
        error => Error::data(format!("this is not a Parquet file: {error}"))
            .in_file(path)
            .help("check the table's 'format' and 'path'; every file of the folder is read"),
    }
}

/// The column of that name among the file's top-level columns, if its type fits.
fn find(path: &str, metadata: &ArrowReaderMetadata, name: &str, kind: &Type) -> Result<usize> {
    let fields = metadata.schema().fields();
    let Some(root) = fields.iter().position(|field| field.name() == name) else {
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        let error = Error::data(format!("the file has no column `{name}`, which the table declares as {kind}"));
        return Err(error.in_file(path).help(match crate::error::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? names are case-sensitive"),
            None => format!("its columns are {}", names.join(", ")),
        }));
    };
    let found = fields[root].data_type();
    if !fits(found, &kind.to_arrow()) {
        return Err(unfit(name, found, kind).in_file(path));
    }
    Ok(root)
}

/// Names the file's type as a script does, and only offers it if the column can then be read.
fn unfit(name: &str, found: &DataType, kind: &Type) -> Error {
    let readable = flink_type(found).filter(|readable| fits(found, &readable.to_arrow()));
    let shown = readable.as_ref().map_or_else(|| found.to_string(), Type::to_string);
    let error = Error::data(format!("column `{name}` is {shown} in the file, but the table declares it as {kind}"));
    let Some(readable) = readable else {
        return error.help("leave the column out of the table: columns of this type cannot be read");
    };
    let (rt, column) = (if name.eq_ignore_ascii_case("rt") { "event_time" } else { "rt" }, remedy::quoted(name));
    let computed = match (kind, &readable) {
        (Type::Timestamp(_) | Type::TimestampLtz(_), _) if found.is_integer() => {
            format!(" and add {rt} AS TO_TIMESTAMP_LTZ({column}, 3), or 0 where it counts seconds")
        }
        (Type::Timestamp(_) | Type::TimestampLtz(_), Type::VarChar(_)) => {
            format!(" and compute the time, for example {rt} AS TO_TIMESTAMP({column})")
        }
        _ => String::new(),
    };
    error.help(format!("declare it {readable}{computed}"))
}

/// INT96 timestamps are read in the declared unit: nanoseconds would end in 2262.
fn with_exact_int96(
    path: &str,
    metadata: ArrowReaderMetadata,
    declared: &[crate::types::Field],
    roots: &[usize],
) -> Result<ArrowReaderMetadata> {
    let columns = metadata.parquet_schema();
    let is_int96 = |root: usize| {
        let leaf = (0..columns.num_columns()).find(|leaf| columns.get_column_root_idx(*leaf) == root);
        leaf.is_some_and(|leaf| columns.column(leaf).physical_type() == Physical::INT96)
    };
    let mut fields: Vec<Field> = metadata.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let mut changed = false;
    for (field, root) in declared.iter().zip(roots) {
        if is_int96(*root)
            && let DataType::Timestamp(unit, _) = field.data_type.kind.to_arrow()
        {
            fields[*root] = fields[*root].clone().with_data_type(DataType::Timestamp(unit, None));
            changed = true;
        }
    }
    if !changed {
        return Ok(metadata);
    }
    let options = ArrowReaderOptions::new().with_schema(Arc::new(ArrowSchema::new(fields)));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(|error| no_parquet(path, error))
}

/// What the footer says of the columns that are read: compressed in a known way, and inside the file. The parquet
/// crate panics where a length is negative.
fn check_chunks(metadata: &ArrowReaderMetadata, mask: &ProjectionMask, bytes: u64) -> Result<()> {
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let group_error = |what: &str| Error::data(format!("row group {}: {what}", number + 1));
        if group.num_rows() < 0 {
            return Err(group_error("its number of rows is negative").help(DAMAGED));
        }
        for (leaf, column) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let name = column.column_path().string();
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let length = column.compressed_size();
            let end = start.checked_add(length).and_then(|end| u64::try_from(end).ok());
            if start < 0 || length < 0 || end.is_none_or(|end| end > bytes) {
                return Err(group_error(&format!("column `{name}` lies outside of the file")).help(DAMAGED));
            }
            if let codec @ (Compression::BROTLI(_) | Compression::LZO) = column.compression() {
                let codec = codec.to_string();
                let codec = codec.split('(').next().unwrap_or_default();
                return Err(group_error(&format!("column `{name}` is compressed with {codec}, which cannot be read"))
                    .help("write the file with another compression: snappy, zstd, gzip, lz4 or none"));
            }
        }
    }
    Ok(())
}

const DAMAGED: &str = "the file is damaged; write or copy it again";

fn blocks(metadata: &ArrowReaderMetadata, mask: &ProjectionMask) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (row_group, group) in metadata.metadata().row_groups().iter().enumerate() {
        let total = usize::try_from(group.num_rows()).unwrap_or(0);
        let bytes = u64::try_from(group.compressed_size()).unwrap_or(0);
        let most = block_rows(group, mask, total);
        for part in 0..total.div_ceil(most).max(1) {
            let first = part * most;
            let rows = (total - first).min(most);
            let share = if total == 0 { bytes } else { (u128::from(bytes) * rows as u128 / total as u128) as u64 };
            blocks.push(Block { row_group, first, rows, bytes: share });
        }
    }
    blocks
}

/// How many rows of the group a block may have.
fn block_rows(group: &RowGroupMetaData, mask: &ProjectionMask, total: usize) -> usize {
    let read = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
    // Of texts in a dictionary, the second number says how long they are once decoded.
    let sizes = read.map(|(_, column)| {
        column.uncompressed_size().max(column.unencoded_byte_array_data_bytes().unwrap_or(0)).max(0).unsigned_abs()
    });
    let decoded = sizes.fold(0, u64::saturating_add).max(1);
    let rows = u128::from(BLOCK_BYTES_MAX) * total as u128 / u128::from(decoded);
    usize::try_from(rows).unwrap_or(BLOCK_ROWS_MAX).clamp(BLOCK_ROWS_MIN, BLOCK_ROWS_MAX)
}

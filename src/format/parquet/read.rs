//! Row groups into columns of the declared types.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use super::cast::{cast, fits, flink_type};
use super::guard::guarded;
use super::int96;
use crate::error::{Error, Result};
use crate::format::InputFile;
use crate::format::remedy;
use crate::format::rows::rows_as_json;
use crate::format::text::Output;
use crate::types::{Field as Declared, Schema, Type};

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
    /// For each column of the result, its place among the columns that the mask lets through; `None`: the file has it
    /// not.
    places: Vec<Option<usize>>,
    kinds: Vec<(String, Type)>,
    schema: SchemaRef,
    micros: Option<Micros>,
}

/// INT96 columns of TIMESTAMP(7) to TIMESTAMP(9), which are read a second time, in microseconds.
#[derive(Debug)]
struct Micros {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// For each column of the result, its place among those.
    places: Vec<Option<usize>>,
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
        let damaged = |what: String| no_parquet(path, ParquetError::General(what));
        let metadata = guarded(|| ArrowReaderMetadata::load(&file, options)).map_err(damaged)?;
        let metadata = metadata.map_err(|error| no_parquet(path, error))?;
        let fields: Vec<_> = projection.iter().filter_map(|index| schema.fields.get(*index)).cloned().collect();
        let mut roots = Vec::with_capacity(fields.len());
        for field in &fields {
            roots.push(find(path, &metadata, field)?);
        }
        let units = |wide| {
            let units = guarded(|| int96::with_declared_units(&metadata, &fields, &roots, wide)).map_err(damaged)?;
            units.map_err(|error| no_parquet(path, error))
        };
        let int96::Units { metadata, wide } = units(TimeUnit::Nanosecond)?;
        let micros = match wide.is_empty() {
            true => None,
            false => Some(Micros {
                mask: ProjectionMask::roots(metadata.parquet_schema(), wide.iter().copied()),
                metadata: units(TimeUnit::Microsecond)?.metadata,
                places: roots.iter().map(|root| wide.iter().position(|wide| Some(*wide) == *root)).collect(),
            }),
        };
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().flatten().copied());
        check_chunks(&metadata, &mask, input.bytes()).map_err(|error| error.in_file(path))?;
        let mut order: Vec<usize> = roots.iter().flatten().copied().collect();
        order.sort_unstable();
        let places = roots.iter().map(|root| root.map(|root| order.partition_point(|other| *other < root))).collect();
        Ok(ParquetReader {
            input,
            blocks: blocks(&metadata, &mask),
            mask,
            metadata,
            places,
            micros,
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

    /// Columns that are read as NULL because the file has them not: "no column `k`", with the nearest name.
    pub fn missing(&self) -> Vec<String> {
        let lacking = self.places.iter().zip(&self.kinds).filter(|(place, _)| place.is_none());
        let names = || self.metadata.schema().fields().iter().map(|field| field.name().as_str());
        lacking.map(|(_, (name, _))| remedy::no_column(name, names())).collect()
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
        let mut reader = self.reader(block, batch_rows, &self.metadata, &self.mask)?;
        let mut micros = match &self.micros {
            Some(micros) => Some(self.reader(block, batch_rows, &micros.metadata, &micros.mask)?),
            None => None,
        };
        while let Some(batch) = self.next(&mut reader, block, rows)? {
            let micros = match &mut micros {
                Some(reader) => self.next(reader, block, rows)?,
                None => None,
            };
            let count = batch.num_rows();
            let declared = match (self.declared(&batch, micros.as_ref(), block, rows), &mut rejects) {
                (Err(_), Some(rejects)) => self.readable(&batch, micros.as_ref(), (block, rows), rejects)?,
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

    fn next(&self, reader: &mut ParquetRecordBatchReader, block: Block, rows: usize) -> Result<Option<RecordBatch>> {
        let batch = guarded(|| reader.next()).map_err(|error| self.damaged(block, rows, &error))?;
        batch.transpose().map_err(|error| self.damaged(block, rows, &error))
    }

    /// The batch in the declared types. `rows`: of the block, before it.
    fn declared(
        &self,
        batch: &RecordBatch,
        micros: Option<&RecordBatch>,
        block: Block,
        rows: usize,
    ) -> Result<RecordBatch> {
        let columns = (0..self.places.len()).map(|i| self.column(batch, micros, i, block, rows));
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
        micros: Option<&RecordBatch>,
        (block, rows): (Block, usize),
        rejects: &mut Vec<(u64, String)>,
    ) -> Result<RecordBatch> {
        if micros.is_some_and(|micros| micros.num_rows() != batch.num_rows()) {
            return self.declared(batch, micros, block, rows);
        }
        let mut keep = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let micros = micros.map(|micros| micros.slice(row, 1));
            let fault = self.declared(&batch.slice(row, 1), micros.as_ref(), block, rows + row).err();
            keep.push(fault.is_none());
            rejects.extend(fault.map(|error| ((rows + row) as u64, error.message().to_string())));
        }
        let keep = keep.into();
        let kept = arrow::compute::filter_record_batch(batch, &keep)?;
        let micros = micros.map(|micros| arrow::compute::filter_record_batch(micros, &keep)).transpose()?;
        self.declared(&kept, micros.as_ref(), block, rows)
    }

    /// Some rows of a block, numbered from 0, ascending, as JSON objects of the columns that are read.
    ///
    /// # Errors
    /// Data, if the block cannot be decoded.
    pub fn rows_as_json(&self, block: usize, rows: &[u64]) -> Result<Vec<String>> {
        let mut texts = Vec::with_capacity(rows.len());
        let Some(block) = self.blocks.get(block).copied().filter(|_| !rows.is_empty()) else { return Ok(texts) };
        let mut reader = self.reader(block, crate::limits::BATCH_ROWS_DEFAULT, &self.metadata, &self.mask)?;
        let mut before = 0;
        while let Some(batch) = self.next(&mut reader, block, before as usize)? {
            rows_as_json(&batch, before, rows, &mut texts)?;
            if texts.len() == rows.len() {
                break;
            }
            before += batch.num_rows() as u64;
        }
        Ok(texts)
    }

    fn reader(
        &self,
        block: Block,
        batch_rows: usize,
        metadata: &ArrowReaderMetadata,
        mask: &ProjectionMask,
    ) -> Result<ParquetRecordBatchReader> {
        // A file of its own, because readers share the position of a cloned one.
        let file = self.input.reopen()?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_projection(mask.clone())
            .with_batch_size(batch_rows.max(1))
            .with_row_groups(vec![block.row_group]);
        if block.rows < self.group_rows(block.row_group) {
            let mut selection = vec![RowSelector::skip(block.first), RowSelector::select(block.rows)];
            selection.retain(|selector| selector.row_count > 0);
            builder = builder.with_row_selection(RowSelection::from(selection));
        }
        let built = guarded(|| builder.build()).map_err(|error| self.damaged(block, 0, &error))?;
        built.map_err(|error| self.damaged(block, 0, &error))
    }

    fn group_rows(&self, row_group: usize) -> usize {
        usize::try_from(self.metadata.metadata().row_group(row_group).num_rows()).unwrap_or(0)
    }

    fn column(
        &self,
        batch: &RecordBatch,
        micros: Option<&RecordBatch>,
        index: usize,
        block: Block,
        rows: usize,
    ) -> Result<ArrayRef> {
        let (name, kind) = &self.kinds[index];
        let Some(place) = self.places[index] else {
            return Ok(new_null_array(self.schema.field(index).data_type(), batch.num_rows()));
        };
        let array = batch.column(place);
        let wide = self.micros.as_ref().and_then(|micros| micros.places[index]).zip(micros);
        let array = match wide {
            Some((place, micros)) if micros.num_rows() == array.len() => &int96::exact(array, micros.column(place))?,
            Some(_) => return Err(self.damaged(block, rows, &"the column has another number of rows")),
            None => array,
        };
        cast(array, kind).map_err(|error| {
            // Row by row to find the one; only on the way to the error.
            let row = (0..array.len()).find(|row| cast(&array.slice(*row, 1), kind).is_err()).unwrap_or(0);
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
            .help(DAMAGED)
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

/// The column of that name among the file's top-level columns, if its type fits. `None`: there is none, and the table
/// takes NULL for it, as Flink does.
fn find(path: &str, metadata: &ArrowReaderMetadata, field: &Declared) -> Result<Option<usize>> {
    let (name, kind) = (field.name.as_str(), &field.data_type.kind);
    let fields = metadata.schema().fields();
    let Some(root) = fields.iter().position(|field| field.name() == name) else {
        if field.data_type.nullable {
            return Ok(None);
        }
        let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
        let error =
            Error::data(format!("the file has no column `{name}`, which the table declares as {kind} NOT NULL"));
        return Err(error.in_file(path).help(match crate::error::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? names are case-sensitive"),
            None => format!("its columns are {}", names.join(", ")),
        }));
    };
    let found = fields[root].data_type();
    if !fits(found, kind) {
        return Err(unfit(name, found, kind).in_file(path));
    }
    Ok(Some(root))
}

/// Names the file's type as a script does, and only offers it if the column can then be read.
fn unfit(name: &str, found: &DataType, kind: &Type) -> Error {
    let readable = flink_type(found).filter(|readable| fits(found, readable));
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
            if column.compression() == Compression::LZO {
                return Err(group_error(&format!("column `{name}` is compressed with LZO, which cannot be read"))
                    .help("write the file with another compression: snappy, zstd, gzip, brotli, lz4 or none"));
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

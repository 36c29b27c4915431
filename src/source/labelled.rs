//! A split whose rows carry what is known of their file: the values of partitions, and metadata.

use std::fs;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow::array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, TimestampMillisecondArray, UInt32Array,
};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;

use super::files::Found;
use super::{BlockStats, Extent, Position, Split, Stretch, Transition, Wake, partition};
use crate::error::{Error, Result};
use crate::plan::{FileColumn, FileMetadata, FileValue, ScanSpec};
use crate::types::{Field, Schema};

pub(super) struct Labelled {
    inner: Arc<dyn Split>,
    schema: SchemaRef,
    /// Of one element each.
    values: Vec<ArrayRef>,
}

impl Labelled {
    /// # Errors
    /// A folder's name has no value of the column's type; the file cannot be asked.
    pub fn new(inner: Arc<dyn Split>, scan: &ScanSpec, columns: &[FileColumn], found: &Found) -> Result<Self> {
        let projected = scan.projection.iter().filter_map(|index| scan.file_schema.fields.get(*index)).cloned();
        let own = columns.iter().map(|column| Field::new(&column.name, column.data_type.clone()));
        let value = |column: &FileColumn| match column.value {
            FileValue::Partition(key) => {
                let text = found.partition.get(key).and_then(Option::as_deref);
                partition::typed(found, &column.name, text, &column.data_type)
            }
            FileValue::Metadata(metadata) => metadata_of(&found.path, metadata),
        };
        Ok(Labelled {
            inner,
            schema: Schema::new(projected.chain(own).collect()).to_arrow(),
            values: columns.iter().map(value).collect::<Result<_>>()?,
        })
    }
}

fn metadata_of(path: &str, metadata: FileMetadata) -> Result<ArrayRef> {
    let failed = |error| Error::io("read", path, error);
    Ok(match metadata {
        FileMetadata::Path => {
            let absolute = std::path::absolute(path).map_err(failed)?;
            Arc::new(StringArray::from(vec![absolute.to_string_lossy().into_owned()]))
        }
        FileMetadata::Name => Arc::new(StringArray::from(vec![path.rsplit('/').next().unwrap_or(path)])),
        FileMetadata::Size => {
            let bytes = fs::metadata(path).map_err(failed)?.len();
            Arc::new(Int64Array::from(vec![i64::try_from(bytes).unwrap_or(i64::MAX)]))
        }
        FileMetadata::ModificationTime => {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).map_err(failed)?;
            let millis = match modified.duration_since(UNIX_EPOCH) {
                Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
                Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
            };
            let data_type = FileMetadata::ModificationTime.data_type().kind.to_arrow();
            Arc::new(TimestampMillisecondArray::from(vec![millis]).with_data_type(data_type))
        }
    })
}

impl Split for Labelled {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn extent(&self) -> Extent {
        self.inner.extent()
    }
    fn extend(&self) -> Extent {
        self.inner.extend()
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.inner.pass_over(blocks)
    }
    fn start(&self, wake: &Wake, alone: bool) {
        self.inner.start(wake, alone);
    }
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }
    fn missing(&self) -> Vec<String> {
        self.inner.missing()
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        self.inner.probe(block)
    }
    fn decode(
        &self,
        block: usize,
        entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        // Batches mostly have the same number of rows: their columns are made once.
        let mut made: Vec<ArrayRef> = Vec::new();
        self.inner.decode(block, entry, batch_rows, &mut |batch| {
            let rows = batch.num_rows();
            if made.first().is_none_or(|column| column.len() != rows) {
                let first = UInt32Array::from(vec![0; rows]);
                made = self.values.iter().map(|value| take(value, &first, None)).collect::<Result<_, _>>()?;
            }
            let columns = batch.columns().iter().chain(&made).cloned().collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            out(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
        })
    }
    fn records(&self, block: usize, entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        self.inner.records(block, entry, rows)
    }
    fn release(&self, block: usize) {
        self.inner.release(block);
    }
    fn text_before(&self, block: usize) -> Stretch {
        self.inner.text_before(block)
    }
    fn text_between(&self, from: usize, to: usize) -> Stretch {
        self.inner.text_between(from, to)
    }
}

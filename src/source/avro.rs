//! An Avro file as a split: a block is a run of the file's own blocks.

use arrow::array::RecordBatch;

use super::aside::{Aside, Position, numbered, original_row};
use super::{BlockStats, Extent, Split};
use crate::error::Result;
use crate::format::{AvroReader, AvroReject, rows_as_json};
use crate::plan::ScanSpec;

pub(super) struct AvroSplit {
    reader: AvroReader,
    set_aside: bool,
}

impl AvroSplit {
    pub fn open(scan: &ScanSpec, path: &str, block_bytes: usize, set_aside: bool) -> Result<Self> {
        let reader = AvroReader::open(path, &scan.file_schema, &scan.projection, block_bytes)?;
        Ok(AvroSplit { reader, set_aside })
    }

    /// What is set aside and the number of rows that are not.
    fn read(
        &self,
        block: usize,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<(Vec<AvroReject>, u64)> {
        let mut rejects = Vec::new();
        let rows = self.reader.decode(block, batch_rows, self.set_aside.then_some(&mut rejects), out)?;
        Ok((rejects, rows))
    }
}

impl Split for AvroSplit {
    fn name(&self) -> &str {
        self.reader.path()
    }
    fn extent(&self) -> Extent {
        Extent::whole(self.reader.block_count())
    }
    fn bytes(&self) -> u64 {
        self.reader.bytes()
    }
    fn missing(&self) -> Vec<String> {
        self.reader.missing()
    }
    fn decode(
        &self,
        block: usize,
        _entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        let (rejects, rows) = self.read(block, batch_rows, out)?;
        let rejects = rejects.into_iter().map(|reject| (reject.row, reject.reason, reject.text));
        let aside = Aside::of_rows(self.reader.first_row(block), rejects);
        Ok(BlockStats { rows, malformed: 0, bytes: self.reader.block_bytes(block), aside })
    }
    fn records(&self, block: usize, _entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        let (mut texts, mut before) = (Vec::with_capacity(rows.len()), 0);
        let (rejects, _) = self.read(block, crate::limits::BATCH_ROWS_DEFAULT, &mut |batch| {
            rows_as_json(&batch, before, rows, &mut texts)?;
            before += batch.num_rows() as u64;
            Ok(())
        })?;
        let removed: Vec<u64> = rejects.into_iter().map(|reject| reject.row).collect();
        let numbers = rows.iter().map(|&row| original_row(row, &removed));
        Ok(numbered(self.reader.first_row(block), numbers, texts))
    }
}

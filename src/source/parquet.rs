//! A Parquet file as a split: a block is a row group, or a part of a long one.

use arrow::array::RecordBatch;

use super::aside::{Aside, Position, numbered, original_row};
use super::{BlockStats, Extent, Split};
use crate::error::Result;
use crate::format::ParquetReader;
use crate::plan::ScanSpec;

pub(super) struct ParquetSplit {
    reader: ParquetReader,
    set_aside: bool,
}

impl ParquetSplit {
    pub fn open(scan: &ScanSpec, path: &str, set_aside: bool) -> Result<Self> {
        Ok(ParquetSplit { reader: ParquetReader::open(path, &scan.file_schema, &scan.projection)?, set_aside })
    }

    fn read(
        &self,
        block: usize,
        batch_rows: usize,
        rejects: &mut Vec<(u64, String)>,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<u64> {
        self.reader.decode(block, batch_rows, self.set_aside.then_some(rejects), out)
    }
}

impl Split for ParquetSplit {
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
        let mut rejects = Vec::new();
        let rows = self.read(block, batch_rows, &mut rejects, out)?;
        let numbers: Vec<u64> = rejects.iter().map(|(row, _)| *row).collect();
        let texts = self.reader.rows_as_json(block, &numbers)?;
        let rejects = rejects.into_iter().zip(texts).map(|((row, reason), text)| (row, reason, text));
        let aside = Aside::of_rows(self.reader.first_row(block), rejects);
        Ok(BlockStats { rows, malformed: 0, bytes: self.reader.block_bytes(block), aside })
    }
    fn records(&self, block: usize, _entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        let mut rejects = Vec::new();
        if self.set_aside {
            self.read(block, crate::limits::BATCH_ROWS_DEFAULT, &mut rejects, &mut |_| Ok(()))?;
        }
        let removed: Vec<u64> = rejects.into_iter().map(|(row, _)| row).collect();
        let rows: Vec<u64> = rows.iter().map(|&row| original_row(row, &removed)).collect();
        let texts = self.reader.rows_as_json(block, &rows)?;
        Ok(numbered(self.reader.first_row(block), rows.into_iter(), texts))
    }
}

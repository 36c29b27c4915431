//! An Avro file as a split: a block is a run of the file's own blocks.

use arrow::array::RecordBatch;

use super::{BlockStats, Extent, Split, Transition};
use crate::error::Result;
use crate::format::AvroReader;
use crate::plan::ScanSpec;

pub(super) struct AvroSplit {
    reader: AvroReader,
}

impl AvroSplit {
    pub fn open(scan: &ScanSpec, path: &str, block_bytes: usize) -> Result<Self> {
        Ok(AvroSplit { reader: AvroReader::open(path, &scan.file_schema, &scan.projection, block_bytes)? })
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
    fn probe(&self, _block: usize) -> Result<Transition> {
        Ok(Transition::IDENTITY)
    }
    fn decode(
        &self,
        block: usize,
        _entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        let rows = self.reader.decode(block, batch_rows, out)?;
        Ok(BlockStats { rows, malformed: 0, bytes: self.reader.block_bytes(block) })
    }
}

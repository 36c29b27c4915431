//! The file of late rows, in the order in which their blocks count.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::lines::{LinesFile, place_members, quoted};
use super::{Teller, Told};
use crate::error::Result;
use crate::plan::LateRows;
use crate::shard::columns::late::{Late, LateBlock, LateOutput};
use crate::shard::columns::program::Program;
use crate::shard::columns::scan::SplitEntry;
use crate::source::{Split, Stretch, original_row};
use crate::types::Type;

/// Sends a shard's late rows to the job's thread.
pub(super) struct Sending(pub Teller);

impl LateOutput for Sending {
    fn block(&mut self, block: LateBlock) -> Result<()> {
        self.0.tell(Told::LateBlock(block))
    }
    fn rows(&mut self, seq: u64, rows: Vec<Late>) -> Result<()> {
        self.0.tell(Told::Late { seq, rows })
    }
}

/// The file while the job runs.
pub(super) struct Ledger {
    file: LinesFile,
    /// Blocks that wait until those before them have come, and late rows by the block that they are in.
    blocks: BTreeMap<u64, LateBlock>,
    rows: BTreeMap<u64, Vec<Late>>,
    /// By split: the last block whose late rows were looked up, and the text of the file before it.
    texts: BTreeMap<usize, (usize, Stretch)>,
    /// Rows that are in the file because they miss some of their windows.
    pub partly: u64,
}

impl Ledger {
    /// # Errors
    /// Io, if nothing can be written there.
    pub fn open(spec: &LateRows) -> Result<Self> {
        let file = LinesFile::open(&spec.path, spec.append, ("transom.late-rows.path", "late.jsonl"))?;
        Ok(Ledger { file, blocks: BTreeMap::new(), rows: BTreeMap::new(), texts: BTreeMap::new(), partly: 0 })
    }

    pub fn insert_block(&mut self, block: LateBlock) {
        self.blocks.insert(block.seq, block);
    }

    pub fn insert(&mut self, seq: u64, rows: Vec<Late>) {
        self.rows.entry(seq).or_default().extend(rows);
    }

    /// Writes, in order, the late rows of the first `blocks` blocks, and releases those.
    ///
    /// # Errors
    /// Those of reading a block once more; Io.
    pub fn release(&mut self, blocks: u64, program: &Program, splits: &[SplitEntry]) -> Result<()> {
        while let Some(entry) = self.blocks.first_entry() {
            if *entry.key() >= blocks {
                break;
            }
            let block = entry.remove();
            if let Some(rows) = self.rows.remove(&block.seq) {
                self.write(&block, rows, program, &splits[block.split])?;
            }
            splits[block.split].split.release(block.block);
        }
        Ok(())
    }

    /// The text of the file before a block. Blocks of a split come in order, so each piece of a file is read once more
    /// at most.
    fn text_before(&mut self, block: &LateBlock, split: &dyn Split) -> Stretch {
        let before = match self.texts.get(&block.split) {
            Some(&(known, before)) if known <= block.block => before.then(split.text_between(known, block.block)),
            _ => split.text_before(block.block),
        };
        self.texts.insert(block.split, (block.block, before));
        before
    }

    fn write(&mut self, block: &LateBlock, mut rows: Vec<Late>, program: &Program, entry: &SplitEntry) -> Result<()> {
        // By window where a query makes a copy of the row for each.
        rows.sort_by(|a, b| (a.row, a.stage, &a.missed.windows).cmp(&(b.row, b.stage, &b.missed.windows)));
        let mut numbers: Vec<u64> = rows.iter().map(|late| original_row(late.row, &block.null_times)).collect();
        let of_row = numbers.clone();
        numbers.dedup();
        let records = entry.split.records(block.block, block.state, &numbers)?;
        let scan = &program.branches[entry.branch].scan;
        let time = scan.watermark.as_ref().and_then(|watermark| scan.schema.fields.get(watermark.time));
        let zone = if matches!(time.map(|time| &time.data_type.kind), Some(Type::TimestampLtz(_))) { "Z" } else { "" };
        let [file, table] = [entry.split.name(), &scan.table].map(quoted);
        let before = self.text_before(block, entry.split.as_ref());
        for (late, number) in rows.iter().zip(of_row) {
            let Some((position, text)) = numbers.binary_search(&number).ok().and_then(|at| records.get(at)) else {
                continue;
            };
            let place = place_members(position.place(|| before));
            self.partly += u64::from(!late.dropped);
            let (event_time, watermark) = (time_text(late.time, zone), time_text(late.watermark.0, zone));
            self.file.write(&format!(
                "{{\"file\":{file},{place},\"table\":{table},\"operator\":{},\"event_time\":{event_time},\
                 \"watermark\":{watermark},\"dropped\":{},{},\"text\":{}}}\n",
                late.stage + 1,
                late.dropped,
                missed_text(late),
                quoted(text)
            ))?;
        }
        Ok(())
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Io.
    pub fn commit(self) -> Result<()> {
        self.file.commit()
    }
}

fn missed_text(late: &Late) -> String {
    let windows = late
        .missed
        .windows
        .iter()
        .map(|&(start, end)| format!("{{\"start\":{},\"end\":{}}}", time_text(start, ""), time_text(end, "")));
    let windows: Vec<String> = windows.collect();
    format!("\"missed\":[{}],\"missed_count\":{},\"of\":{}", windows.join(","), late.missed.count, late.missed.of)
}

/// A time as JSON, as far as calendars of four digits go; else its milliseconds since 1970.
fn time_text(ms: i64, zone: &str) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => format!("\"{}{zone}\"", time.strftime("%Y-%m-%d %H:%M:%S%.3f")),
        Err(_) => ms.to_string(),
    }
}

//! The file of records that a job does without, in the order in which their blocks count.
//!
//! Unlike the output of sinks it is kept when the job fails, for it may well say why.

use std::collections::BTreeMap;

use super::lines::{LinesFile, place_members, quoted};
use super::{Teller, Told};
use crate::error::{Error, Result};
use crate::plan::{self, ScanSpec};
use crate::shard::columns::AsideOutput;
use crate::shard::columns::program::Program;
use crate::shard::columns::scan::SplitEntry;
use crate::source::{Aside, Reason, Rejected, Stretch};

/// Sends what a shard's blocks set aside to the job's thread.
pub(super) struct Sending(pub Teller);

impl AsideOutput for Sending {
    fn take(&mut self, seq: u64, split: usize, aside: Aside) -> Result<()> {
        self.0.tell(Told::Aside { seq, split, aside })
    }
}

/// The file while the job runs.
pub(super) struct Quarantine {
    spec: plan::Quarantine,
    file: LinesFile,
    rows: u64,
    /// Blocks that wait until those before them have come.
    waiting: BTreeMap<u64, (usize, Aside)>,
    /// By split: its text up to where its next block begins.
    texts: Vec<Stretch>,
}

impl Quarantine {
    /// Begins the hidden file.
    ///
    /// # Errors
    /// Io, if nothing can be written there.
    pub fn open(spec: &plan::Quarantine, splits: &[SplitEntry]) -> Result<Self> {
        let file = LinesFile::open(&spec.path, spec.append, ("transom.quarantine.path", "rejected.jsonl"))?;
        Ok(Quarantine {
            spec: spec.clone(),
            file,
            rows: 0,
            waiting: BTreeMap::new(),
            texts: splits.iter().map(|entry| entry.split.text_before(0)).collect(),
        })
    }

    pub fn insert(&mut self, seq: u64, split: usize, aside: Aside) {
        self.waiting.insert(seq, (split, aside));
    }

    /// Writes, in order, what the first `blocks` blocks set aside.
    ///
    /// # Errors
    /// Data, when there is more than the settings allow; Io.
    pub fn release(&mut self, blocks: u64, program: &Program, splits: &[SplitEntry]) -> Result<()> {
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() >= blocks {
                break;
            }
            let (split, aside) = entry.remove();
            let before = self.texts[split];
            let scan = &program.branches[splits[split].branch].scan;
            for rejected in &aside.rejected {
                self.check_limit()?;
                let line = json_line(splits[split].split.name(), scan, before, rejected);
                self.file.write(&line)?;
                self.rows += 1;
            }
            self.texts[split] = before.then(aside.text);
        }
        Ok(())
    }

    fn check_limit(&self) -> Result<()> {
        let most = self.spec.rows_max;
        if self.rows < most {
            return Ok(());
        }
        Err(Error::data(format!("more than {most} records cannot be used; the first {most} are in {}", self.spec.path))
            .help(
                "look at the reasons there: a wrong delimiter or type makes every record wrong; \
             'transom.quarantine.max-rows' allows more",
            ))
    }

    /// Gives the file its name, or adds its lines to those of the statements before.
    ///
    /// # Errors
    /// Io.
    pub fn commit(self) -> Result<()> {
        self.file.commit()
    }

    /// Keeps what the file has of a job that failed, if it has anything: what to tell the user.
    pub fn keep(self) -> Option<String> {
        let (rows, path) = (self.rows, self.spec.path.clone());
        if rows == 0 {
            return None;
        }
        let were = if rows == 1 { "record that was" } else { "records that were" };
        self.commit().ok().map(|()| format!("{rows} {were} set aside before the job failed: see {path}"))
    }
}

/// `before`: the text of the file before the record's block.
fn json_line(file: &str, scan: &ScanSpec, before: Stretch, rejected: &Rejected) -> String {
    let place = place_members(rejected.position.place(|| before));
    let reason = match &rejected.reason {
        Reason::Unreadable(reason) => reason.clone(),
        Reason::NullTime => {
            let time = scan.watermark.as_ref().and_then(|watermark| scan.schema.fields.get(watermark.time));
            format!("the event time `{}` is NULL", time.map_or("", |field| field.name.as_str()))
        }
    };
    let [file, table, reason, text] = [file, &scan.table, &reason, &rejected.text].map(quoted);
    format!("{{\"file\":{file},{place},\"table\":{table},\"reason\":{reason},\"text\":{text}}}\n")
}

//! What the thread that executes a program does with what its shards tell: records for sinks in order, and cuts.

use std::any::Any;
use std::collections::BTreeMap;
use std::time::Instant;

use super::checkpoint::Cuts;
use super::flow::{Outcome, Saved, Told, guarded};
use super::run::{JobProgress, Watcher};
use super::sink::AnySink;
use crate::error::Result;
use crate::job::drive::{Listener, NextCut};
use crate::job::output::OpenSink;
use crate::job::schedule::Periodic;
use crate::job::{Checkpoint, Completed};
use crate::snapshot::RunLock;

/// A batch and the shard that told it, in the order in which it did.
type OfShard = (usize, Box<dyn Any + Send>);

/// Gives the sinks their records in the order of blocks, then of places.
pub(super) struct Ordered<'a> {
    sinks: Vec<Box<dyn AnySink>>,
    /// By block and sink.
    waiting: BTreeMap<(u64, usize), Vec<OfShard>>,
    pub outcomes: Vec<Outcome>,
    /// None: no checkpoints are taken.
    pub cuts: Option<Cuts>,
    /// Of what was told.
    failed: Result<()>,
    started: Instant,
    watcher: &'a Watcher<'a>,
}

impl<'a> Ordered<'a> {
    pub fn new(sinks: Vec<Box<dyn AnySink>>, started: Instant, watcher: &'a Watcher<'a>) -> Self {
        let (waiting, outcomes) = (BTreeMap::new(), Vec::new());
        Ordered { sinks, waiting, outcomes, cuts: None, failed: Ok(()), started, watcher }
    }

    /// Opens the sinks, and brings them to the checkpoint. What says that the run lives, where it takes checkpoints.
    pub fn begin(&mut self, checkpoint: Option<&Checkpoint>, schedule: Option<&Periodic>) -> Result<Option<RunLock>> {
        for (number, sink) in self.sinks.iter_mut().enumerate() {
            let state = checkpoint.and_then(|checkpoint| checkpoint.manifest.sinks.get(number));
            sink.begin(state.map(|sink| &sink.files))?;
        }
        schedule.map(|schedule| crate::job::schedule::begin(&schedule.folder, &self.files())).transpose()
    }

    pub fn files(&self) -> Vec<OpenSink> {
        self.sinks.iter().map(|sink| sink.files()).collect()
    }

    /// Makes what the sinks have visible, or undoes it all.
    pub fn end(&mut self, ran: Result<()>) -> Result<()> {
        let finished = ran.and_then(|()| self.sinks.iter_mut().try_for_each(|sink| sink.finish()));
        let mut committed = 0;
        let done = finished.and_then(|()| {
            self.sinks.iter_mut().try_for_each(|sink| {
                sink.commit()?;
                committed += 1;
                Ok(())
            })
        });
        if done.is_err() {
            self.sinks[committed..].iter_mut().for_each(|sink| sink.abort());
        }
        done
    }

    fn give(&mut self, blocks: u64) -> Result<()> {
        while let Some(entry) = self.waiting.first_entry()
            && entry.key().0 < blocks
        {
            let ((_, sink), mut batches) = entry.remove_entry();
            batches.sort_by_key(|(shard, _)| *shard);
            self.sinks[sink].take(batches.into_iter().map(|(_, records)| records).collect())?;
        }
        Ok(())
    }

    /// A shard has come to a cut. When all have, sinks get their records up to there and complete their files.
    fn take_cut(&mut self, saved: Saved) -> Result<()> {
        let blocks = saved.blocks;
        let Some(all) = self.cuts.as_mut().and_then(|cuts| cuts.arrive(saved)) else { return Ok(()) };
        let closed = guarded(|| {
            self.give(blocks)?;
            self.sinks.iter_mut().map(|sink| sink.close()).collect()
        })?;
        let completed = self.cuts.as_mut().map_or(Ok(None), |cuts| cuts.hand_over(all, closed))?;
        self.checkpointed(completed)
    }

    /// Waits for the checkpoint that is being written when all shards have ended.
    pub fn last_checkpoint(&mut self) -> Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        let completed = self.cuts.as_mut().map_or(Ok(None), Cuts::last)?;
        self.checkpointed(completed)
    }

    fn checkpointed(&self, completed: Option<Completed>) -> Result<()> {
        completed.map_or(Ok(()), |completed| guarded(|| (self.watcher.checkpoint)(&completed)))
    }

    fn look_for_checkpoint(&mut self) -> Result<()> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        let completed = self.cuts.as_mut().map_or(Ok(None), Cuts::completed)?;
        self.checkpointed(completed)
    }
}

impl Listener<Told, Outcome> for Ordered<'_> {
    fn notice(&mut self, text: &str) {
        (self.watcher.notice)(text);
    }
    fn told(&mut self, what: Told) {
        match what {
            Told::Records { sink, seq, shard, records } => {
                self.waiting.entry((seq, sink)).or_default().push((shard, records));
            }
            Told::Saved(saved) => {
                if let Err(error) = self.take_cut(*saved) {
                    // Of the cuts that follow nothing counts: they go on from what has just failed.
                    self.cuts = None;
                    self.failed = Err(error);
                }
            }
        }
    }
    fn ended(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }
    fn release(&mut self, blocks: u64) -> Result<()> {
        let looked = self.look_for_checkpoint();
        if looked.is_err() {
            self.cuts = None;
        }
        looked?;
        guarded(|| self.give(blocks))
    }
    fn look(&mut self) -> Result<()> {
        let progress = JobProgress::new(&self.watcher.read, self.started);
        guarded(|| {
            (self.watcher.progress)(&progress);
            Ok(())
        })
    }
    fn next_cut(&mut self) -> Option<NextCut> {
        self.cuts.as_mut().and_then(Cuts::next_cut)
    }
}

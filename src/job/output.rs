//! Where shards leave their rows: files and the like on the shard itself, results for the caller
//! through the job's thread, which puts them in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::{Report, Teller, Told};
use crate::error::Result;
use crate::io::files::Disk;
use crate::plan::{SinkConnector, SinkSpec};
use crate::shard::columns::Output;
use crate::shard::columns::program::Program;
use crate::sink::{self, Sink, SinkWriter};
use crate::snapshot::{Closed, SinkState};

/// A sink of a running job.
#[derive(Clone)]
pub enum OpenSink {
    /// Each shard writes for itself.
    Own(Arc<dyn Sink>),
    /// Rows go to the caller.
    Caller,
}

impl OpenSink {
    pub fn open(spec: &SinkSpec, disk: &Disk) -> Result<Self> {
        Ok(match spec.connector {
            SinkConnector::Collect | SinkConnector::Print { .. } | SinkConnector::Stdout { .. } => OpenSink::Caller,
            SinkConnector::Filesystem { .. } | SinkConnector::Blackhole => OpenSink::Own(sink::open_on(disk, spec)?),
        })
    }
    pub fn commit(&self) -> Result<()> {
        if let OpenSink::Own(sink) = self { sink.commit() } else { Ok(()) }
    }
    /// As [`Sink::cut_off`].
    pub fn cut_off(&self) {
        if let OpenSink::Own(sink) = self {
            sink.cut_off();
        }
    }
    pub fn abort(&self) {
        if let OpenSink::Own(sink) = self {
            sink.abort();
        }
    }
    pub fn hidden_files(&self) -> Option<(PathBuf, String)> {
        if let OpenSink::Own(sink) = self { sink.hidden_files() } else { None }
    }
    /// As [`Sink::settle`].
    pub fn settle(&self) {
        if let OpenSink::Own(sink) = self {
            sink.settle();
        }
    }
    /// As [`Sink::state`]; what the caller has been given is nobody's to take back.
    pub fn state(&self, closed: &[Closed]) -> SinkState {
        if let OpenSink::Own(sink) = self { sink.state(closed) } else { SinkState::default() }
    }
    pub fn publish(&self, state: &SinkState) -> Result<()> {
        if let OpenSink::Own(sink) = self { sink.publish(state) } else { Ok(()) }
    }
    pub fn restore(&self, state: &SinkState) -> Result<()> {
        if let OpenSink::Own(sink) = self { sink.restore(state) } else { Ok(()) }
    }
    pub(super) fn output(&self, index: usize, shard: usize, teller: Teller) -> Result<Box<dyn Output>> {
        Ok(match self {
            OpenSink::Own(sink) => Box::new(OwnOutput(sink.writer(shard)?)),
            OpenSink::Caller => Box::new(CallerOutput { sink: index, shard, teller }),
        })
    }
}

struct OwnOutput(Box<dyn SinkWriter>);

impl Output for OwnOutput {
    fn write(&mut self, _seq: u64, _order: i64, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch)
    }
    fn close(&mut self) -> Result<Closed> {
        self.0.close()
    }
    fn finish(self: Box<Self>) -> Result<()> {
        self.0.finish()
    }
}

struct CallerOutput {
    sink: usize,
    shard: usize,
    teller: Teller,
}

impl Output for CallerOutput {
    fn write(&mut self, seq: u64, order: i64, batch: &RecordBatch) -> Result<()> {
        let rows = Told::Rows { sink: self.sink, seq, order, shard: self.shard, batch: batch.clone() };
        self.teller.tell(rows)
    }
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Rows that wait until all rows before them have come: by block, window end, shard.
#[derive(Default)]
pub struct Ordered {
    waiting: BTreeMap<(u64, i64, usize), Vec<(usize, RecordBatch)>>,
}

impl Ordered {
    pub fn insert(&mut self, place: (u64, i64, usize), sink: usize, batch: RecordBatch) {
        self.waiting.entry(place).or_default().push((sink, batch));
    }

    /// Hands out, in order, what belongs to the first `blocks` blocks.
    pub fn release(&mut self, blocks: u64, program: &Program, report: &mut dyn Report) -> Result<()> {
        while let Some(entry) = self.waiting.first_entry() {
            if entry.key().0 >= blocks {
                break;
            }
            for (sink, batch) in entry.remove() {
                let spec = &program.sinks[sink];
                match spec.connector {
                    SinkConnector::Print { .. } | SinkConnector::Stdout { .. } => report.print(spec, &batch)?,
                    _ => report.rows(&batch)?,
                }
            }
        }
        Ok(())
    }
}

//! A source whose records have passed through functions before they get their times.

use std::sync::Arc;

use super::{OpenOptions, RecordSplit, Source, SourceBlock};
use crate::error::Result;
use crate::source::{Extent, Transition, Wake};
use crate::windowing::Data;

pub(in crate::api) struct MappedSource<S, F> {
    pub source: Arc<dyn Source<S>>,
    pub function: Arc<F>,
}

impl<S: Data, T: Data, F: Fn(S, &mut Vec<T>) + Send + Sync + 'static> Source<T> for MappedSource<S, F> {
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>> {
        let splits = self.source.open(options)?.into_iter();
        let mapped = |split| Arc::new(MappedSplit { split, function: self.function.clone() }) as _;
        Ok(splits.map(mapped).collect())
    }
    fn is_bounded(&self) -> bool {
        self.source.is_bounded()
    }
}

struct MappedSplit<S, F> {
    split: Arc<dyn RecordSplit<S>>,
    function: Arc<F>,
}

impl<S: Data, T: Data, F: Fn(S, &mut Vec<T>) + Send + Sync> RecordSplit<T> for MappedSplit<S, F> {
    fn extent(&self) -> Extent {
        self.split.extent()
    }
    fn extend(&self) -> Extent {
        self.split.extend()
    }
    fn start(&self, wake: &Wake, alone: bool) {
        self.split.start(wake, alone);
    }
    fn bytes(&self) -> u64 {
        self.split.bytes()
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        self.split.probe(block)
    }
    fn notices(&self) -> Vec<String> {
        self.split.notices()
    }
    fn name(&self) -> &str {
        self.split.name()
    }
    fn why_not_replayed(&self) -> Option<String> {
        self.split.why_not_replayed()
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.split.pass_over(blocks)
    }
    fn read(&self, block: usize) -> Result<SourceBlock<T>> {
        self.read_from(block, 0)
    }
    fn read_from(&self, block: usize, entry: u8) -> Result<SourceBlock<T>> {
        // The source's watermarks end here: a record that carries one may be dropped.
        let SourceBlock { values, timestamps, bytes, malformed, .. } = self.split.read_from(block, entry)?;
        let mut mapped = Vec::with_capacity(values.len());
        let mut times = timestamps.as_ref().map(|_| Vec::with_capacity(values.len()));
        for (row, value) in values.into_iter().enumerate() {
            (self.function)(value, &mut mapped);
            if let (Some(times), Some(given)) = (&mut times, &timestamps) {
                times.resize(mapped.len(), given[row]);
            }
        }
        Ok(SourceBlock { values: mapped, timestamps: times, watermarks: None, bytes, malformed })
    }
}

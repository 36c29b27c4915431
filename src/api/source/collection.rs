//! Records of the program itself: any iterator, and a function of a number.

use std::sync::{Arc, Mutex};

use super::blocks::Blocks;
use super::{OpenOptions, RecordSplit, Source, SourceBlock};
use crate::api::lock;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::source::Extent;
use crate::windowing::Data;

type Records<T> = Box<dyn Iterator<Item = Result<T>> + Send>;

/// The records of an iterator, in its order. It is asked by one shard at a time, a block at a time.
pub struct IteratorSource<T> {
    records: Mutex<Option<Records<T>>>,
}

impl<T: Data> IteratorSource<T> {
    pub fn new<I>(records: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self::fallible(records.into_iter().map(Ok))
    }

    /// Of an iterator that may fail: the job ends with the first error.
    pub fn fallible<I>(records: I) -> Self
    where
        I: IntoIterator<Item = Result<T>>,
        I::IntoIter: Send + 'static,
    {
        IteratorSource { records: Mutex::new(Some(Box::new(records.into_iter()))) }
    }
}

impl<T: Data> Source<T> for IteratorSource<T> {
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>> {
        let records = lock(&self.records).take();
        let Some(records) = records else {
            return Err(Error::usage("the records of an iterator can be read once")
                .help("build the program anew for another run, or give it a source that can be opened again"));
        };
        let split = IteratorSplit {
            block_rows: options.block_rows.max(1),
            puller: Mutex::new(Puller { records, next: None, failed: None }),
            ready: Mutex::new(Blocks::new()),
        };
        // Whether there is a record at all is known before the job begins.
        split.extend();
        Ok(vec![Arc::new(split)])
    }
}

struct IteratorSplit<T> {
    block_rows: usize,
    /// Locked while the iterator is asked, which may take long.
    puller: Mutex<Puller<T>>,
    /// Locked for moments. A split that fails says so in place of its last block.
    ready: Mutex<Blocks<Result<Vec<T>>>>,
}

struct Puller<T> {
    records: Records<T>,
    /// The record behind the blocks: a block is the last one if there is none.
    next: Option<T>,
    failed: Option<Error>,
}

impl<T> Puller<T> {
    fn pull(&mut self) -> Option<T> {
        match self.records.next()? {
            Ok(record) => Some(record),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    /// The next block, if there is one, and whether it is the last.
    fn block(&mut self, rows: usize) -> (Option<Result<Vec<T>>>, bool) {
        let mut values = Vec::with_capacity(rows.min(limits::BATCH_ROWS_DEFAULT));
        values.extend(self.next.take());
        while values.len() < rows {
            match self.pull() {
                Some(record) => values.push(record),
                None => break,
            }
        }
        if self.failed.is_none() && values.len() == rows {
            self.next = self.pull();
        }
        let is_last = self.next.is_none();
        match self.failed.take() {
            Some(error) => (Some(Err(error)), true),
            None if values.is_empty() => (None, true),
            None => (Some(Ok(values)), is_last),
        }
    }
}

impl<T: Data> RecordSplit<T> for IteratorSplit<T> {
    fn extent(&self) -> Extent {
        lock(&self.ready).extent()
    }
    fn extend(&self) -> Extent {
        // While somebody else is at it there is nothing to do.
        if let Ok(mut puller) = self.puller.try_lock()
            && !self.extent().complete
        {
            let (block, is_last) = puller.block(self.block_rows);
            let mut ready = lock(&self.ready);
            if let Some(block) = block {
                ready.push(block);
            }
            ready.complete = is_last;
        }
        self.extent()
    }
    fn why_not_replayed(&self) -> Option<String> {
        None
    }
    /// The iterator is asked for all records up to there.
    fn pass_over(&self, blocks: usize) -> Result<()> {
        for block in 0..blocks {
            let extent = self.extent();
            if extent.blocks <= block && (extent.complete || self.extend().blocks <= block) {
                return Err(Error::new(ErrorKind::Data, "an iterator has fewer records than it had at the checkpoint")
                    .help("give the same records again, or run the program from its beginning"));
            }
            lock(&self.ready).take(block)??;
        }
        Ok(())
    }
    fn read(&self, block: usize) -> Result<SourceBlock<T>> {
        lock(&self.ready).take(block)?.map(SourceBlock::of)
    }
}

/// Shards wait for each other's blocks, the less often the larger they are; records made at once are there at once.
const BLOCK_BATCHES: u64 = 8;

/// `count` records, each a function of its number: made on all shards side by side.
pub struct GeneratorSource<F> {
    count: u64,
    make: Arc<F>,
}

impl<F> GeneratorSource<F> {
    pub fn new(count: u64, make: F) -> Self {
        GeneratorSource { count, make: Arc::new(make) }
    }
}

impl<T: Data, F: Fn(u64) -> T + Send + Sync + 'static> Source<T> for GeneratorSource<F> {
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>> {
        let split = GeneratorSplit {
            count: self.count,
            rows: options.block_rows.max(1) as u64 * BLOCK_BATCHES,
            make: self.make.clone(),
        };
        Ok(vec![Arc::new(split)])
    }
}

struct GeneratorSplit<F> {
    count: u64,
    rows: u64,
    make: Arc<F>,
}

impl<T: Data, F: Fn(u64) -> T + Send + Sync> RecordSplit<T> for GeneratorSplit<F> {
    fn extent(&self) -> Extent {
        Extent::whole(usize::try_from(self.count.div_ceil(self.rows)).unwrap_or(usize::MAX))
    }
    fn why_not_replayed(&self) -> Option<String> {
        None
    }
    fn read(&self, block: usize) -> Result<SourceBlock<T>> {
        let first = block as u64 * self.rows;
        Ok(SourceBlock::of((first..self.count.min(first + self.rows)).map(|number| (self.make)(number)).collect()))
    }
}

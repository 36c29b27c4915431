//! Records that other threads send while the job runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crossbeam::channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};

use super::blocks::Blocks;
use super::{OpenOptions, RecordSplit, Source, SourceBlock};
use crate::api::lock;
use crate::api::push::NO_TIMESTAMP;
use crate::error::{Error, ErrorKind, Result};
use crate::source::{Extent, Wake};
use crate::time::EventTime;
use crate::windowing::Data;

/// A queue of at most `capacity` records (1 at least) into a job: what any number of threads send on one end is read by
/// the source on the other. The stream ends when the last sender is dropped.
///
/// To feed it from asynchronous code, send from a blocking task, or use [`try_send`](StreamSender::try_send) and wait a
/// little whenever it gives the record back.
///
/// ```
/// use transom::api::{StreamExecutionEnvironment, WatermarkStrategy};
/// use transom::api::source::channel;
///
/// # fn main() -> transom::error::Result<()> {
/// let (sender, source) = channel::<i64>(1024);
/// let environment = StreamExecutionEnvironment::new();
/// let doubled = environment
///     .from_source(source, WatermarkStrategy::for_monotonous_timestamps(), "numbers")
///     .map(|number| 2 * number)
///     .collect();
/// let thread = std::thread::spawn(move || (0..10).try_for_each(|n| sender.send_with_timestamp(n, 1_000 * n)));
/// environment.execute()?;
/// thread.join().unwrap()?;
/// assert_eq!(doubled.take().len(), 10);
/// # Ok(()) }
/// ```
pub fn channel<T: Data>(capacity: usize) -> (StreamSender<T>, ChannelSource<T>) {
    let (sender, queue) = bounded(capacity.max(1));
    let bell = Arc::new(Bell::default());
    let at_end = RingOnDrop(bell.clone());
    (StreamSender { sender, at_end }, ChannelSource { end: Mutex::new(Some((queue, bell))) })
}

/// A record with its timestamp.
type Sent<T> = (T, EventTime);

/// Wakes the shards when something was sent that they wait for.
#[derive(Default)]
struct Bell {
    /// A shard has found the queue empty.
    awaited: AtomicBool,
    wake: OnceLock<Wake>,
}

impl Bell {
    fn ring(&self) {
        if self.awaited.load(Ordering::SeqCst)
            && self.awaited.swap(false, Ordering::SeqCst)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }
}

/// A sender that goes may be the last one.
#[derive(Clone)]
struct RingOnDrop(Arc<Bell>);

impl Drop for RingOnDrop {
    fn drop(&mut self) {
        self.0.ring();
    }
}

/// Sends records into a job. Clones send into the same; records of one sender keep their order.
pub struct StreamSender<T> {
    /// Dropped before the bell rings.
    sender: Sender<Sent<T>>,
    at_end: RingOnDrop,
}

impl<T> Clone for StreamSender<T> {
    fn clone(&self) -> Self {
        StreamSender { sender: self.sender.clone(), at_end: self.at_end.clone() }
    }
}

impl<T> StreamSender<T> {
    /// Waits while the queue is full.
    ///
    /// # Errors
    /// Kind Cancelled: the job has ended, or its program was dropped.
    pub fn send(&self, value: T) -> Result<()> {
        self.send_with_timestamp(value, NO_TIMESTAMP)
    }

    /// As [`send`](Self::send), with the timestamp of the record, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_with_timestamp(&self, value: T, timestamp: EventTime) -> Result<()> {
        self.sender.send((value, timestamp)).map_err(|_| nobody_reads())?;
        self.at_end.0.ring();
        Ok(())
    }

    /// Does not wait: gives the record back if the queue is full.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn try_send(&self, value: T) -> Result<Option<T>> {
        self.try_send_with_timestamp(value, NO_TIMESTAMP)
    }

    /// As [`try_send`](Self::try_send), with the timestamp of the record, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn try_send_with_timestamp(&self, value: T, timestamp: EventTime) -> Result<Option<T>> {
        match self.sender.try_send((value, timestamp)) {
            Ok(()) => {
                self.at_end.0.ring();
                Ok(None)
            }
            Err(TrySendError::Full((value, _))) => Ok(Some(value)),
            Err(TrySendError::Disconnected(_)) => Err(nobody_reads()),
        }
    }

    /// Records in the queue.
    pub fn len(&self) -> usize {
        self.sender.len()
    }
    pub fn is_empty(&self) -> bool {
        self.sender.is_empty()
    }
}

#[cold]
fn nobody_reads() -> Error {
    Error::new(ErrorKind::Cancelled, "nobody reads the channel any more: the job has ended")
        .help("what the job came to says why; stop sending")
}

/// Where the records come out.
type End<T> = (Receiver<Sent<T>>, Arc<Bell>);

/// The records that were sent, in one split. Unbounded.
pub struct ChannelSource<T> {
    /// Until it is read.
    end: Mutex<Option<End<T>>>,
}

impl<T: Data> Source<T> for ChannelSource<T> {
    fn open(&self, options: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<T>>>> {
        let Some((queue, bell)) = lock(&self.end).take() else {
            return Err(Error::usage("a channel can be read once").help("make a new channel for another run"));
        };
        let block_rows = options.block_rows.max(1);
        Ok(vec![Arc::new(ChannelSplit { queue: Mutex::new(queue), bell, block_rows, made: Mutex::new(Blocks::new()) })])
    }
    fn is_bounded(&self) -> bool {
        false
    }
}

struct ChannelSplit<T> {
    /// Locked while a block is made, so that records keep their order.
    queue: Mutex<Receiver<Sent<T>>>,
    bell: Arc<Bell>,
    block_rows: usize,
    made: Mutex<Blocks<SourceBlock<T>>>,
}

impl<T: Data> ChannelSplit<T> {
    /// What is there, up to a block full, and whether that is all there will ever be.
    fn receive(&self, queue: &Receiver<Sent<T>>) -> (SourceBlock<T>, bool) {
        let expected = queue.len().min(self.block_rows);
        let (mut values, mut timestamps) = (Vec::with_capacity(expected), Vec::with_capacity(expected));
        let mut ended = false;
        while values.len() < self.block_rows {
            match queue.try_recv() {
                Ok((value, timestamp)) => {
                    values.push(value);
                    timestamps.push(timestamp);
                }
                Err(TryRecvError::Disconnected) => {
                    ended = true;
                    break;
                }
                // Once it is awaited, a look more: whoever sent before that did not ring.
                Err(TryRecvError::Empty) if !self.bell.awaited.swap(true, Ordering::SeqCst) => {}
                Err(TryRecvError::Empty) => break,
            }
        }
        (SourceBlock { timestamps: Some(timestamps), ..SourceBlock::of(values) }, ended)
    }
}

impl<T: Data> RecordSplit<T> for ChannelSplit<T> {
    fn extent(&self) -> Extent {
        lock(&self.made).extent()
    }
    fn extend(&self) -> Extent {
        // While somebody else is at it there is nothing to do.
        if let Ok(queue) = self.queue.try_lock()
            && !self.extent().complete
        {
            let (block, ended) = self.receive(&queue);
            let mut made = lock(&self.made);
            if ended || !block.values.is_empty() {
                made.push(block);
                made.complete = ended;
            }
        }
        self.extent()
    }
    fn start(&self, wake: &Wake, _alone: bool) {
        // The job opens a source once.
        let _ = self.bell.wake.set(wake.clone());
    }
    fn read(&self, block: usize) -> Result<SourceBlock<T>> {
        lock(&self.made).take(block)
    }
}

//! Threads for shards: starts them, listens to them, stops all at the first error, waits for all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::RunOptions;
use crate::error::{Error, Result};
use crate::exchange::mesh;
use crate::exchange::progress::Progress;
use crate::io::uring::{self, Executor};
use crate::limits;
use crate::shard::{Dataflow, Layout, Shard, ShardParts, Work};
use crate::source::{Extent, Wake};
use crate::time::WatermarkStart;

/// How often the job's thread looks up when nothing happens.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// A sleeping shard looks around at least this often, should a wake-up ever be missed.
const SLEEP_LIMIT: Duration = Duration::from_millis(20);
/// How long a shard waits for room in a queue before it tries again.
const ROOM_WAIT: Duration = Duration::from_micros(50);
/// Events on their way from shards to the job's thread: a slow reader of results slows the job.
const EVENTS: usize = 64;

enum Event<S, O> {
    Told(S),
    Ended(Result<O>),
}

/// What goes from the shards to the thread that runs the job. `S`: what dataflows tell while they run, `O`: their
/// outcome.
pub struct Events<S, O> {
    sender: Sender<Event<S, O>>,
    inbox: Receiver<Event<S, O>>,
}

impl<S, O> Events<S, O> {
    pub fn new() -> Self {
        let (sender, inbox) = bounded(EVENTS);
        Events { sender, inbox }
    }
    /// One more sender.
    pub fn teller(&self) -> Teller<S, O> {
        Teller(self.sender.clone())
    }
}

impl<S, O> Default for Events<S, O> {
    fn default() -> Self {
        Events::new()
    }
}

/// A dataflow's way to the thread that runs the job.
pub struct Teller<S, O>(Sender<Event<S, O>>);

impl<S, O> Teller<S, O> {
    /// Waits while too much is on its way.
    ///
    /// # Errors
    /// Internal: the job's thread has gone, which it does after the last shard only.
    pub fn tell(&self, what: S) -> Result<()> {
        self.0.send(Event::Told(what)).map_err(|_| Error::internal("nobody takes what a shard tells"))
    }
}

/// Takes what shards tell; called on the thread that called [`drive`].
pub trait Listener<S, O> {
    /// Something the user should know, one line.
    fn notice(&mut self, text: &str);
    /// A dataflow told something.
    fn told(&mut self, what: S);
    /// A shard has ended well.
    fn ended(&mut self, outcome: O);
    /// Everything that the first `blocks` blocks of the order gave has been told.
    ///
    /// # Errors
    /// Stops the job.
    fn release(&mut self, blocks: u64) -> Result<()>;
    /// About ten times a second.
    ///
    /// # Errors
    /// Stops the job.
    fn look(&mut self) -> Result<()>;
}

/// What the shards of a job have in common.
pub struct Course {
    pub layout: Arc<Layout>,
    /// Of each split.
    pub extents: Vec<Extent>,
    /// Of the watermark of each split.
    pub start: WatermarkStart,
}

/// Runs one shard for each of `flows`, which are built on the threads of their shards, until all have ended. `begin`
/// is called before the first of them starts, with what wakes them.
///
/// # Errors
/// The first error of any shard or of the listener; kind Cancelled when `options.cancel` was set.
pub fn drive<F, B, S>(
    course: Course,
    options: &RunOptions,
    flows: Vec<B>,
    begin: impl FnOnce(&Wake),
    events: Events<S, F::Outcome>,
    listener: &mut dyn Listener<S, F::Outcome>,
) -> Result<()>
where
    F: Dataflow,
    B: FnOnce() -> Result<F> + Send + 'static,
    S: Send + 'static,
{
    let Course { layout, extents, start } = course;
    let Events { sender, inbox } = events;
    let shards = flows.len();
    let in_flight = shards * limits::BLOCKS_IN_FLIGHT_PER_SHARD;
    let progress = Arc::new(Progress::new(&extents, shards, in_flight));
    let endpoints = mesh::endpoints(shards, limits::QUEUE_MESSAGES);
    begin(&endpoints[0].waker().into());
    let body = |(build, endpoint): (B, _)| {
        let parts = ShardParts { layout: layout.clone(), progress: progress.clone(), start, endpoint };
        let sender = sender.clone();
        move || {
            let run = std::panic::AssertUnwindSafe(|| run_shard(parts, build));
            let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
            // The job's thread listens until the last shard has said this. A shard that was stopped has no outcome.
            if let Some(result) = result.transpose() {
                let _ = sender.send(Event::Ended(result));
            }
        }
    };
    let bodies: Vec<_> = flows.into_iter().zip(endpoints).map(body).collect();
    drop(sender);
    let uring = use_uring(options, shards, listener);
    let handles = uring::spawn_shards(bodies, uring).map_err(|error| Error::io("start", "a shard's thread", error));
    if handles.is_err() {
        progress.stop();
    }
    let outcome = watch(&inbox, &progress, options, listener);
    for handle in handles? {
        if handle.join().is_err() {
            return Err(Error::internal("a shard's thread panicked"));
        }
    }
    outcome
}

fn use_uring<S, O>(options: &RunOptions, shards: usize, listener: &mut dyn Listener<S, O>) -> bool {
    if options.executor == Executor::Threads {
        return false;
    }
    let why_not = uring::why_not(shards);
    if let Some(why) = &why_not {
        listener
            .notice(&format!("io_uring cannot be used here ({why}); running on plain threads, with the same results"));
    }
    why_not.is_none()
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::internal(format!("a shard failed: {text}"))
}

/// None if the shard was stopped.
fn run_shard<F: Dataflow>(parts: ShardParts<F::Part>, build: impl FnOnce() -> Result<F>) -> Result<Option<F::Outcome>> {
    let progress = parts.progress.clone();
    let mut shard = Shard::new(parts, build()?);
    let parker = shard.take_parker();
    while !progress.is_stopped() {
        match shard.step()? {
            Work::Done => {}
            Work::Finished => return shard.finish().map(Some),
            Work::Waiting => {
                let limit = if shard.is_kept_back() { ROOM_WAIT } else { SLEEP_LIMIT };
                match &parker {
                    Some(parker) => parker.park_timeout(limit),
                    None => std::thread::yield_now(),
                }
            }
        }
    }
    Ok(None)
}

/// Takes events until every shard has ended; the first error stops the others.
fn watch<S, O>(
    inbox: &Receiver<Event<S, O>>,
    progress: &Progress,
    options: &RunOptions,
    listener: &mut dyn Listener<S, O>,
) -> Result<()> {
    let mut outcome = Ok(());
    let mut next_look = Instant::now() + WATCH_INTERVAL;
    loop {
        // Read before the channel is: what these blocks gave is in the channel by now.
        let complete = progress.completed_by_all();
        let mut next = match inbox.recv_timeout(WATCH_INTERVAL) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        while let Some(event) = next {
            match event {
                Event::Told(what) => listener.told(what),
                Event::Ended(Ok(result)) => listener.ended(result),
                Event::Ended(Err(error)) => fail(&mut outcome, Err(error), progress),
            }
            next = inbox.try_recv().ok();
        }
        if outcome.is_ok() {
            fail(&mut outcome, listener.release(complete), progress);
        }
        if options.cancel.load(Ordering::Relaxed) {
            fail(&mut outcome, Err(Error::cancelled()), progress);
        }
        if Instant::now() >= next_look {
            let result = listener.look();
            fail(&mut outcome, result, progress);
            next_look = Instant::now() + WATCH_INTERVAL;
        }
    }
    outcome?;
    listener.release(u64::MAX)
}

fn fail(outcome: &mut Result<()>, result: Result<()>, progress: &Progress) {
    if result.is_err() {
        progress.stop();
        if outcome.is_ok() {
            *outcome = result;
        }
    }
}

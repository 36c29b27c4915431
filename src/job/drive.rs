//! Threads for shards: starts them, listens to them, stops all at the first error, waits for all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::RunOptions;
use crate::error::{Error, Result};
use crate::exchange::progress::Progress;
use crate::exchange::{Order, mesh};
use crate::io::uring::{self, Executor};
use crate::limits;
use crate::shard::{Dataflow, Layout, Place, Shard, ShardParts, Work};
use crate::source::{Extent, Wake};
use crate::time::WatermarkStart;

/// How often the job's thread looks up when nothing happens.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// The same where inputs are live: results wait no longer for it.
const LIVE_INTERVAL: Duration = Duration::from_millis(5);
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
    /// Somebody wants the job to end; called again until it does.
    ///
    /// # Errors
    /// Stops the job: kind Cancelled, unless something else is wrong.
    fn cancelled(&mut self) -> Result<()> {
        Err(Error::cancelled())
    }
    /// How long until the next cut is to be asked for; none: no cut is. Asked for after each of the other calls.
    fn next_cut(&mut self) -> Option<NextCut> {
        None
    }
}

/// What a listener wants of cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextCut {
    /// This one, now.
    Now(u64),
    /// Ask again after that.
    In(Duration),
}

/// What the shards of a job have in common.
pub struct Course {
    pub layout: Arc<Layout>,
    /// Of each split.
    pub extents: Vec<Extent>,
    /// Of the watermark of each split.
    pub start: WatermarkStart,
    pub order: Order,
    /// Where the job goes on; none: it begins.
    pub place: Option<Arc<Place>>,
    /// Cuts come by themselves, each after so many blocks.
    pub cut_every: Option<u64>,
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
    let Course { layout, extents, start, order, place, cut_every } = course;
    let Events { sender, inbox } = events;
    let shards = flows.len();
    let in_flight = shards * limits::BLOCKS_IN_FLIGHT_PER_SHARD;
    let progress = Progress::new(&extents, shards, in_flight, order).cut_every(cut_every);
    let progress = Arc::new(match &place {
        Some(place) => progress.resume(&place.position),
        None => progress,
    });
    let endpoints = mesh::endpoints(shards, limits::QUEUE_MESSAGES);
    begin(&endpoints[0].waker().into());
    let body = |(build, endpoint): (B, _)| {
        let parts =
            ShardParts { layout: layout.clone(), progress: progress.clone(), start, place: place.clone(), endpoint };
        let sender = sender.clone();
        move || {
            let run = std::panic::AssertUnwindSafe(|| run_shard(parts, build));
            let result = std::panic::catch_unwind(run).unwrap_or_else(|panic| Err(panicked::<F>(panic.as_ref())));
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

fn panicked<F: Dataflow>(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    F::panicked(&text)
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
    let interval = match progress.order() {
        Order::LowestWatermark => WATCH_INTERVAL,
        Order::Arrival => LIVE_INTERVAL,
    };
    loop {
        // Read before the channel is: what these blocks gave is in the channel by now.
        let complete = progress.completed_by_all();
        let patience = match listener.next_cut() {
            None => interval,
            Some(NextCut::In(left)) => interval.min(left),
            Some(NextCut::Now(number)) => {
                progress.request_cut(number);
                interval
            }
        };
        let first = match inbox.recv_timeout(patience) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        // No more than were in the channel: what comes while the listener is slow would pile up here.
        let others = (1..EVENTS).map_while(|_| inbox.try_recv().ok());
        for event in first.into_iter().chain(others) {
            match event {
                Event::Told(what) => listener.told(what),
                Event::Ended(Ok(result)) => listener.ended(result),
                Event::Ended(Err(error)) => fail(&mut outcome, Err(error), progress),
            }
        }
        if outcome.is_ok() {
            fail(&mut outcome, listener.release(complete), progress);
        }
        if outcome.is_ok() && options.cancel.load(Ordering::Relaxed) {
            fail(&mut outcome, listener.cancelled(), progress);
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::exchange::Stamp;
    use crate::exchange::sequence::Step;
    use crate::shard::{InputWatermark, Outgoing, Port, Producer};
    use crate::time::Watermark;
    use crate::watermark::Peaks;

    /// A split that grows from another thread: block `n` has the number `n`.
    struct Channel {
        extent: Mutex<Extent>,
        wake: Mutex<Option<Wake>>,
    }

    struct Sum {
        channel: Arc<Channel>,
        shards: usize,
        sum: usize,
        teller: Teller<Watermark, usize>,
        /// A number that this dataflow does not bear.
        panics_at: Option<usize>,
    }

    impl Channel {
        fn extent(&self) -> Extent {
            *self.extent.lock().unwrap()
        }

        fn send(&self, blocks: usize, complete: bool) {
            *self.extent.lock().unwrap() = Extent { blocks, complete };
            if let Some(wake) = &*self.wake.lock().unwrap() {
                wake();
            }
        }
    }

    impl Dataflow for Sum {
        type Block = usize;
        type Part = usize;
        type Outcome = usize;

        fn extend(&self, _split: usize) -> Extent {
            self.channel.extent()
        }
        fn stamp(&self, _split: usize, block: usize) -> Stamp {
            Stamp { clock_ms: block as i64, idle: false }
        }
        fn read(&mut self, _split: usize, block: usize, _entry: u8) -> Result<usize> {
            Ok(block)
        }
        fn peaks(&self, &number: &usize) -> Option<Peaks> {
            Some(Peaks { first: number as i64, ..Peaks::NONE })
        }
        fn after(&mut self, _block: &mut usize, start: Watermark) -> Watermark {
            start
        }
        fn route(&mut self, _: &Step, number: usize, _: &[InputWatermark], out: &mut Outgoing<usize>) -> Result<()> {
            out.push(0, number % self.shards, number);
            Ok(())
        }
        fn run_stage(
            &mut self,
            _stage: usize,
            _step: &Step,
            (_, watermark): (&[InputWatermark], Watermark),
            parts: Vec<usize>,
            _out: &mut Outgoing<usize>,
        ) -> Result<()> {
            for number in parts {
                assert_ne!(Some(number), self.panics_at, "seven is too much");
                self.sum += number;
                self.teller.tell(watermark)?;
            }
            Ok(())
        }
        fn finish(self, _peaks: &[Peaks]) -> Result<usize> {
            Ok(self.sum)
        }
    }

    #[derive(Default)]
    struct Listening {
        sum: usize,
        told: Vec<Watermark>,
    }

    impl Listener<Watermark, usize> for Listening {
        fn notice(&mut self, _text: &str) {}
        fn told(&mut self, what: Watermark) {
            self.told.push(what);
        }
        fn ended(&mut self, outcome: usize) {
            self.sum += outcome;
        }
        fn release(&mut self, _blocks: u64) -> Result<()> {
            Ok(())
        }
        fn look(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn run(numbers: usize, panics_at: Option<usize>) -> (Result<()>, Listening) {
        let extent = Extent { blocks: 0, complete: false };
        let channel = Arc::new(Channel { extent: Mutex::new(extent), wake: Mutex::new(None) });
        let shards = 3;
        let ports = [Port { stage: 0, from: Producer::Branch(0) }];
        let layout = Arc::new(Layout::new(&ports, &[0], 1, vec![0]));
        let events = Events::new();
        let flow = |_| {
            let (channel, teller) = (channel.clone(), events.teller());
            move || Ok(Sum { channel, shards, sum: 0, teller, panics_at })
        };
        let flows: Vec<_> = (0..shards).map(flow).collect();
        let sender = channel.clone();
        let thread = std::thread::spawn(move || {
            for number in 1..=numbers {
                std::thread::yield_now();
                sender.send(number, number == numbers);
            }
        });
        let begin = |wake: &Wake| *channel.wake.lock().unwrap() = Some(wake.clone());
        let course = Course {
            layout,
            extents: vec![extent],
            start: WatermarkStart::DataStream,
            order: Order::Arrival,
            place: None,
            cut_every: None,
        };
        let mut listening = Listening::default();
        let result = drive(course, &RunOptions::default(), flows, begin, events, &mut listening);
        thread.join().unwrap();
        (result, listening)
    }

    #[test]
    fn numbers_of_another_thread_reach_their_shards() {
        let (result, listening) = run(1_000, None);
        result.unwrap();
        assert_eq!((listening.sum, listening.told.len()), (499_500, 1_000));
    }

    #[test]
    fn a_panic_of_a_dataflow_ends_the_job_with_its_words() {
        let error = run(1_000, Some(7)).0.unwrap_err();
        assert!(error.to_string().contains("seven is too much"), "{error}");
    }
}

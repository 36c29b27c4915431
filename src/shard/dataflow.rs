//! What the state machine asks of whoever has rows to move.

use crate::error::{Error, Result};
use crate::exchange::Stamp;
use crate::exchange::sequence::{Position, Step};
use crate::source::{Extent, Transition};
use crate::time::Watermark;
use crate::watermark::Peaks;

/// What a job does with its rows on one shard. The shard says when; it alone knows order, queues and turns. It calls
/// once a block or once a block and stage, never once a row.
pub trait Dataflow {
    /// Rows that were read and wait for their turn.
    type Block;
    /// Rows on their way to a stage.
    type Part: Send + 'static;
    /// What is left of it at the end.
    type Outcome: Send + 'static;

    /// Makes one more block of a split if that can be done now, and says what is there then, as
    /// [`Split::extend`](crate::source::Split::extend). Not asked of a split that is complete. In the order of arrival
    /// a split is asked whenever a shard has nothing else to do, by one shard at a time; a block without rows may tell
    /// how time goes by, or that there was no more to come behind the last one with rows.
    fn extend(&self, split: usize) -> Extent;

    /// What a new block tells at once, where blocks count in the order of their arrival: the processing time, and
    /// whether the split is idle from here on (then the block has no rows). Asked for once a block, by one shard at a
    /// time, right after [`Dataflow::extend`] has made it.
    fn stamp(&self, _split: usize, _block: usize) -> Stamp {
        Stamp::NONE
    }

    /// As [`Split::probe`](crate::source::Split::probe); once a block.
    ///
    /// # Errors
    /// The block cannot be read.
    fn probe(&self, _split: usize, _block: usize) -> Result<Transition> {
        Ok(Transition::IDENTITY)
    }

    /// Reads a block; once. `entry`: the state in which it begins.
    ///
    /// # Errors
    /// The block cannot be read. Reported when its turn comes.
    fn read(&mut self, split: usize, block: usize, entry: u8) -> Result<Self::Block>;

    /// The highest watermarks of a block, where the higher of these and of the one before the block is the split's
    /// watermark after it: all shards are told as soon as the block is read. None: see [`Dataflow::after`].
    fn peaks(&self, block: &Self::Block) -> Option<Peaks>;

    /// The split's watermark after a block whose peaks do not say it, asked for when its turn comes. `start`: before
    /// the block. The blocks of a split come in their order, though not all of them to this shard.
    fn after(&mut self, block: &mut Self::Block, start: Watermark) -> Watermark;

    /// Sends the rows of a block on their way. `inputs`: by stage.
    ///
    /// # Errors
    /// What the work on the rows comes upon.
    fn route(
        &mut self,
        step: &Step,
        block: Self::Block,
        inputs: &[InputWatermark],
        out: &mut Outgoing<Self::Part>,
    ) -> Result<()>;

    /// Gives a stage its rows of a step, then moves its watermark to what it is after the step. `inputs`: by stage, as
    /// for [`Dataflow::route`], and the watermark of this stage after the step. `parts`: by port, then by sending shard.
    ///
    /// # Errors
    /// What the work on the rows comes upon.
    fn run_stage(
        &mut self,
        stage: usize,
        step: &Step,
        inputs: (&[InputWatermark], Watermark),
        parts: Vec<Self::Part>,
        out: &mut Outgoing<Self::Part>,
    ) -> Result<()>;

    /// All stages have done a step.
    fn completed(&mut self, _step: &Step) {}

    /// All blocks before the cut have been processed here, and none behind it: the time to write down what there is.
    ///
    /// # Errors
    /// What there is cannot be written down.
    fn cut(&mut self, _cut: &Cut) -> Result<()> {
        Ok(())
    }

    /// The error for a panic in any of these. `text`: its message.
    fn panicked(text: &str) -> Error {
        Error::internal(format!("a shard failed: {text}"))
    }

    /// All input is processed. `peaks`: the highest watermarks of each split.
    ///
    /// # Errors
    /// What is left to write cannot be written.
    fn finish(self, peaks: &[Peaks]) -> Result<Self::Outcome>;
}

/// A place between two blocks of the order, the same on every shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Counted from 1, ascending.
    pub number: u64,
    pub place: Place,
}

/// Where a job stands between two blocks, and can go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub position: Position,
    /// By stage.
    pub watermarks: Vec<Watermark>,
}

/// The watermark of a stage while rows of one split are on their way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputWatermark {
    /// The lowest of the other splits that reach the stage.
    pub others: Watermark,
    /// That of the stage before the block: it never goes back.
    pub reached: Watermark,
    /// What the split had emitted before the block.
    pub start: Watermark,
}

impl InputWatermark {
    /// The stage's watermark where `own` is what the split has emitted: only what it emits anew moves the stage.
    #[inline]
    pub fn with(self, own: Watermark) -> Watermark {
        if own == self.start { self.reached } else { own.min(self.others).max(self.reached) }
    }
}

/// Parts for the ports that a branch or stage feeds. Each shard gets one message through each of them, even an empty
/// one.
#[derive(Debug)]
pub struct Outgoing<P> {
    shards: usize,
    /// Numbers of the ports, and by port and shard the parts.
    ports: Vec<usize>,
    parts: Vec<Vec<P>>,
}

impl<P> Outgoing<P> {
    pub(super) fn new(ports: &[usize], shards: usize) -> Self {
        let parts = (0..ports.len() * shards).map(|_| Vec::new()).collect();
        Outgoing { shards, ports: ports.to_vec(), parts }
    }

    /// The ports that may be sent to.
    pub fn ports(&self) -> &[usize] {
        &self.ports
    }

    /// Adds a part for shard `to`. Parts for one port and shard keep their order.
    ///
    /// # Panics
    /// If the sender does not feed the port.
    pub fn push(&mut self, port: usize, to: usize, part: P) {
        let index = self.ports.iter().position(|&own| own == port).expect("a port that the sender feeds");
        self.parts[index * self.shards + to].push(part);
    }

    /// Port, shard and parts of every message.
    pub(super) fn into_messages(self) -> impl Iterator<Item = (usize, usize, Vec<P>)> {
        let Outgoing { shards, ports, parts } = self;
        parts.into_iter().enumerate().map(move |(index, parts)| (ports[index / shards], index % shards, parts))
    }
}

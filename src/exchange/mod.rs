//! What crosses shards: messages in bounded lock-free queues, and the order of the input's blocks.
//!
//! Every block of input has a place in one order, the same on every shard ([`sequence`]). Each stage
//! takes its input in that order, so results do not depend on timing or on the number of shards.

mod arrival;
pub mod mesh;
pub mod progress;
pub mod sequence;

pub use arrival::Stamp;

/// Rows of one block for one shard, through one port. Sent even when empty: the receiver takes
/// messages in the order of `seq` and must know that nothing is missing.
#[derive(Debug)]
pub struct Message<P> {
    /// Which input of which stage; numbered by the shard's program.
    pub port: usize,
    /// The block's place in the order of blocks.
    pub seq: u64,
    pub parts: Vec<P>,
}

/// The order in which the blocks of all splits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Next comes the split with the lowest watermark: a function of the data alone.
    LowestWatermark,
    /// As blocks come into being: for inputs without an end, which cannot wait for each other, and for processing time.
    Arrival,
}

//! What crosses shards: messages in bounded lock-free queues, and the order of the input's blocks.
//!
//! Every block of input has a place in one order, the same on every shard ([`sequence`]). Each stage
//! takes its input in that order, so results do not depend on timing or on the number of shards.

pub mod mesh;
pub mod progress;
pub mod sequence;

use crate::batch::EventBatch;

/// Rows of one block for one shard, through one port. Sent even when empty: the receiver takes
/// messages in the order of `seq` and must know that nothing is missing.
#[derive(Debug)]
pub struct Message {
    /// Which input of which stage; numbered by the shard's program.
    pub port: usize,
    /// The block's place in the order of blocks.
    pub seq: u64,
    pub parts: Vec<Part>,
}

/// A batch and its place within the message's `seq` among the batches of all senders.
#[derive(Debug)]
pub struct Part {
    /// 0 for rows from a reader, the (first) window end for rows from a window operator.
    pub order: i64,
    /// The window end of each row where they differ, ascending; else empty.
    pub ends: Vec<i64>,
    pub batch: EventBatch,
}

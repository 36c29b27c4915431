//! What a chain sees of the shard while a block passes through it.

use std::any::Any;
use std::sync::Arc;

use crate::error::Result;
use crate::key::KeyGroups;
use crate::shard::InputWatermark;
use crate::windowing::batch::{BlockTimes, StageTimes};

/// Rows of one sender for one owner: a [`KeyedBatch`](crate::windowing::batch::KeyedBatch) of the types of the stage.
pub struct Part {
    pub rows: Option<Box<dyn Any + Send>>,
    pub block: Arc<BlockTimes>,
}

/// Where what leaves a chain goes.
pub(super) trait Leaving {
    /// To an input of a stage on shard `to`.
    fn send(&mut self, port: usize, to: usize, part: Part);
    /// To a sink: records of the sink's type, in a [`Batch`](super::push::Batch).
    ///
    /// # Errors
    /// Nobody takes them any more.
    fn give(&mut self, sink: usize, records: Box<dyn Any + Send>) -> Result<()>;
}

/// What chains count. Of one shard, since the job began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChainCounts {
    pub rows_filtered: u64,
}

/// See the module.
pub(super) struct Context<'a> {
    pub block: Arc<BlockTimes>,
    /// By stage, while this block is on its way.
    pub inputs: &'a [InputWatermark],
    pub groups: KeyGroups,
    pub counts: &'a mut ChainCounts,
    pub leaving: &'a mut dyn Leaving,
}

impl Context<'_> {
    /// The watermark of a stage through this block.
    pub fn times_of(&self, stage: usize) -> StageTimes {
        let InputWatermark { others, reached, start } = self.inputs[stage];
        StageTimes { block: self.block.clone(), others, reached, start }
    }
}

//! What most programs use: `use transom::api::prelude::*;`.

pub use std::time::Duration;

pub use super::source::{GeneratorSource, IteratorSource, StreamSender, channel};
#[cfg(feature = "sql")]
pub use super::source::{Row, TableSource};
pub use super::{
    Collected, DataStream, JobClient, JobExecutionResult, KeyedStream, ManualClock, OperatorKind,
    SingleOutputStreamOperator, StreamExecutionEnvironment, WatermarkGenerator, WatermarkOutput, WatermarkStrategy,
    WindowedStream,
};
#[cfg(feature = "sql")]
pub use super::{RowBuilder, TableSink};
pub use crate::error::{Error, Result};
pub use crate::job::RestoreFrom;
pub use crate::windowing::aggregates::*;
pub use crate::windowing::assigner::*;
pub use crate::windowing::evictor::*;
pub use crate::windowing::function::*;
pub use crate::windowing::output::{Collector, OutputTag};
pub use crate::windowing::trigger::*;
pub use crate::windowing::window::*;
pub use crate::windowing::{Data, Key, StateData};

//! What most programs use: `use transom::api::prelude::*;`.

pub use std::time::Duration;

pub use super::source::{GeneratorSource, IteratorSource};
pub use super::{
    Collected, DataStream, JobExecutionResult, KeyedStream, OperatorKind, SingleOutputStreamOperator,
    StreamExecutionEnvironment, WatermarkStrategy, WindowedStream,
};
pub use crate::error::{Error, Result};
pub use crate::windowing::aggregates::*;
pub use crate::windowing::assigner::*;
pub use crate::windowing::evictor::*;
pub use crate::windowing::function::*;
pub use crate::windowing::output::{Collector, OutputTag};
pub use crate::windowing::trigger::*;
pub use crate::windowing::window::*;

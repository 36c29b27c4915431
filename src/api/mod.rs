//! The DataStream API: window jobs as Rust programs, with Flink's names and Flink's answers.

mod branch;
mod context;
mod environment;
mod explain;
mod flow;
mod graph;
mod keyed;
pub mod prelude;
mod push;
mod route;
mod sink;
pub mod source;
mod stage;
mod stream;
pub mod testing;
#[cfg(test)]
mod tests;
mod warnings;
mod watermarks;
mod windowed;

pub use environment::{JobExecutionResult, OperatorSummary, StreamExecutionEnvironment};
pub use explain::{OperatorCard, OperatorKind};
pub use keyed::{CountWindows, KeyedStream, SlidingCountWindows};
pub use push::NO_TIMESTAMP;
pub use sink::Collected;
pub use stream::{DataStream, SingleOutputStreamOperator};
pub use watermarks::{WatermarkGenerator, WatermarkOutput, WatermarkStrategy};
pub use windowed::WindowedStream;

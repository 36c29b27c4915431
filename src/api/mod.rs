//! The DataStream API: window jobs as Rust programs, with Flink's names and Flink's answers.

mod branch;
mod clock;
mod context;
mod environment;
mod explain;
mod flow;
mod graph;
mod job_client;
mod keyed;
mod pace;
pub mod prelude;
mod push;
mod result;
mod route;
mod run;
mod sink;
pub mod source;
mod stage;
mod stream;
#[cfg(feature = "sql")]
mod table_sink;
pub mod testing;
#[cfg(test)]
mod tests;
mod warnings;
mod watermarks;
mod windowed;

pub use clock::{Clock, ManualClock};
pub use environment::StreamExecutionEnvironment;
pub use explain::{OperatorCard, OperatorKind, SinkCard, SourceCard};
pub use job_client::JobClient;
pub use keyed::{CountWindows, KeyedStream, SlidingCountWindows};
pub use push::NO_TIMESTAMP;
pub use result::{JobExecutionResult, OperatorSummary};
pub use run::JobProgress;
pub use sink::Collected;
pub use stream::{DataStream, SingleOutputStreamOperator};
#[cfg(feature = "sql")]
pub use table_sink::{Cell, RowBuilder, TableSink};
pub use watermarks::{WatermarkGenerator, WatermarkOutput, WatermarkStrategy};
pub use windowed::WindowedStream;

//! The DataStream API: window jobs as Rust programs, with Flink's names and Flink's answers.
//!
//! A program walks through one corridor. It gets a stream from its environment, says how to read time from the records,
//! groups them by key, puts them into windows, and says what becomes of each window. Nothing runs before `execute`.
//!
//! ```text
//! StreamExecutionEnvironment
//!   from_source, from_collection      -> DataStream                  map, filter, flat_map, union
//!   assign_timestamps_and_watermarks  -> DataStream
//!   key_by                            -> KeyedStream
//!   window                            -> WindowedStream              trigger, evictor, allowed_lateness,
//!                                                                    side_output_late_data
//!   aggregate, reduce, fold,
//!   apply, process                    -> SingleOutputStreamOperator  get_side_output; a DataStream again
//!   collect, for_each, sink, print
//! execute                             -> JobExecutionResult
//! ```
//!
//! ```
//! use transom::api::prelude::*;
//!
//! # fn main() -> Result<()> {
//! // User and time in milliseconds; the last click but one is out of order.
//! let clicks = [('a', 1_000), ('b', 61_000), ('a', 59_000), ('a', 130_000)];
//! let watermarks = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))
//!     .with_timestamp_assigner(|click: &(char, i64)| click.1);
//!
//! let environment = StreamExecutionEnvironment::new();
//! let counts = environment
//!     .from_collection(clicks)
//!     .assign_timestamps_and_watermarks(watermarks)
//!     .key_by(|click| click.0)
//!     .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
//!     .aggregate(Count)
//!     .collect();
//! environment.execute()?;
//!
//! let counts: Vec<_> = counts.take().into_iter().map(|c| (c.window.start, c.key, c.value)).collect();
//! assert_eq!(counts, [(0, 'a', 2), (60_000, 'b', 1), (120_000, 'a', 1)]);
//! # Ok(()) }
//! ```
//!
//! The guide is docs/api.md; programs of a page each are in examples/. To feed a program by hand in a test, see
//! [`testing::TestHarness`].

mod branch;
mod checkpoint;
mod clock;
mod context;
mod environment;
mod explain;
mod flow;
mod graph;
mod job_client;
mod keyed;
mod ordered;
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

pub use crate::job::{Completed, RestoreFrom};
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

use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Place};

/// Locks what is whole at every step: a panic of another holder has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error that names no place has this one in the program's source.
fn placed(error: Error, location: &Location<'_>) -> Error {
    let (line, column) = (u64::from(location.line()), u64::from(location.column()));
    error.at_place(Place { file: location.file().to_string(), line, column, length: 0 })
}

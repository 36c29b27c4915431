//! Sources from end to end.

pub mod channel;
#[cfg(feature = "sql")]
mod table;

use crate::api::StreamExecutionEnvironment;
use crate::job::RunOptions;

/// On so many shards, with blocks of so many rows and bytes.
pub fn environment(shards: usize, rows: usize) -> StreamExecutionEnvironment {
    let environment = StreamExecutionEnvironment::new();
    let options = RunOptions { shards, batch_rows: rows, block_bytes: 16 * rows, ..RunOptions::default() };
    environment.set_run_options(options).on_warning(|_| {});
    environment
}

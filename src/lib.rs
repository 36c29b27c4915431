//! Transom: Flink's event-time windows on one machine.
//!
//! A script or a program becomes a [`plan`]; a [`job`] runs it on shards. Data flows one way:
//!
//! ```text
//!  source -> format -> watermark -> expr -> exchange -> window -> expr -> … -> sink
//!  (blocks)  (decode)  (per row)   (calc)  (by key)    (fire)             (commit)
//! ```
//!
//! Imports point down: the ground (error, types, time, calendar, numbers, key, batch, limits) knows
//! nobody; stages know the ground and the plan but not each other; only `shard` holds two stages at
//! once. The map of the rooms is docs/architecture.md, checked by tests/tidy.rs.
//!
//! There are two ways in: [`api`], for window jobs as Rust programs over records of their own types, and
//! `runner::run_script` (feature `sql`), which runs a whole Flink SQL script.
#![deny(unsafe_code)]

pub mod aggregate;
pub mod api;
pub mod arena;
pub mod batch;
mod calendar;
pub mod error;
pub mod exchange;
pub mod expr;
pub mod format;
pub mod guess;
pub mod io;
pub mod job;
pub mod key;
pub mod limits;
pub mod metrics;
pub mod numbers;
pub mod options;
pub mod plan;
#[cfg(feature = "sql")]
pub mod runner;
pub mod shard;
pub mod sink;
pub mod sketch;
pub mod snapshot;
pub mod source;
#[cfg(feature = "sql")]
pub mod sql;
pub mod state;
pub mod time;
pub mod types;
pub mod watermark;
pub mod window;
pub mod windowing;

/// The tests of the modules share it with those in `tests`.
#[cfg(test)]
#[path = "../tests/support/random.rs"]
mod random;

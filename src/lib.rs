//! Transom: Flink's event-time windows on one machine.
#![deny(unsafe_code)]

pub mod aggregate;
pub mod arena;
pub mod batch;
pub mod error;
pub mod expr;
pub mod format;
pub mod key;
pub mod limits;
pub mod plan;
pub mod sink;
pub mod source;
#[cfg(feature = "sql")]
pub mod sql;
pub mod state;
pub mod time;
pub mod types;
pub mod window;

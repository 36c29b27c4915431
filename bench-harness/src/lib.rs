//! What measures and judges Transom from outside: recorded answers of Flink, made workloads, timed runs.
//!
//! Nothing here knows how the engine works. The ways in are its public ones: [`engine::run`] for scripts, and the
//! DataStream API for programs.

pub mod chaos;
pub mod cli;
pub mod conformance;
pub mod engine;
pub mod json;
pub mod number;
pub mod process;
pub mod programs;
pub mod random_sql;
pub mod stamp;
pub mod state;
pub mod supervise;
pub mod throughput;
pub mod timeline;
pub mod workload;

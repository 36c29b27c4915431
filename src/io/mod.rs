//! Where the engine meets the operating system: threads, cores, and files that must last.

pub mod durable;
pub mod files;
pub mod limits;
#[cfg(test)]
pub(crate) mod simulated;
pub mod uring;

//! Where the engine meets the operating system's threads and cores.

pub mod limits;
pub mod uring;

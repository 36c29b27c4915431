//! Parquet, by way of the parquet crate's Arrow reader and writer.

mod cast;
mod guard;
mod int96;
mod layout;
mod options;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use cast::flink_type;
pub use options::ParquetOptions;
pub use read::ParquetReader;
pub use write::{ParquetPart, append_parquet_parts, parquet_is_empty};

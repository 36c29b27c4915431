//! Parquet, by way of the parquet crate's Arrow reader and writer.

mod cast;
mod json;
mod read;
mod write;

pub use read::ParquetReader;
pub use write::{ParquetPart, append_parquet_parts, parquet_is_empty};

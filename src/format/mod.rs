//! File formats: CSV, JSON lines and Parquet, decoded into and encoded from Arrow columns by schema.

use crate::error::{Error, Result};
use crate::plan::Options;
use crate::types::Schema;

/// A format with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatSpec {
    Csv(CsvOptions),
    Json(JsonOptions),
    Parquet,
}

/// Flink's `csv.*` options.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CsvOptions {}

/// Flink's `json.*` options.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonOptions {}

impl FormatSpec {
    /// Reads `format` and the options of that format (with their prefix) out of a table's options.
    /// `schema`: the physical columns, to refuse types that the format cannot hold.
    pub fn from_options(options: &mut Options, schema: &Schema) -> Result<Self> {
        let _ = (options.require("format")?, schema);
        Err(Error::internal("formats are not there yet"))
    }
}

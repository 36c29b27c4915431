//! File formats: CSV, JSON lines and Parquet, decoded into and encoded from Arrow columns by schema.

mod cells;
mod column;
mod convert;
mod csv;
mod fast;
mod json;
mod parquet;
mod parse;
mod path;
mod print;
mod remedy;
mod text;

pub use self::csv::CsvOptions;
pub use self::json::JsonOptions;
pub use self::parquet::{ParquetPart, ParquetReader, append_parquet_parts, parquet_is_empty};
pub use self::parse::TimestampStyle;
pub use self::path::{InputFile, local_path};
pub use self::text::{Failure, Notes, Output, Step, TextDecoder, record_text};

use arrow::array::RecordBatch;

use crate::error::{Error, Result, nearest};
use crate::options::Options;
use crate::types::{Schema, Type};

/// A format with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatSpec {
    Csv(CsvOptions),
    Json(JsonOptions),
    Parquet,
}

/// Writes batches of text rows into a byte buffer.
pub struct TextEncoder(Encoder);

enum Encoder {
    Csv(Box<csv::encode::CsvEncoder>),
    Json(json::encode::JsonEncoder),
}

/// Formats of Flink that are not ours.
const FOREIGN: &[&str] = &[
    "avro",
    "avro-confluent",
    "debezium-avro-confluent",
    "canal-json",
    "debezium-json",
    "maxwell-json",
    "ogg-json",
    "orc",
    "raw",
    "protobuf",
];

impl FormatSpec {
    /// Reads `format` and the options of that format (with their prefix) out of a table's options.
    /// `schema`: the physical columns, to refuse types that the format cannot hold.
    ///
    /// # Errors
    /// An unknown format or a wrong value: Script, at the option. A format or type of Flink's that is not ours: Unsupported.
    pub fn from_options(options: &mut Options, schema: &Schema) -> Result<Self> {
        let name = options.require("format")?;
        let place = options.place_of("format");
        let spec = match name.to_ascii_lowercase().as_str() {
            "csv" => FormatSpec::Csv(CsvOptions::from_options(options)?),
            "json" => FormatSpec::Json(JsonOptions::from_options(options)?),
            "parquet" => {
                // Files carry their compression, and timestamps are read as they are.
                options.take("parquet.compression");
                options.take_bool("parquet.utc-timezone", false)?;
                FormatSpec::Parquet
            }
            foreign if FOREIGN.contains(&foreign) => {
                return Err(Error::unsupported(format!("format '{foreign}'")).at_place(place));
            }
            _ => {
                let error = options.invalid("format", "csv, json or parquet");
                let known = ["csv", "json", "parquet"];
                return Err(match nearest(&name, known.into_iter().chain(FOREIGN.iter().copied())) {
                    Some(near) => error.help(format!("did you mean '{near}'?")),
                    None => error,
                });
            }
        };
        for field in &schema.fields {
            if !spec.holds(&field.data_type.kind) {
                let kind = &field.data_type.kind;
                return Err(Error::unsupported(format!(
                    "type {kind} of column `{}` of {} in format '{}'",
                    field.name,
                    options.owner,
                    spec.name()
                ))
                .at_place(place));
            }
        }
        Ok(spec)
    }

    /// Flink's name of the format, which is also the extension of its files.
    pub fn name(&self) -> &'static str {
        match self {
            FormatSpec::Csv(_) => "csv",
            FormatSpec::Json(_) => "json",
            FormatSpec::Parquet => "parquet",
        }
    }

    fn holds(&self, kind: &Type) -> bool {
        let binary = matches!(kind, Type::Binary(_) | Type::VarBinary(_));
        column::Column::new(kind).is_some() || (binary && *self == FormatSpec::Parquet)
    }

    /// A decoder of the projected columns; `None` for Parquet, which is no text.
    ///
    /// # Errors
    /// Internal, for a column whose type [`FormatSpec::from_options`] refuses.
    pub fn text_decoder(
        &self,
        schema: &Schema,
        projection: &[usize],
        batch_rows: usize,
    ) -> Result<Option<Box<dyn TextDecoder>>> {
        Ok(match self {
            FormatSpec::Csv(options) => {
                Some(Box::new(csv::decode::CsvDecoder::new(options, schema, projection, batch_rows)?))
            }
            FormatSpec::Json(options) => {
                Some(Box::new(json::decode::JsonDecoder::new(options, schema, projection, batch_rows)?))
            }
            FormatSpec::Parquet => None,
        })
    }

    /// The state of the format behind `bytes` for each state in front of them (0: the start of a file);
    /// `before` is the byte in front. `None` where a block can be read without that.
    pub fn transition(&self, bytes: &[u8], before: u8) -> Option<[u8; 8]> {
        match self {
            FormatSpec::Csv(options) => Some(csv::syntax_of(options).transition(bytes, before)),
            FormatSpec::Json(_) | FormatSpec::Parquet => None,
        }
    }

    /// An encoder; `None` for Parquet, which is no text.
    pub fn text_encoder(&self, schema: &Schema) -> Option<TextEncoder> {
        match self {
            FormatSpec::Csv(options) => {
                Some(TextEncoder(Encoder::Csv(Box::new(csv::encode::CsvEncoder::new(options)))))
            }
            FormatSpec::Json(options) => {
                Some(TextEncoder(Encoder::Json(json::encode::JsonEncoder::new(options, schema))))
            }
            FormatSpec::Parquet => None,
        }
    }
}

impl TextEncoder {
    /// Appends the batch's rows to `out`.
    ///
    /// # Errors
    /// Internal, for a column whose type [`FormatSpec::from_options`] refuses.
    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        match &mut self.0 {
            Encoder::Csv(encoder) => encoder.encode(batch, out),
            Encoder::Json(encoder) => encoder.encode(batch, out),
        }
    }
}

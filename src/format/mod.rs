//! File formats: CSV, JSON lines, Parquet and Avro, decoded into and encoded from Arrow columns by schema.

mod avro;
mod base64;
mod cells;
mod column;
mod convert;
mod csv;
mod fast;
mod json;
mod nested;
mod parquet;
mod parse;
mod path;
mod print;
mod raw;
mod remedy;
mod rows;
mod text;

pub use self::avro::{AvroOptions, AvroPart, AvroReader, AvroReject, append_avro_parts, avro_is_empty};
pub use self::csv::CsvOptions;
pub use self::csv::header::Header;
pub(crate) use self::csv::scan::{Ending, Scan, Syntax};
pub use self::json::JsonOptions;
pub(crate) use self::parquet::flink_type;
pub use self::parquet::{ParquetOptions, ParquetPart, ParquetReader, append_parquet_parts, parquet_is_empty};
pub use self::parse::TimestampStyle;
pub(crate) use self::parse::{csv_date, csv_time, iso_date, timestamp};
pub use self::path::{InputFile, local_path};
pub use self::raw::{Charset, RawOptions};
pub use self::rows::rows_as_json;
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
    /// JSON lines that say what happened to a row. Can only be written.
    DebeziumJson(JsonOptions),
    Raw(RawOptions),
    Parquet(ParquetOptions),
    Avro(AvroOptions),
}

/// Writes batches of text rows into a byte buffer.
pub struct TextEncoder {
    encoder: Encoder,
    header: Vec<u8>,
}

enum Encoder {
    Csv(Box<csv::encode::CsvEncoder>),
    Json(json::encode::JsonEncoder),
    Raw(raw::encode::RawEncoder),
}

/// Formats of Flink that are not ours.
const FOREIGN: &[&str] =
    &["avro-confluent", "debezium-avro-confluent", "canal-json", "maxwell-json", "ogg-json", "orc", "protobuf"];

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
            "json" => FormatSpec::Json(JsonOptions::from_options(options, "json")?),
            "debezium-json" => {
                if options.take_bool("debezium-json.schema-include", false)? {
                    return Err(
                        options.invalid("debezium-json.schema-include", "false: rows are written without a schema")
                    );
                }
                FormatSpec::DebeziumJson(JsonOptions::from_options(options, "debezium-json")?)
            }
            "raw" => FormatSpec::Raw(RawOptions::from_options(options, schema)?),
            "parquet" => FormatSpec::Parquet(ParquetOptions::from_options(options)?),
            "avro" => FormatSpec::Avro(AvroOptions::from_options(options, schema)?),
            foreign if FOREIGN.contains(&foreign) => {
                return Err(Error::unsupported(format!("format '{foreign}'")).at_place(place));
            }
            _ => {
                let error = options.invalid("format", "csv, json, raw, debezium-json, parquet or avro");
                let known = ["csv", "json", "raw", "debezium-json", "parquet", "avro"];
                return Err(match nearest(&name, known.into_iter().chain(FOREIGN.iter().copied())) {
                    Some(near) => error.help(format!("did you mean '{near}'?")),
                    None => error,
                });
            }
        };
        for field in &schema.fields {
            let kind = &field.data_type.kind;
            if matches!(spec, FormatSpec::Json(_) | FormatSpec::DebeziumJson(_))
                && let Some(map) = json::map_without_text_keys(kind)
            {
                let error = Error::script(format!(
                    "column `{}` of {}: format 'json' takes only texts as keys of a MAP and elements of a MULTISET, not {map}",
                    field.name, options.owner
                ));
                return Err(error.at_place(place).help("declare them STRING, or CAST the value to STRING"));
            }
            if matches!(spec, FormatSpec::Csv(_))
                && let Some(message) = csv::nested::refused(field)
            {
                return Err(Error::script(message).at_place(place).help("use format 'json', or declare a STRING"));
            }
            if !spec.holds(kind) {
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
            FormatSpec::DebeziumJson(_) => "debezium-json",
            FormatSpec::Raw(_) => "raw",
            FormatSpec::Parquet(_) => "parquet",
            FormatSpec::Avro(_) => "avro",
        }
    }

    fn holds(&self, kind: &Type) -> bool {
        match self {
            FormatSpec::Avro(_) | FormatSpec::Parquet(_) => in_columns(kind),
            FormatSpec::Csv(_) | FormatSpec::Json(_) | FormatSpec::DebeziumJson(_) | FormatSpec::Raw(_) => {
                column::Column::new(kind).is_some()
            }
        }
    }

    /// Whether files of this format can be read, not only written.
    pub fn is_readable(&self) -> bool {
        !matches!(self, FormatSpec::DebeziumJson(_))
    }

    /// Whether rows can be written that change or delete others.
    pub fn takes_changes(&self) -> bool {
        matches!(self, FormatSpec::DebeziumJson(_))
    }

    /// Whether a byte-order mark at the start of a file is no part of its first value.
    pub fn skips_mark(&self) -> bool {
        !matches!(self, FormatSpec::Raw(_))
    }

    /// Whether each file starts with a header, which [`FormatSpec::read_header`] reads.
    pub fn has_header(&self) -> bool {
        matches!(self, FormatSpec::Csv(options) if options.header)
    }

    /// Reads the header at the start of a file's text. `eof`: the text is all of the file. `None`: it goes on behind
    /// `bytes`.
    ///
    /// # Errors
    /// Data, at its offset: a column of `schema` has no field, or the header cannot be read.
    pub fn read_header(&self, schema: &Schema, bytes: &[u8], eof: bool) -> Result<Option<Header>, Failure> {
        match self {
            FormatSpec::Csv(options) => csv::header::read(options, schema, bytes, eof),
            _ => Err(Failure::Other(Error::internal("a header of a format without one"))),
        }
    }

    /// A decoder of the projected columns; `None` for Parquet and Avro, which are no text. `header`: that of the
    /// file, where it has one.
    ///
    /// # Errors
    /// Internal, for a column whose type [`FormatSpec::from_options`] refuses.
    pub fn text_decoder(
        &self,
        schema: &Schema,
        projection: &[usize],
        batch_rows: usize,
        header: Option<&Header>,
    ) -> Result<Option<Box<dyn TextDecoder>>> {
        Ok(match self {
            FormatSpec::Csv(options) => {
                Some(Box::new(csv::decode::CsvDecoder::new(options, schema, projection, batch_rows, header)?))
            }
            FormatSpec::Json(options) => {
                Some(Box::new(json::decode::JsonDecoder::new(options, schema, projection, batch_rows)?))
            }
            FormatSpec::Raw(options) => {
                Some(Box::new(raw::decode::RawDecoder::new(options, schema, projection, batch_rows)?))
            }
            FormatSpec::DebeziumJson(_) => return Err(Error::internal("a format that is only written is read")),
            FormatSpec::Parquet(_) | FormatSpec::Avro(_) => None,
        })
    }

    /// How many bytes behind a block [`FormatSpec::transition`] wants to see. `None` where a block can be read
    /// without knowing what is before it.
    pub fn look_ahead(&self) -> Option<usize> {
        match self {
            FormatSpec::Csv(options) => Some(csv::scan::Syntax::new(options).look_ahead()),
            _ => None,
        }
    }

    /// The state of the format behind the first `length` of `bytes` for each state in front of them (0: the start of a
    /// file); `before` is the byte in front. `None` where a block can be read without that.
    pub fn transition(&self, bytes: &[u8], length: usize, before: u8) -> Option<[u8; 8]> {
        match self {
            FormatSpec::Csv(options) => Some(csv::scan::Syntax::new(options).transition(bytes, length, before)),
            _ => None,
        }
    }

    /// An encoder; `None` for Parquet and Avro, which are no text.
    pub fn text_encoder(&self, schema: &Schema) -> Option<TextEncoder> {
        let mut header = Vec::new();
        let encoder = match self {
            FormatSpec::Csv(options) => {
                let encoder = csv::encode::CsvEncoder::new(options, schema);
                if options.header {
                    encoder.header(&mut header);
                }
                Encoder::Csv(Box::new(encoder))
            }
            FormatSpec::Json(options) => Encoder::Json(json::encode::JsonEncoder::new(options, schema)),
            FormatSpec::DebeziumJson(options) => Encoder::Json(json::encode::JsonEncoder::changes(options, schema)),
            FormatSpec::Raw(options) => Encoder::Raw(raw::encode::RawEncoder::new(options, schema)),
            FormatSpec::Parquet(_) | FormatSpec::Avro(_) => return None,
        };
        Some(TextEncoder { encoder, header })
    }
}

impl TextEncoder {
    /// What stands at the start of each file, before its rows: the header, where the options want one.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Appends the batch's rows to `out`. Behind their columns may stand that of their kinds, where the format
    /// [`takes changes`](FormatSpec::takes_changes).
    ///
    /// # Errors
    /// Internal, for a column whose type [`FormatSpec::from_options`] refuses.
    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        match &mut self.encoder {
            Encoder::Csv(encoder) => encoder.encode(batch, out),
            Encoder::Json(encoder) => encoder.encode(batch, out),
            Encoder::Raw(encoder) => encoder.encode(batch, out),
        }
    }
}

/// Whether the binary formats hold values of the type.
fn in_columns(kind: &Type) -> bool {
    match kind {
        Type::Null | Type::IntervalYearMonth | Type::IntervalDaySecond => false,
        Type::Array(inner) => in_columns(&inner.kind),
        Type::Map(key, value) => in_columns(&key.kind) && in_columns(&value.kind),
        Type::Multiset(element) => in_columns(&element.kind),
        Type::Row(fields) => !fields.is_empty() && fields.iter().all(|field| in_columns(&field.data_type.kind)),
        _ => true,
    }
}

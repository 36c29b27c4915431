//! Avro's object container files, read and written by code of our own.

mod build;
mod codec;
mod container;
mod encode;
mod plan;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod trial;
mod wire;
mod write;

pub use read::AvroReader;
pub use trial::AvroReject;
pub use write::{AvroPart, append_avro_parts, avro_is_empty};

use codec::Codec;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::types::{Field, Schema, Type};

/// The options of the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroOptions {
    codec: Codec,
    /// TIMESTAMP is written as an instant, and TIMESTAMP_LTZ is refused, as before Flink 1.19.
    legacy_timestamps: bool,
}

impl Default for AvroOptions {
    fn default() -> Self {
        AvroOptions { codec: Codec::Snappy, legacy_timestamps: true }
    }
}

const LEGACY: &str = "avro.timestamp_mapping.legacy";

impl AvroOptions {
    /// # Errors
    /// A wrong value, or a column that Flink cannot bring into an Avro schema: Script, at the option.
    pub(super) fn from_options(options: &mut Options, schema: &Schema) -> Result<Self> {
        let mut result = AvroOptions::default();
        if let Some(name) = options.take("avro.codec") {
            let known: Vec<_> = Codec::NAMES.iter().map(|(name, _)| *name).collect();
            result.codec = Codec::parse(&name).ok_or_else(|| options.invalid("avro.codec", &one_of(&known)))?;
        }
        result.legacy_timestamps = options.take_bool(LEGACY, true)?;
        if let Some(encoding) = options.take("avro.encoding")
            && !encoding.eq_ignore_ascii_case("binary")
        {
            return Err(options.invalid("avro.encoding", "binary, which is the encoding of files"));
        }
        options.take_bool("avro.open.fastread", false)?;
        for field in &schema.fields {
            let fits = result.check(field).and_then(|()| result.check_depth(field));
            fits.map_err(|error| error.at_place(options.place_of("format")))?;
        }
        Ok(result)
    }

    /// The JSON of a schema can be read only so deep.
    fn check_depth(&self, field: &Field) -> Result<()> {
        let json = schema::of_table(&Schema::new(vec![field.clone()]), self.legacy_timestamps);
        let Some(fault) = schema::too_deep(&json) else { return Ok(()) };
        let what = format!("format 'avro' cannot hold column `{}`: {fault}", field.name);
        Err(Error::script(what).help("nest its type less deep, or write with another format, such as json or parquet"))
    }

    fn check(&self, field: &Field) -> Result<()> {
        if !is_name(&field.name) {
            return Err(Error::script(format!("`{}` is no name in Avro", field.name))
                .help("use letters, digits and _ only, and no digit at the start"));
        }
        let refuse = |reason: &str, remedy: String| {
            Err(Error::script(format!("format 'avro' cannot hold column `{}`: {reason}", field.name)).help(remedy))
        };
        let correct = || format!("set '{LEGACY}' = 'false'");
        match &field.data_type.kind {
            Type::Timestamp(digits @ 4..) if self.legacy_timestamps => refuse(
                &format!("TIMESTAMP({digits}) has more than 3 digits"),
                format!("{}, or declare it TIMESTAMP(3)", correct()),
            ),
            Type::TimestampLtz(_) if self.legacy_timestamps => refuse("it is a TIMESTAMP_LTZ", correct()),
            Type::Time(digits @ 4..) => refuse(
                &format!("TIME({digits}) has more than 3 digits"),
                "declare it TIME(3); more digits are not kept anyway".to_string(),
            ),
            Type::Map(key, _) if !key.kind.is_string() => {
                refuse(&format!("the keys of a MAP are {}", key.kind), "use STRING keys".to_string())
            }
            Type::Multiset(element) if !element.kind.is_string() => refuse(
                &format!("the elements of a MULTISET are {}", element.kind),
                "CAST it to MULTISET<STRING>".to_string(),
            ),
            Type::Map(_, inner) | Type::Array(inner) => self.check(&Field::new(&field.name, (**inner).clone())),
            Type::Row(fields) => fields.iter().try_for_each(|field| self.check(field)),
            _ => Ok(()),
        }
    }
}

fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

//! JSON lines, as Flink reads and writes them with Jackson.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod tree;
mod value;

use super::parse::TimestampStyle;
use crate::error::{Error, Result, nearest};
use crate::options::Options;
use crate::types::Type;

/// Flink's `json.*` options.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonOptions {
    /// `json.fail-on-missing-field`
    pub fail_on_missing_field: bool,
    /// `json.ignore-parse-errors`: a wrong field is NULL, a broken line is skipped.
    pub ignore_parse_errors: bool,
    /// `json.timestamp-format.standard`
    pub timestamps: TimestampStyle,
    /// `json.encode.decimal-as-plain-number`
    pub plain_decimals: bool,
    /// `json.encode.ignore-null-fields`
    pub omit_nulls: bool,
    /// `json.map-null-key.mode`
    pub null_keys: NullKeys,
}

/// What becomes of an entry of a MAP whose key is NULL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NullKeys {
    /// The job fails.
    #[default]
    Fail,
    /// The entry is left out.
    Drop,
    /// This text (`json.map-null-key.literal`) is the key.
    Literal(String),
}

impl JsonOptions {
    /// `prefix`: the name of the format, in front of its options.
    pub(crate) fn from_options(options: &mut Options, prefix: &str) -> Result<Self> {
        let key = |option: &str| format!("{prefix}.{option}");
        let fail_on_missing_field = options.take_bool(&key("fail-on-missing-field"), false)?;
        let ignore_parse_errors = options.take_bool(&key("ignore-parse-errors"), false)?;
        if fail_on_missing_field && ignore_parse_errors {
            return Err(Error::script(format!(
                "'{prefix}.fail-on-missing-field' and '{prefix}.ignore-parse-errors' of {} are both true",
                options.owner
            ))
            .at_place(options.place_of(&key("ignore-parse-errors")))
            .help("leave out one of the two"));
        }
        let literal = options.take(&key("map-null-key.literal")).unwrap_or_else(|| "null".to_string());
        let null_keys = match options.take(&key("map-null-key.mode")).unwrap_or_default().to_uppercase().as_str() {
            "DROP" => NullKeys::Drop,
            "LITERAL" => NullKeys::Literal(literal),
            "FAIL" | "" => NullKeys::Fail,
            _ => return Err(options.invalid(&key("map-null-key.mode"), "one of FAIL, DROP, LITERAL")),
        };
        options.take_bool(&key("decode.json-parser.enabled"), true)?;
        if one_of(options, &key("zero-timestamp.behavior"), &["FAIL", "CONVERT_TO_NULL"])?.as_deref()
            == Some("CONVERT_TO_NULL")
        {
            return Err(Error::unsupported(format!("'{prefix}.zero-timestamp.behavior' = 'CONVERT_TO_NULL'"))
                .at_place(options.place_of(&key("zero-timestamp.behavior"))));
        }
        let style = one_of(options, &key("timestamp-format.standard"), &["SQL", "ISO-8601"])?;
        Ok(JsonOptions {
            fail_on_missing_field,
            ignore_parse_errors,
            timestamps: match style.as_deref() {
                Some("ISO-8601") => TimestampStyle::Iso,
                _ => TimestampStyle::Sql,
            },
            plain_decimals: options.take_bool(&key("encode.decimal-as-plain-number"), false)?,
            omit_nulls: options.take_bool(&key("encode.ignore-null-fields"), false)?,
            null_keys,
        })
    }
}

/// Flink's JSON takes texts only as keys of a MAP and as elements of a MULTISET, at any depth: the type
/// where that is not so.
pub(crate) fn map_without_text_keys(kind: &Type) -> Option<&Type> {
    match kind {
        Type::Map(key, _) | Type::Multiset(key) if !key.kind.is_string() => Some(kind),
        Type::Map(_, value) => map_without_text_keys(&value.kind),
        Type::Array(element) => map_without_text_keys(&element.kind),
        Type::Row(fields) => fields.iter().find_map(|field| map_without_text_keys(&field.data_type.kind)),
        _ => None,
    }
}

fn one_of(options: &mut Options, key: &str, choices: &[&str]) -> Result<Option<String>> {
    let Some(value) = options.take(key) else { return Ok(None) };
    if choices.contains(&value.as_str()) {
        return Ok(Some(value));
    }
    let error = options.invalid(key, &format!("one of {}", choices.join(", ")));
    Err(match nearest(&value, choices.iter().copied()) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error,
    })
}

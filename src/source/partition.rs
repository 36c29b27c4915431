//! Values that stand in the names of folders: `dt=2024-01-01/region=eu`.

use std::path::Path;

use arrow::array::{ArrayRef, BooleanArray, StringArray, new_null_array};
use percent_encoding::percent_decode_str;

use super::files::Found;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{CsvOptions, FormatSpec};
use crate::types::{DataType, Field, Schema, Type};

/// The values of the keys for a file below `root`, `None` for NULL. No values for a file above the folders that
/// tell them, which is not read.
pub(super) fn values(root: &Path, file: &Path, keys: &[String], default: &str) -> Result<Option<Vec<Option<String>>>> {
    let below = file.strip_prefix(root).unwrap_or(file);
    let parts: Vec<String> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if parts.len() < keys.len() {
        return Ok(None);
    }
    let value = |(key, part): (&String, &String)| {
        let told = part.split_once('=').map(|(name, value)| (unescape(name), unescape(value)));
        match told {
            Some((name, value)) if name == *key => Ok((value != default).then_some(value)),
            _ => {
                let message = format!(
                    "cannot read {}: '{part}' stands where a folder '{key}=…' of the partition key '{key}' is expected",
                    file.display()
                );
                Err(Error::script(message).help(
                    "the folders below the path must follow PARTITIONED BY, one key after the other; move what does \
                     not belong there, or begin its name with '_'",
                ))
            }
        }
    };
    keys.iter().zip(&parts).map(value).collect::<Result<_>>().map(Some)
}

fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The value as an array of one element.
///
/// # Errors
/// Data, if the text is no value of the type.
pub(super) fn typed(found: &Found, key: &str, text: Option<&str>, data_type: &DataType) -> Result<ArrayRef> {
    let kind = &data_type.kind;
    let Some(text) = text else { return Ok(new_null_array(&kind.to_arrow(), 1)) };
    match kind {
        Type::Char(_) | Type::VarChar(_) => return Ok(std::sync::Arc::new(StringArray::from(vec![text]))),
        // As Java's Boolean.parseBoolean.
        Type::Boolean => return Ok(std::sync::Arc::new(BooleanArray::from(vec![text.eq_ignore_ascii_case("true")]))),
        _ => {}
    }
    let written = match kind {
        Type::Timestamp(_) => as_csv_time(text),
        _ => text.to_string(),
    };
    parsed(&written, data_type).ok_or_else(|| {
        let message = format!("cannot read {}: '{text}' in '{key}={text}' is no {kind}", found.path);
        Error::new(ErrorKind::Data, message)
            .help(format!("rename the folder, or declare `{key}` as STRING and use TRY_CAST"))
    })
}

/// Folders have times as `java.time` prints them, perhaps without seconds.
fn as_csv_time(text: &str) -> String {
    let spaced = text.replacen('T', " ", 1);
    if spaced.len() == "2024-01-01 10:00".len() { format!("{spaced}:00") } else { spaced }
}

/// As a field of CSV is read.
fn parsed(text: &str, data_type: &DataType) -> Option<ArrayRef> {
    let schema = Schema::new(vec![Field::new("value", data_type.clone())]);
    let options = CsvOptions { quote: None, ..CsvOptions::default() };
    let mut decoder = FormatSpec::Csv(options).text_decoder(&schema, &[0], 2, None).ok()??;
    let bytes = text.as_bytes();
    let mut value = None;
    let out = &mut |batch: arrow::array::RecordBatch| {
        value = (batch.num_rows() == 1).then(|| batch.column(0).clone());
        Ok(())
    };
    let at = decoder.enter(bytes, 0, bytes.len(), 0, None)?;
    decoder.decode(bytes, at, bytes.len(), true, out).ok()?;
    decoder.finish(out).ok()?;
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_string()).collect()
    }

    #[test]
    fn the_folders_tell_the_values_in_their_order() {
        let of = |file: &str| values(Path::new("/d"), Path::new(file), &keys(&["dt", "r"]), "none");
        let told = of("/d/dt=2024-01-01/r=a b%2Fc/deeper/x.csv").expect("values");
        assert_eq!(told, Some(vec![Some("2024-01-01".to_string()), Some("a b/c".to_string())]));
        assert_eq!(of("/d/dt=1/r=none/x.csv").expect("values"), Some(vec![Some("1".to_string()), None]));
        assert_eq!(of("/d/x.csv").expect("not read"), None);
        let error = of("/d/r=1/dt=2/x.csv").expect_err("another order");
        assert!(error.message().contains("'r=1' stands where a folder 'dt=…'"), "{error}");
    }

    #[test]
    fn values_get_the_type_of_their_column() {
        let found = Found::of("/d/k=v/x.csv".to_string());
        let reads = |text: &str, kind: Type| typed(&found, "k", Some(text), &kind.nullable());
        for (text, kind) in [
            ("5", Type::Int),
            ("2024-01-01", Type::Date),
            ("2024-01-01T10:00", Type::Timestamp(3)),
            ("2024-01-01T10:00:00.120", Type::Timestamp(3)),
            ("1.5E10", Type::Double),
            ("x", Type::Boolean),
            ("1.50", Type::Decimal(5, 2)),
            ("", Type::string()),
        ] {
            let array = reads(text, kind.clone()).expect("a value");
            assert_eq!((array.len(), array.null_count(), array.data_type()), (1, 0, &kind.to_arrow()), "{text}");
        }
        let error = reads("2024-01-xx", Type::Date).expect_err("no date");
        assert!(error.message().contains("'2024-01-xx' in 'k=2024-01-xx' is no DATE"), "{error}");
    }
}

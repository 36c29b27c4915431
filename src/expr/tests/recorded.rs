//! What real Flink 2.3.0 answered, one expression a line of `recorded.txt`.
//!
//! `expression  =>  TYPE | value`, `expression  =>  error`, or `SINK type;expression  =>  value`. The
//! one row that they were computed for is [`ROW`]. Where Transom means to differ, the line starts with `#`.

use super::{batch, shown, text};
use crate::expr::resolve::coerce_assign;
use crate::types::{Field, Schema, Type};

/// Each file with the session's zone.
const RECORDED: [(&str, &str); 2] =
    [(include_str!("recorded.txt"), "UTC"), (include_str!("recorded_berlin.txt"), "Europe/Berlin")];

/// The columns of the one row, their types and values.
const ROW: &[(&str, &str, &str)] = &[
    ("b", "BOOLEAN", "true"),
    ("ti", "TINYINT", "1"),
    ("si", "SMALLINT", "2"),
    ("i", "INT", "3"),
    ("l", "BIGINT", "4"),
    ("f", "FLOAT", "1.5"),
    ("d", "DOUBLE", "2.5"),
    ("m", "DECIMAL(10, 2)", "12.34"),
    ("s", "STRING", "1"),
    ("c", "CHAR(5)", "ab"),
    ("v", "VARCHAR(7)", "xyz"),
    ("dt", "DATE", "2024-02-29"),
    ("tm", "TIME(0)", "12:34:56"),
    ("ts", "TIMESTAMP(3)", "2024-02-29 12:34:56.789"),
    ("t6", "TIMESTAMP(6)", "2024-02-29 12:34:56.789123"),
    ("z", "TIMESTAMP_LTZ(3)", "2024-02-29 12:34:56.789"),
];

/// A type by its SQL name and sizes.
pub(super) fn kind_of_name(name: &str, sizes: &[u32]) -> Option<Type> {
    let size = |at: usize, or: u32| sizes.get(at).copied().unwrap_or(or);
    Some(match name {
        "BOOLEAN" => Type::Boolean,
        "TINYINT" => Type::TinyInt,
        "SMALLINT" => Type::SmallInt,
        "INT" => Type::Int,
        "BIGINT" => Type::BigInt,
        "FLOAT" => Type::Float,
        "DOUBLE" => Type::Double,
        "DECIMAL" => Type::Decimal(size(0, 10) as u8, size(1, 0) as u8),
        "CHAR" => Type::Char(size(0, 1)),
        "VARCHAR" => Type::VarChar(size(0, 1)),
        "STRING" => Type::string(),
        "DATE" => Type::Date,
        "TIME" => Type::Time(size(0, 0) as u8),
        "TIMESTAMP" => Type::Timestamp(size(0, 6) as u8),
        "TIMESTAMP_LTZ" => Type::TimestampLtz(size(0, 6) as u8),
        _ => return None,
    })
}

/// A type as text.
pub(super) fn kind_of_text(text: &str) -> Option<Type> {
    let (name, sizes) = text.split_once('(').unwrap_or((text, ""));
    let sizes: Vec<u32> = sizes.trim_end_matches(')').split(',').filter_map(|size| size.trim().parse().ok()).collect();
    kind_of_name(name.trim(), &sizes)
}

fn schema() -> Schema {
    let field =
        |(name, kind, _): &(&str, &str, &str)| Field::new(*name, kind_of_text(kind).expect("a type").nullable());
    Schema::new(ROW.iter().map(field).collect())
}

#[test]
fn expressions_answer_as_flink_did() {
    let schema = schema();
    let row = ROW.iter().zip(&schema.fields).map(|((_, _, value), field)| match field.data_type.kind {
        // The sources do not pad.
        Type::Char(_) => None,
        _ => Some(value.to_string()),
    });
    let mut rows = batch(&schema, &[row.collect()]).expect("the row");
    let c = schema.index_of("c").expect("c");
    let mut columns = rows.columns().to_vec();
    columns[c] = std::sync::Arc::new(arrow::array::StringArray::from(vec!["ab"]));
    rows = arrow::array::RecordBatch::try_new(rows.schema(), columns).expect("the row");

    let mut wrong = Vec::new();
    let lines = RECORDED.iter().flat_map(|(text, zone)| text.lines().map(move |line| (line, zone)));
    for (line, zone) in lines.filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#')) {
        let (source, expected) = line.split_once("  =>  ").expect("an arrow");
        let (sink, source) = match source.strip_prefix("SINK ").and_then(|rest| rest.split_once(';')) {
            Some((kind, source)) => (kind_of_text(kind), source),
            None => (None, source),
        };
        let expr = text::expression(source, &schema).and_then(|expr| match &sink {
            Some(kind) => coerce_assign(expr, &kind.clone().nullable()),
            None => Ok(expr),
        });
        let got = expr.and_then(|expr| {
            let value = shown(&expr, &rows, zone)?.swap_remove(0);
            let value = value.map_or("NULL".to_string(), |value| format!("{value:?}"));
            let value = if expected.ends_with("| *") { "*".to_string() } else { value };
            Ok(if sink.is_some() { value } else { format!("{} | {value}", expr.data_type()) })
        });
        match got {
            Ok(got) if got == expected => {}
            Err(error) if expected == "error" && error.kind() != crate::error::ErrorKind::Internal => {}
            Ok(got) => wrong.push(format!("{line}\n    got {got}")),
            Err(error) => wrong.push(format!("{line}\n    got {:?}: {error}", error.kind())),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

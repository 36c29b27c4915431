//! From a sink's files to rows in a form that can be compared.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::Columns;
use super::decimal::Decimal;
use crate::json::Json;
use crate::stamp;

/// The values of the expected columns, in their order.
pub type Row = Vec<Json>;

/// All rows in all files below a sink's path. A sink that wrote nothing has no rows.
///
/// # Errors
/// A file that cannot be read, a line that is no JSON object, a change log that takes away what is not there.
pub fn read_sink(path: &Path, columns: &Columns) -> Result<Vec<Row>, String> {
    let mut files = Vec::new();
    collect_files(path, &mut files).map_err(|e| format!("cannot read the result: {e}"))?;
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        read_lines(&text, &mut lines)?;
    }
    canonical(lines, columns)
}

/// # Errors
/// As [`read_sink`].
pub fn read_file(path: &Path, columns: &Columns) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let mut lines = Vec::new();
    read_lines(&text, &mut lines)?;
    canonical(lines, columns)
}

/// Files whose names start with a dot or an underscore are still being written, or notes.
fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    if path.is_file() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut children = fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<std::io::Result<Vec<_>>>()?;
    children.sort();
    for child in children {
        let hidden = child.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
        if child.is_dir() || !hidden {
            collect_files(&child, files)?;
        }
    }
    Ok(())
}

fn read_lines(text: &str, out: &mut Vec<Json>) -> Result<(), String> {
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match Json::parse(line) {
            Ok(row @ Json::Object(_)) => out.push(row),
            Ok(_) => return Err(format!("line {} of a result is no JSON object: {line}", number + 1)),
            Err(e) => return Err(format!("line {} of a result is no JSON: {e}: {line}", number + 1)),
        }
    }
    Ok(())
}

/// Plays change logs to their end and brings the values into the common form.
///
/// # Errors
/// A change log that takes away what is not there.
pub fn canonical(lines: Vec<Json>, columns: &Columns) -> Result<Vec<Row>, String> {
    let rows = if !lines.is_empty() && lines.iter().all(is_change) { materialise(lines)? } else { lines };
    Ok(rows.iter().map(|row| canonical_row(row, columns)).collect())
}

fn canonical_row(row: &Json, columns: &Columns) -> Row {
    let value = |(name, sql_type): &(String, String)| match row.get(name) {
        None => Json::Null,
        Some(Json::Text(text)) if sql_type.starts_with("TIMESTAMP") => {
            Json::Text(canonical_stamp(text, sql_type.starts_with("TIMESTAMP_LTZ")))
        }
        Some(value) => value.clone(),
    };
    columns.0.iter().map(value).collect()
}

/// Text that is no timestamp stays as it is, and so will not be equal to one.
fn canonical_stamp(text: &str, with_zone: bool) -> String {
    let Some(parts) = stamp::parse(text).filter(|parts| with_zone || !parts.utc) else { return text.to_string() };
    let fraction = parts.fraction.trim_end_matches('0');
    let zone = if with_zone { "Z" } else { "" };
    format!("{} {}:{}.{fraction:0<3}{zone}", parts.date, parts.clock, parts.second)
}

fn is_change(line: &Json) -> bool {
    let fields = line.as_fields();
    fields.len() == 3 && ["before", "after", "op"].iter().all(|name| fields.iter().any(|(field, _)| field == name))
}

/// What is left after all changes of a Debezium change log.
///
/// Rows are counted instead of removed one by one: several writers' files then need no common order.
fn materialise(changes: Vec<Json>) -> Result<Vec<Json>, String> {
    let mut counts: HashMap<String, (i64, Json)> = HashMap::new();
    let mut order = Vec::new();
    for change in changes {
        let part = |name: &str| change.get(name).cloned().unwrap_or(Json::Null);
        let (takes, adds) = match change.get("op").and_then(Json::as_text) {
            Some("c" | "r") => (false, true),
            Some("u") => (true, true),
            Some("d") => (true, false),
            _ => return Err(format!("unknown operation in a change log: {change}")),
        };
        for (applies, side, step) in [(takes, "before", -1), (adds, "after", 1)] {
            if applies {
                let row = part(side);
                let key = exact_key(&row);
                counts.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    (0, row)
                });
                if let Some(entry) = counts.get_mut(&exact_key(&part(side))) {
                    entry.0 += step;
                }
            }
        }
    }
    let mut rows = Vec::new();
    for key in order {
        let (count, row) = &counts[&key];
        if *count < 0 {
            return Err(format!("the change log takes away a row that is not there: {row}"));
        }
        rows.extend(std::iter::repeat_n(row, *count as usize).cloned());
    }
    Ok(rows)
}

/// Equal for equal values: fields in the order of their names, numbers by value.
pub fn exact_key(value: &Json) -> String {
    let mut out = String::new();
    write_key(value, &mut out);
    out
}

fn write_key(value: &Json, out: &mut String) {
    match value {
        Json::Number(text) => match Decimal::parse(text) {
            Some(decimal) => {
                let _ = write!(out, "{decimal:?}");
            }
            None => out.push_str(text),
        },
        Json::List(items) => {
            out.push('[');
            for item in items {
                write_key(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (name, value) in fields {
                let _ = write!(out, "{name:?}:");
                write_key(value, out);
                out.push(',');
            }
            out.push('}');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

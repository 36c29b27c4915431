//! Reading the result rows of a timed run.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::stamp::parse_millis;
use crate::workload::reference::{Query, ResultRow, Totals};

/// Totals of all CSV files in a folder (or of the one file).
///
/// # Errors
/// A file that cannot be read, a line that is no result row.
pub fn read_totals(path: &Path, query: Query) -> Result<Totals, String> {
    let mut totals = Totals::default();
    let failed = |e: std::io::Error| format!("cannot read the results: {e}");
    let mut files = vec![path.to_path_buf()];
    while let Some(path) = files.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(failed)? {
                files.push(entry.map_err(failed)?.path());
            }
            continue;
        }
        let mut reader = BufReader::with_capacity(1 << 20, File::open(&path).map_err(failed)?);
        let mut line = String::new();
        while reader.read_line(&mut line).map_err(failed)? > 0 {
            let row = parse_row(line.trim_end(), query).ok_or_else(|| format!("not a result row: {line}"))?;
            totals.add(row);
            line.clear();
        }
    }
    Ok(totals)
}

/// `key,window_start,window_end,n,s`; Flink's CSV puts quotes around timestamps.
fn parse_row(line: &str, query: Query) -> Option<ResultRow> {
    let mut fields = line.split(',').map(|field| field.trim_matches('"'));
    let key = if query.has_key() { fields.next()?.parse().ok()? } else { 0 };
    let row = ResultRow {
        key,
        start_ms: parse_millis(fields.next()?)?,
        end_ms: parse_millis(fields.next()?)?,
        count: fields.next()?.parse().ok()?,
        sum: fields.next()?.parse().ok()?,
    };
    fields.next().is_none().then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_quotes() {
        let row = ResultRow { key: 7, start_ms: 0, end_ms: 60_000, count: 2, sum: -3 };
        let plain = "7,1970-01-01 00:00:00,1970-01-01 00:01:00.000,2,-3";
        assert_eq!(parse_row(plain, Query::Tumble), Some(row));
        let quoted = "7,\"1970-01-01 00:00:00\",\"1970-01-01 00:01:00\",2,-3";
        assert_eq!(parse_row(quoted, Query::Tumble), Some(row));
        assert_eq!(parse_row(plain, Query::Cumulate), None);
        assert_eq!(parse_row("7,x,y,2,3", Query::Tumble), None);
    }
}

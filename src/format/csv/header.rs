//! The header of a CSV file (`csv.header`, which Flink does not have): which column each field belongs to.

use super::super::parse::trim;
use super::super::text::{Failure, first_invalid, not_utf8};
use super::CsvOptions;
use super::scan::{Ending, Scan, Syntax};
use crate::error::{Error, nearest};
use crate::types::Schema;

/// What a file's first record says.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// For each field of the file the column of the table that it belongs to.
    pub(crate) columns: Vec<Option<usize>>,
    /// Where the records start, in bytes from the start of the text.
    pub length: usize,
}

/// Names in a message are listed up to here.
const LISTED_NAMES_MAX: usize = 30;

/// Reads the header at the start of a text. `None`: it goes on behind `bytes`.
pub(crate) fn read(options: &CsvOptions, schema: &Schema, bytes: &[u8], eof: bool) -> Result<Option<Header>, Failure> {
    let syntax = Syntax::new(options);
    let start = syntax.skip_to_record(bytes, 0);
    if start >= bytes.len() {
        // A file without anything has no rows either.
        let columns = (0..schema.len()).map(Some).collect();
        return Ok(eof.then_some(Header { columns, length: bytes.len() }));
    }
    let (mut names, mut scratch, mut at) = (Vec::new(), Vec::new(), start);
    loop {
        let (start, end, ending, next) = match syntax.field(bytes, at, eof, &mut scratch) {
            Scan::Field { start, end, ending, next } => (start, end, ending, next),
            Scan::Incomplete => return Ok(None),
            Scan::Broken { at, .. } => {
                let error = Error::data("the header cannot be read from here on")
                    .help("close the quote, or set 'csv.disable-quote-character' = 'true' to read quotes as they are");
                return Err(Failure::At(at, error));
            }
        };
        let invalid = first_invalid(&bytes[..next], at, true);
        if invalid < next {
            return Err(not_utf8(bytes, invalid));
        }
        let text = if start > end { scratch.as_slice() } else { &bytes[start..end] };
        names.push(String::from_utf8_lossy(text).into_owned());
        at = next;
        if ending == Ending::Record {
            break;
        }
    }
    let columns = assign(&names, schema).map_err(|error| Failure::At(start, error))?;
    Ok(Some(Header { columns, length: at }))
}

/// Which column each name belongs to: the one of that name, or else of that name but for case and blanks around it.
fn assign(names: &[String], schema: &Schema) -> Result<Vec<Option<usize>>, Error> {
    let mut columns = vec![None; names.len()];
    let mut without = Vec::new();
    for (index, column) in schema.fields.iter().enumerate() {
        let fields: Vec<usize> = (0..names.len()).filter(|at| names[*at] == column.name).collect();
        match fields.as_slice() {
            [] => without.push((index, &column.name)),
            [at] => columns[*at] = Some(index),
            _ => {
                return Err(Error::data(format!("the header names `{}` {} times", column.name, fields.len()))
                    .help("give each field a name of its own"));
            }
        }
    }
    for (index, column) in without {
        let folded = |name: &str| String::from_utf8_lossy(trim(name.as_bytes())).to_lowercase();
        let wanted = folded(column);
        let fields: Vec<usize> =
            (0..names.len()).filter(|at| columns[*at].is_none() && folded(&names[*at]) == wanted).collect();
        match fields.as_slice() {
            [at] => columns[*at] = Some(index),
            [] => return Err(missing(column, names)),
            [first, second, ..] => {
                return Err(Error::data(format!(
                    "column `{column}` could be the field '{}' or '{}' of the header",
                    names[*first], names[*second]
                ))
                .help("name the column exactly as its field"));
            }
        }
    }
    Ok(columns)
}

fn missing(column: &str, names: &[String]) -> Error {
    let mut listed: Vec<String> =
        names.iter().take(LISTED_NAMES_MAX).map(|name| format!("'{}'", name.escape_debug())).collect();
    if names.len() > LISTED_NAMES_MAX {
        listed.push(format!("{} more", names.len() - LISTED_NAMES_MAX));
    }
    let error = Error::data(format!("the header has no field '{column}'; it names {}", listed.join(", ")));
    match nearest(column, names.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean '{near}'? A column is named as its field")),
        None => error.help("name the column as its field; fields without a column are skipped"),
    }
}

//! Lines into a column.

use super::super::column::{Column, Values};
use super::super::text::{Failure, Notes, Output, Rows, Step, TextDecoder};
use super::RawOptions;
use crate::error::{Error, Result};
use crate::types::Schema;

/// Decodes the lines of a block.
pub(crate) struct RawDecoder {
    options: RawOptions,
    rows: Rows,
}

impl RawDecoder {
    pub fn new(options: &RawOptions, schema: &Schema, projection: &[usize], batch_rows: usize) -> Result<Self> {
        Ok(RawDecoder { options: options.clone(), rows: Rows::new(schema, projection, batch_rows)? })
    }

    fn push(&mut self, line: &[u8]) -> Result<(), Error> {
        // Without a column the rows are only counted.
        let Some(column) = self.rows.columns.first_mut() else { return Ok(()) };
        if let Err(wanted) = push(column, line, &self.options) {
            let (name, kind) = (&self.rows.fields[0].0, &column.kind);
            let bytes = |count: usize| if count == 1 { "1 byte".to_string() } else { format!("{count} bytes") };
            return Err(Error::data(format!(
                "column `{name}`: this line has {}, but {kind} has {}",
                bytes(line.len()),
                bytes(wanted)
            ))
            .help(
                "format 'raw' takes numbers in binary; for numbers in text use 'csv', or declare the column STRING",
            ));
        }
        Ok(())
    }
}

/// Appends a value; the error is the number of bytes that the type has.
fn push(column: &mut Column, line: &[u8], options: &RawOptions) -> Result<(), usize> {
    match &mut column.values {
        Values::Text(text) => {
            options.charset.decode(line, &mut text.bytes);
            text.end_value();
        }
        Values::Bytes(bytes) => bytes.push(line),
        Values::Boolean(values) => values.push(fixed::<1>(line, options)? != [0]),
        Values::Int8(values) => values.push(i8::from_be_bytes(fixed(line, options)?)),
        Values::Int16(values) => values.push(i16::from_be_bytes(fixed(line, options)?)),
        Values::Int32(values) => values.push(i32::from_be_bytes(fixed(line, options)?)),
        Values::Int64(values) => values.push(i64::from_be_bytes(fixed(line, options)?)),
        Values::Float32(values) => values.push(f32::from_be_bytes(fixed(line, options)?)),
        Values::Float64(values) => values.push(f64::from_be_bytes(fixed(line, options)?)),
        // Refused when the table is planned.
        _ => column.push_null(),
    }
    Ok(())
}

/// The bytes of a number, the highest first.
fn fixed<const N: usize>(line: &[u8], options: &RawOptions) -> Result<[u8; N], usize> {
    let mut bytes: [u8; N] = line.try_into().map_err(|_| N)?;
    if options.little_endian {
        bytes.reverse();
    }
    Ok(bytes)
}

impl TextDecoder for RawDecoder {
    fn enter(&mut self, bytes: &[u8], from: usize, end: usize, _state: u8, before: Option<u8>) -> Option<usize> {
        if matches!(before, None | Some(b'\n')) {
            return (from < end).then_some(from);
        }
        let at = from + memchr::memchr(b'\n', bytes.get(from..end)?)? + 1;
        (at < end).then_some(at)
    }

    fn decode(&mut self, bytes: &[u8], from: usize, end: usize, eof: bool, out: Output<'_>) -> Result<Step, Failure> {
        let mut at = from;
        while at < end {
            let (line_end, next) = match memchr::memchr(b'\n', &bytes[at..]) {
                Some(found) => (at + found, at + found + 1),
                None if eof => (bytes.len(), bytes.len()),
                None => return Ok(Step::More(at)),
            };
            let line = &bytes[at..line_end];
            match self.push(line.strip_suffix(b"\r").unwrap_or(line)) {
                Ok(()) => {
                    self.rows.end_row(out)?;
                    self.rows.trace(at..line_end);
                }
                Err(error) if self.rows.notes.set_aside => self.rows.reject(bytes, at..line_end, at, &error),
                Err(error) => return Err(Failure::At(at, error)),
            }
            at = next;
        }
        Ok(Step::Done)
    }

    fn finish(&mut self, out: Output<'_>) -> Result<(u64, u64)> {
        self.rows.flush(out)?;
        Ok(self.rows.totals())
    }

    fn notes(&mut self) -> &mut Notes {
        &mut self.rows.notes
    }
}

//! Columns into CSV records.

use arrow::array::RecordBatch;

use super::super::cells::{CellColumn, Cells, cells};
use super::super::print::DayText;
use super::super::{fast, print};
use super::CsvOptions;
use crate::error::Result;
use crate::numbers;
use crate::types::Schema;

/// Jackson quotes every text longer than this (in UTF-16 units) without looking at it.
const UNQUOTED_LENGTH_MAX: usize = 24;

/// Writes batches as CSV.
pub(crate) struct CsvEncoder {
    delimiter: u8,
    quote: Option<u8>,
    /// Doubled inside quotes, as the quote itself.
    escape: Option<u8>,
    null_literal: Vec<u8>,
    /// Whether a text with this byte is quoted.
    suspicious: [bool; 256],
    /// A plain timestamp holds digits, minus, colon, point and a blank: whether that gets quotes.
    quote_timestamps: bool,
    schema: Schema,
    scratch: Vec<u8>,
    day: DayText,
}

impl CsvEncoder {
    pub fn new(options: &CsvOptions, schema: &Schema) -> Self {
        let mut suspicious = [false; 256];
        if let Some(quote) = options.quote {
            // Everything up to the highest of the special characters, which spares Jackson a closer look,
            // and the escape character, for which a backslash stands in.
            let highest = options.delimiter.max(quote).max(b'\n');
            suspicious[..=usize::from(highest)].fill(true);
            suspicious[usize::from(options.escape.unwrap_or(b'\\'))] = true;
        }
        CsvEncoder {
            delimiter: options.delimiter,
            quote: options.quote,
            escape: options.escape,
            null_literal: options.null_literal.clone().unwrap_or_default().into_bytes(),
            quote_timestamps: suspicious[usize::from(b' ')],
            suspicious,
            schema: schema.clone(),
            scratch: Vec::new(),
            day: DayText::default(),
        }
    }

    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = cells(batch, &self.schema)?;
        out.reserve(batch.num_rows() * columns.len() * 12);
        for row in 0..batch.num_rows() {
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    out.push(self.delimiter);
                }
                if column.is_null(row) {
                    out.extend_from_slice(&self.null_literal);
                } else {
                    self.cell(column, row, out);
                }
            }
            out.push(b'\n');
        }
        Ok(())
    }

    #[inline]
    fn cell(&mut self, column: &CellColumn<'_>, row: usize, out: &mut Vec<u8>) {
        match &column.cells {
            Cells::Null => {}
            Cells::Boolean(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Cells::Int8(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int16(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int32(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int64(values) => numbers::integer(out, values[row]),
            Cells::Float32(values) => numbers::float(out, values[row]),
            Cells::Float64(values) => numbers::double(out, values[row]),
            Cells::Decimal { values, scale } => numbers::stripped_decimal(out, values[row], *scale),
            Cells::Text(values) => {
                let text = values.value(row).as_bytes();
                if self.wants_quotes(text) {
                    self.quoted(text, out);
                } else {
                    let start = values.value_offsets()[row] as usize;
                    fast::append(out, values.value_data(), start, text.len());
                }
            }
            Cells::Timestamp { values, per_second, zoned: false } if self.quote_timestamps => {
                let quote = self.quote.unwrap_or(b'"');
                out.push(quote);
                print::timestamp(out, values[row], *per_second, b' ', &mut self.day);
                out.push(quote);
            }
            other => {
                let mut text = std::mem::take(&mut self.scratch);
                text.clear();
                temporal(other, row, &mut text, &mut self.day);
                if self.wants_quotes(&text) {
                    self.quoted(&text, out);
                } else {
                    out.extend_from_slice(&text);
                }
                self.scratch = text;
            }
        }
    }

    fn quoted(&self, text: &[u8], out: &mut Vec<u8>) {
        let quote = self.quote.unwrap_or(b'"');
        out.push(quote);
        for byte in text {
            if *byte == quote || Some(*byte) == self.escape {
                out.push(*byte);
            }
            out.push(*byte);
        }
        out.push(quote);
    }

    #[inline]
    fn wants_quotes(&self, text: &[u8]) -> bool {
        if self.quote.is_some() && text.len() > UNQUOTED_LENGTH_MAX && utf16_length(text) > UNQUOTED_LENGTH_MAX {
            return true;
        }
        text.iter().any(|byte| self.suspicious[usize::from(*byte)])
    }
}

/// Dates, times and timestamps, which are texts to Jackson.
fn temporal(cells: &Cells<'_>, row: usize, out: &mut Vec<u8>, day: &mut DayText) {
    match cells {
        Cells::Date(values) => print::date(out, i64::from(values[row])),
        Cells::Time(values) => {
            let millis = values[row].rem_euclid(86_400_000) as u32;
            print::time(out, millis / 1_000, millis % 1_000 * 1_000_000);
        }
        Cells::Timestamp { values, per_second, zoned } => {
            print::timestamp(out, values[row], *per_second, b' ', day);
            if *zoned {
                out.push(b'Z');
            }
        }
        Cells::WideTimestamp { values, zoned } => {
            print::wide_timestamp(out, values[row], b' ', day);
            if *zoned {
                out.push(b'Z');
            }
        }
        _ => {}
    }
}

/// Characters beyond the first plane count twice in UTF-16.
fn utf16_length(text: &[u8]) -> usize {
    text.iter().filter(|b| **b & 0xC0 != 0x80).count() + text.iter().filter(|b| **b >= 0xF0).count()
}

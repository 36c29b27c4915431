//! Columns into CSV records.

use arrow::array::RecordBatch;

use super::super::cells::{CellColumn, Cells, cells, range};
use super::super::print::DayText;
use super::super::{base64, fast, print};
use super::CsvOptions;
use super::special::Special;
use crate::error::Result;
use crate::numbers;
use crate::types::Schema;

/// Jackson quotes every text longer than this (in UTF-16 units) without looking at it.
const UNQUOTED_LENGTH_MAX: usize = 24;

/// Writes batches as CSV.
pub(crate) struct CsvEncoder {
    delimiter: Special,
    elements: Special,
    quote: Option<Special>,
    /// Doubled inside quotes, as the quote itself.
    escape: Option<Special>,
    null_literal: Vec<u8>,
    suspects: Suspects,
    /// A plain timestamp holds digits, minus, colon, point and a blank: whether that gets quotes.
    quote_timestamps: bool,
    schema: Schema,
    scratch: Vec<u8>,
    day: DayText,
}

/// The characters that bring a text into quotes.
struct Suspects {
    /// For each byte whether it does; of those in longer characters none does by itself.
    bytes: [bool; 256],
    /// Every character up to this one does, which spares Jackson a closer look.
    highest: char,
    escape: char,
    /// Characters of more than one byte may.
    wide: bool,
}

impl Suspects {
    fn new(options: &CsvOptions, quote: char) -> Self {
        let highest = options.delimiter.max(quote).max('\n');
        // A backslash stands in for the escape character.
        let escape = options.escape.unwrap_or('\\');
        let wide = !highest.is_ascii() || !escape.is_ascii();
        let suspect = |code: usize| {
            let c = u8::try_from(code).map(char::from);
            c.is_ok_and(|c| c.is_ascii() && (c <= highest || c == escape))
        };
        Suspects { bytes: std::array::from_fn(suspect), highest, escape, wide }
    }

    #[inline]
    fn any(&self, text: &[u8]) -> bool {
        text.iter().any(|byte| self.bytes[usize::from(*byte)])
            || (self.wide && String::from_utf8_lossy(text).chars().any(|c| c <= self.highest || c == self.escape))
    }
}

impl CsvEncoder {
    pub fn new(options: &CsvOptions, schema: &Schema) -> Self {
        let suspects = match options.quote {
            Some(quote) => Suspects::new(options, quote),
            None => Suspects { bytes: [false; 256], highest: '\0', escape: '\0', wide: false },
        };
        CsvEncoder {
            delimiter: Special::new(options.delimiter),
            elements: Special::new(options.element_delimiter),
            quote: options.quote.map(Special::new),
            escape: options.escape.map(Special::new),
            null_literal: options.null_literal.clone().unwrap_or_default().into_bytes(),
            quote_timestamps: suspects.any(b" "),
            suspects,
            schema: schema.clone(),
            scratch: Vec::new(),
            day: DayText::default(),
        }
    }

    /// The names of the columns as a record.
    pub fn header(&self, out: &mut Vec<u8>) {
        for (index, field) in self.schema.fields.iter().enumerate() {
            if index > 0 {
                self.delimiter.write(out);
            }
            self.text(field.name.as_bytes(), out);
        }
        out.push(b'\n');
    }

    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = cells(batch, &self.schema)?;
        out.reserve(batch.num_rows() * columns.len() * 12);
        for row in 0..batch.num_rows() {
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    self.delimiter.write(out);
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
                match self.quote {
                    Some(quote) if self.wants_quotes(text) => self.quoted(text, quote, out),
                    _ => {
                        let start = values.value_offsets()[row] as usize;
                        fast::append(out, values.value_data(), start, text.len());
                    }
                }
            }
            Cells::Timestamp { values, per_second, zoned: false } if self.quote_timestamps => {
                let Some(quote) = self.quote else { return };
                quote.write(out);
                print::timestamp(out, values[row], *per_second, b' ', &mut self.day);
                quote.write(out);
            }
            _ => {
                let mut text = std::mem::take(&mut self.scratch);
                text.clear();
                self.plain(column, row, &mut text);
                self.text(&text, out);
                self.scratch = text;
            }
        }
    }

    /// A value without quotes.
    fn plain(&mut self, column: &CellColumn<'_>, row: usize, out: &mut Vec<u8>) {
        if column.is_null(row) {
            out.extend_from_slice(&self.null_literal);
            return;
        }
        match &column.cells {
            Cells::Boolean(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Cells::Int8(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int16(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int32(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int64(values) => numbers::integer(out, values[row]),
            Cells::Float32(values) => numbers::float(out, values[row]),
            Cells::Float64(values) => numbers::double(out, values[row]),
            Cells::Decimal { values, scale } => numbers::stripped_decimal(out, values[row], *scale),
            Cells::Text(values) => out.extend_from_slice(values.value(row).as_bytes()),
            Cells::Bytes(values) => base64::encode(values.value(row), out),
            Cells::Row(columns) => {
                for (index, column) in columns.iter().enumerate() {
                    self.part(index, column, row, out);
                }
            }
            Cells::Array { offsets, elements } => {
                for (index, element) in range(offsets, row).enumerate() {
                    self.part(index, elements, element, out);
                }
            }
            other => temporal(other, row, out, &mut self.day),
        }
    }

    fn part(&mut self, index: usize, column: &CellColumn<'_>, row: usize, out: &mut Vec<u8>) {
        if index > 0 {
            self.elements.write(out);
        }
        self.plain(column, row, out);
    }

    /// A text, in quotes where Jackson puts them.
    fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        match self.quote {
            Some(quote) if self.wants_quotes(text) => self.quoted(text, quote, out),
            _ => out.extend_from_slice(text),
        }
    }

    fn quoted(&self, text: &[u8], quote: Special, out: &mut Vec<u8>) {
        quote.write(out);
        for (at, byte) in text.iter().enumerate() {
            if quote.stands_at(text, at) {
                quote.write(out);
            } else if let Some(escape) = self.escape
                && escape.stands_at(text, at)
            {
                escape.write(out);
            }
            out.push(*byte);
        }
        quote.write(out);
    }

    #[inline]
    fn wants_quotes(&self, text: &[u8]) -> bool {
        (text.len() > UNQUOTED_LENGTH_MAX && utf16_length(text) > UNQUOTED_LENGTH_MAX) || self.suspects.any(text)
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

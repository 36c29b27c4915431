//! Columns into JSON lines.

use arrow::array::RecordBatch;

use super::super::cells::{CellColumn, Cells, cells};
use super::super::parse::TimestampStyle;
use super::super::print::DayText;
use super::super::{fast, print};
use super::JsonOptions;
use crate::error::Result;
use crate::numbers;
use crate::types::Schema;

/// Writes batches as JSON lines.
pub(crate) struct JsonEncoder {
    /// `,"name":` of each column, the ends of all in one buffer.
    names: Vec<u8>,
    ends: Vec<usize>,
    omit_nulls: bool,
    plain_decimals: bool,
    between: u8,
    schema: Schema,
    day: DayText,
}

impl JsonEncoder {
    pub fn new(options: &JsonOptions, schema: &Schema) -> Self {
        let (mut names, mut ends) = (Vec::new(), Vec::new());
        for field in &schema.fields {
            names.push(b',');
            string(&mut names, &field.name);
            names.push(b':');
            ends.push(names.len());
        }
        // Room for copies of fixed size.
        names.extend_from_slice(&[0; 16]);
        JsonEncoder {
            names,
            ends,
            omit_nulls: options.omit_nulls,
            plain_decimals: options.plain_decimals,
            between: if options.timestamps == TimestampStyle::Iso { b'T' } else { b' ' },
            schema: schema.clone(),
            day: DayText::default(),
        }
    }

    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = cells(batch, &self.schema)?;
        out.reserve(batch.num_rows() * columns.len() * 24);
        for row in 0..batch.num_rows() {
            let start = out.len();
            let mut name = 0;
            for (index, column) in columns.iter().enumerate() {
                let end = self.ends[index];
                let null = column.is_null(row);
                if null && self.omit_nulls {
                    name = end;
                    continue;
                }
                fast::append(out, &self.names, name, end - name);
                name = end;
                if null {
                    out.extend_from_slice(b"null");
                } else {
                    self.cell(column, row, out);
                }
            }
            match out.get_mut(start) {
                Some(first) => *first = b'{',
                None => out.push(b'{'),
            }
            out.extend_from_slice(b"}\n");
        }
        Ok(())
    }

    #[inline]
    fn cell(&mut self, column: &CellColumn<'_>, row: usize, out: &mut Vec<u8>) {
        match &column.cells {
            Cells::Null => out.extend_from_slice(b"null"),
            Cells::Boolean(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Cells::Int8(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int16(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int32(values) => numbers::integer(out, i64::from(values[row])),
            Cells::Int64(values) => numbers::integer(out, values[row]),
            // JSON has no such numbers: Jackson writes them as texts.
            Cells::Float32(values) if !values[row].is_finite() => quoted(out, |out| numbers::float(out, values[row])),
            Cells::Float64(values) if !values[row].is_finite() => quoted(out, |out| numbers::double(out, values[row])),
            Cells::Float32(values) => numbers::float(out, values[row]),
            Cells::Float64(values) => numbers::double(out, values[row]),
            Cells::Decimal { values, scale } if self.plain_decimals => numbers::plain_decimal(out, values[row], *scale),
            Cells::Decimal { values, scale } => numbers::stripped_decimal(out, values[row], *scale),
            Cells::Text(values) => string(out, values.value(row)),
            Cells::Date(values) => quoted(out, |out| print::date(out, i64::from(values[row]))),
            Cells::Time(values) => {
                let millis = values[row].rem_euclid(86_400_000) as u32;
                quoted(out, |out| print::time(out, millis / 1_000, millis % 1_000 * 1_000_000));
            }
            Cells::Timestamp { values, per_second, zoned } => {
                out.push(b'"');
                print::timestamp(out, values[row], *per_second, self.between, &mut self.day);
                out.extend_from_slice(if *zoned { b"Z\"" } else { b"\"" });
            }
            Cells::WideTimestamp { values, zoned } => {
                out.push(b'"');
                print::wide_timestamp(out, values[row], self.between, &mut self.day);
                out.extend_from_slice(if *zoned { b"Z\"" } else { b"\"" });
            }
        }
    }
}

fn quoted(out: &mut Vec<u8>, write: impl Fn(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// Bytes that stand for themselves in a string: no control characters, quotes, backslashes, nor the
/// first byte of a character beyond the first plane.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte < 0xF0 {
        plain[byte as usize] = byte != b'"' && byte != b'\\';
        byte += 1;
    }
    plain
};

/// A JSON string with Jackson's escapes: the short ones, `\u001F` for other control characters, and
/// surrogate pairs for what is beyond the first plane.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    if bytes.iter().all(|b| PLAIN[usize::from(*b)]) {
        out.extend_from_slice(bytes);
    } else {
        for c in text.chars() {
            escaped(out, c);
        }
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, c: char) {
    let short = match c {
        '"' | '\\' => c as u8,
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        _ if c < ' ' || u32::from(c) > 0xFFFF => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                let digit = |shift: u16| HEX[usize::from(*unit >> shift & 0xF)];
                out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
            }
            return;
        }
        _ => {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

//! Columns into JSON lines.

use arrow::array::{Int8Array, RecordBatch};

use super::super::cells::{CellColumn, Cells, cells, range};
use super::super::parse::TimestampStyle;
use super::super::print::DayText;
use super::super::{base64, fast, print};
use super::{JsonOptions, NullKeys};
use crate::error::{Error, Result};
use crate::numbers;
use crate::types::{Field, RowKind, Schema, Type};

/// Writes batches as JSON lines.
pub(crate) struct JsonEncoder {
    /// `,"name":` of each column, the ends of all in one buffer.
    names: Vec<u8>,
    ends: Vec<usize>,
    forms: Vec<Form>,
    frame: Frame,
    /// Of rows that are deleted, where that can be said.
    deleted: Option<Frame>,
    options: JsonOptions,
    between: u8,
    schema: Schema,
    day: DayText,
}

/// What stands in front of the object of a row, and behind it.
#[derive(Clone, Copy)]
struct Frame {
    before: &'static [u8],
    after: &'static [u8],
}

/// What must be known of a column besides its values.
enum Form {
    Scalar,
    /// `"name":` and form of each field.
    Row(Vec<(Vec<u8>, Form)>),
    Array(Box<Form>),
    /// The form of the values.
    Map(Box<Form>),
}

impl Form {
    fn new(kind: &Type) -> Self {
        match kind {
            Type::Row(fields) => Form::Row(fields.iter().map(Form::of_field).collect()),
            Type::Array(element) => Form::Array(Box::new(Form::new(&element.kind))),
            Type::Map(_, value) => Form::Map(Box::new(Form::new(&value.kind))),
            Type::Multiset(_) => Form::Map(Box::new(Form::Scalar)),
            _ => Form::Scalar,
        }
    }

    fn of_field(field: &Field) -> (Vec<u8>, Form) {
        let mut name = Vec::new();
        string(&mut name, &field.name);
        name.push(b':');
        (name, Form::new(&field.data_type.kind))
    }
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
            frame: Frame { before: b"", after: b"}\n" },
            deleted: None,
            forms: schema.fields.iter().map(|field| Form::new(&field.data_type.kind)).collect(),
            options: options.clone(),
            between: if options.timestamps == TimestampStyle::Iso { b'T' } else { b' ' },
            schema: schema.clone(),
            day: DayText::default(),
        }
    }

    /// As Debezium says that a row was inserted or deleted; an update is both.
    pub fn changes(options: &JsonOptions, schema: &Schema) -> Self {
        let (frame, deleted) = match options.omit_nulls {
            true => (
                Frame { before: b"{\"after\":", after: b"},\"op\":\"c\"}\n" },
                Frame { before: b"{\"before\":", after: b"},\"op\":\"d\"}\n" },
            ),
            false => (
                Frame { before: b"{\"before\":null,\"after\":", after: b"},\"op\":\"c\"}\n" },
                Frame { before: b"{\"before\":", after: b"},\"after\":null,\"op\":\"d\"}\n" },
            ),
        };
        JsonEncoder { frame, deleted: Some(deleted), ..JsonEncoder::new(options, schema) }
    }

    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = cells(batch, &self.schema)?;
        let forms = std::mem::take(&mut self.forms);
        let kinds = self.deleted.and(RowKind::column(batch, columns.len()));
        let written = self.rows(&columns, &forms, (batch.num_rows(), kinds), out);
        self.forms = forms;
        written
    }

    fn rows(
        &mut self,
        columns: &[CellColumn<'_>],
        forms: &[Form],
        (rows, kinds): (usize, Option<&Int8Array>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.reserve(rows * columns.len() * 24);
        for row in 0..rows {
            let frame = match (kinds, self.deleted) {
                (Some(kinds), Some(deleted)) if !RowKind::of_code(kinds.value(row)).is_added() => deleted,
                _ => self.frame,
            };
            out.extend_from_slice(frame.before);
            let start = out.len();
            let mut name = 0;
            for (index, (column, form)) in columns.iter().zip(forms).enumerate() {
                let end = self.ends[index];
                let null = column.is_null(row);
                if null && self.options.omit_nulls {
                    name = end;
                    continue;
                }
                fast::append(out, &self.names, name, end - name);
                name = end;
                if null {
                    out.extend_from_slice(b"null");
                } else {
                    self.cell(column, form, row, out)?;
                }
            }
            match out.get_mut(start) {
                Some(first) => *first = b'{',
                None => out.push(b'{'),
            }
            out.extend_from_slice(frame.after);
        }
        Ok(())
    }

    #[inline]
    fn cell(&mut self, column: &CellColumn<'_>, form: &Form, row: usize, out: &mut Vec<u8>) -> Result<()> {
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
            Cells::Decimal { values, scale } if self.options.plain_decimals => {
                numbers::plain_decimal(out, values[row], *scale)
            }
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
            Cells::Bytes(values) => quoted(out, |out| base64::encode(values.value(row), out)),
            Cells::Row(_) | Cells::Array { .. } | Cells::Map { .. } => return self.nested(column, form, row, out),
        }
        Ok(())
    }

    #[inline(never)]
    fn nested(&mut self, column: &CellColumn<'_>, form: &Form, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match (&column.cells, form) {
            (Cells::Row(columns), Form::Row(fields)) => {
                out.push(b'{');
                let mut first = true;
                for (column, (name, form)) in columns.iter().zip(fields) {
                    if column.is_null(row) && self.options.omit_nulls {
                        continue;
                    }
                    comma(&mut first, out);
                    out.extend_from_slice(name);
                    self.value(column, form, row, out)?;
                }
                out.push(b'}');
            }
            (Cells::Array { offsets, elements }, Form::Array(form)) => {
                out.push(b'[');
                let mut first = true;
                for index in range(offsets, row) {
                    comma(&mut first, out);
                    self.value(elements, form, index, out)?;
                }
                out.push(b']');
            }
            (Cells::Map { offsets, keys, values }, Form::Map(form)) => {
                out.push(b'{');
                let mut first = true;
                for index in range(offsets, row) {
                    if keys.is_null(index) && self.options.null_keys == NullKeys::Drop {
                        continue;
                    }
                    comma(&mut first, out);
                    self.key(keys, index, out)?;
                    out.push(b':');
                    self.value(values, form, index, out)?;
                }
                out.push(b'}');
            }
            _ => return Err(Error::internal("a column of another type than its sink's reached the JSON encoder")),
        }
        Ok(())
    }

    fn value(&mut self, column: &CellColumn<'_>, form: &Form, row: usize, out: &mut Vec<u8>) -> Result<()> {
        if column.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        self.cell(column, form, row, out)
    }

    fn key(&self, keys: &CellColumn<'_>, index: usize, out: &mut Vec<u8>) -> Result<()> {
        match (&keys.cells, &self.options.null_keys) {
            (Cells::Text(texts), _) if !keys.is_null(index) => string(out, texts.value(index)),
            (_, NullKeys::Literal(literal)) => string(out, literal),
            _ => {
                return Err(Error::data("a MAP with a NULL as key cannot be written as JSON").help(
                    "set 'json.map-null-key.mode' = 'DROP' to leave such entries out, or 'LITERAL' to write \
                     'json.map-null-key.literal' instead",
                ));
            }
        }
        Ok(())
    }
}

fn comma(first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(first) {
        out.push(b',');
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
    quote(out, text, true);
}

/// As [`string`], with the characters beyond the first plane as they are: a text within a text.
pub(crate) fn string_in_text(out: &mut Vec<u8>, text: &str) {
    quote(out, text, false);
}

fn quote(out: &mut Vec<u8>, text: &str, pairs: bool) {
    out.push(b'"');
    let bytes = text.as_bytes();
    if bytes.iter().all(|b| PLAIN[usize::from(*b)]) {
        out.extend_from_slice(bytes);
    } else {
        for c in text.chars() {
            escaped(out, c, pairs);
        }
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, c: char, pairs: bool) {
    let short = match c {
        '"' | '\\' => c as u8,
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        _ if c < ' ' || (pairs && u32::from(c) > 0xFFFF) => {
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

//! A column into lines.

use arrow::array::RecordBatch;

use super::super::cells::{Cells, cells};
use super::RawOptions;
use crate::error::{Error, Result};
use crate::types::Schema;

/// Writes batches of one column.
pub(crate) struct RawEncoder {
    options: RawOptions,
    schema: Schema,
}

impl RawEncoder {
    pub fn new(options: &RawOptions, schema: &Schema) -> Self {
        RawEncoder { options: options.clone(), schema: schema.clone() }
    }

    pub fn encode(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = cells(batch, &self.schema)?;
        let Some(column) = columns.first() else { return Err(Error::internal("a raw table without a column")) };
        for row in 0..batch.num_rows() {
            if column.is_null(row) {
                return Err(Error::data("a NULL cannot be written in format 'raw'")
                    .help("filter such rows with IS NOT NULL, or replace the NULL with COALESCE"));
            }
            match &column.cells {
                Cells::Text(values) => self.options.charset.encode(values.value(row), out),
                Cells::Bytes(values) => out.extend_from_slice(values.value(row)),
                Cells::Boolean(values) => out.push(u8::from(values.value(row))),
                Cells::Int8(values) => self.number(values[row].to_be_bytes(), out),
                Cells::Int16(values) => self.number(values[row].to_be_bytes(), out),
                Cells::Int32(values) => self.number(values[row].to_be_bytes(), out),
                Cells::Int64(values) => self.number(values[row].to_be_bytes(), out),
                Cells::Float32(values) => self.number(values[row].to_be_bytes(), out),
                Cells::Float64(values) => self.number(values[row].to_be_bytes(), out),
                _ => return Err(Error::internal("a column of another type reached the raw encoder")),
            }
            out.push(b'\n');
        }
        Ok(())
    }

    fn number<const N: usize>(&self, mut bytes: [u8; N], out: &mut Vec<u8>) {
        if self.options.little_endian {
            bytes.reverse();
        }
        out.extend_from_slice(&bytes);
    }
}

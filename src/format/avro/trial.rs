//! Records that do not fit the declared types, found before they get among those that do.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema as ArrowSchema;

use super::build::Builder;
use super::read::AvroReader;
use super::wire::Cursor;
use crate::error::Result;
use crate::format::rows::rows_as_json;

/// Records that are tried into the same columns.
const ROWS_MAX: usize = 1 << 10;

/// A record that is set aside.
#[derive(Debug)]
pub struct AvroReject {
    /// Its number within its run, from 0.
    pub row: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Those of its columns that can be read, as JSON.
    pub text: String,
}

/// Reads each record once for nothing: a fault leaves columns uneven.
pub(super) struct Trial<'a> {
    reader: &'a AvroReader,
    columns: Vec<Builder>,
    rows: usize,
    rejects: &'a mut Vec<AvroReject>,
}

impl<'a> Trial<'a> {
    pub fn new(reader: &'a AvroReader, rejects: &'a mut Vec<AvroReject>) -> Result<Self> {
        Ok(Trial { reader, columns: reader.builders()?, rows: 0, rejects })
    }

    /// Sets the record at the start of `bytes`, number `row` of its run, aside if it must be; the number of its bytes
    /// then. Of bytes that make no record the next one cannot be found, so that is left to whoever reads them.
    pub fn set_aside(&mut self, bytes: &[u8], row: u64) -> Result<Option<usize>> {
        let (record, schema) = (self.reader.record(), self.reader.file_schema());
        let fault = record.read(&mut Cursor::new(bytes), schema, &mut self.columns).err();
        self.rows += 1;
        if fault.is_some() || self.rows >= ROWS_MAX {
            (self.columns, self.rows) = (self.reader.builders()?, 0);
        }
        let Some(reason) = fault else { return Ok(None) };
        let mut cursor = Cursor::new(bytes);
        if record.skip(&mut cursor, schema).is_err() {
            return Ok(None);
        }
        self.rejects.push(AvroReject { row, reason, text: self.text(bytes)? });
        Ok(Some(cursor.position()))
    }

    fn text(&self, bytes: &[u8]) -> Result<String> {
        let mut columns = self.reader.builders()?;
        let read = self.reader.record().read_fitting(bytes, self.reader.file_schema(), &mut columns);
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for index in read {
            fields.push(self.reader.arrow_schema().field(index).clone());
            arrays.push(columns[index].finish()?);
        }
        let mut texts = Vec::new();
        if arrays.is_empty() {
            return Ok("{}".to_string());
        }
        rows_as_json(&RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), arrays)?, 0, &[0], &mut texts)?;
        Ok(texts.pop().unwrap_or_default())
    }
}

//! Rows on their way into a table.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;

use super::cell::{Cell, ColumnBuilder};
use crate::error::{Error, Result, nearest};
use crate::plan::SinkSpec;
use crate::types::Field;

/// Takes the columns of one row after the other. Columns count from 0, in the order of the DDL.
pub struct RowBuilder {
    table: String,
    fields: Vec<Field>,
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    /// Rows that are complete.
    rows: usize,
}

impl RowBuilder {
    pub(super) fn new(spec: &SinkSpec) -> Self {
        let fields = spec.schema.fields.clone();
        let columns = fields.iter().map(|field| ColumnBuilder::new(&field.data_type.kind)).collect();
        RowBuilder { table: spec.table.clone(), fields, schema: spec.schema.to_arrow(), columns, rows: 0 }
    }

    /// Sets a column of this row: an integer, `f32`, `f64`, `bool`, `&str`, `&[u8]`,
    /// [`Decimal`](crate::api::source::Decimal), or an `Option` of these. Times are given as they are read: timestamps
    /// as `i64`, milliseconds since 1970; DATE as `i32`, days since 1970; TIME as `i32`, milliseconds of the day.
    ///
    /// # Errors
    /// There is no such column, it was set before, it takes another type, or the value does not fit.
    #[inline]
    pub fn set<'a>(&mut self, index: usize, value: impl Into<Cell<'a>>) -> Result<()> {
        let (rows, count) = (self.rows, self.columns.len());
        let Some(column) = self.columns.get_mut(index) else {
            return Err(Error::usage(format!(
                "there is no column {index}: table {} has {count}, numbered from 0",
                self.table
            )));
        };
        if column.len() > rows {
            return Err(self.set_twice(index));
        }
        let value = value.into();
        if matches!(value, Cell::Null) && !self.fields[index].data_type.nullable {
            return Err(self.no_value(index));
        }
        if column.push(value) { Ok(()) } else { Err(self.refused(index, value)) }
    }

    /// As [`set`](Self::set), by the name of the column: a little slower, since it is looked up in every row.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn set_by_name<'a>(&mut self, name: &str, value: impl Into<Cell<'a>>) -> Result<()> {
        match self.fields.iter().position(|field| field.name == name) {
            Some(index) => self.set(index, value),
            None => {
                let error = Error::usage(format!("table {} has no column `{name}`", self.table));
                let near = nearest(name, self.fields.iter().map(|field| field.name.as_str()));
                Err(error.help(
                    near.map_or("name a column of the DDL".to_string(), |near| format!("did you mean `{near}`?")),
                ))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Columns that were not set are NULL.
    pub(super) fn end_row(&mut self) -> Result<()> {
        self.rows += 1;
        for (index, column) in self.columns.iter_mut().enumerate() {
            if column.len() < self.rows {
                if !self.fields[index].data_type.nullable {
                    return Err(self.no_value(index));
                }
                column.push(Cell::Null);
            }
        }
        Ok(())
    }

    /// The rows so far; then there are none.
    pub(super) fn take(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns = self.fields.iter().zip(&mut self.columns);
        let arrays: Vec<ArrayRef> = columns.map(|(field, column)| column.finish(&field.data_type.kind)).collect();
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    #[cold]
    fn no_value(&self, index: usize) -> Error {
        let Field { name, data_type } = &self.fields[index];
        Error::data(format!("column `{name}` of table {} is {data_type}, and gets no value", self.table))
            .help("set it in every row, or declare it without NOT NULL")
    }

    #[cold]
    fn set_twice(&self, index: usize) -> Error {
        Error::usage(format!("column `{}` of table {} is set twice in one row", self.fields[index].name, self.table))
    }

    #[cold]
    fn refused(&self, index: usize, value: Cell<'_>) -> Error {
        let Field { name, data_type } = &self.fields[index];
        let given = value.describe();
        if self.columns[index].takes(value) {
            return Error::data(format!(
                "column `{name}` of table {} is {data_type}: {given} does not fit",
                self.table
            ))
            .help("declare a wider type, or bring the value into its range");
        }
        Error::usage(format!("column `{name}` of table {} is {data_type}, and is given {given}", self.table))
            .help(format!("give it {}", self.columns[index].wants()))
    }
}

//! The rows of a table as a program's functions see them.

use arrow::array::{ArrayRef, RecordBatch};

use super::cell::{Column, FromColumn};
use crate::error::{Error, Result, nearest};
use crate::time::EventTime;
use crate::types::Schema;

/// A batch of rows, column by column. Columns count from 0, in the order of the DDL.
pub struct Columns<'a> {
    columns: Vec<Column<'a>>,
    batch: &'a RecordBatch,
}

/// One row. `index`: of a column, from 0, in the order of the DDL.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [Column<'a>],
    number: usize,
}

impl<'a> Columns<'a> {
    pub(super) fn new(schema: &'a Schema, batch: &'a RecordBatch) -> Result<Self> {
        let columns = schema.fields.iter().zip(batch.columns());
        Ok(Columns { columns: columns.map(|(field, array)| Column::new(field, array)).collect::<Result<_>>()?, batch })
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }
    #[inline]
    pub fn row(&self, number: usize) -> Row<'_> {
        Row { columns: &self.columns, number }
    }

    /// The values of a BIGINT column.
    ///
    /// # Errors
    /// There is no such column, it has another type, or a NULL.
    pub fn i64s(&self, index: usize) -> Result<&'a [i64]> {
        column(&self.columns, index)?.i64s()
    }
    /// The values of an INT column.
    ///
    /// # Errors
    /// As [`i64s`](Self::i64s).
    pub fn i32s(&self, index: usize) -> Result<&'a [i32]> {
        column(&self.columns, index)?.i32s()
    }
    /// The values of a DOUBLE column.
    ///
    /// # Errors
    /// As [`i64s`](Self::i64s).
    pub fn f64s(&self, index: usize) -> Result<&'a [f64]> {
        column(&self.columns, index)?.f64s()
    }
    /// Those of a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`i64s`](Self::i64s).
    pub fn timestamps(&self, index: usize) -> Result<&'a [EventTime]> {
        column(&self.columns, index)?.timestamps()
    }
    /// A column of any type as it lies in memory; `None`: there is no such column.
    pub fn array(&self, index: usize) -> Option<&'a ArrayRef> {
        self.batch.columns().get(index)
    }
}

#[inline]
fn column<'r, 'a>(columns: &'r [Column<'a>], index: usize) -> Result<&'r Column<'a>> {
    columns.get(index).ok_or_else(|| no_column(columns, index))
}

#[cold]
fn no_column(columns: &[Column<'_>], index: usize) -> Error {
    Error::usage(format!("there is no column {index}: the table has {}, numbered from 0", columns.len()))
}

#[cold]
fn no_name(columns: &[Column<'_>], name: &str) -> Error {
    let error = Error::usage(format!("the table has no column `{name}`"));
    match nearest(name, columns.iter().map(|column| column.name())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help("name a column of the DDL"),
    }
}

impl<'a> Row<'a> {
    /// The value of a column: integers, `f32`, `f64`, `bool`, `&str`, `String`, `&[u8]`, [`Decimal`](super::Decimal),
    /// or an `Option` of these, which is `None` for NULL. TIMESTAMP and TIMESTAMP_LTZ are read as `i64`, milliseconds
    /// since 1970; DATE as `i32`, days since 1970; TIME as `i32`, milliseconds of the day.
    ///
    /// # Errors
    /// There is no such column, it has another type, or it is NULL.
    #[inline]
    pub fn at<V: FromColumn<'a>>(&self, index: usize) -> Result<V> {
        V::from_column(column(self.columns, index)?, self.number)
    }

    /// As [`at`](Self::at), by the name of the column: a little slower, since it is looked up in every row.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    #[inline]
    pub fn get<V: FromColumn<'a>>(&self, name: &str) -> Result<V> {
        let column = self.columns.iter().find(|column| column.name() == name);
        V::from_column(column.ok_or_else(|| no_name(self.columns, name))?, self.number)
    }

    /// An integer, or the milliseconds since 1970 of a timestamp.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    #[inline]
    pub fn i64(&self, index: usize) -> Result<i64> {
        self.at(index)
    }
    /// A FLOAT or DOUBLE.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    #[inline]
    pub fn f64(&self, index: usize) -> Result<f64> {
        self.at(index)
    }
    /// A text, without copying it.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    #[inline]
    pub fn str(&self, index: usize) -> Result<&'a str> {
        self.at(index)
    }
    /// Whether the column is NULL in this row.
    ///
    /// # Errors
    /// There is no such column.
    #[inline]
    pub fn is_null(&self, index: usize) -> Result<bool> {
        Ok(column(self.columns, index)?.is_null(self.number))
    }
}

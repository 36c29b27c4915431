//! What a row of a changing result says of it.

use arrow::array::{Int8Array, RecordBatch};
use arrow::datatypes::Int8Type;

use super::{Field, Type};

/// The name of the column that holds the kind of each row where a result changes. It stands last, and no query sees it.
pub const ROW_KIND: &str = "$row_kind";

/// Flink's kinds of rows. A change of a row is two: [`RowKind::UpdateBefore`], then [`RowKind::UpdateAfter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum RowKind {
    Insert = 0,
    UpdateBefore = 1,
    UpdateAfter = 2,
    Delete = 3,
}

impl RowKind {
    /// Its value in the column [`ROW_KIND`].
    pub fn code(self) -> i8 {
        self as i8
    }

    /// What the column [`ROW_KIND`] says; a value that it does not have counts as an insertion.
    pub fn of_code(code: i8) -> RowKind {
        match code {
            1 => RowKind::UpdateBefore,
            2 => RowKind::UpdateAfter,
            3 => RowKind::Delete,
            _ => RowKind::Insert,
        }
    }

    /// Whether the row is in the result from here on; else it leaves it.
    pub fn is_added(self) -> bool {
        matches!(self, RowKind::Insert | RowKind::UpdateAfter)
    }

    /// As Flink prints it: `+I`, `-U`, `+U` or `-D`.
    pub fn short(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }

    /// The column of the kinds.
    pub fn field() -> Field {
        Field::new(ROW_KIND, Type::TinyInt.not_null())
    }

    /// The kinds of a batch's rows, of which `columns` columns are the result's own; none where all are insertions.
    pub fn column(batch: &RecordBatch, columns: usize) -> Option<&Int8Array> {
        let column = batch.columns().get(columns)?;
        column.as_any().downcast_ref::<arrow::array::PrimitiveArray<Int8Type>>()
    }
}

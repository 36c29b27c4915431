//! Results that change: the column `op`, which says what happened to each row.

use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use transom::error::{Error, Result};
use transom::types::{Field, RowKind, Schema, Type};

/// The columns of a changing result as they are shown: `op` in front.
pub fn with_op(schema: &Schema) -> Schema {
    let op = Field::new("op", Type::Char(2).not_null());
    Schema::new(std::iter::once(op).chain(schema.fields.iter().cloned()).collect())
}

/// The rows as they are shown, of the schema that [`with_op`] gave. The batch has their kinds in its last column.
pub fn with_kinds(batch: &RecordBatch, schema: &Schema) -> Result<RecordBatch> {
    let own = schema.len() - 1;
    let Some(kinds) = RowKind::column(batch, own) else {
        return Err(Error::internal("the rows of a changing result do not say what happened to them"));
    };
    let texts: StringArray = (0..kinds.len()).map(|row| Some(RowKind::of_code(kinds.value(row)).short())).collect();
    let columns = std::iter::once(Arc::new(texts) as _).chain(batch.columns()[..own].iter().cloned());
    Ok(RecordBatch::try_new(schema.to_arrow(), columns.collect())?)
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int8Array, Int64Array};
    use transom::types::ROW_KIND;

    use super::*;

    #[test]
    fn the_kind_of_a_row_stands_in_front_of_it() {
        let schema = with_op(&Schema::new(vec![Field::new("n", Type::BigInt.not_null())]));
        let numbers: arrow::array::ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2, 2]));
        let kinds: arrow::array::ArrayRef = Arc::new(Int8Array::from(vec![0, 1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("n", numbers), (ROW_KIND, kinds)]).expect("a batch");
        let shown = with_kinds(&batch, &schema).expect("it has kinds");
        let ops: Vec<_> = shown.column(0).as_string::<i32>().iter().flatten().collect();
        assert_eq!(ops, ["+I", "-U", "+U", "-D"]);
        assert_eq!(shown.num_columns(), 2);
    }
}

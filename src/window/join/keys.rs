//! The keys of a join's rows.

use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::JoinSpec;
use crate::state::{KeyEncoder, KeyIndex};

/// Which columns of each side are compared.
pub(super) struct Keys {
    encoder: Arc<KeyEncoder>,
    columns: [Vec<usize>; 2],
    null_meets_null: Vec<bool>,
}

impl Keys {
    pub(super) fn new(spec: &JoinSpec) -> Result<Self> {
        let types = |side: usize| -> Result<Vec<ArrowType>> {
            let types = spec.keys[side].iter().map(|&key| {
                let field = spec.inputs[side].fields.get(key);
                Ok(field.ok_or_else(|| Error::internal("a join's key is no column"))?.data_type.kind.to_arrow())
            });
            types.collect()
        };
        let (left, right) = (types(0)?, types(1)?);
        if left != right || left.len() != spec.null_meets_null.len() {
            return Err(Error::internal(format!("a join of keys {left:?} and {right:?}")));
        }
        Ok(Keys {
            encoder: Arc::new(KeyEncoder::new(&left)?),
            columns: spec.keys.clone(),
            null_meets_null: spec.null_meets_null.clone(),
        })
    }

    pub(super) fn index(&self) -> KeyIndex {
        KeyIndex::new(self.encoder.clone())
    }

    /// Appends the group of each row to `out`, and says which rows may have a partner (`None`: all): NULL equals
    /// nothing. All rows of a group are alike in this.
    pub(super) fn groups(
        &self,
        side: usize,
        rows: &RecordBatch,
        hashes: &[KeyHash],
        (index, out): (&mut KeyIndex, &mut Vec<u32>),
    ) -> Result<Option<NullBuffer>> {
        let columns: Vec<_> = self.columns[side].iter().map(|&key| rows.column(key).clone()).collect();
        index.find_or_insert(hashes, &self.encoder.encode(&columns, rows.num_rows())?, out)?;
        let strict = columns.iter().zip(&self.null_meets_null).filter(|(_, meets)| !**meets);
        Ok(strict.fold(None, |valid, (column, _)| NullBuffer::union(valid.as_ref(), column.logical_nulls().as_ref())))
    }
}

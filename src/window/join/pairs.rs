//! From candidates to the rows of the result.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, Schema as ArrowSchema, SchemaRef};

use crate::error::{Error, Result};
use crate::expr::{EvalContext, Expr};
use crate::plan::{JoinKind, JoinSpec};

/// In place of a row: none, NULLs.
pub(super) const NONE: u32 = u32::MAX;

/// Candidates at most that are looked at together.
pub(super) const CANDIDATES_MAX: usize = 16_384;

/// A row of each side; with [`NONE`] for one of them, the question whether the other has had no partner (for a semi
/// join: has had one), asked behind all of its pairs.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub left: Vec<u32>,
    pub right: Vec<u32>,
}

impl Candidates {
    pub(super) fn push(&mut self, left: u32, right: u32) {
        self.left.push(left);
        self.right.push(right);
    }
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }
    pub(super) fn is_full(&self) -> bool {
        self.len() >= CANDIDATES_MAX
    }
    /// Those at some places.
    pub(super) fn pick(&self, places: &[u32]) -> Candidates {
        let of = |rows: &[u32]| places.iter().map(|&at| rows[at as usize]).collect();
        Candidates { left: of(&self.left), right: of(&self.right) }
    }
    pub(super) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
    }
}

/// Gives the values of a side's column (0: left) in rows; NULL for [`NONE`].
pub(super) type Gather<'a> = &'a dyn Fn(usize, usize, &[u32]) -> Result<ArrayRef>;

/// What rows must fulfil to be a pair, beyond their keys, and what the result has of them.
pub(super) struct Pairs {
    kind: JoinKind,
    left_width: usize,
    output: Vec<usize>,
    schema: SchemaRef,
    condition: Option<Condition>,
    /// Of the left side's columns and then the right side's.
    types: Vec<ArrowType>,
}

struct Condition {
    /// Over `columns`.
    expr: Expr,
    columns: Vec<usize>,
    schema: SchemaRef,
    context: EvalContext,
}

impl Pairs {
    pub(super) fn new(spec: &JoinSpec, context: &EvalContext) -> Self {
        let fields = spec.inputs.iter().flat_map(|input| &input.fields);
        let types: Vec<ArrowType> = fields.map(|field| field.data_type.kind.to_arrow()).collect();
        let condition = spec.condition.as_ref().map(|condition| {
            let mut columns = Vec::new();
            condition.for_each_column(&mut |column| columns.push(column));
            columns.sort_unstable();
            columns.dedup();
            let mut expr = condition.clone();
            expr.map_columns(&|column| columns.partition_point(|&other| other < column));
            let fields = columns.iter().filter_map(|&column| types.get(column));
            let fields: Vec<_> = fields.map(|kind| ArrowField::new("", kind.clone(), true)).collect();
            Condition { expr, columns, schema: Arc::new(ArrowSchema::new(fields)), context: context.clone() }
        });
        Pairs {
            kind: spec.kind,
            left_width: spec.inputs[0].len(),
            output: spec.output.clone(),
            schema: spec.schema.to_arrow(),
            condition,
            types,
        }
    }

    /// NULLs for a column of a side that has no rows.
    pub(super) fn nulls(&self, side: usize, column: usize, rows: usize) -> Result<ArrayRef> {
        let data_type = self.types.get(side * self.left_width + column);
        let data_type = data_type.ok_or_else(|| Error::internal(format!("a join reads column {column} of a side")))?;
        Ok(new_null_array(data_type, rows))
    }

    pub(super) fn has_condition(&self) -> bool {
        self.condition.is_some()
    }

    /// Which of some pairs fulfil the condition; `None`: all.
    pub(super) fn hold(&self, left: &[u32], right: &[u32], gather: Gather<'_>) -> Result<Option<BooleanArray>> {
        let Some(condition) = &self.condition else { return Ok(None) };
        let columns = self.columns(&condition.columns, (left, right), gather)?;
        let rows = batch(&condition.schema, columns, left.len())?;
        condition.expr.eval_filter(&rows, &condition.context).map(Some)
    }

    /// The places of those candidates that are rows of the result. `met`, by side and row: has had a partner.
    pub(super) fn sift(
        &self,
        candidates: &Candidates,
        met: &mut [Vec<bool>; 2],
        gather: Gather<'_>,
    ) -> Result<Vec<u32>> {
        let is_pair = |i: &usize| candidates.left[*i] != NONE && candidates.right[*i] != NONE;
        let hold = if self.has_condition() {
            let pairs: Vec<usize> = (0..candidates.len()).filter(is_pair).collect();
            let left: Vec<u32> = pairs.iter().map(|&i| candidates.left[i]).collect();
            let right: Vec<u32> = pairs.iter().map(|&i| candidates.right[i]).collect();
            self.hold(&left, &right, gather)?
        } else {
            None
        };
        let (mut pair, mut kept) = (0, Vec::new());
        for (at, (&left, &right)) in candidates.left.iter().zip(&candidates.right).enumerate() {
            let keep = match (left, right) {
                (NONE, row) => !met[1][row as usize],
                (row, NONE) => met[0][row as usize] == (self.kind == JoinKind::Semi),
                (left, right) => {
                    let holds = hold.as_ref().is_none_or(|hold| hold.value(pair));
                    pair += 1;
                    if holds {
                        met[0][left as usize] = true;
                        met[1][right as usize] = true;
                    }
                    holds && self.kind.has_pairs()
                }
            };
            if keep {
                kept.push(at as u32);
            }
        }
        Ok(kept)
    }

    /// The result's rows.
    pub(super) fn rows(&self, kept: &Candidates, gather: Gather<'_>) -> Result<RecordBatch> {
        let columns = self.columns(&self.output, (&kept.left, &kept.right), gather)?;
        batch(&self.schema, columns, kept.len())
    }

    fn columns(&self, columns: &[usize], (left, right): (&[u32], &[u32]), gather: Gather<'_>) -> Result<Vec<ArrayRef>> {
        let column = |&column: &usize| match column.checked_sub(self.left_width) {
            None => gather(0, column, left),
            Some(column) => gather(1, column, right),
        };
        columns.iter().map(column).collect()
    }
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|error| Error::internal(format!("the rows of a join: {error}")))
}

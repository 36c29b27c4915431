//! CASE, COALESCE, AND and OR: operands that may fail are computed only for the rows that reach them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, new_null_array};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{and_kleene, filter, interleave, is_not_null, or_kleene, prep_null_mask_filter};

use super::value::Value;
use super::{EvalContext, Rows};
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::types::{DataType, Type};

/// The operand's flags for all rows; a bare NULL counts as unknown.
fn operand(expr: &Expr, rows: Rows<'_>, context: &EvalContext) -> Result<BooleanArray> {
    if expr.data_type().kind == Type::Null {
        return Ok(BooleanArray::new_null(rows.count));
    }
    let array = expr.value(rows, context)?.into_array(rows.count)?;
    match array.as_any().downcast_ref::<BooleanArray>() {
        Some(flags) => Ok(flags.clone()),
        None => Err(Error::internal(format!("{} where BOOLEAN is needed", expr.data_type()))),
    }
}

/// Computes `expr` for the chosen rows only; the result has one value a chosen row.
fn some_rows(expr: &Expr, chosen: &BooleanArray, rows: Rows<'_>, context: &EvalContext) -> Result<(Value, usize)> {
    let count = chosen.true_count();
    if count == rows.count {
        return Ok((expr.value(rows, context)?, count));
    }
    let mut columns = rows.columns.to_vec();
    let mut used = Vec::new();
    expr.for_each_column(&mut |index| used.push(index));
    used.sort_unstable();
    used.dedup();
    for index in used {
        if let Some(column) = columns.get_mut(index) {
            *column = filter(column, chosen)?;
        }
    }
    let value = expr.value(Rows { columns: &columns, count }, context)?;
    Ok((value, count))
}

/// AND or OR in three-valued logic.
pub(super) fn logic(conjunction: bool, args: &[Expr], rows: Rows<'_>, context: &EvalContext) -> Result<Value> {
    let Some((first, rest)) = args.split_first() else {
        return Err(Error::internal("AND without operands"));
    };
    let mut result = operand(first, rows, context)?;
    let combine = if conjunction { and_kleene } else { or_kleene };
    for arg in rest {
        if !arg.can_fail() {
            result = combine(&result, &operand(arg, rows, context)?)?;
            continue;
        }
        // FALSE AND x, TRUE OR x: x is not computed.
        let open: BooleanArray = result.iter().map(|flag| Some(flag != Some(!conjunction))).collect();
        if open.true_count() == 0 {
            break;
        }
        let (value, count) = some_rows(arg, &open, rows, context)?;
        let part = value.into_array(count)?;
        let part = part.as_any().downcast_ref::<BooleanArray>().ok_or_else(|| Error::internal("AND of no BOOLEAN"))?;
        result = combine(&result, &spread(part, &open))?;
    }
    Ok(Value::Array(Arc::new(result)))
}

/// Puts the values of chosen rows back into their places; the others are NULL.
fn spread(part: &BooleanArray, chosen: &BooleanArray) -> BooleanArray {
    if part.len() == chosen.len() {
        return part.clone();
    }
    let mut next = 0;
    chosen
        .iter()
        .map(|flag| {
            if flag != Some(true) {
                return None;
            }
            let at = next;
            next += 1;
            (at < part.len() && !part.is_null(at)).then(|| part.value(at))
        })
        .collect()
}

/// CASE WHEN. Branch values have the type of the whole already.
pub(super) fn case(
    branches: &[(Expr, Expr)],
    otherwise: &Expr,
    data_type: &DataType,
    rows: Rows<'_>,
    context: &EvalContext,
) -> Result<Value> {
    let later_fails = branches.iter().skip(1).any(|(when, _)| when.can_fail());
    let fails = later_fails || otherwise.can_fail() || branches.iter().any(|(_, then)| then.can_fail());
    if fails {
        return guarded_case(branches, otherwise, data_type, rows, context);
    }
    let mut result = typed(otherwise, data_type, rows, context)?;
    for (when, then) in branches.iter().rev() {
        let mask = operand(when, rows, context)?;
        let mask = if mask.null_count() > 0 { prep_null_mask_filter(&mask) } else { mask };
        let value = typed(then, data_type, rows, context)?;
        let array = zip(&mask, &value, &result)?;
        result = Value::Array(array);
    }
    Ok(result)
}

/// The value of a branch; a bare NULL takes the type of the whole.
fn typed(expr: &Expr, data_type: &DataType, rows: Rows<'_>, context: &EvalContext) -> Result<Value> {
    if expr.data_type().kind == Type::Null {
        return Ok(Value::Constant(new_null_array(&data_type.kind.to_arrow(), 1)));
    }
    expr.value(rows, context)
}

/// CASE whose branches may fail: each is computed for the rows that take it.
fn guarded_case(
    branches: &[(Expr, Expr)],
    otherwise: &Expr,
    data_type: &DataType,
    rows: Rows<'_>,
    context: &EvalContext,
) -> Result<Value> {
    let mut parts = Parts::new(rows.count);
    for (when, then) in branches {
        if parts.open.true_count() == 0 {
            break;
        }
        let (condition, count) = match when.data_type().kind {
            Type::Null => continue,
            _ => some_rows(when, &parts.open, rows, context)?,
        };
        let condition = condition.into_array(count)?;
        let condition =
            condition.as_any().downcast_ref::<BooleanArray>().ok_or_else(|| Error::internal("CASE of no BOOLEAN"))?;
        let taken = spread(condition, &parts.open);
        let taken: BooleanArray = taken.iter().map(|flag| Some(flag == Some(true))).collect();
        parts.take(then, taken, data_type, rows, context)?;
    }
    let rest = parts.open.clone();
    parts.take(otherwise, rest, data_type, rows, context)?;
    parts.finish(data_type)
}

/// COALESCE: the first operand that is not NULL.
pub(super) fn coalesce(args: &[Expr], data_type: &DataType, rows: Rows<'_>, context: &EvalContext) -> Result<Value> {
    let guarded = args.iter().skip(1).any(Expr::can_fail);
    let Some((first, rest)) = args.split_first() else {
        return Err(Error::internal("COALESCE without operands"));
    };
    let mut result = typed(first, data_type, rows, context)?;
    for arg in rest {
        if result.array().null_count() == 0 {
            break;
        }
        let whole = result.into_array(rows.count)?;
        let known = is_not_null(&whole)?;
        let array = if guarded {
            let mut parts = Parts::new(rows.count);
            parts.take_array(whole, &known);
            let open = parts.open.clone();
            parts.take(arg, open, data_type, rows, context)?;
            parts.finish(data_type)?.into_array(rows.count)?
        } else {
            let value = typed(arg, data_type, rows, context)?;
            zip(&known, &whole, &value)?
        };
        result = Value::Array(array);
    }
    Ok(result)
}

/// A column put together from parts that were computed for some rows each.
struct Parts {
    arrays: Vec<ArrayRef>,
    /// For each row, which array and which place in it.
    places: Vec<(usize, usize)>,
    /// Rows without a value yet.
    open: BooleanArray,
}

impl Parts {
    fn new(count: usize) -> Self {
        Parts { arrays: Vec::new(), places: vec![(0, 0); count], open: BooleanArray::from(vec![true; count]) }
    }

    fn take(
        &mut self,
        expr: &Expr,
        chosen: BooleanArray,
        data_type: &DataType,
        rows: Rows<'_>,
        context: &EvalContext,
    ) -> Result<()> {
        let count = chosen.true_count();
        if count == 0 {
            return Ok(());
        }
        let array = if expr.data_type().kind == Type::Null {
            new_null_array(&data_type.kind.to_arrow(), count)
        } else {
            some_rows(expr, &chosen, rows, context)?.0.into_array(count)?
        };
        let at = self.arrays.len();
        self.arrays.push(array);
        let mut next = 0;
        for (row, place) in self.places.iter_mut().enumerate() {
            if chosen.value(row) {
                *place = (at, next);
                next += 1;
            }
        }
        self.close(&chosen);
        Ok(())
    }

    /// Takes the chosen rows from a column of all rows.
    fn take_array(&mut self, array: ArrayRef, chosen: &BooleanArray) {
        let at = self.arrays.len();
        self.arrays.push(array);
        for (row, place) in self.places.iter_mut().enumerate() {
            if chosen.value(row) {
                *place = (at, row);
            }
        }
        self.close(chosen);
    }

    fn close(&mut self, chosen: &BooleanArray) {
        self.open =
            self.open.iter().zip(chosen.iter()).map(|(a, b)| Some(a == Some(true) && b != Some(true))).collect();
    }

    fn finish(self, data_type: &DataType) -> Result<Value> {
        let whole = self.arrays.len() == 1 && self.arrays[0].len() == self.places.len() && self.open.true_count() == 0;
        if let (true, Some(array)) = (whole, self.arrays.first()) {
            return Ok(Value::Array(array.clone()));
        }
        if self.arrays.is_empty() {
            return Ok(Value::Array(new_null_array(&data_type.kind.to_arrow(), self.places.len())));
        }
        let arrays: Vec<&dyn Array> = self.arrays.iter().map(|array| array.as_ref()).collect();
        Ok(Value::Array(interleave(&arrays, &self.places)?))
    }
}

//! How many bytes state takes, about: cells of columns, without what grows with the text of the values.

use super::words::FIRM;
use crate::aggregate::{AggregateCall, AggregateKind, Setting};
use crate::types::{Schema, Type};

/// A place in the index of keys, at its usual fill.
const SLOT_BYTES: u64 = 12;
/// Where a text stands and how long it is.
const SPAN_BYTES: u64 = 8;
/// A list of values: its ends.
const LIST_BYTES: u64 = 8;
/// A sketch of many distinct values.
const SKETCH_BYTES: u64 = 16 << 10;

/// Bytes of one piece of state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::sql) struct Bytes {
    /// Of cells.
    pub fixed: u64,
    /// Text (or other values of no fixed length) comes on top.
    pub text: bool,
    /// Every value or every different value comes on top.
    pub values: bool,
    /// It is less while few values have been seen.
    pub at_most: bool,
}

impl Bytes {
    fn cells(fixed: u64) -> Bytes {
        Bytes { fixed, ..Bytes::default() }
    }

    pub fn and(self, other: Bytes) -> Bytes {
        Bytes {
            fixed: self.fixed + other.fixed,
            text: self.text || other.text,
            values: self.values || other.values,
            at_most: self.at_most || other.at_most,
        }
    }
}

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.at_most {
            f.write_str("up to ")?;
        }
        match self.fixed {
            fixed if fixed >= 10 << 10 => write!(f, "{}{FIRM}KiB", fixed >> 10)?,
            fixed => write!(f, "{fixed}{FIRM}B")?,
        }
        match (self.text, self.values) {
            (_, true) => f.write_str(" and the values"),
            (true, false) => f.write_str(" and text"),
            (false, false) => Ok(()),
        }
    }
}

/// A value of a column.
fn cell(kind: &Type) -> Bytes {
    match kind {
        Type::Null => Bytes::default(),
        Type::Boolean => Bytes::cells(1),
        _ => match kind.to_arrow().primitive_width() {
            Some(width) => Bytes::cells(width as u64),
            None => Bytes { fixed: SPAN_BYTES, text: true, ..Bytes::default() },
        },
    }
}

/// A row of some columns.
pub(super) fn row(schema: &Schema) -> Bytes {
    schema.fields.iter().map(|field| cell(&field.data_type.kind)).fold(Bytes::default(), Bytes::and)
}

/// A key in the index of keys.
pub(super) fn key(columns: &[usize], input: &Schema) -> Bytes {
    if columns.is_empty() {
        return Bytes::default();
    }
    let fields = columns.iter().filter_map(|column| input.fields.get(*column));
    let cells = fields.map(|field| cell(&field.data_type.kind)).fold(Bytes::default(), Bytes::and);
    // Keys are kept in whole words.
    Bytes { fixed: cells.fixed.next_multiple_of(8) + SLOT_BYTES, ..cells }
}

/// What a function of OVER keeps of a key, by the type of its result.
pub(super) fn over_call(output: &Type) -> Bytes {
    cell(output).and(Bytes::cells(8))
}

/// The accumulator of one group. `changes`: rows are taken out again.
pub(super) fn accumulator(call: &AggregateCall, changes: bool) -> Bytes {
    use AggregateKind::*;
    let all = Bytes { fixed: LIST_BYTES, values: true, ..Bytes::default() };
    let input = call.inputs.first().map_or_else(Bytes::default, |input| cell(&input.kind));
    let output = cell(&call.output.kind);
    if call.distinct && !matches!(call.kind, Min | Max | FirstValue | LastValue) {
        return all;
    }
    match call.kind {
        Min | Max if changes => all,
        Count => Bytes::cells(8),
        Sum => Bytes::cells(output.fixed.max(8)),
        Avg => Bytes::cells(output.fixed.max(8) + 8),
        Min | Max => output,
        StddevPop | StddevSamp | VarPop | VarSamp => Bytes::cells(24),
        FirstValue | LastValue => input.and(Bytes::cells(4)),
        ListAgg | ArrayAgg | Collect | JsonObjectAgg | JsonArrayAgg | Percentile => all,
        ApproxCountDistinct | ApproxPercentile => Bytes { fixed: SKETCH_BYTES, at_most: true, ..Bytes::default() },
        Histogram => match call.setting {
            Setting::Bins { count, .. } => Bytes::cells(8 * (u64::from(count) + 2)),
            _ => Bytes::default(),
        },
    }
}

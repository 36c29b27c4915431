//! How much state a plan may need, from a look at the start of its input.

use std::collections::HashSet;

use crate::error::Result;
use crate::expr::EvalContext;
use crate::limits::BATCH_ROWS_DEFAULT;
use crate::plan::JobPlan;
use crate::source;
use crate::sql::{self, StateSize};
use arrow::row::{RowConverter, SortField};

use crate::numbers;

/// Bytes of text that are read.
const SAMPLE_BYTES: usize = 4 << 20;

/// What was seen at the start of a table.
struct Seen {
    keys: u64,
    rows: u64,
    file: String,
    /// It was the whole table.
    all: bool,
}

/// A line for each operator that can be estimated; nothing where the input cannot be read, which running it tells.
pub fn estimate(plan: &JobPlan) -> String {
    let mut text = String::new();
    for state in sql::state_sizes(plan) {
        if let Ok(Some(seen)) = look(&state, plan) {
            text.push_str(&told(&state, &seen));
        }
    }
    if text.is_empty() { text } else { format!("State, estimated from a sample:\n{text}") }
}

fn told(state: &StateSize, seen: &Seen) -> String {
    let total = seen.keys.saturating_mul(state.open).saturating_mul(state.bytes);
    let at_least = if seen.all { "" } else { "at least " };
    let keys = plural(seen.keys, "key");
    let open = state.piece.map(|piece| format!(" x up to {} open at a time", plural(state.open, piece)));
    let open = open.unwrap_or_default();
    let more = state.and_more.map(|more| format!(" and {more}")).unwrap_or_default();
    let rows = if seen.all {
        format!("all {}", plural(seen.rows, "row"))
    } else {
        format!("the first {}", plural(seen.rows, "row"))
    };
    let filtered = if state.filtered { ", before WHERE" } else { "" };
    format!(
        "  {}: {at_least}{keys} ({}){open} x {} B = about {}{more}\n    keys counted in {rows} of {}{filtered}\n",
        state.operator,
        state.key,
        state.bytes,
        numbers::bytes(total),
        seen.file,
    )
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Counts the different keys in the first block of the first file; `None` where there is none.
fn look(state: &StateSize, plan: &JobPlan) -> Result<Option<Seen>> {
    let splits = source::open(&state.scan, SAMPLE_BYTES)?;
    let Some(split) = splits.first() else { return Ok(None) };
    let mut extent = split.extent();
    if extent.blocks == 0 && !extent.complete {
        extent = split.extend();
    }
    if extent.blocks == 0 {
        return Ok(None);
    }
    let context = EvalContext { time_zone: plan.config.time_zone.clone(), now_ms: 0 };
    let sort = state.keys.iter().map(|key| SortField::new(key.data_type().kind.to_arrow()));
    let converter = RowConverter::new(sort.collect())?;
    let mut keys: HashSet<Vec<u8>> = HashSet::new();
    let stats = split.decode(0, 0, BATCH_ROWS_DEFAULT, &mut |batch| {
        let columns = state.keys.iter().map(|key| key.eval(&batch, &context)).collect::<Result<Vec<_>>>()?;
        for row in &converter.convert_columns(&columns)? {
            if !keys.contains(row.data()) {
                keys.insert(row.data().to_vec());
            }
        }
        Ok(())
    })?;
    let all = splits.len() == 1 && !extent.has_after(1);
    Ok(Some(Seen { keys: keys.len() as u64, rows: stats.rows, file: split.name().to_string(), all }))
}

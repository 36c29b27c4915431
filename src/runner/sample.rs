//! How much state a plan may need, from a look at the start of its input.

use std::collections::HashSet;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, TimeUnit, TimestampMillisecondType};
use arrow::row::{RowConverter, SortField};

use crate::error::Result;
use crate::expr::eval::{Function, Time};
use crate::expr::{EvalContext, Expr, Scalar};
use crate::job::wrong_unit;
use crate::limits::BATCH_ROWS_DEFAULT;
use crate::numbers;
use crate::plan::{JobPlan, Node, ScanSpec};
use crate::source;
use crate::sql::{self, Amount, Counted, Lint, Look, Rule, StateSize};

/// Bytes of text that are read of a table.
const SAMPLE_BYTES: usize = 4 << 20;

/// What was seen at the start of tables.
#[derive(Default)]
struct Seen {
    keys: HashSet<Vec<u8>>,
    /// By file.
    rows: Vec<(String, u64)>,
    /// It was not the whole of them.
    partly: bool,
    /// The lowest and highest event time in milliseconds.
    times: Option<(i64, i64)>,
    /// Rows without one.
    null_times: u64,
}

/// A line for each operator with state; nothing where there is none.
pub(super) fn estimate(plan: &JobPlan) -> String {
    let context = EvalContext { time_zone: plan.config.time_zone.clone(), now_ms: 0 };
    let told = |state: &StateSize| {
        let title = match state.part {
            Some(part) => format!("  {}, {part}: ", state.operator),
            None => format!("  {}: ", state.operator),
        };
        match state.amount.as_ref().map(|amount| (amount, look(&amount.looks, &context))) {
            Err(why) => format!("{title}not estimated: {why}\n"),
            Ok((_, Err(error))) => format!("{title}not estimated: {}\n", error.message()),
            Ok((amount, Ok(seen))) => format!("{title}{}", told(amount, &seen)),
        }
    };
    let lines: String = sql::state_sizes(plan).iter().map(told).collect();
    if lines.is_empty() { lines } else { format!("State, estimated from a sample:\n{lines}") }
}

/// What the start of the input says that is hardly meant. Of a table that cannot be read running it tells.
pub(super) fn findings(plan: &JobPlan) -> Vec<Lint> {
    let context = EvalContext { time_zone: plan.config.time_zone.clone(), now_ms: 0 };
    let mut scans = Vec::new();
    plan.pipelines.iter().for_each(|pipeline| scans_of(&pipeline.root, &mut scans));
    let mut found: Vec<Lint> = Vec::new();
    for scan in scans {
        let Some(Ok(seen)) = sql::look_at_times(scan).map(|times| look(&[times], &context)) else { continue };
        let of_unit = || seen.times.and_then(|(low, high)| wrong_unit(scan, low, high));
        let (rule, (message, remedy)) = match (seen.null_times, of_unit()) {
            (0, None) => continue,
            (0, Some(told)) => (Rule::TimesInWrongUnit, told),
            (nulls, _) => (Rule::NullEventTimes, without_time(scan, nulls, seen.rows())),
        };
        let place = scan.watermark.as_ref().and_then(|watermark| watermark.place.clone());
        found.push(Lint { rule, place, message, remedy: remedy.to_string() });
    }
    found
}

/// What to say of event times that are NULL.
fn without_time(scan: &ScanSpec, nulls: u64, rows: u64) -> (String, &'static str) {
    let time = scan.watermark.as_ref().map_or(0, |watermark| watermark.time);
    let name = scan.schema.fields.get(time).map_or("", |field| field.name.as_str());
    let message =
        format!("the event time `{name}` of table {} is NULL in {nulls} of {rows} rows: a run fails there", scan.table);
    let remedy = if scan.columns.get(time).is_some_and(reads_seconds) {
        "TO_TIMESTAMP_LTZ(column, 0) reads seconds, and is NULL behind the year 9999: (column, 3) reads milliseconds"
    } else {
        "check how the column is read; --quarantine FILE takes such rows out"
    };
    (message, remedy)
}

/// Whether a column is TO_TIMESTAMP_LTZ(…, 0).
fn reads_seconds(expr: &Expr) -> bool {
    match expr {
        Expr::Cast { input, .. } => reads_seconds(input),
        Expr::Call { function: Function::Time(Time::ToTimestampLtz), args, .. } => {
            matches!(args.get(1), Some(Expr::Literal { value: Scalar::Int(0), .. }))
        }
        _ => false,
    }
}

/// The tables of a plan, each once.
fn scans_of<'p>(node: &'p Node, scans: &mut Vec<&'p ScanSpec>) {
    match node {
        Node::Scan(scan) if !scans.iter().any(|known| known.table == scan.table) => scans.push(scan),
        other => other.inputs().into_iter().for_each(|input| scans_of(input, scans)),
    }
}

fn told(amount: &Amount, seen: &Seen) -> String {
    let keys = seen.keys.len() as u64;
    let (count, what, counted) = match &amount.of {
        Counted::One => (1, "1 group".to_string(), None),
        Counted::Keys(names) => (keys, format!("{} ({names})", plural(keys, "key")), Some("keys")),
        Counted::RowsOfKey { keys: _, rows } if amount.looks.is_empty() => {
            (*rows, format!("up to {}", plural(*rows, "row")), None)
        }
        Counted::RowsOfKey { keys: names, rows } => {
            let each = plural(*rows, "row");
            (keys.saturating_mul(*rows), format!("{} ({names}) x up to {each}", plural(keys, "key")), Some("keys"))
        }
        Counted::RowsOf { span_ms, copies } => {
            let rows = seen.rows_of(*span_ms);
            let times = if *copies == 1 { String::new() } else { format!(" x {copies} copies") };
            let what = format!("{} of {}{times}", plural(rows, "row"), sql::duration(*span_ms));
            (rows.saturating_mul(*copies), what, Some("rows"))
        }
        Counted::Rows => (seen.rows(), plural(seen.rows(), "row"), Some("rows")),
    };
    let open = amount.piece.map(|piece| match amount.open {
        1 => format!(" x 1 {piece} open at a time"),
        open => format!(" x up to {open} {piece}s open at a time"),
    });
    let pieces = count.saturating_mul(amount.open);
    // What is in few rows cannot be in many pieces.
    let fewer = amount.one_a_row && !seen.partly && counted.is_some() && seen.rows() < pieces;
    let (pieces, one) = if fewer { (seen.rows(), ", one for each row at most") } else { (pieces, "") };
    let total = pieces.saturating_mul(amount.bytes);
    let more = amount.and_more.map(|more| format!(" and {more}")).unwrap_or_default();
    let at_least = if seen.partly && !matches!(amount.of, Counted::RowsOf { .. }) { "at least " } else { "" };
    let mut text = format!(
        "{at_least}{what}{} x {} B{one} = about {}{more}\n",
        open.unwrap_or_default(),
        amount.bytes,
        numbers::bytes(total)
    );
    if let Some(counted) = counted {
        let part = if seen.partly { "the first" } else { "all" };
        let filtered = amount.looks.iter().any(|look| look.filtered);
        let before = if filtered { ", before what leaves rows out" } else { "" };
        let files: Vec<&str> = seen.rows.iter().map(|(file, _)| file.as_str()).collect();
        let rows = plural(seen.rows(), "row");
        text.push_str(&format!("    {counted} counted in {part} {rows} of {}{before}\n", files.join(" and ")));
    }
    text
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Seen {
    fn rows(&self) -> u64 {
        self.rows.iter().map(|(_, rows)| rows).sum()
    }

    /// How many rows come in so many milliseconds of event time.
    fn rows_of(&self, span_ms: i64) -> u64 {
        let Some((first, last)) = self.times else { return self.rows() };
        let all = (i128::from(last) - i128::from(first)).max(1);
        let rows = i128::from(self.rows()) * i128::from(span_ms.max(0));
        u64::try_from((rows + all - 1) / all).unwrap_or(u64::MAX).min(self.rows())
    }

    /// Adds the keys and times of a batch.
    fn add(&mut self, keys: &[ArrayRef], converter: Option<&RowConverter>, time: Option<&ArrayRef>) -> Result<()> {
        if let Some(converter) = converter {
            for row in &converter.convert_columns(keys)? {
                if !self.keys.contains(row.data()) {
                    self.keys.insert(row.data().to_vec());
                }
            }
        }
        let Some(time) = time else { return Ok(()) };
        self.null_times += time.null_count() as u64;
        let times = arrow::compute::cast(time, &DataType::Timestamp(TimeUnit::Millisecond, None))?;
        let times = times.as_primitive::<TimestampMillisecondType>();
        let bounds = arrow::compute::min(times).zip(arrow::compute::max(times));
        self.times = match (self.times, bounds) {
            (Some((first, last)), Some((low, high))) => Some((first.min(low), last.max(high))),
            (known, found) => known.or(found),
        };
        Ok(())
    }
}

/// Looks at the first block of the first file of each table.
fn look(looks: &[Look], context: &EvalContext) -> Result<Seen> {
    let mut seen = Seen::default();
    for look in looks {
        look_at(look, context, &mut seen)?;
    }
    Ok(seen)
}

fn look_at(look: &Look, context: &EvalContext, seen: &mut Seen) -> Result<()> {
    let splits = source::open(&look.scan, SAMPLE_BYTES)?;
    let Some(split) = splits.first() else { return Ok(()) };
    let mut extent = split.extent();
    if extent.blocks == 0 && !extent.complete {
        extent = split.extend();
    }
    if extent.blocks == 0 {
        return Ok(());
    }
    let sort: Vec<SortField> = look.keys.iter().map(|key| SortField::new(key.data_type().kind.to_arrow())).collect();
    let converter = if sort.is_empty() { None } else { Some(RowConverter::new(sort)?) };
    let stats = split.decode(0, 0, BATCH_ROWS_DEFAULT, &mut |batch| {
        let keys = look.keys.iter().map(|key| key.eval(&batch, context)).collect::<Result<Vec<_>>>()?;
        let time = look.time.as_ref().map(|time| time.eval(&batch, context)).transpose()?;
        seen.add(&keys, converter.as_ref(), time.as_ref())
    })?;
    match seen.rows.iter_mut().find(|(file, _)| file == split.name()) {
        None => seen.rows.push((split.name().to_string(), stats.rows)),
        Some((_, rows)) if look.keys.is_empty() => *rows += stats.rows,
        // Another key of the same rows.
        Some(_) => {}
    }
    seen.partly |= splits.len() > 1 || extent.has_after(1);
    Ok(())
}

//! The operators against a slow, obvious evaluator, and the named cases.

mod cases;
mod fed;
mod random;
mod restored;
mod rows;
mod twin;

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::TimestampMillisecondType;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::*;
use crate::aggregate::{AggregateCall, AggregateKind, Setting, resolve};
use crate::batch::Mark;
use crate::state::hash_keys;
use crate::time::WatermarkStart;
use crate::types::{Field, Schema, Type};

/// One input row: time, two keys, a number, a double, a string, a condition, a decimal in thousandths.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Row {
    pub time: i64,
    pub key: Option<i64>,
    pub name: Option<String>,
    pub number: Option<i32>,
    pub double: Option<f64>,
    pub text: Option<String>,
    pub condition: Option<bool>,
    pub decimal: Option<i128>,
    /// Attached window.
    pub bounds: (i64, i64),
}

pub(super) const TIME: usize = 0;
pub(super) const KEY: usize = 1;
pub(super) const NAME: usize = 2;
pub(super) const NUMBER: usize = 3;
pub(super) const DOUBLE: usize = 4;
pub(super) const TEXT: usize = 5;
pub(super) const CONDITION: usize = 6;
pub(super) const DECIMAL: usize = 7;
pub(super) const START: usize = 8;
pub(super) const END: usize = 9;

pub(super) fn at(seconds: f64, key: i64) -> Row {
    Row { time: (seconds * 1000.0).round() as i64, key: Some(key), number: Some(1), ..Row::default() }
}

fn input(zoned: bool) -> Schema {
    let time = if zoned { Type::TimestampLtz(3) } else { Type::Timestamp(3) };
    let types = [
        ("ts", time),
        ("k", Type::BigInt),
        ("n", Type::string()),
        ("v", Type::Int),
        ("d", Type::Double),
        ("s", Type::string()),
        ("b", Type::Boolean),
        ("m", Type::Decimal(38, 3)),
        ("ws", Type::Timestamp(3)),
        ("we", Type::Timestamp(3)),
    ];
    Schema::new(types.into_iter().map(|(name, kind)| Field::new(name, kind.nullable())).collect())
}

/// `name(column)`; no column is `COUNT(*)`.
pub(super) fn call(name: &str, column: Option<usize>) -> AggregateCall {
    let setting = if name.ends_with("LISTAGG") { Setting::Separator(",".to_string()) } else { Setting::None };
    call_of(name, column.as_slice(), setting)
}

pub(super) fn call_of(name: &str, args: &[usize], setting: Setting) -> AggregateCall {
    let (distinct, name) = name.strip_prefix("DISTINCT ").map_or((false, name), |name| (true, name));
    let inputs: Vec<_> = args.iter().map(|&column| input(false).fields[column].data_type.clone()).collect();
    let (kind, output) = resolve(name, &inputs, distinct, &setting).unwrap();
    AggregateCall { kind, distinct, args: args.to_vec(), filter: None, inputs, setting, output }
}

pub(super) fn filtered(name: &str, column: Option<usize>) -> AggregateCall {
    AggregateCall { filter: Some(CONDITION), ..call(name, column) }
}

pub(super) fn spec(window: WindowSpec, keys: &[usize], calls: &[AggregateCall]) -> WindowAggregateSpec {
    zoned_spec(window, keys, calls, None)
}

pub(super) fn zoned_spec(
    window: WindowSpec,
    keys: &[usize],
    calls: &[AggregateCall],
    zone: Option<&str>,
) -> WindowAggregateSpec {
    let input = input(zone.is_some());
    let mut fields: Vec<Field> = keys.iter().map(|&key| input.fields[key].clone()).collect();
    fields.extend(calls.iter().map(|call| Field::new("a", call.output.clone())));
    fields.push(Field::new("window_start", Type::Timestamp(3).not_null()));
    fields.push(Field::new("window_end", Type::Timestamp(3).not_null()));
    fields.push(Field::new("window_time", input.fields[TIME].data_type.clone()));
    WindowAggregateSpec {
        window,
        keys: keys.to_vec(),
        time: TIME,
        zone: zone.map(str::to_owned),
        aggregates: calls.to_vec(),
        input,
        schema: Schema::new(fields),
        set: None,
        ordered: false,
        oldest_first: false,
    }
}

fn batch_of(rows: &[Row], schema: &Schema) -> RecordBatch {
    fn column<T>(rows: &[Row], f: impl Fn(&Row) -> T) -> Vec<T> {
        rows.iter().map(f).collect()
    }
    let times = |f: fn(&Row) -> i64| TimestampMillisecondArray::from(column(rows, f));
    let decimals = Decimal128Array::from(column(rows, |r| r.decimal)).with_precision_and_scale(38, 3).unwrap();
    let schema = schema.to_arrow();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(times(|r| r.time).with_data_type(schema.field(TIME).data_type().clone())),
        Arc::new(Int64Array::from(column(rows, |r| r.key))),
        Arc::new(StringArray::from(column(rows, |r| r.name.clone()))),
        Arc::new(Int32Array::from(column(rows, |r| r.number))),
        Arc::new(Float64Array::from(column(rows, |r| r.double))),
        Arc::new(StringArray::from(column(rows, |r| r.text.clone()))),
        Arc::new(BooleanArray::from(column(rows, |r| r.condition))),
        Arc::new(decimals),
        Arc::new(times(|r| r.bounds.0)),
        Arc::new(times(|r| r.bounds.1)),
    ];
    RecordBatch::try_new(schema, columns).unwrap()
}

pub(super) fn context() -> EvalContext {
    EvalContext { time_zone: "UTC".to_string(), now_ms: 0 }
}

/// What an operator gave: `keys aggregates | start end time` per row, and its late rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub rows: Vec<String>,
    pub late: u64,
}

impl Answer {
    /// Rows of one window in a fixed order.
    pub(super) fn sorted(mut self) -> Self {
        self.rows.sort();
        self
    }
}

fn show(batch: &RecordBatch, out: &mut Vec<String>, ends: &mut Vec<i64>) -> Result<()> {
    let options = FormatOptions::default().with_null("NULL");
    let bounds = batch.num_columns() - 3;
    let cells: Vec<ArrayFormatter> =
        batch.columns()[..bounds].iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
    let bound = |i: usize, row: usize| batch.column(bounds + i).as_primitive::<TimestampMillisecondType>().value(row);
    for row in 0..batch.num_rows() {
        let cells: Vec<String> = cells.iter().map(|cell| cell.value(row).to_string()).collect();
        ends.push(bound(1, row));
        out.push(format!("{} | {} {} {}", cells.join(" "), bound(0, row), bound(1, row), bound(2, row)));
    }
    Ok(())
}

/// Runs rows in batches; the watermark after a row is the highest time so far less `delay`, as SQL has it.
pub(super) fn run(spec: &WindowAggregateSpec, rows: &[Row], delay: i64, batch_rows: usize) -> Answer {
    let stage = StageSpec::Aggregate(spec.clone());
    let (mut out, mut ends) = (Vec::new(), Vec::new());
    let operator =
        drive(&stage, &spec.input, rows, (delay, batch_rows), &mut |emitted| show(&emitted.rows, &mut out, &mut ends));
    assert!(ends.is_sorted(), "windows out of order: {ends:?}");
    assert_eq!(operator.fired_windows(), out.len() as u64);
    Answer { rows: out, late: operator.late_rows() }
}

/// Runs rows through an operator to the end, in batches.
fn drive(
    stage: &StageSpec,
    input: &Schema,
    rows: &[Row],
    (delay, batch_rows): (i64, usize),
    emit: Emit<'_>,
) -> Box<dyn WindowOperator + Send> {
    let mut operator = operator(stage, &context()).unwrap();
    let mut deadlines = Deadlines::new(stage.lateness(0)).unwrap();
    let mut moved = Watermark::SQL_START;
    let emitted = |watermark| WatermarkStart::Sql.emitted(watermark);
    for rows in rows.chunks(batch_rows) {
        let batch = batch_of(rows, input);
        let mut due = Vec::new();
        deadlines.of(&batch, &mut due).unwrap();
        let mut marks = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let watermark = emitted(moved);
            if due[i] <= deadlines.horizon(watermark) {
                marks.push(Mark { row: i as u32, watermark });
            }
            moved = moved.max(Watermark(row.time.saturating_sub(delay)));
        }
        let mut hashes = Vec::new();
        if !stage.keys(0).is_empty() {
            hash_keys(&batch, stage.keys(0), &mut hashes).unwrap();
        }
        let batch = EventBatch { rows: batch, hashes, marks };
        operator.process(0, &batch, emit).unwrap();
        operator.advance(emitted(moved), emit).unwrap();
    }
    operator.advance(Watermark::MAX, emit).unwrap();
    assert_eq!(operator.open_windows(), 0);
    operator
}

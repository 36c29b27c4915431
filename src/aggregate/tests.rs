//! The contract of every aggregate: one update of all rows, updates of parts, and merges of parts give the same.

use std::sync::Arc;

use arrow::array::{
    BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, StringArray, Time32MillisecondArray, TimestampMillisecondArray,
};

use super::*;
use crate::state::accumulators;

const ROWS: usize = 240;
const GROUPS: u32 = 7;

/// Numbers with NULLs among them, as every type.
fn columns() -> Vec<(Type, ArrayRef)> {
    let number = |row: usize| (row % 11 != 3).then(|| ((row * 7919) % 97) as i64 - 48);
    fn of<T>(number: impl Fn(usize) -> Option<i64>, f: impl Fn(i64) -> T) -> Vec<Option<T>> {
        (0..ROWS).map(|row| number(row).map(&f)).collect()
    }
    let decimals = Decimal128Array::from(of(number, i128::from)).with_precision_and_scale(10, 2).unwrap();
    let wide = Decimal128Array::from(of(number, |v| i128::from(v) << 115)).with_precision_and_scale(38, 3).unwrap();
    vec![
        (Type::Boolean, Arc::new(BooleanArray::from(of(number, |v| v > 0)))),
        (Type::TinyInt, Arc::new(Int8Array::from(of(number, |v| v as i8)))),
        (Type::SmallInt, Arc::new(Int16Array::from(of(number, |v| v as i16)))),
        (Type::Int, Arc::new(Int32Array::from(of(number, |v| (v as i32).wrapping_mul(90_000_000))))),
        (Type::BigInt, Arc::new(Int64Array::from(of(number, |v| v << 56)))),
        (Type::Float, Arc::new(Float32Array::from(of(number, |v| v as f32)))),
        (Type::Double, Arc::new(Float64Array::from(of(number, |v| v as f64)))),
        (Type::Decimal(10, 2), Arc::new(decimals)),
        (Type::Decimal(38, 3), Arc::new(wide)),
        (Type::string(), Arc::new(StringArray::from(of(number, |v| format!("{v}é"))))),
        (Type::Date, Arc::new(Date32Array::from(of(number, |v| v as i32)))),
        (Type::Time(0), Arc::new(Time32MillisecondArray::from(of(number, |v| v as i32 + 100)))),
        (Type::Timestamp(3), Arc::new(TimestampMillisecondArray::from(of(number, |v| v)))),
    ]
}

fn call(kind: AggregateKind, distinct: bool, setting: Setting, input: DataType, output: DataType) -> AggregateCall {
    AggregateCall { kind, distinct, args: vec![0], filter: None, inputs: vec![input], setting, output }
}

fn setting(kind: AggregateKind) -> Setting {
    match kind {
        AggregateKind::ListAgg => Setting::Separator("; ".to_string()),
        AggregateKind::Percentile | AggregateKind::ApproxPercentile => {
            Setting::Fractions { values: vec![0.0, 0.5, 0.9], list: true }
        }
        AggregateKind::Histogram => Setting::Bins { low: -20.0, high: 30.0, count: 5 },
        _ => Setting::None,
    }
}

fn calls() -> Vec<(AggregateCall, ArrayRef)> {
    let mut calls = Vec::new();
    for (input, values) in columns() {
        for name in names().filter(|name| !name.starts_with("JSON")) {
            for distinct in [false, true] {
                let data_type = input.clone().nullable();
                let setting = setting(kind_of(name).unwrap());
                let Ok((kind, output)) = resolve(name, std::slice::from_ref(&data_type), distinct, &setting) else {
                    continue;
                };
                calls.push((call(kind, distinct, setting, data_type, output), values.clone()));
            }
        }
    }
    calls
}

fn fresh(call: &AggregateCall) -> Box<dyn Accumulator> {
    accumulators(std::slice::from_ref(call)).unwrap().remove(0)
}

/// Rows `[from, to)` into groups in the order of arrival (`row % GROUPS`).
fn feed(into: &mut dyn Accumulator, values: &ArrayRef, filter: &BooleanArray, from: usize, to: usize) {
    let groups: Vec<u32> = (from..to).map(|row| row as u32 % GROUPS).collect();
    into.update(&groups, &[values.slice(from, to - from)], Some(&filter.slice(from, to - from))).unwrap();
}

/// Equal, but for the last digits of floats, whose sums depend on the order.
fn assert_alike(left: &ArrayRef, right: &ArrayRef, call: &AggregateCall) {
    use arrow::array::AsArray;
    use arrow::datatypes::Float64Type;
    assert_eq!(left.data_type(), &call.output.kind.to_arrow(), "{call:?}");
    if let (Some(left), Some(right)) = (left.as_primitive_opt::<Float64Type>(), right.as_primitive_opt::<Float64Type>())
    {
        for (left, right) in left.iter().zip(right) {
            assert!((left.unwrap_or(0.0) - right.unwrap_or(0.0)).abs() < 1e-9 * left.unwrap_or(1.0).abs().max(1.0));
            assert_eq!(left.is_some(), right.is_some(), "{call:?}");
        }
        return;
    }
    if matches!(call.kind, AggregateKind::VarPop | AggregateKind::VarSamp | AggregateKind::StddevPop)
        || call.kind == AggregateKind::StddevSamp
    {
        return assert_eq!(left.null_count(), right.null_count(), "{call:?}");
    }
    assert_eq!(left, right, "{call:?}");
}

#[test]
fn parts_merged_equal_the_whole() {
    let groups: Vec<u32> = (0..GROUPS).collect();
    let filter: BooleanArray =
        (0..ROWS).map(|row| if row % 13 == 5 { None } else { Some(row % 7 != 6 && row % 5 != 1) }).collect();
    let all: BooleanArray = (0..ROWS).map(|_| Some(true)).collect();
    for (call, values) in calls() {
        for filter in [&all, &filter] {
            let (mut whole, mut parts, mut merged) = (fresh(&call), fresh(&call), fresh(&call));
            [&mut whole, &mut parts, &mut merged].into_iter().for_each(|a| a.resize(GROUPS as usize));
            feed(&mut *whole, &values, filter, 0, ROWS);
            for from in (0..ROWS).step_by(40) {
                feed(&mut *parts, &values, filter, from, from + 40);
                let mut part = fresh(&call);
                part.resize(GROUPS as usize);
                feed(&mut *part, &values, filter, from, from + 40);
                merged.merge(&*part, &groups, &groups).unwrap();
            }
            let result = whole.result(&groups).unwrap();
            assert_alike(&result, &parts.result(&groups).unwrap(), &call);
            // A DECIMAL sum that overflows starts over, in each part on its own: Flink's slices do the same.
            let overflows = call.inputs.iter().any(|input| input.kind == Type::Decimal(38, 3));
            if !(overflows && call.kind == AggregateKind::Sum) {
                assert_alike(&result, &merged.result(&groups).unwrap(), &call);
            }
            // The last group passes no row through the filter.
            let empty = result.is_null(GROUPS as usize - 1);
            assert!(call.kind.is_never_null() || std::ptr::eq(filter, &all) != empty || overflows, "{call:?}");
        }
    }
}

#[test]
fn a_reset_group_is_empty_and_the_others_stay() {
    let groups: Vec<u32> = (0..GROUPS).collect();
    let all: BooleanArray = (0..ROWS).map(|_| Some(true)).collect();
    for (call, values) in calls() {
        let (mut used, mut untouched) = (fresh(&call), fresh(&call));
        [&mut used, &mut untouched].into_iter().for_each(|a| a.resize(GROUPS as usize));
        feed(&mut *used, &values, &all, 0, ROWS);
        feed(&mut *untouched, &values, &all, 0, ROWS);
        used.reset(&[2]);
        let (left, right) = (used.result(&groups).unwrap(), untouched.result(&groups).unwrap());
        assert_eq!(&left.slice(3, 4), &right.slice(3, 4), "{call:?}");
        assert_eq!(left.is_null(2), !call.kind.is_never_null());
        feed(&mut *used, &values, &all, 0, ROWS);
        let once = used.result(&[2]).unwrap();
        assert_alike(&once, &right.slice(2, 1), &call);
    }
}

#[test]
fn what_can_be_subtracted_leaves_no_trace() {
    let groups: Vec<u32> = (0..GROUPS).collect();
    let all: BooleanArray = (0..ROWS).map(|_| Some(true)).collect();
    for (call, values) in calls() {
        let mut running = fresh(&call);
        if !running.invertible() {
            continue;
        }
        running.track_merges();
        running.resize(GROUPS as usize);
        let part = |from: usize| {
            let mut part = fresh(&call);
            part.resize(GROUPS as usize);
            feed(&mut *part, &values, &all, from, from + 40);
            part
        };
        let (first, second) = (part(0), part(40));
        running.merge(&*first, &groups, &groups).unwrap();
        running.merge(&*second, &groups, &groups).unwrap();
        running.retract(&*first, &groups, &groups).unwrap();
        assert_eq!(&running.result(&groups).unwrap(), &second.result(&groups).unwrap(), "{call:?}");
        running.retract(&*second, &groups, &groups).unwrap();
        assert_eq!(&running.result(&groups).unwrap(), &{
            let mut empty = fresh(&call);
            empty.resize(GROUPS as usize);
            empty.result(&groups).unwrap()
        });
    }
}

/// The result of a call over columns that make one group.
fn over(
    kind: AggregateKind,
    setting: Setting,
    inputs: Vec<DataType>,
    output: Type,
    args: &[ArrayRef],
) -> Result<String> {
    let output = output.nullable();
    let call = AggregateCall { kind, distinct: false, args: vec![0], filter: None, inputs, setting, output };
    let mut accumulator = fresh(&call);
    accumulator.resize(1);
    accumulator.update(&vec![0; args[0].len()], args, None)?;
    let result = accumulator.result(&[0])?;
    Ok(arrow::util::display::array_value_to_string(&result, 0).unwrap())
}

#[test]
fn json_objects_have_their_keys_in_order_and_each_once() {
    let object = |keys: &[&str], values: &[&str]| {
        let column = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
        let inputs = vec![Type::string().not_null(); 2];
        over(AggregateKind::JsonObjectAgg, Setting::None, inputs, Type::string(), &[column(keys), column(values)])
    };
    let keys = [r#"["b"]"#, r#"["a\n"]"#, r#"["a b"]"#, r#"["a"]"#, r#"["é"]"#];
    let sorted = object(&keys, &["[1]", "[]", "[{}]", "[null]", r#"["x"]"#]).unwrap();
    assert_eq!(sorted, r#"{"a":null,"a b":{},"b":1,"é":"x"}"#);
    let twice = object(&[r#"["k"]"#, r#"["k"]"#], &["[1]", "[2]"]).unwrap_err();
    assert!(twice.to_string().contains("the key 'k' twice"));
    assert_eq!(object(&[r#"["k"]"#, r#"["k"]"#], &["[1]", "[]"]).unwrap(), r#"{"k":1}"#);
    assert!(object(&["[null]"], &["[1]"]).unwrap_err().to_string().contains("NULL"));
}

#[test]
fn weights_say_how_often_a_value_counts() {
    let median = |values: &[f64], weights: &[i64]| {
        let args: [ArrayRef; 2] =
            [Arc::new(Float64Array::from(values.to_vec())), Arc::new(Int64Array::from(weights.to_vec()))];
        let inputs = vec![Type::Double.nullable(), Type::BigInt.nullable()];
        let setting = Setting::Fractions { values: vec![0.5], list: false };
        over(AggregateKind::Percentile, setting, inputs, Type::Double, &args).unwrap()
    };
    assert_eq!(median(&[5.0, 3.0, -7.0], &[1, 2, 3]), "-2.0");
    assert_eq!(median(&[1.0, 9.0, 2.0], &[5, 0, -3]), "1.0");
    assert_eq!(median(&[1.0], &[0]), "");
    assert_eq!(median(&[f64::NAN, 1.0, -f64::NAN], &[1, 1, 1]), "NaN");
}

#[test]
fn floats_keep_javas_order_of_nan_and_zeros() {
    let run = |name: &str, values: &[f64]| {
        let data_type = Type::Double.nullable();
        let (kind, output) = resolve(name, std::slice::from_ref(&data_type), false, &Setting::None).unwrap();
        let call = call(kind, false, Setting::None, data_type, output);
        let mut accumulator = fresh(&call);
        accumulator.resize(1);
        let array: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
        accumulator.update(&vec![0; values.len()], &[array], None).unwrap();
        let result = accumulator.result(&[0]).unwrap();
        format!("{:?}", result.as_any().downcast_ref::<Float64Array>().unwrap().value(0))
    };
    // As Flink 2.3 answered.
    assert_eq!((run("MAX", &[f64::NAN, 1.0, 3.0]), run("MIN", &[f64::NAN, 1.0])), ("NaN".into(), "NaN".into()));
    assert_eq!((run("MAX", &[1.0, f64::NAN, 2.0]), run("MIN", &[1.0, f64::NAN, 2.0])), ("2.0".into(), "1.0".into()));
    assert_eq!((run("MAX", &[-0.0, 0.0]), run("MIN", &[-0.0, 0.0])), ("-0.0".into(), "-0.0".into()));
    // 039.
    assert_eq!(run("VAR_POP", &[0.1, 0.2]), "0.0024999999999999996");
    assert_eq!(run("VAR_SAMP", &[0.1, 0.2]), "0.004999999999999999");
    assert_eq!(run("STDDEV_POP", &[0.1, 0.2]), "0.049999999999999996");
    assert_eq!(run("STDDEV_SAMP", &[0.5, 0.25, 1e10]), "5773502691.679751");
}

/// Calls such as `SUM 0`, the number being a column; `!` after it: NOT NULL; without a number: COUNT(*).
fn rewritten(calls: &str) -> bool {
    let call = |text: &str| {
        let (name, column) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let nullable = !column.ends_with('!');
        let args: Vec<usize> = column.trim_end_matches('!').parse().into_iter().collect();
        let inputs: Vec<DataType> = args.iter().map(|_| DataType { kind: Type::Int, nullable }).collect();
        let (kind, output) = resolve(name, &inputs, false, &Setting::None).unwrap();
        AggregateCall { kind, distinct: false, args, filter: None, inputs, setting: Setting::None, output }
    };
    is_rewritten(&calls.split(',').map(call).collect::<Vec<_>>())
}

#[test]
fn averages_are_rewritten_where_that_saves_an_aggregate() {
    // As Flink 2.3 answered, seen by the average of two INT whose sum wraps.
    for calls in [
        "SUM 0, COUNT 0, AVG 0",
        "SUM 0, COUNT 0, AVG 0, SUM 1, AVG 1",
        "SUM 0, COUNT 0, AVG 0, SUM 1, COUNT 1, SUM 2, COUNT 2",
        "SUM 0, COUNT 0, AVG 0, SUM 1!",
        "SUM 0, COUNT 0, AVG 0, AVG 1!, COUNT",
        "SUM 0!, AVG 0!, COUNT",
        "VAR_POP 0, AVG 1",
    ] {
        assert!(rewritten(calls), "{calls}");
    }
    for calls in [
        "SUM 0, AVG 0",
        "SUM 0, AVG 0, COUNT",
        "SUM 0, COUNT 0, AVG 0, SUM 1",
        "SUM 0, COUNT 0, AVG 0, AVG 1",
        "SUM 0, COUNT 0, AVG 0, SUM 1, COUNT 1, AVG 1, SUM 2",
        "SUM 0, COUNT 0, AVG 0, SUM 1, COUNT 1, SUM 2, COUNT 2, SUM 3, COUNT 3",
        "SUM 0, COUNT 0, AVG 0, AVG 1!",
        "AVG 0!, COUNT",
    ] {
        assert!(!rewritten(calls), "{calls}");
    }
}

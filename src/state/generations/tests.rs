use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::DataType as ArrowType;
use arrow::util::display::array_value_to_string;

use super::*;
use crate::aggregate::{AggregateCall, AggregateKind, Setting};
use crate::random::Random;
use crate::state::KeyEncoder;
use crate::state::table::all_groups;
use crate::types::{DataType, Type};

fn call(kind: AggregateKind, input: Type, output: Type) -> AggregateCall {
    let arg = if input == Type::BigInt { 0 } else { 1 };
    let inputs = vec![DataType { kind: input, nullable: true }];
    let output = DataType { kind: output, nullable: true };
    let setting = match kind {
        AggregateKind::ListAgg => Setting::Separator(",".into()),
        _ => Setting::None,
    };
    AggregateCall { kind, distinct: false, args: vec![arg], filter: None, inputs, setting, output }
}

/// Sums, and aggregates that cannot be merged or keep the order of their values.
fn shape(keys: &[ArrowType]) -> Shape {
    let text = || Type::VarChar(i32::MAX as u32);
    let calls = vec![
        call(AggregateKind::Sum, Type::BigInt, Type::BigInt),
        call(AggregateKind::FirstValue, Type::BigInt, Type::BigInt),
        call(AggregateKind::ListAgg, text(), text()),
    ];
    Shape { encoder: Arc::new(KeyEncoder::new(keys).unwrap()), calls: calls.into() }
}

/// The rows of a table, by key.
fn rows<'a>(parts: impl Iterator<Item = Part<'a>>) -> Vec<String> {
    let mut rows = Vec::new();
    for part in parts {
        let groups: Vec<u32> = all_groups(part.table.len()).into_iter().filter(|&group| part.has(group)).collect();
        let columns = part.table.columns(&groups).unwrap();
        for row in 0..groups.len() {
            let cells = columns.iter().map(|column| array_value_to_string(column, row).unwrap());
            rows.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    rows.sort();
    rows
}

/// Rows of keys from 0 up, of which some are NULL.
fn batch(random: &mut Random, keys: u64, text: bool) -> (ArrayRef, [ArrayRef; 2], usize) {
    let count = 1 + random.below(200) as usize;
    let drawn: Vec<Option<i64>> =
        (0..count).map(|_| (random.below(50) > 0).then(|| random.below(keys) as i64)).collect();
    let key: ArrayRef = match text {
        true => Arc::new(drawn.iter().map(|key| key.map(|key| format!("k{key}"))).collect::<StringArray>()),
        false => Arc::new(Int64Array::from(drawn)),
    };
    let values: Int64Array = (0..count).map(|_| Some(random.below(1_000) as i64)).collect();
    let texts: StringArray = values.iter().map(|value| value.map(|value| format!("v{value}"))).collect();
    (key, [Arc::new(values), Arc::new(texts)], count)
}

#[test]
fn generations_are_one_table() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let text = seed % 2 == 0;
        let shape = shape(&[if text { ArrowType::Utf8 } else { ArrowType::Int64 }]);
        let (mut table, mut twin) = (Generations::new(&shape).unwrap(), Table::new(&shape).unwrap());
        let keys = 1 + random.below(3_000);
        for step in 0..60 {
            let (key, values, count) = batch(&mut random, keys, text);
            let encoded = shape.encoder.encode(&[key], count).unwrap();
            let mut hashes = Vec::new();
            encoded.hash_into(&mut hashes);
            let inputs = Inputs::of(&shape.calls, &values, count).unwrap();
            table.update(&hashes, &encoded, &inputs, &mut Vec::new()).unwrap();
            twin.update(&hashes, &encoded, &inputs, &mut Vec::new()).unwrap();
            match random.below(20) {
                0..8 => table.seal().unwrap(),
                8 => drop(table.melt().unwrap()),
                9 => {
                    let mut other = Generations::new(&shape).unwrap();
                    other.take_over(&table, &|_| true).unwrap();
                    table = other;
                }
                _ => {}
            }
            assert_eq!((table.len(), table.is_empty()), (twin.len(), false), "seed {seed}, step {step}");
        }
        let expected = rows(std::iter::once(Part { table: &twin, moved: &[] }));
        assert_eq!(rows(table.parts()), expected, "seed {seed}");
        let melted = table.into_table().unwrap();
        assert_eq!(rows(std::iter::once(Part { table: &melted, moved: &[] })), expected, "seed {seed}, melted");
    }
}

#[test]
fn sealing_and_melting_keep_the_numbers() {
    let shape = shape(&[ArrowType::Int64]);
    let mut table = Generations::new(&shape).unwrap();
    let (key, values, count) = batch(&mut Random::new(7), 500, false);
    let encoded = shape.encoder.encode(&[key], count).unwrap();
    let mut hashes = Vec::new();
    encoded.hash_into(&mut hashes);
    let inputs = Inputs::of(&shape.calls, &values, count).unwrap();
    table.update(&hashes, &encoded, &inputs, &mut Vec::new()).unwrap();
    let keys = |table: &Table| table.index.decode(&all_groups(table.len())).unwrap()[0].as_primitive_opt().cloned();
    let before: Option<Int64Array> = keys(table.whole().unwrap());
    for _ in 0..3 {
        table.seal().unwrap();
        assert_eq!(keys(table.whole().unwrap()), before);
        assert_eq!(keys(table.melt().unwrap()), before);
    }
}

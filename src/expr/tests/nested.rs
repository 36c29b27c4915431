//! ROW, ARRAY and MAP, built by hand: odd shapes and many elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::Int32Type;

use super::{context, one_column, shown};
use crate::expr::Expr;
use crate::expr::resolve::{self, cast, function, literal_number, literal_string};
use crate::types::{Field, Type};

fn ints() -> Type {
    Type::Array(Box::new(Type::Int.nullable()))
}

fn column(kind: &Type) -> Expr {
    Expr::column(0, kind.clone().nullable())
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    function(name, args).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn texts(expr: &Expr, array: &ArrayRef) -> Vec<String> {
    let values = shown(expr, &one_column(array.clone()), "UTC").unwrap();
    values.into_iter().map(|value| value.unwrap_or_else(|| "NULL".into())).collect()
}

/// A slice of a list column in which a NULL hides elements.
fn odd_lists() -> ArrayRef {
    let arrow::datatypes::DataType::List(field) = ints().to_arrow() else { unreachable!() };
    let numbers = Int32Array::from(vec![Some(9), Some(1), None, Some(3), Some(7), Some(8)]);
    let offsets = OffsetBuffer::new(vec![0, 1, 4, 5, 5, 6].into());
    let nulls = NullBuffer::from(vec![true, true, false, true, true]);
    let lists: ArrayRef = Arc::new(ListArray::new(field, offsets, Arc::new(numbers), Some(nulls)));
    lists.slice(1, 4)
}

#[test]
fn elements_behind_a_null_and_outside_of_a_slice_take_no_part() {
    let lists = odd_lists();
    let kind = ints();
    assert_eq!(texts(&column(&kind), &lists), ["[1, NULL, 3]", "NULL", "[]", "[8]"]);
    let element = resolve::subscript(column(&kind), literal_number("1").unwrap()).unwrap();
    assert_eq!(texts(&element, &lists), ["1", "NULL", "NULL", "8"]);
    assert_eq!(texts(&call("ARRAY_REVERSE", vec![column(&kind)]), &lists), ["[3, NULL, 1]", "NULL", "[]", "[8]"]);
    assert_eq!(texts(&call("ARRAY_MAX", vec![column(&kind)]), &lists), ["3", "NULL", "NULL", "8"]);
    assert_eq!(texts(&call("CARDINALITY", vec![column(&kind)]), &lists), ["3", "NULL", "0", "1"]);
    let both = call("ARRAY_CONCAT", vec![column(&kind), column(&kind)]);
    assert_eq!(texts(&call("ARRAY_DISTINCT", vec![both]), &lists), ["[1, NULL, 3]", "NULL", "[]", "[8]"]);
    let json = call("JSON_STRING", vec![column(&kind)]);
    assert_eq!(texts(&json, &lists), ["[1,null,3]", "NULL", "[]", "[8]"]);
    let text = Type::Array(Box::new(Type::string().nullable()));
    let cut = cast(column(&kind), text.nullable(), false).unwrap();
    assert_eq!(texts(&cut, &lists), ["[1, NULL, 3]", "NULL", "[]", "[8]"]);
}

#[test]
fn the_fields_of_a_null_row_are_null_whatever_lies_there() {
    let kind = Type::Row(vec![Field::new("x", Type::Int.nullable())]);
    let arrow::datatypes::DataType::Struct(fields) = kind.to_arrow() else { unreachable!() };
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let rows: ArrayRef = Arc::new(StructArray::new(fields, vec![numbers], Some(NullBuffer::from(vec![false, true]))));
    let field = resolve::field(column(&kind), "x").unwrap();
    let values = field.eval(&one_column(rows.clone()), &context("UTC")).unwrap();
    let values = values.as_primitive::<Int32Type>();
    assert!(values.is_null(0) && values.value(1) == 2);
    assert_eq!(texts(&column(&kind), &rows), ["NULL", "(2)"]);
    let none = resolve::field(column(&kind), "X").unwrap_err();
    assert!(none.remedy().is_some_and(|help| help.contains("case-sensitive")));
}

#[test]
fn ten_thousand_elements_are_no_trouble() {
    let arrow::datatypes::DataType::List(field) = ints().to_arrow() else { unreachable!() };
    let numbers = Int32Array::from_iter_values((0..10_000).map(|i| (i * 7919) % 5_000));
    let offsets = OffsetBuffer::from_lengths([10_000]);
    let lists: ArrayRef = Arc::new(ListArray::new(field, offsets, Arc::new(numbers), None));
    let distinct = call("ARRAY_DISTINCT", vec![column(&ints())]);
    let sorted = call("ARRAY_SORT", vec![distinct.clone()]);
    assert_eq!(texts(&call("CARDINALITY", vec![distinct.clone()]), &lists), ["5000"]);
    let last = resolve::subscript(sorted, literal_number("5000").unwrap()).unwrap();
    assert_eq!(texts(&last, &lists), ["4999"]);
    let none = call("ARRAY_EXCEPT", vec![column(&ints()), distinct]);
    assert_eq!(texts(&none, &lists), ["[]"]);
}

#[test]
fn deep_types_are_cast_and_shown() {
    let deep = (0..24).fold(literal_number("1").unwrap(), |inner, _| {
        let row = resolve::row(vec![inner]).unwrap();
        resolve::map(vec![literal_string("k"), resolve::array(vec![row]).unwrap()]).unwrap()
    });
    let rows: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let shown = texts(&deep, &rows);
    assert!(shown[1].starts_with("{k=[({k=[({k=") && shown[1].contains("(1)"));
    let same = resolve::binary("=", deep.clone(), deep).unwrap();
    assert_eq!(texts(&same, &rows), ["TRUE", "TRUE"]);
}

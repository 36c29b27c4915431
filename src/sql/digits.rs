//! Digits of timestamps beyond their precision: Flink's text formats keep them in the value, and write them out again.
//!
//! A column TIMESTAMP(3) of a CSV or JSON table lies in memory as milliseconds, which is fast and what nearly all jobs
//! want. Where it goes to a text sink just as it was read, it is read and written with nine digits instead.

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::format::FormatSpec;
use crate::plan::{Node, Pipeline, ScanSpec, SinkConnector, SourceSpec};
use crate::types::{DataType, Field, Type};

/// Most digits of a timestamp.
const DIGITS: u8 = 9;

/// Reads and writes those columns with all of their digits that a pipeline only hands on.
pub(super) fn keep_hidden(pipeline: &mut Pipeline) {
    let prints_digits = match &pipeline.sink.connector {
        SinkConnector::Filesystem { format, .. } | SinkConnector::Stdout { format } => is_text(format),
        SinkConnector::Print { .. } => true,
        SinkConnector::Blackhole | SinkConnector::Collect => false,
    };
    // Results that change come out of operators, which keep no hidden digits.
    if !prints_digits || pipeline.sink.changelog {
        return;
    }
    let outputs = &pipeline.root.schema().fields;
    let wanted: BTreeSet<usize> = (0..outputs.len())
        .filter(|at| outputs[*at].data_type.kind.is_timestamp() && is_handed_on(&pipeline.root, *at))
        .collect();
    if wanted.is_empty() {
        return;
    }
    let places = provide(&mut pipeline.root, &wanted);
    let mut exprs = Vec::new();
    for (at, field) in pipeline.sink.schema.fields.iter_mut().enumerate() {
        let place = wanted.iter().position(|wanted| *wanted == at).map_or(at, |position| places[position]);
        let provided = &pipeline.root.schema().fields[place].data_type;
        if place != at {
            field.data_type.kind = provided.kind.clone();
        }
        exprs.push(Expr::column(place, provided.clone()));
    }
    let schema = pipeline.sink.schema.clone();
    let root = std::mem::replace(&mut pipeline.root, Node::UnionAll { inputs: Vec::new(), schema: schema.clone() });
    pipeline.root = Node::Calc { input: Box::new(root), filter: None, exprs, schema };
}

fn is_text(format: &FormatSpec) -> bool {
    matches!(format, FormatSpec::Csv(_) | FormatSpec::Json(_))
}

/// The type with all digits, of one that hides some.
fn widened(kind: &Type) -> Option<Type> {
    match kind {
        Type::Timestamp(0..DIGITS) => Some(Type::Timestamp(DIGITS)),
        Type::TimestampLtz(0..DIGITS) => Some(Type::TimestampLtz(DIGITS)),
        _ => None,
    }
}

/// The column that an expression hands on: itself, or under a cast to more digits.
fn handed_on(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column { index, .. } => Some(*index),
        Expr::Cast { input, data_type, .. } => match (&input.data_type().kind, &data_type.kind) {
            (Type::Timestamp(from), Type::Timestamp(to)) | (Type::TimestampLtz(from), Type::TimestampLtz(to))
                if from <= to =>
            {
                handed_on(input)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether an output of the node is a column of a text file, touched by nothing on its way.
fn is_handed_on(node: &Node, output: usize) -> bool {
    match node {
        Node::Calc { input, exprs, .. } => handed_on(&exprs[output]).is_some_and(|column| is_handed_on(input, column)),
        Node::Scan(scan) => {
            let Expr::Column { index, .. } = &scan.columns[output] else { return false };
            // What is computed from the column must see what it declares.
            let computes = |expr: &Expr| {
                let mut reads = false;
                expr.for_each_column(&mut |column| reads |= column == *index);
                reads && !matches!(expr, Expr::Column { .. })
            };
            // Behind the projected columns stand those that the place of the file tells.
            *index < scan.projection.len()
                && matches!(&scan.source, SourceSpec::Files(files) if is_text(&files.format))
                && widened(&scan.columns[output].data_type().kind).is_some()
                && !scan.columns.iter().any(computes)
        }
        _ => false,
    }
}

/// Appends columns with all digits for those outputs of the node; where they stand, in the order of `wanted`.
fn provide(node: &mut Node, wanted: &BTreeSet<usize>) -> Vec<usize> {
    match node {
        Node::Calc { input, exprs, schema, .. } => {
            let inner: Vec<usize> = wanted.iter().filter_map(|output| handed_on(&exprs[*output])).collect();
            let needed: BTreeSet<usize> = inner.iter().copied().collect();
            let places = provide(input, &needed);
            let mut added = Vec::new();
            for (output, column) in wanted.iter().zip(inner) {
                let place = places[needed.iter().position(|needed| *needed == column).unwrap_or(0)];
                let data_type = input.schema().fields[place].data_type.clone();
                schema.fields.push(Field::new(&schema.fields[*output].name, data_type.clone()));
                exprs.push(Expr::column(place, data_type));
                added.push(exprs.len() - 1);
            }
            added
        }
        Node::Scan(scan) => wanted.iter().map(|output| widen(scan, *output)).collect(),
        _ => Vec::new(),
    }
}

/// Reads the physical column behind a scan's column with all digits, which stand in a new column.
fn widen(scan: &mut ScanSpec, output: usize) -> usize {
    let Expr::Column { index, data_type } = scan.columns[output].clone() else { return output };
    let Some(kind) = widened(&data_type.kind) else { return output };
    let wide = DataType { kind, nullable: data_type.nullable };
    let in_file = scan.projection[index];
    scan.file_schema.fields[in_file].data_type.kind = wide.kind.clone();
    // As the milliseconds or microseconds that the column has otherwise, not cut to its precision either.
    let narrow = match &data_type.kind {
        Type::Timestamp(0..=3) => Type::Timestamp(3),
        Type::Timestamp(_) => Type::Timestamp(6),
        Type::TimestampLtz(0..=3) => Type::TimestampLtz(3),
        _ => Type::TimestampLtz(6),
    };
    let narrow = DataType { kind: narrow, nullable: data_type.nullable };
    for column in &mut scan.columns {
        if matches!(column, Expr::Column { index: other, .. } if *other == index) {
            *column = Expr::Cast {
                input: Box::new(Expr::column(index, wide.clone())),
                data_type: narrow.clone(),
                safe: false,
            };
        }
    }
    scan.columns.push(Expr::column(index, wide.clone()));
    let name = scan.schema.fields[output].name.clone();
    scan.schema.fields.push(Field::new(name, wide));
    scan.columns.len() - 1
}

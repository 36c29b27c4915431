//! When two results are the same.

use std::collections::HashMap;

use super::case::Columns;
use super::decimal::Decimal;
use super::rows::{Row, exact_key};
use crate::json::Json;

/// Relative tolerances of inexact types; [`ABSOLUTE`] applies besides.
const DOUBLE_TOLERANCE: f64 = 1e-9;
const FLOAT_TOLERANCE: f64 = 1e-5;
const ABSOLUTE: f64 = 1e-12;

/// How numbers of a column compare.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Precision {
    Exact,
    Within(f64),
}

impl Precision {
    /// Parts of arrays, maps and rows take the tolerance of the type's text.
    fn of(sql_type: &str) -> Self {
        if sql_type.contains("FLOAT") {
            Precision::Within(FLOAT_TOLERANCE)
        } else if sql_type.contains("DOUBLE") {
            Precision::Within(DOUBLE_TOLERANCE)
        } else {
            Precision::Exact
        }
    }
}

fn same_value(a: &Json, b: &Json, precision: Precision) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match precision {
            Precision::Exact => Decimal::parse(a).is_some_and(|a| Some(a) == Decimal::parse(b)),
            Precision::Within(tolerance) => match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => (a - b).abs() <= (tolerance * a.abs().max(b.abs())).max(ABSOLUTE),
                _ => false,
            },
        },
        (Json::List(a), Json::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b, precision))
        }
        (Json::Object(fields), Json::Object(others)) => {
            fields.len() == others.len()
                && fields.iter().all(|(name, value)| b.get(name).is_some_and(|b| same_value(value, b, precision)))
        }
        _ => a == b,
    }
}

/// Rows that only one side has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub expected_rows: usize,
    pub actual_rows: usize,
    pub missing: Vec<Row>,
    pub unexpected: Vec<Row>,
}

/// Compares two results as multisets. `None`: they are the same.
pub fn difference(expected: &[Row], actual: &[Row], columns: &Columns) -> Option<Difference> {
    let precisions: Vec<Precision> = columns.0.iter().map(|(_, sql_type)| Precision::of(sql_type)).collect();
    // only rows that agree in all exact columns can be the same, so few pairs need a closer look
    let bucket = |row: &Row| {
        let exact = row.iter().zip(&precisions).filter(|(_, p)| **p == Precision::Exact);
        exact.map(|(value, _)| exact_key(value)).collect::<Vec<_>>().join("\u{0}")
    };
    let mut rest: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, row) in actual.iter().enumerate().rev() {
        rest.entry(bucket(row)).or_default().push(index);
    }
    let same_row =
        |a: &Row, b: &Row| a.iter().zip(b).zip(&precisions).all(|((a, b), precision)| same_value(a, b, *precision));
    let mut matched = vec![false; actual.len()];
    let mut missing = Vec::new();
    for row in expected {
        let candidates = rest.entry(bucket(row)).or_default();
        match candidates.iter().rposition(|&index| same_row(row, &actual[index])) {
            Some(at) => matched[candidates.remove(at)] = true,
            None => missing.push(row.clone()),
        }
    }
    let unexpected: Vec<Row> = actual.iter().zip(&matched).filter(|(_, m)| !**m).map(|(row, _)| row.clone()).collect();
    (!missing.is_empty() || !unexpected.is_empty()).then_some(Difference {
        expected_rows: expected.len(),
        actual_rows: actual.len(),
        missing,
        unexpected,
    })
}

impl Difference {
    /// In one line: how many rows differ, the first one missing, and the unexpected one most like it.
    pub fn describe(&self, columns: &Columns) -> String {
        let show = |row: &Row| {
            let fields = columns.0.iter().zip(row).map(|((name, _), value)| (name.clone(), value.clone()));
            Json::Object(fields.collect()).to_string()
        };
        let mut text = format!(
            "{} rows, expected {}: {} missing, {} unexpected",
            self.actual_rows,
            self.expected_rows,
            self.missing.len(),
            self.unexpected.len()
        );
        if let Some(row) = self.missing.first() {
            text.push_str(&format!("; missing {}", show(row)));
        }
        let alike = |row: &Row| {
            let first = self.missing.first();
            first.map_or(0, |missing| missing.iter().zip(row).filter(|(a, b)| exact_key(a) == exact_key(b)).count())
        };
        // of equally similar rows the first, so that the line is the same in every run
        let best = self.unexpected.iter().enumerate().max_by_key(|(index, row)| (alike(row), usize::MAX - index));
        if let Some((_, row)) = best {
            text.push_str(&format!("; unexpected {}", show(row)));
        }
        text
    }
}

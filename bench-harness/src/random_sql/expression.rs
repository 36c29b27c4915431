//! Random expressions and conditions over columns.

use super::draw::Draw;
use super::relation::{Column, Type};

/// A column, or a simple expression over it: its text stands in `name`.
pub fn value(draw: &mut Draw, columns: &[Column]) -> Column {
    let column = draw.pick(columns).clone();
    if draw.chance(60) {
        return column;
    }
    let x = &column.name;
    let nullable = |text: String, sql_type| Column { name: text, sql_type, nullable: true };
    let certain = |text: String, sql_type| Column { name: text, sql_type, nullable: false };
    match column.sql_type {
        Type::Int => match draw.between(0, 8) {
            0 => Column { name: format!("{x} + 1"), ..column },
            1 => Column { name: format!("{x} * 2"), ..column },
            2 => Column { name: format!("ABS({x})"), ..column },
            3 => Column { name: format!("MOD({x}, 7)"), ..column },
            4 => certain(format!("COALESCE({x}, 0)"), Type::Int),
            5 => nullable(format!("CASE WHEN {x} > 3 THEN {x} END"), Type::Int),
            6 => nullable(format!("NULLIF({x}, 2)"), Type::Int),
            7 => Column { name: format!("CAST({x} AS DOUBLE)"), sql_type: Type::Double, ..column },
            _ => Column { name: format!("CAST({x} AS STRING)"), sql_type: Type::Text, ..column },
        },
        Type::Bigint => match draw.between(0, 2) {
            0 => Column { name: format!("{x} + 1"), ..column },
            1 => Column { name: format!("-{x}"), ..column },
            _ => Column { name: format!("CAST({x} AS INT)"), sql_type: Type::Int, ..column },
        },
        Type::Decimal(..) => match draw.between(0, 2) {
            0 => Column { name: format!("-{x}"), ..column },
            1 => Column { name: format!("CAST({x} AS DOUBLE)"), sql_type: Type::Double, ..column },
            _ => Column { name: format!("ABS({x})"), ..column },
        },
        Type::Double => match draw.between(0, 2) {
            0 => Column { name: format!("{x} / 4"), ..column },
            1 => Column { name: format!("-{x}"), ..column },
            _ => Column { name: format!("CAST({x} AS INT)"), sql_type: Type::Int, ..column },
        },
        Type::Text => match draw.between(0, 5) {
            0 => Column { name: format!("UPPER({x})"), ..column },
            1 => Column { name: format!("{x} || '-'"), ..column },
            2 => certain(format!("COALESCE({x}, 'none')"), Type::Text),
            3 => Column { name: format!("SUBSTRING({x}, 1, 1)"), ..column },
            4 => Column { name: format!("REVERSE({x})"), ..column },
            _ => Column { name: format!("CHAR_LENGTH({x})"), sql_type: Type::Int, ..column },
        },
        Type::Boolean => match draw.between(0, 2) {
            0 => Column { name: format!("NOT {x}"), ..column },
            1 => certain(format!("{x} IS TRUE"), Type::Boolean),
            _ => certain(format!("CASE WHEN {x} THEN 1 ELSE 0 END"), Type::Int),
        },
        _ => column,
    }
}

/// One that numbers can be computed from, or none.
pub fn number(draw: &mut Draw, columns: &[Column]) -> Option<Column> {
    let numbers: Vec<Column> = columns.iter().filter(|c| c.sql_type.is_number()).cloned().collect();
    if numbers.is_empty() {
        return None;
    }
    let value = value(draw, &numbers);
    if value.sql_type.is_number() { Some(value) } else { Some(draw.pick(&numbers).clone()) }
}

/// A condition that most often holds for some rows and not for others.
pub fn condition(draw: &mut Draw, columns: &[Column]) -> String {
    let simple = simple_condition(draw, columns);
    match draw.between(0, 9) {
        0 => format!("{simple} AND {}", simple_condition(draw, columns)),
        1 => format!("({simple} OR {})", simple_condition(draw, columns)),
        2 => format!("NOT ({simple})"),
        _ => simple,
    }
}

fn simple_condition(draw: &mut Draw, columns: &[Column]) -> String {
    let column = draw.pick(columns);
    let x = &column.name;
    match column.sql_type {
        Type::Int | Type::Bigint | Type::Decimal(..) | Type::Double => match draw.between(0, 4) {
            0 => format!("{x} > {}", draw.between(-5, 2)),
            1 => format!("{x} <= {}", draw.between(1, 25)),
            2 => format!("{x} IS NOT NULL"),
            3 => format!("{x} BETWEEN {} AND {}", draw.between(-20, 0), draw.between(2, 60)),
            _ => format!("{x} <> {}", draw.between(0, 3)),
        },
        Type::Text => match draw.between(0, 4) {
            0 => format!("{x} IS NOT NULL"),
            1 => format!("{x} <> 'p'"),
            2 => format!("{x} IN ('a', 'b', 'cc', 'p', 'Q r')"),
            3 => format!("{x} NOT LIKE '%q%'"),
            _ => format!("{x} >= 'a'"),
        },
        Type::Boolean => (*draw.pick(&["{} IS NOT TRUE", "{}", "{} IS NOT FALSE"])).replace("{}", x),
        _ => format!("{x} IS NOT NULL"),
    }
}

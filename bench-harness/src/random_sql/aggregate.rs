//! Random calls of aggregate functions.

use super::draw::Draw;
use super::expression;
use super::relation::{Column, Relation, Type};

/// What the place of a call allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Accumulators that are never put together: TUMBLE, groups without windows.
    Whole,
    /// HOP, CUMULATE, SESSION.
    Merged,
    /// OVER.
    Over,
}

/// A call: its text stands in `name`.
pub fn call(draw: &mut Draw, rows: &Relation, place: Place) -> Column {
    let values = rows.values();
    if place != Place::Over && draw.chance(25) {
        if let Some(call) = collecting(draw, rows, place) {
            return call;
        }
    }
    let call = plain(draw, &values, place);
    if place != Place::Over && draw.chance(20) {
        let filter = expression::condition(draw, &values);
        let nullable = call.nullable;
        return Column { name: format!("{} FILTER (WHERE {filter})", call.name), nullable, ..call };
    }
    call
}

/// Functions whose result does not depend on the order of the rows.
fn plain(draw: &mut Draw, values: &[Column], place: Place) -> Column {
    let count = |text: String| Column { name: text, sql_type: Type::Bigint, nullable: false };
    let any = expression::value(draw, values);
    let number = expression::number(draw, values);
    let Some(number) = number else { return count(format!("COUNT({})", any.name)) };
    let x = &number.name;
    let of_number = |function: &str| Column::new(format!("{function}({x})"), number.sql_type);
    let widened = |function: &str, scale: u8| match number.sql_type {
        Type::Decimal(_, own) => Column::new(format!("{function}({x})"), Type::Decimal(38, own.max(scale))),
        _ => of_number(function),
    };
    match draw.between(0, 14) {
        0 | 1 => count("COUNT(*)".to_string()),
        2 => count(format!("COUNT({})", any.name)),
        3 | 4 => count(format!("COUNT(DISTINCT {})", any.name)),
        5 | 6 => widened("SUM", 0),
        7 | 8 => widened("AVG", 6),
        9 => Column::new(format!("MIN({})", any.name), any.sql_type),
        10 => Column::new(format!("MAX({})", any.name), any.sql_type),
        11 if place != Place::Merged => widened_distinct(&number),
        12 if place != Place::Over => widened(*draw.pick(&["STDDEV_POP", "VAR_POP"]), 6),
        13 if place != Place::Over && number.nullable => widened(*draw.pick(&["STDDEV_SAMP", "VAR_SAMP"]), 6),
        _ => of_number(*draw.pick(&["MIN", "MAX"])),
    }
}

fn widened_distinct(number: &Column) -> Column {
    let sql_type = match number.sql_type {
        Type::Decimal(_, scale) => Type::Decimal(38, scale),
        other => other,
    };
    Column::new(format!("SUM(DISTINCT {})", number.name), sql_type)
}

/// Functions that keep values, in their order where it is known.
fn collecting(draw: &mut Draw, rows: &Relation, place: Place) -> Option<Column> {
    let of_type = |wanted: Type| -> Vec<Column> {
        rows.values().into_iter().filter(|column| column.sql_type == wanted).collect()
    };
    let (texts, ints) = (of_type(Type::Text), of_type(Type::Int));
    if texts.is_empty() || ints.is_empty() {
        return None;
    }
    let (text, int) = (draw.pick(&texts).name.clone(), draw.pick(&ints).name.clone());
    if !rows.ordered {
        return Some(match draw.between(0, 1) {
            0 => Column::new(format!("COLLECT({text})"), Type::Bag),
            _ => Column::new(format!("PERCENTILE({int}, 0.5)"), Type::Double),
        });
    }
    Some(match draw.between(0, 8) {
        0 => Column::new(format!("LISTAGG({text})"), Type::Text),
        1 => Column::new(format!("LISTAGG({text}, '; ')"), Type::Text),
        2 => Column::new(format!("ARRAY_AGG({int})"), Type::Ints),
        3 => Column::new(format!("ARRAY_AGG({text})"), Type::Texts),
        4 => Column::new(format!("COLLECT({text})"), Type::Bag),
        5 => Column::new(format!("PERCENTILE({int}, {})", draw.pick(&["0.5", "0.25", "1.0"])), Type::Double),
        6 if place == Place::Whole => Column::new(format!("JSON_ARRAYAGG({int})"), Type::Text),
        6 if rows.unique == ["id"] => {
            Column::new(format!("JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE {int})"), Type::Text)
        }
        7 if place == Place::Whole => Column::new(format!("FIRST_VALUE({int})"), Type::Int),
        8 if place == Place::Whole => Column::new(format!("LAST_VALUE({text})"), Type::Text),
        _ => Column::new(format!("ARRAY_AGG({int}) FILTER (WHERE {int} > 1)"), Type::Ints),
    })
}

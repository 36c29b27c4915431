//! Rows in a bordered table, as Flink's client prints them in its tableau mode.

use transom::types::{Field, Schema, Type};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cli::results::one_line;

/// Columns for values without a natural width, unless a setting says otherwise.
pub const WIDTH_DEFAULT: usize = 30;
const NULL: &str = "<NULL>";
const CUT: &str = "...";

/// The columns of a table.
pub struct Tableau {
    names: Vec<String>,
    widths: Vec<usize>,
}

impl Tableau {
    /// For rows that are printed as they come: the types say how wide the columns are.
    pub fn of_changes(schema: &Schema, width_max: usize) -> Tableau {
        let fields = &schema.fields;
        let names = std::iter::once("op").chain(fields.iter().map(|field| field.name.as_str()));
        let names: Vec<String> = names.map(one_line).collect();
        let widths = std::iter::once(0).chain(fields.iter().map(|field| type_width(field, width_max)));
        let widths = widths.zip(&names).map(|(width, name)| width.max(name.width())).collect();
        Tableau { names, widths }
    }

    /// For rows that are all there: as wide as they need.
    pub fn of_rows(names: Vec<String>, rows: &[Vec<String>]) -> Tableau {
        let width = |(column, name): (usize, &String)| {
            rows.iter().map(|row| row[column].width()).max().unwrap_or(0).max(name.width())
        };
        let widths = names.iter().enumerate().map(width).collect();
        Tableau { names, widths }
    }

    /// The names between two borders.
    pub fn header(&self) -> String {
        let border = self.border();
        format!("{border}{}{border}", self.row(&self.names))
    }

    /// The line above and below.
    pub fn border(&self) -> String {
        let dashes: Vec<String> = self.widths.iter().map(|width| "-".repeat(width + 2)).collect();
        format!("+{}+\n", dashes.join("+"))
    }

    /// A row; what is too long is cut.
    pub fn row(&self, cells: &[String]) -> String {
        let cells: Vec<String> = cells.iter().zip(&self.widths).map(|(cell, &width)| fitted(cell, width)).collect();
        format!("| {} |\n", cells.join(" | "))
    }
}

/// The cell of a value, or of NULL.
pub fn cell(value: Option<&str>) -> String {
    value.map_or_else(|| NULL.to_string(), one_line)
}

/// At the right of its column.
fn fitted(cell: &str, width: usize) -> String {
    let (room, mut shown) = match cell.width() {
        wide if wide <= width => (width - wide, cell.to_string()),
        _ => {
            let (mut taken, mut shown) = (0, String::new());
            for c in cell.chars() {
                let next = taken + c.width().unwrap_or(0);
                if next + CUT.len() > width {
                    break;
                }
                taken = next;
                shown.push(c);
            }
            shown.push_str(CUT);
            (width.saturating_sub(taken + CUT.len()), shown)
        }
    };
    shown.insert_str(0, &" ".repeat(room));
    shown
}

/// The columns that any value of the type takes, or NULL; for types without such a number what the setting gives them.
fn type_width(field: &Field, width_max: usize) -> usize {
    let fraction = |digits: u8| match digits {
        0 => 0,
        1..=3 => 4,
        4..=6 => 7,
        _ => 10,
    };
    let width = match field.data_type.kind {
        Type::Boolean => 5,
        Type::TinyInt => 4,
        Type::SmallInt => 6,
        Type::Int => 11,
        Type::BigInt => 20,
        Type::Decimal(precision, _) => usize::from(precision) + 2,
        Type::Date => 10,
        Type::Time(0) => 8,
        Type::Time(digits) => usize::from(digits) + 9,
        Type::Timestamp(digits) | Type::TimestampLtz(digits) => 19 + fraction(digits),
        _ => width_max,
    };
    width.max(NULL.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_changes_are_as_wide_as_flinks() {
        let field = |name: &str, kind: Type| Field::new(name, kind.nullable());
        let fields = vec![
            field("boolean", Type::Boolean),
            field("int", Type::Int),
            field("bigint", Type::BigInt),
            field("varchar", Type::string()),
            field("decimal(10, 5)", Type::Decimal(10, 5)),
            field("timestamp", Type::Timestamp(6)),
        ];
        let tableau = Tableau::of_changes(&Schema::new(fields), WIDTH_DEFAULT);
        let border = "+----+---------+-------------+----------------------+--------------------------------+----------------+\
                      ----------------------------+\n";
        assert_eq!(tableau.border(), border);
        let row = ["+I", "<NULL>", "-2147483648", "1", "これは日本語をテストするための文です", "1.00000", ""];
        assert_eq!(
            tableau.row(&row.map(str::to_string)),
            "| +I |  <NULL> | -2147483648 |                    1 |  これは日本語をテストするた... |        1.00000 |\
             \x20                           |\n"
        );
    }

    #[test]
    fn rows_that_are_there_make_their_own_widths() {
        let rows = vec![vec!["a".to_string(), cell(None)], vec!["漢字".to_string(), cell(Some("x\ny"))]];
        let tableau = Tableau::of_rows(vec!["k".to_string(), "v".to_string()], &rows);
        let text = tableau.header() + &rows.iter().map(|row| tableau.row(row)).collect::<String>() + &tableau.border();
        assert_eq!(
            text,
            "+------+--------+\n|    k |      v |\n+------+--------+\n|    a | <NULL> |\n| 漢字 |    x y |\n+------+--------+\n"
        );
    }

    #[test]
    fn a_narrow_column_holds_what_it_can() {
        assert_eq!(fitted("abcdefgh", 5), "ab...");
        assert_eq!(fitted("abcdefgh", 2), "...");
        assert_eq!(fitted("漢字漢字", 6), " 漢...");
    }
}

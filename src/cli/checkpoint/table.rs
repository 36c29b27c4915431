//! Lines whose cells stand below each other.

use unicode_width::UnicodeWidthStr;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A line for each row, the columns two blanks apart.
pub fn aligned<const N: usize>(rows: &[[String; N]], align: [Align; N]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cell = |column: usize| {
            let (text, blanks) = (&row[column], " ".repeat(widths[column] - row[column].width()));
            if align[column] == Align::Left { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
        };
        let cells: Vec<String> = (0..N).map(cell).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_each_other() {
        let rows = [["a", "bytes"], ["漢字", "1"], ["", "22"]].map(|row| row.map(str::to_string));
        assert_eq!(aligned(&rows, [Align::Left, Align::Right]), "a     bytes\n漢字      1\n         22\n");
    }
}

//! Prints an error: the place, a caret under it, the remedy.

use anstyle::AnsiColor;
use transom::error::{Error, ErrorKind};
use unicode_width::UnicodeWidthStr;

/// Longest line of a script that is shown in full, in characters.
const LINE_MAX: usize = 200;

/// To stderr. `script`: the text of the script, to show the line that the error names.
pub fn print(error: &Error, script: Option<&str>) {
    if error.kind() == ErrorKind::ClosedPipe {
        return;
    }
    let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
    let mut text = format!("{red}error:{red:#} {}\n", error.message());
    if let Some(place) = error.place() {
        let statement = error.statement().map_or(String::new(), |number| format!(" (statement {number})"));
        let mut at = place.file.clone();
        for number in [place.line, place.column].into_iter().take_while(|&number| number > 0) {
            at.push_str(&format!(":{number}"));
        }
        if !at.is_empty() {
            text.push_str(&format!("  --> {}{statement}\n", at.trim_start_matches(':')));
        }
        if matches!(error.kind(), ErrorKind::Script | ErrorKind::Unsupported) {
            text.push_str(&excerpt(script.unwrap_or_default(), place.line, place.column, place.length));
        }
    } else if let Some(number) = error.statement() {
        text.push_str(&format!("  in statement {number}\n"));
    }
    if let Some(remedy) = error.remedy() {
        text.push_str(&format!("  {cyan}help:{cyan:#} {remedy}\n"));
    }
    // Colours on a terminal only, and not where NO_COLOR is set.
    anstream::eprint!("{text}");
}

/// The line with a caret below the column; of a very long line the part around it.
fn excerpt(script: &str, line: u64, column: u64, length: u64) -> String {
    let Some(text) = line.checked_sub(1).and_then(|index| script.lines().nth(index as usize)) else {
        return String::new();
    };
    let text: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let at = (column.saturating_sub(1) as usize).min(text.len());
    let cut = if text.len() > LINE_MAX { at.saturating_sub(LINE_MAX / 2) } else { 0 };
    let end = text.len().min(cut + LINE_MAX);
    let piece = |from: usize, to: usize| text[from..to].iter().collect::<String>();
    let (before, after) = (if cut > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" });
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let mut out = format!("{margin} |\n{number} | {before}{}{after}\n", piece(cut, end));
    if column > 0 {
        let indent = before.width() + piece(cut, at).width();
        let marked = piece(at, end.min(at.saturating_add(length as usize))).width();
        out.push_str(&format!("{margin} | {}{}\n", " ".repeat(indent), "^".repeat(marked.max(1))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_column() {
        assert_eq!(excerpt("a\n  bad here\n", 2, 3, 3), "  |\n2 |   bad here\n  |   ^^^\n");
        assert_eq!(excerpt("a", 7, 1, 1), "");
    }

    #[test]
    fn wide_characters_take_two_carets_and_move_the_caret_by_two() {
        assert_eq!(excerpt("'漢字', 鍵 x", 1, 7, 1), "  |\n1 | '漢字', 鍵 x\n  |         ^^\n");
    }

    #[test]
    fn of_a_very_long_line_only_the_part_around_the_place_is_shown() {
        let line = format!("{}bad{}", "a".repeat(1000), "b".repeat(1000));
        let shown = excerpt(&line, 1, 1001, 3);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].chars().count(), "1 | … ".chars().count() + LINE_MAX + 2);
        let caret = lines[2].find('^').unwrap();
        let under: String = lines[1].chars().skip(caret).take(3).collect();
        assert_eq!((under.as_str(), &lines[2][caret..]), ("bad", "^^^"));
    }
}

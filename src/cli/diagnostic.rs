//! Prints an error: the place, a caret under it, the remedy.

use transom::error::{Error, ErrorKind};

/// To stderr. `script`: the text of the script, to show the line that the error names.
pub fn print(error: &Error, script: Option<&str>) {
    if error.kind() == ErrorKind::ClosedPipe {
        return;
    }
    let mut text = String::from("error: ");
    text.push_str(error.message());
    text.push('\n');
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
        text.push_str(&format!("  help: {remedy}\n"));
    }
    eprint!("{text}");
}

/// The line with a caret below the column.
fn excerpt(script: &str, line: u64, column: u64, length: u64) -> String {
    let Some(text) = line.checked_sub(1).and_then(|index| script.lines().nth(index as usize)) else {
        return String::new();
    };
    let text = text.replace('\t', " ");
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let mut out = format!("{margin} |\n{number} | {text}\n");
    if column > 0 {
        let most = (text.chars().count() as u64 + 1).saturating_sub(column).max(1);
        let carets = "^".repeat(length.clamp(1, most) as usize);
        out.push_str(&format!("{margin} | {}{carets}\n", " ".repeat(column as usize - 1)));
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
}

//! Prints an error: for a script the lines around the place with the place underlined, for data the place in one line;
//! then what to do.

use std::fmt::{self, Display};
use std::io::IsTerminal;
use std::iter;

use anstyle::AnsiColor;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};
use transom::error::{Error, ErrorKind, Place};

use super::{Loaded, say};

/// Longest line of a script that is shown in full, in characters.
const LINE_MAX: usize = 160;
/// Columns for messages where the terminal does not say how many it has.
const WIDTH_DEFAULT: usize = 100;

/// To stderr. `script`: the script, to show the lines that the error names.
pub fn print(error: &Error, script: Option<&Loaded>) {
    if error.kind() == ErrorKind::ClosedPipe {
        return;
    }
    say(&text(error, script, characters()));
}

fn text(error: &Error, script: Option<&Loaded>, characters: ThemeCharacters) -> String {
    let in_script = matches!(error.kind(), ErrorKind::Script | ErrorKind::Unsupported);
    let place = error.place().filter(|_| in_script);
    let shown = place.zip(script).and_then(|(place, script)| Excerpt::new(&script.text, place));
    match shown {
        Some(excerpt) => report(error, excerpt, characters),
        None => plain(error, script),
    }
}

/// Lines without a picture.
fn plain(error: &Error, script: Option<&Loaded>) -> String {
    let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
    let mut text = format!("{red}error:{red:#} {}\n", error.message());
    if let Some(place) = error.place() {
        let mut at = place.file.clone();
        for number in [place.line, place.column].into_iter().take_while(|&number| number > 0) {
            at.push_str(&format!(":{number}"));
        }
        if !at.is_empty() {
            text.push_str(&format!("  --> {}\n", at.trim_start_matches(':')));
        }
    }
    if let Some(number) = error.statement() {
        let line = script.zip(error.statement_line()).map(|(script, line)| {
            let start = script.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
            format!(", {}:{line}: {}", script.options.file, clipped(start.trim(), 0).0)
        });
        text.push_str(&format!("  in statement {number}{}\n", line.unwrap_or_default()));
    }
    if let Some(remedy) = error.remedy() {
        text.push_str(&format!("  {cyan}help:{cyan:#} {remedy}\n"));
    }
    text
}

fn report(error: &Error, excerpt: Excerpt, characters: ThemeCharacters) -> String {
    let theme = GraphicalTheme { characters, styles: ThemeStyles::ansi() };
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(WIDTH_DEFAULT);
    let mut handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_context_lines(1)
        .with_width(width.max(40))
        .without_syntax_highlighting();
    if let Some(number) = error.statement() {
        handler = handler.with_footer(format!("in statement {number}"));
    }
    let mut text = String::new();
    match handler.render_report(&mut text, &Report { error, excerpt }) {
        Ok(()) => text,
        Err(_) => plain(error, None),
    }
}

/// Box drawing where the terminal can show it, else ASCII.
fn characters() -> ThemeCharacters {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let utf8 = locale.is_some_and(|locale| locale.to_ascii_uppercase().replace('-', "").contains("UTF8"));
    let plain = std::env::var("TERM").is_ok_and(|term| term == "dumb" || term == "linux");
    let unicode = utf8 && !plain && std::io::stderr().is_terminal();
    let characters = if unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() };
    ThemeCharacters { error: "error:".to_string(), ..characters }
}

/// An error as miette wants it.
#[derive(Debug)]
struct Report<'a> {
    error: &'a Error,
    excerpt: Excerpt,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.error.message())
    }
}

impl std::error::Error for Report<'_> {}

impl Diagnostic for Report<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.error.remedy().map(|remedy| Box::new(remedy) as Box<dyn Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(iter::once(LabeledSpan::new_with_span(None, self.excerpt.marked))))
    }
}

/// The line of a place and those around it, made fit to be shown, with the place that they have in the script.
#[derive(Debug)]
struct Excerpt {
    file: String,
    text: String,
    /// Lines of the script before the text.
    lines_before: usize,
    /// Characters before the place in its line.
    column: usize,
    /// What to underline, in bytes of the text.
    marked: SourceSpan,
}

impl Excerpt {
    /// `None` if the script has no such line.
    fn new(script: &str, place: &Place) -> Option<Excerpt> {
        let index = usize::try_from(place.line.checked_sub(1)?).ok()?;
        let line = script.lines().nth(index)?;
        let first = index.saturating_sub(1);
        let mut text = String::new();
        for before in script.lines().skip(first).take(index - first) {
            text.push_str(&clipped(before, 0).0);
            text.push('\n');
        }
        let column = (place.column.saturating_sub(1) as usize).min(line.chars().count());
        let (mut shown, at) = clipped(line, column);
        if shown.chars().count() == at {
            // Room for a mark behind the end.
            shown.push(' ');
        }
        let bytes = |text: &str, characters: usize| text.chars().take(characters).map(char::len_utf8).sum::<usize>();
        let start = bytes(&shown, at);
        let length = bytes(&shown[start..], (place.length as usize).max(1));
        let marked = SourceSpan::from((text.len() + start, length));
        text.push_str(&shown);
        text.push('\n');
        if let Some(after) = script.lines().nth(index + 1) {
            text.push_str(&clipped(after, 0).0);
            text.push('\n');
        }
        Some(Excerpt { file: place.file.clone(), text, lines_before: first, column, marked })
    }
}

/// The line without control characters; of a very long line the part around the column, and where that is there.
fn clipped(line: &str, column: usize) -> (String, usize) {
    let line: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let from = if line.len() > LINE_MAX { column.saturating_sub(LINE_MAX / 2) } else { 0 };
    let to = line.len().min(from + LINE_MAX);
    let before = if from > 0 { "… " } else { "" };
    let after = if to < line.len() { " …" } else { "" };
    let piece: String = line[from..to].iter().collect();
    (format!("{before}{piece}{after}"), before.chars().count() + column.saturating_sub(from))
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.text.read_span(span, context_lines_before, context_lines_after)?;
        // The place itself is asked for without lines around it.
        let column = if context_lines_before == 0 { self.column } else { contents.column() };
        let (data, part) = (contents.data(), *contents.span());
        let line = contents.line() + self.lines_before;
        let count = contents.line_count();
        Ok(Box::new(MietteSpanContents::new_named(self.file.clone(), data, part, line, column, count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transom::sql::ScriptOptions;

    fn shown(script: &str, line: u64, column: u64, length: u64) -> String {
        let place = Place { file: "job.sql".to_string(), line, column, length };
        let error = Error::script("it is wrong").at_place(place).help("mend it").in_statement(2);
        let loaded = Loaded { text: script.to_string(), options: ScriptOptions::default() };
        let ascii = ThemeCharacters { error: "error:".to_string(), ..ThemeCharacters::ascii() };
        anstream::adapter::strip_str(&text(&error, Some(&loaded), ascii)).to_string()
    }

    #[test]
    fn the_place_is_underlined_between_the_lines_around_it() {
        assert_eq!(
            shown("a\n  bad here\nc\nd\n", 2, 3, 3),
            "  error: it is wrong\n   ,-[job.sql:2:3]\n 1 | a\n 2 |   bad here\n   :   ^^^\n 3 | c\n   `----\n  help: mend it\n\n  in statement 2\n"
        );
        assert_eq!(shown("a", 7, 1, 1), "error: it is wrong\n  --> job.sql:7:1\n  in statement 2\n  help: mend it\n");
    }

    #[test]
    fn a_place_behind_the_end_of_a_line_is_underlined_too() {
        assert!(shown("SELECT a FROM", 1, 14, 0).contains(" 1 | SELECT a FROM \n   :              ^\n"));
    }

    #[test]
    fn wide_characters_take_two_marks_and_move_the_mark_by_two() {
        let text = shown("'漢字', 鍵 x", 1, 7, 1);
        assert!(text.contains("[job.sql:1:7]") && text.contains("\n   :         ^^\n"), "{text}");
    }

    #[test]
    fn of_a_very_long_line_only_the_part_around_the_place_is_shown() {
        let line = format!("{}bad{}", "a".repeat(1000), "b".repeat(1000));
        let text = shown(&line, 1, 1001, 3);
        let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        assert!(lines.iter().all(|line| line.len() < LINE_MAX + 20), "{text}");
        let mark = lines[3].iter().position(|&c| c == '^').unwrap();
        assert_eq!(lines[2][mark..mark + 3], ['b', 'a', 'd']);
        assert!(text.contains("[job.sql:1:1001]"), "{text}");
    }

    #[test]
    fn an_error_in_data_names_the_statement_and_its_line() {
        let error = Error::data("division by zero").in_statement(3).from_line(2);
        let loaded = Loaded {
            text: "-- a\n  SELECT 1 / v FROM t;\n".to_string(),
            options: ScriptOptions { file: "job.sql".to_string(), ..ScriptOptions::default() },
        };
        let text = anstream::adapter::strip_str(&text(&error, Some(&loaded), ThemeCharacters::ascii())).to_string();
        assert_eq!(text, "error: division by zero\n  in statement 3, job.sql:2: SELECT 1 / v FROM t;\n");
    }
}

//! Log files: lines of no format, of which regular expressions take what they need.

use regex::Regex;

use super::disorder::Disorder;
use super::evidence::Evidence;
use super::form::Form;
use super::input::Input;
use super::names::literal;
use super::records::{self, Event, Layout, Row};
use super::sniff::CsvLayout;
use super::times::{self, Candidate, Place};
use super::{Column, Guess};
use crate::error::{Error, Result};
use crate::types::Type;

/// Lines that are looked at first.
const LINES: usize = 500;
/// Lines of which one has a time, if any has.
const FIRST_LINES: usize = 50;
/// The time stands within so many words from the start of a line.
const TIME_WORDS_MAX: usize = 5;
/// A character that no log has: each line is one field.
const NO_DELIMITER: u8 = 1;
const LEVELS: &str = r"\b(TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE)\b";
/// Apache's common log format; the combined one has more behind it.
const ACCESS: &str = r#"^(\S+) \S+ (\S+) \[([^\]]+)\] "([^"]*)" (\d{3}) (\d+|-)"#;

/// A table with the whole line in one column, and columns that are taken from it.
///
/// # Errors
/// Data, if not even a time could be found.
pub(super) fn log(head: &[u8], ends: bool, limit: Option<u64>, input: &mut dyn Input) -> Result<Guess> {
    let text = String::from_utf8_lossy(head);
    let lines = first_lines(&text, ends);
    let Some((time, columns)) = access(&lines).or_else(|| stamped(&lines)) else {
        let first: String = lines.first().map(|line| line.chars().take(60).collect()).unwrap_or_default();
        if is_table(&lines) {
            return Err(Error::data(format!("the fields are separated by runs of blanks: '{}'", first.trim_end()))
                .help("separate them by commas, for example: sed 's/^ *//' FILE | tr -s ' \\t' , > FILE.csv"));
        }
        return Err(Error::data(format!("this is neither CSV nor JSON lines, and no log with a time: '{first}'"))
            .help(
                "if it is CSV, say --format csv; else declare one STRING column for the line ('csv.field-delimiter' = \
             '\\u0001', 'csv.disable-quote-character' = 'true') and take it apart with REGEXP_EXTRACT",
            ));
    };
    let layout = CsvLayout { delimiter: NO_DELIMITER, quote: None, ..CsvLayout::default() };
    let mut candidates = vec![time];
    times::measure(input, &Layout::Csv(layout.clone()), limit, &mut candidates)?;
    let without = timeless(&mut candidates);
    let mut evidence = Evidence::default();
    let seen = records::read(input, &Layout::Csv(layout), limit, &mut |event| {
        if let Event::Row(Row::Fields([line, ..])) = event {
            evidence.observe(line);
        }
    })?;
    let (times, refused) = times::ranked(candidates);
    let mut notes = vec!["a log has no format: the whole line is one column, the others are taken from it".to_string()];
    notes.extend(refused);
    notes.extend(without);
    let line = Column {
        name: "line".to_string(),
        kind: Type::string(),
        expression: None,
        absent: None,
        examples: evidence.examples.into_iter().take(1).collect(),
        reason: None,
    };
    let options = [("csv.field-delimiter", "\\u0001"), ("csv.disable-quote-character", "true")];
    Ok(Guess {
        format: "csv",
        options: options.map(|(key, value)| (key.to_string(), value.to_string())).to_vec(),
        columns: std::iter::once(line).chain(columns).collect(),
        partitions: Vec::new(),
        time: (!times.is_empty()).then_some(0),
        times,
        rows: seen.rows,
        whole: input.is_whole() && !seen.stopped,
        layout: "a log, one line a row".to_string(),
        notes,
    })
}

/// What to do about lines without a time, if there are some among others: the log keeps its time all the same.
fn timeless(candidates: &mut [Candidate]) -> Option<String> {
    let disorder = &mut candidates.first_mut()?.disorder;
    let (absent, all) = (disorder.absent, disorder.absent + disorder.rows);
    if absent == 0 || disorder.rows <= absent {
        return None;
    }
    disorder.absent = 0;
    Some(format!(
        "{absent} of {all} lines have no time, such as those of a stack trace, and an event time must not be NULL: \
         without more, a job stops at the first of them; --quarantine FILE, of transom window and transom run, sets them \
         aside"
    ))
}

/// Whether these lines, which could be records of CSV without a header, are a log: they begin with a time, and the
/// records are ragged or a comma of the layout stands within the time, before its milliseconds.
pub(super) fn is_log(head: &[u8], ends: bool, layout: &CsvLayout) -> bool {
    if layout.header.is_some() || layout.delimiter == b'\t' {
        return false;
    }
    let text = String::from_utf8_lossy(head);
    let lines = first_lines(&text, ends);
    let Some((Candidate { places, .. }, _)) = stamped(&lines) else { return false };
    let [(_, Place::Match(regex))] = places.as_slice() else { return false };
    let cut = |line: &&str| {
        let time = regex.captures(line).and_then(|found| found.get(1));
        time.is_some_and(|time| time.end() < line.len() && time.as_str().contains(char::from(layout.delimiter)))
    };
    layout.consistent < 100 || lines.iter().filter(|line| cut(line)).count() * 2 > lines.len()
}

/// Lines that tell the form of a log.
fn first_lines(text: &str, ends: bool) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LINES + 1).collect();
    if !ends || lines.len() > LINES {
        lines.pop();
    }
    lines
}

/// Whether the lines look like a table whose fields are separated by blanks.
fn is_table(lines: &[&str]) -> bool {
    let counts: Vec<usize> = lines.iter().map(|line| line.split_whitespace().count()).collect();
    let Some(last) = counts.last().filter(|count| **count > 1) else { return false };
    let numbers =
        lines.last().map_or(0, |line| line.split_whitespace().filter(|text| text.parse::<f64>().is_ok()).count());
    counts.iter().filter(|count| *count == last).count() * 100 >= counts.len() * 90 && numbers * 2 >= *last
}

/// A column that a regular expression takes from the line.
fn extracted(name: &str, kind: &Type, pattern: &str, group: usize, lines: &[&str]) -> Column {
    let text = format!("REGEXP_EXTRACT(line, {}, {group})", literal(pattern));
    let expression = match kind {
        Type::VarChar(_) => text,
        kind => format!("TRY_CAST({text} AS {kind})"),
    };
    let mut examples: Vec<String> = Vec::new();
    if let Ok(regex) = Regex::new(pattern) {
        let found = lines.iter().filter_map(|line| regex.captures(line)?.get(group));
        for text in found.map(|found| found.as_str().chars().take(40).collect::<String>()) {
            if examples.len() < 3 && !examples.contains(&text) {
                examples.push(text);
            }
        }
    }
    Column {
        name: name.to_string(),
        kind: kind.clone(),
        expression: Some(expression),
        absent: None,
        examples,
        reason: None,
    }
}

/// The log of a web server.
fn access(lines: &[&str]) -> Option<(Candidate, Vec<Column>)> {
    let regex = Regex::new(ACCESS).ok()?;
    let fitting: Vec<_> = lines.iter().filter_map(|line| regex.captures(line)).collect();
    if fitting.is_empty() || fitting.len() * 100 < lines.len() * 95 {
        return None;
    }
    let form = Form::all(fitting.first()?.get(3)?.as_str()).into_iter().next()?;
    let columns = [
        ("client", Type::string(), 1),
        ("user_name", Type::string(), 2),
        ("request", Type::string(), 4),
        ("status", Type::Int, 5),
        ("bytes_sent", Type::BigInt, 6),
    ];
    let columns = columns.map(|(name, kind, group)| extracted(name, &kind, ACCESS, group, lines));
    Some((candidate(form, r"\[([^\]]+)\]")?, columns.to_vec()))
}

/// A log whose lines begin with a time: of as many words as possible.
fn stamped(lines: &[&str]) -> Option<(Candidate, Vec<Column>)> {
    let patterns = (1..=TIME_WORDS_MAX).rev().map(|words| {
        let more = r"\s+\S+".repeat(words - 1);
        format!(r"^[\[(]?(\S+{more}?)[\]),:]*(?:\s|$)")
    });
    patterns.into_iter().find_map(|pattern| stamped_by(&pattern, lines))
}

/// A log whose lines begin with a time that the regular expression takes from them.
fn stamped_by(pattern: &str, lines: &[&str]) -> Option<(Candidate, Vec<Column>)> {
    let regex = Regex::new(pattern).ok()?;
    // The file may begin in the middle of a stack trace.
    let texts = lines.iter().take(FIRST_LINES).filter_map(|line| Some(regex.captures(line)?.get(1)?.as_str()));
    for mut form in texts.map(Form::all).find(|forms| !forms.is_empty())? {
        let reads = |line: &&&str| {
            let text = regex.captures(line).and_then(|found| found.get(1)).map(|found| found.as_str());
            text.is_some_and(|text| form.read(text).is_some() || form.widen(text))
        };
        let fitting = lines.iter().filter(reads).count();
        if fitting * 2 > lines.len() && !matches!(form, Form::Epoch(_) | Form::EpochFraction) {
            return Some((candidate(form, pattern)?, level(lines).into_iter().collect()));
        }
    }
    None
}

/// The level of each line, where most have one.
fn level(lines: &[&str]) -> Option<Column> {
    let levels = Regex::new(LEVELS).ok()?;
    let with_level = lines.iter().filter(|line| levels.is_match(line)).count();
    (with_level * 2 > lines.len()).then(|| extracted("level", &Type::string(), LEVELS, 1, lines))
}

/// The time that a regular expression takes from the line.
fn candidate(form: Form, pattern: &str) -> Option<Candidate> {
    Some(Candidate {
        source: "line".to_string(),
        places: vec![("", Place::Match(Regex::new(pattern).ok()?))],
        sql: format!("REGEXP_EXTRACT(line, {}, 1)", literal(pattern)),
        kind: Type::string(),
        form,
        score: 30,
        disorder: Disorder::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::input::Sample;
    use super::super::sniff::sniff;
    use super::*;

    fn of(text: &str) -> Result<Guess> {
        log(text.as_bytes(), true, None, &mut Sample::whole(text))
    }

    #[test]
    fn a_web_servers_log_is_taken_apart() {
        let guess = of("10.0.0.1 - ann [31/Jan/2024:10:00:00 +0100] \"GET / HTTP/1.1\" 200 512\n\
                        10.0.0.2 - - [31/Jan/2024:10:00:01 +0100] \"GET /x HTTP/1.1\" 404 - \"-\" \"curl\"\n")
        .expect("a log");
        let names: Vec<&str> = guess.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["line", "client", "user_name", "request", "status", "bytes_sent"]);
        let time = guess.chosen().and_then(|time| time.expression.clone());
        assert_eq!(
            time.as_deref(),
            Some("TO_TIMESTAMP(REGEXP_EXTRACT(line, '\\[([^\\]]+)\\]', 1), 'd/MMM/yyyy:H:mm:ss XX')")
        );
    }

    #[test]
    fn a_time_at_the_start_of_lines_is_found() {
        for line in [
            "2024-01-31 10:00:00 INFO started, it says",
            "[2024-01-31T10:00:00Z] INFO started",
            "2024-01-31 10:00:00.123 [main] INFO x - y",
            "2024/01/31 10:00:00: INFO x",
        ] {
            let guess = of(&format!("{line}\n{line}\n")).expect("a log");
            assert!(guess.chosen().is_some(), "{line}");
            assert_eq!(guess.columns.last().map(|column| column.name.as_str()), Some("level"), "{line}");
        }
    }

    #[test]
    fn a_log_may_look_like_csv_and_have_lines_without_a_time() {
        let text = "\tat x.y(Z.java:1)\n2024-03-01 08:00:22,000 INFO [main] started\n2024-03-01 08:00:23,250 WARN x\n\
                    2024-03-01 08:00:24,250 WARN y\n";
        let guess = of(text).expect("a log");
        let time = guess.chosen().and_then(|time| time.expression.clone()).expect("a time");
        assert!(time.ends_with("1), 'yyyy-M-d H:mm:ss,SSS')"), "{time}");
        assert!(guess.notes.iter().any(|note| note.starts_with("1 of 4 lines")), "{:?}", guess.notes);
        let layout = |text: &str| sniff(text.as_bytes(), true, None);
        assert!(is_log(text.as_bytes(), true, &layout(text)));
        let csv = "2024-03-01 08:00:22,000\n2024-03-01 08:00:23,250\n";
        assert!(!is_log(csv.as_bytes(), true, &layout(csv)));
    }

    #[test]
    fn prose_is_refused_with_advice() {
        let error = of("Once upon a time\nthere was a log\n").expect_err("no log");
        assert!(error.remedy().is_some_and(|help| help.contains("REGEXP_EXTRACT")));
    }
}

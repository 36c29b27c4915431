//! Guesses a table from CSV or JSON lines.

use serde_json::Value;

use super::evidence::Evidence;
use super::input::{Begin, Input};
use super::logs;
use super::names::quoted;
use super::nested::Node;
use super::records::{self, Event, Layout, Row, Seen};
use super::sniff::{CsvLayout, sniff, titles};
use super::times::{self, Place, Source};
use super::{Column, Format, Guess, ending};
use crate::error::{Error, Result};
use crate::format::TimestampStyle;
use crate::types::Type;

/// Of a file without a telling name, so many of a hundred records must have as many fields as the others.
const CONSISTENT_LEAST: usize = 95;
/// Deeper fields of JSON objects are not offered as times.
const TIME_DEPTH_MAX: usize = 3;

/// Guesses the table in a text file. `name`: of the file; `format`: what the user says it is; `limit`: rows to look at.
///
/// # Errors
/// Reading; Data for text that is neither CSV nor JSON lines, with what could be done about it.
pub fn text(name: &str, format: Option<Format>, limit: Option<u64>, input: &mut dyn Input) -> Result<Guess> {
    let (head, ends) = head(input)?;
    let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
    if start.is_empty() {
        return Err(Error::data("the file is empty: nothing to guess from").in_file(name));
    }
    refuse_binary(name, &head)?;
    let known = format.or_else(|| Format::by_name(name));
    let in_file = |error: Error| if name == "-" { error } else { error.in_file(name) };
    let guess = match known {
        Some(Format::Json) => json(name, start, limit, input),
        None if start.starts_with(b"{") => json(name, start, limit, input),
        Some(Format::Csv | Format::Parquet) => {
            let layout = sniff(&head, ends, delimiter_of(name));
            refuse_titles(name, titles(&layout, &head, ends))?;
            csv(layout, limit, input)
        }
        None => {
            let layout = sniff(&head, ends, delimiter_of(name));
            let is_csv = layout.fields > 1 && layout.consistent >= CONSISTENT_LEAST;
            if is_csv && !logs::is_log(&head, ends, &layout) {
                refuse_titles(name, titles(&layout, &head, ends))?;
                csv(layout, limit, input)
            } else {
                logs::log(&head, ends, limit, input)
            }
        }
    };
    guess.map_err(in_file)
}

/// The first bytes, and whether they are all.
fn head(input: &mut dyn Input) -> Result<(Vec<u8>, bool)> {
    const BYTES: usize = 256 << 10;
    let (mut head, mut ends) = (Vec::new(), false);
    input.pieces(&mut |piece| {
        if !head.is_empty() && piece.begin != Begin::Next {
            return Ok(false);
        }
        let room = (BYTES - head.len()).min(piece.bytes.len());
        head.extend_from_slice(&piece.bytes[..room]);
        ends = piece.ends && room == piece.bytes.len();
        Ok(head.len() < BYTES && !ends)
    })?;
    Ok((head, ends))
}

fn refuse_binary(name: &str, head: &[u8]) -> Result<()> {
    let wrong = |what: &str, help: &str| Err(Error::data(what).in_file(name).help(help));
    match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            wrong("the file is UTF-16 text", "convert it, for example: iconv -f utf-16 -t utf-8 FILE > NEW")
        }
        [b'P', b'K', 3, 4, ..] => {
            wrong("this is a ZIP file, as spreadsheets are too", "unpack it with unzip, or save the sheet as CSV")
        }
        [0xD0, 0xCF, 0x11, 0xE0, ..] => wrong("this is an old spreadsheet", "save the sheet as CSV"),
        head if head.starts_with(b"ARROW1") || head.starts_with(b"FEA1") => {
            wrong("this is an Arrow file", "write it as Parquet, for example with pyarrow or DuckDB")
        }
        head if head.starts_with(b"SQLite format 3") => wrong(
            "this is an SQLite database",
            "export a table, for example: sqlite3 -csv -header FILE 'SELECT * FROM t'",
        ),
        head if head.starts_with(b"Obj\x01") => wrong(
            "this is an Avro file, whose table cannot be guessed yet",
            "write the CREATE TABLE statement yourself, with 'format' = 'avro'",
        ),
        head if head.iter().take(4_096).filter(|byte| **byte == 0).count() > 8 => {
            wrong("this is no text", "transom reads CSV, JSON lines and Parquet; convert the file to one of them")
        }
        _ => Ok(()),
    }
}

/// No option skips lines above a header.
fn refuse_titles(name: &str, above: usize) -> Result<()> {
    if above == 0 {
        return Ok(());
    }
    let (lines, file) = (if above == 1 { "a line" } else { "lines" }, if name == "-" { "FILE" } else { name });
    Err(Error::data(format!("{lines} above the header: the fields are named in record {}", above + 1))
        .in_file(name)
        .help(format!("take what is above away, for example: tail -n +{} {file} | transom window -", above + 1)))
}

fn delimiter_of(name: &str) -> Option<u8> {
    match ending(name).as_str() {
        "tsv" | "tab" => Some(b'\t'),
        "psv" => Some(b'|'),
        "csv" => Some(b','),
        _ => None,
    }
}

// ---- CSV

fn csv(layout: CsvLayout, limit: Option<u64>, input: &mut dyn Input) -> Result<Guess> {
    let mut columns = vec![Evidence::default(); layout.fields];
    let whole_layout = Layout::Csv(layout.clone());
    let seen = records::read(input, &whole_layout, limit, &mut |event| {
        if let Event::Row(Row::Fields(fields)) = event {
            columns.iter_mut().zip(fields).for_each(|(column, text)| column.observe(text));
        }
    })?;
    let names = names(&layout);
    let literal = null_literal(&names, &columns);
    let mut notes = Vec::new();
    let mut named = Vec::new();
    for (index, evidence) in columns.iter().enumerate() {
        match &names[index] {
            Some(name) => named.push((index, csv_column(name, evidence, literal))),
            None => notes.extend(unnamed(&layout, index)),
        }
    }
    let sources: Vec<Source<'_>> = named
        .iter()
        .map(|(index, column)| Source {
            name: column.name.clone(),
            sql: quoted(&column.name),
            kind: column.kind.clone(),
            place: Place::Field(*index),
            evidence: &columns[*index],
        })
        .collect();
    let mut candidates = times::candidates(&sources);
    times::measure(input, &whole_layout, limit, &mut candidates)?;
    let (times, refused) = times::ranked(candidates);
    notes.extend(refused.into_iter().take(3));
    let mut guess = Guess {
        format: "csv",
        options: csv_options(&layout, literal),
        columns: named.into_iter().map(|(_, column)| column).collect(),
        partitions: Vec::new(),
        time: (!times.is_empty()).then_some(0),
        times,
        rows: seen.rows,
        whole: input.is_whole() && !seen.stopped,
        layout: describe_csv(&layout, literal),
        notes,
    };
    wrong_csv(&seen, &mut guess);
    Ok(guess)
}

/// A name for each field: that of the header, or Flink's own. `None`: the header has none, or has it twice, so that it
/// names no field.
fn names(layout: &CsvLayout) -> Vec<Option<String>> {
    let Some(header) = &layout.header else {
        return (0..layout.fields).map(|index| Some(format!("f{index}"))).collect();
    };
    let name = |index: usize| {
        let text = header.get(index)?.trim();
        let alone = header.iter().filter(|other| other.trim() == text).count() == 1;
        (!text.is_empty() && alone).then(|| text.to_string())
    };
    (0..layout.fields).map(name).collect()
}

/// Why a field that the header does not name for itself is left out. Fields of one name are told of together.
fn unnamed(layout: &CsvLayout, index: usize) -> Option<String> {
    let name_of = |index: usize| layout.header.as_ref().and_then(|header| header.get(index)).map(|name| name.trim());
    let name = name_of(index).unwrap_or_default();
    if name.is_empty() {
        return Some(format!("field {} has no name in the header and is left out", index + 1));
    }
    let alike: Vec<String> =
        (0..layout.fields).filter(|at| name_of(*at) == Some(name)).map(|at| (at + 1).to_string()).collect();
    ((0..index).all(|at| name_of(at) != Some(name))).then(|| {
        format!(
            "the header names `{name}` more than once, so that it tells nothing apart: fields {} are left out; rename \
             them in the file, or read it without its header: tail -n +2 FILE | transom window - (fields are f0, f1, … \
             then)",
            alike.join(" and ")
        )
    })
}

/// The word for absent values that lets the most columns have their type; the others become STRING.
fn null_literal(names: &[Option<String>], columns: &[Evidence]) -> Option<&'static str> {
    let mut votes: Vec<(usize, u64, &'static str)> = Vec::new();
    for (column, name) in columns.iter().zip(names) {
        let (kind, _) = column.decide(name.as_deref().unwrap_or_default(), None);
        if kind == Type::string() && column.forms().is_empty() {
            continue;
        }
        for (word, count) in &column.absent {
            match votes.iter_mut().find(|(_, _, known)| known == word) {
                Some(vote) => {
                    vote.0 += 1;
                    vote.1 += count;
                }
                None => votes.push((1, *count, word)),
            }
        }
    }
    // What a column of numbers can read needs no word.
    votes.into_iter().max_by_key(|(columns, count, word)| (*word != "NaN", *columns, *count)).map(|(_, _, word)| word)
}

fn csv_column(name: &str, evidence: &Evidence, literal: Option<&str>) -> Column {
    let (mut kind, mut reason) = evidence.decide(name, None);
    let reads_nan = matches!(kind, Type::Double);
    let other = evidence.absent.keys().find(|word| Some(**word) != literal && !(reads_nan && **word == "NaN"));
    if let Some(word) = other.filter(|_| kind != Type::string()) {
        reason = Some(format!(
            "{kind} but for '{word}', and csv.null-literal is one word only; TRY_CAST({} AS {kind}) makes it NULL",
            quoted(name)
        ));
        kind = Type::string();
    }
    let absent = literal.and_then(|word| evidence.absent.get(word)).copied().unwrap_or(0);
    Column {
        name: name.to_string(),
        kind,
        expression: None,
        absent: Some(absent),
        examples: evidence.examples.clone(),
        reason,
    }
}

fn csv_options(layout: &CsvLayout, literal: Option<&str>) -> Vec<(String, String)> {
    let mut options = Vec::new();
    let mut set = |key: &str, value: &str| options.push((format!("csv.{key}"), value.to_string()));
    match layout.delimiter {
        b',' => {}
        b'\t' => set("field-delimiter", "\\t"),
        other => set("field-delimiter", &char::from(other).to_string()),
    }
    match layout.quote {
        Some(b'"') => {}
        Some(other) => set("quote-character", &char::from(other).to_string()),
        None => set("disable-quote-character", "true"),
    }
    if layout.header.is_some() {
        set("header", "true");
    }
    if let Some(literal) = literal {
        set("null-literal", literal);
    }
    if layout.comments {
        set("allow-comments", "true");
    }
    options
}

fn describe_csv(layout: &CsvLayout, literal: Option<&str>) -> String {
    let delimiter = match layout.delimiter {
        b'\t' => "tab".to_string(),
        other => format!("'{}'", char::from(other)),
    };
    let header = if layout.header.is_some() { "header" } else { "no header" };
    let null = match literal {
        None => String::new(),
        Some("") => ", empty is NULL".to_string(),
        Some(word) => format!(", {word} is NULL"),
    };
    let quote = match layout.quote {
        Some(b'"') => String::new(),
        Some(other) => format!(", quote {}", char::from(other)),
        None => ", no quotes".to_string(),
    };
    format!("CSV, {delimiter} between {} fields{quote}, {header}{null}", layout.fields)
}

/// What does not fit is skipped, and said.
fn wrong_csv(seen: &Seen, guess: &mut Guess) {
    let mut set = |key: &str| {
        if !guess.options.iter().any(|(known, _)| known == key) {
            guess.options.push((key.to_string(), "true".to_string()));
        }
    };
    if seen.blank > 0 {
        set("csv.allow-comments");
        guess.notes.push(format!("{} blank lines: 'csv.allow-comments' skips them", seen.blank));
    }
    if seen.broken > 0 {
        set("csv.ignore-parse-errors");
        guess.notes.push(format!(
            "{} records have another number of fields or wrong quotes, the first: '{}'; with 'csv.ignore-parse-errors' \
             the fields that a record lacks are NULL, as is any wrong value, and a record of too many fields or with \
             wrong quotes is dropped and counted as malformed",
            seen.broken,
            seen.example.as_deref().unwrap_or_default()
        ));
    }
}

// ---- JSON

fn json(name: &str, start: &[u8], limit: Option<u64>, input: &mut dyn Input) -> Result<Guess> {
    refuse_document(name, start)?;
    let mut root = Node::default();
    let seen = records::read(input, &Layout::Json, limit, &mut |event| {
        if let Event::Row(Row::Json(value)) = event {
            root.observe(value);
        }
    })?;
    if seen.rows == 0 {
        let line = seen.example.unwrap_or_default();
        if seen.deep > 0 {
            return Err(Error::data(format!("the JSON is nested more than 127 levels deep: '{line}'"))
                .help("take out what is needed, for example: jq -c '{ts, value}' FILE > flat.json"));
        }
        return Err(Error::data(format!("no line is a JSON object; the first is '{line}'"))
            .help("JSON lines have one object a line; --format csv reads the file as CSV"));
    }
    let style = style(&root);
    let columns: Vec<Column> =
        root.fields.iter().map(|(name, node)| json_column(name, node, seen.rows, style)).collect();
    let mut sources = Vec::new();
    json_sources(&root, &mut Vec::new(), style, &mut sources);
    let mut candidates = times::candidates(&sources);
    times::measure(input, &Layout::Json, limit, &mut candidates)?;
    let (times, refused) = times::ranked(candidates);
    let mut options = Vec::new();
    if style == TimestampStyle::Iso {
        options.push(("json.timestamp-format.standard".to_string(), "ISO-8601".to_string()));
    }
    let mut notes: Vec<String> = refused.into_iter().take(3).collect();
    if seen.broken > 0 {
        options.push(("json.ignore-parse-errors".to_string(), "true".to_string()));
        notes.push(format!(
            "{} lines are no JSON objects, the first: '{}'; 'json.ignore-parse-errors' lets them pass",
            seen.broken,
            seen.example.as_deref().unwrap_or_default()
        ));
    }
    Ok(Guess {
        format: "json",
        options,
        columns,
        partitions: Vec::new(),
        time: (!times.is_empty()).then_some(0),
        times,
        rows: seen.rows,
        whole: input.is_whole() && !seen.stopped,
        layout: format!("JSON lines, {} fields", root.fields.len()),
        notes,
    })
}

/// JSON that is one document instead of an object a line.
fn refuse_document(name: &str, start: &[u8]) -> Result<()> {
    let file = if name == "-" { "FILE" } else { name };
    if start.starts_with(b"[") {
        return Err(Error::data("this is one JSON array, not an object a line")
            .help(format!("write an object a line, for example: jq -c '.[]' {file} > lines.json")));
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let opens_only = start.starts_with(b"{") && serde_json::from_slice::<Value>(line).is_err();
    if opens_only && serde_json::Deserializer::from_slice(start).into_iter::<Value>().next().is_some_and(|v| v.is_ok())
    {
        return Err(Error::data("this is JSON over several lines, not an object a line")
            .help(format!("write an object a line, for example: jq -c . {file} > lines.json")));
    }
    if let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(start)
        && let Some((rows, _)) = fields.iter().find(|(_, value)| value.as_array().is_some_and(|rows| rows.len() > 9))
    {
        return Err(Error::data(format!("this is one JSON document; its rows seem to be in `{rows}`"))
            .help(format!("write an object a line, for example: jq -c '.[\"{rows}\"][]' {file} > lines.json")));
    }
    Ok(())
}

fn json_column(name: &str, node: &Node, rows: u64, style: TimestampStyle) -> Column {
    let (kind, reason) = node.decide(name, style);
    Column {
        name: name.to_string(),
        kind,
        expression: None,
        absent: Some(rows - (node.seen - node.nulls).min(rows)),
        examples: node.examples(),
        reason,
    }
}

/// The style of most timestamps.
fn style(root: &Node) -> TimestampStyle {
    fn count(node: &Node, votes: &mut (usize, usize)) {
        let first = node.strings.forms().first();
        votes.0 += usize::from(matches!(first, Some(super::form::Form::Sql { .. })));
        votes.1 += usize::from(matches!(first, Some(super::form::Form::Iso { .. })));
        node.fields.iter().for_each(|(_, node)| count(node, votes));
    }
    let mut votes = (0, 0);
    count(root, &mut votes);
    if votes.1 > votes.0 { TimestampStyle::Iso } else { TimestampStyle::Sql }
}

/// Every field that holds scalars, those of inner objects too.
fn json_sources<'a>(node: &'a Node, path: &mut Vec<String>, style: TimestampStyle, sources: &mut Vec<Source<'a>>) {
    for (name, field) in &node.fields {
        path.push(name.clone());
        let (kind, _) = field.decide(name, style);
        if let Some(evidence) = field.evidence() {
            sources.push(Source {
                name: path.join("."),
                sql: path.iter().map(|name| quoted(name)).collect::<Vec<_>>().join("."),
                kind,
                place: Place::Path(path.clone()),
                evidence,
            });
        } else if matches!(kind, Type::Row(_)) && path.len() < TIME_DEPTH_MAX {
            json_sources(field, path, style, sources);
        }
        path.pop();
    }
}

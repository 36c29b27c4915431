//! Which columns may be the event time, and which is the likeliest.

use std::borrow::Cow;

use regex::Regex;

use super::TimeColumn;
use super::disorder::Disorder;
use super::evidence::{Evidence, words};
use super::form::Form;
use super::input::Input;
use super::names::quoted;
use super::nested::text_at;
use super::pattern::PatternForm;
use super::records::{self, Event, Layout, Row};
use crate::error::Result;
use crate::format::csv_time;
use crate::types::Type;

/// Times that are measured.
const CANDIDATES_MAX: usize = 12;

/// Where a text stands in a record.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Field(usize),
    /// A field of type TIME, which a cast to text writes as `HH:mm:ss`.
    TimeOfDay(usize),
    Path(Vec<String>),
    /// What the first group takes from the record's first field.
    Match(Regex),
}

/// Something that may be the event time.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub source: String,
    /// The texts that it is made from, and what joins each to the one before it.
    pub places: Vec<(&'static str, Place)>,
    /// The column, or an expression of type STRING, as SQL.
    pub sql: String,
    /// The type of `sql`.
    pub kind: Type,
    pub form: Form,
    pub score: i32,
    pub disorder: Disorder,
}

/// A column that candidates are made from.
pub(crate) struct Source<'a> {
    pub name: String,
    /// As SQL.
    pub sql: String,
    pub kind: Type,
    pub place: Place,
    pub evidence: &'a Evidence,
}

/// Every way to get an event time from these columns, likely ones first.
pub(crate) fn candidates(sources: &[Source<'_>]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = sources.iter().flat_map(single).collect();
    found.extend(date_and_time(sources));
    found.extend(parts(sources));
    found.sort_by_key(|candidate| -candidate.score);
    found.truncate(CANDIDATES_MAX);
    found
}

fn single(source: &Source<'_>) -> Vec<Candidate> {
    let named = name_score(&source.name);
    let candidate = |form: &Form| Candidate {
        source: source.name.clone(),
        places: vec![("", source.place.clone())],
        sql: source.sql.clone(),
        kind: source.kind.clone(),
        form: form.clone(),
        score: named + form_score(form),
        disorder: Disorder::default(),
    };
    let forms = source.evidence.forms().iter();
    forms
        .filter(|form| named > 0 || !form.needs_a_name())
        .map(candidate)
        .filter(|candidate| candidate.score > 0)
        .collect()
}

fn form_score(form: &Form) -> i32 {
    match form {
        Form::Sql { .. } | Form::Iso { .. } => 20,
        Form::Pattern(pattern) if pattern.is_bare_number() => 5,
        Form::Pattern(pattern) if pattern.has_time() => 18,
        Form::Epoch(_) | Form::EpochFraction => 12,
        Form::Date | Form::Pattern(_) => 8,
    }
}

/// How much a name speaks for the time at which something happened.
fn name_score(name: &str) -> i32 {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let whole = words.concat();
    let base = match whole.as_str() {
        "eventtime" | "rowtime" | "eventts" | "eventtimestamp" => 50,
        "timestamp" | "ts" | "time" | "datetime" => 45,
        _ if has(&["timestamp", "datetime", "ts"]) || whole.contains("timestamp") || whole.contains("datetime") => 40,
        _ if has(&["time", "at", "date", "epoch", "unixtime", "when", "utc", "day", "tstamp"]) => 30,
        _ if whole.ends_with("time") || whole.ends_with("date") => 25,
        "year" => 12,
        "t" => 15,
        _ => 0,
    };
    let begins = has(&["start", "started", "begin", "pickup", "created", "event", "occurred", "received", "observed"]);
    let other = [
        "updated",
        "modified",
        "deleted",
        "expires",
        "expiry",
        "expiration",
        "birth",
        "born",
        "dob",
        "end",
        "ended",
        "due",
        "dropoff",
        "finish",
        "finished",
        "closed",
        "last",
        "next",
        "delivered",
        "ship",
        "shipped",
        "stop",
        "arrival",
    ];
    base + if begins { 8 } else { 0 } - if has(&other) { 20 } else { 0 }
}

/// A column of dates beside one of times of the day.
fn date_and_time(sources: &[Source<'_>]) -> Option<Candidate> {
    let is_date = |source: &&Source<'_>| {
        let dated = |form: &Form| match form {
            Form::Date => true,
            Form::Pattern(pattern) => !pattern.has_time(),
            _ => false,
        };
        matches!(source.place, Place::Field(_)) && source.evidence.forms().iter().any(dated)
    };
    let date = sources.iter().filter(is_date).max_by_key(|source| name_score(&source.name))?;
    let time = sources.iter().find(|source| source.evidence.is_time_of_day())?;
    let first = time.evidence.examples.first()?;
    let (time_place, clock) = match (&time.place, &time.kind) {
        (Place::Field(index), Type::Time(_)) => (Place::TimeOfDay(*index), clock(first)?),
        (place, _) => (place.clone(), first.clone()),
    };
    let text = format!("{} {clock}", date.evidence.examples.first()?);
    let as_text = |source: &Source<'_>| match source.kind {
        Type::VarChar(_) => source.sql.clone(),
        _ => format!("CAST({} AS STRING)", source.sql),
    };
    let forms = Form::all(&text);
    // A reading that suits the dates alone: day and month may have been settled by a later date.
    let fits = |form: &&Form| match form {
        Form::Pattern(both) => date.evidence.forms().iter().any(|form| match form {
            Form::Pattern(date) => both.text().starts_with(&date.text()),
            Form::Date => true,
            _ => false,
        }),
        _ => true,
    };
    let form = forms.iter().find(fits)?;
    Some(Candidate {
        source: format!("{} + {}", date.name, time.name),
        places: vec![("", date.place.clone()), (" ", time_place)],
        sql: format!("CONCAT({}, ' ', {})", as_text(date), as_text(time)),
        kind: Type::string(),
        form: form.clone(),
        score: name_score(&date.name).max(20) + 15,
        disorder: Disorder::default(),
    })
}

/// A time of the day as SQL writes it.
fn clock(text: &str) -> Option<String> {
    let seconds = csv_time(text.trim().as_bytes(), 0)? / 1_000;
    Some(format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60))
}

/// Columns year, month, day, and hour and minute where there are such.
fn parts(sources: &[Source<'_>]) -> Option<Candidate> {
    let find = |names: &[&str]| {
        sources.iter().find(|source| {
            names.contains(&source.name.to_lowercase().as_str())
                && source.evidence.is_whole()
                && source.evidence.absent_count() == 0
                && matches!(source.place, Place::Field(_))
        })
    };
    let (year, month, day) =
        (find(&["year"])?, find(&["month", "mon"])?, find(&["day", "day_of_month", "dayofmonth"])?);
    let mut pattern = "yyyy-M-d".to_string();
    let mut found = vec![("", year), ("-", month), ("-", day)];
    if let Some(hour) = find(&["hour", "hr"]) {
        found.push((" ", hour));
        pattern.push_str(" H");
        if let Some(minute) = find(&["minute", "min"]) {
            found.push((":", minute));
            pattern.push_str(":m");
        }
    }
    let join = |(between, source): &(&str, &Source<'_>)| {
        let text = format!("CAST({} AS STRING)", source.sql);
        if between.is_empty() { text } else { format!("'{between}', {text}") }
    };
    let sql = format!("CONCAT({})", found.iter().map(join).collect::<Vec<_>>().join(", "));
    let names: Vec<&str> = found.iter().map(|(_, source)| source.name.as_str()).collect();
    Some(Candidate {
        source: names.join(" + "),
        places: found.iter().map(|(between, source)| (*between, source.place.clone())).collect(),
        sql,
        kind: Type::string(),
        form: Form::Pattern(PatternForm::new(pattern)?),
        score: 40,
        disorder: Disorder::default(),
    })
}

/// Reads the files once more for the order of the times.
///
/// # Errors
/// Reading.
pub(crate) fn measure(
    input: &mut dyn Input,
    layout: &Layout,
    limit: Option<u64>,
    candidates: &mut [Candidate],
) -> Result<()> {
    records::read(input, layout, limit, &mut |event| match event {
        Event::File => candidates.iter_mut().for_each(|candidate| candidate.disorder.next_file()),
        Event::Row(row) => {
            for candidate in candidates.iter_mut() {
                let time = text_of(&candidate.places, &row).and_then(|text| candidate.form.read(&text));
                candidate.disorder.observe(time);
            }
        }
    })
    .map(|_| ())
}

fn text_of<'a>(places: &[(&'static str, Place)], row: &'a Row<'_>) -> Option<Cow<'a, str>> {
    let text = |place: &Place| -> Option<Cow<'a, str>> {
        match (place, row) {
            (Place::Field(index), Row::Fields(fields)) => Some(fields.get(*index)?.as_str().into()),
            (Place::TimeOfDay(index), Row::Fields(fields)) => Some(clock(fields.get(*index)?)?.into()),
            (Place::Path(path), Row::Json(value)) => text_at(value, path),
            (Place::Match(regex), Row::Fields(fields)) => {
                Some(regex.captures(fields.first()?)?.get(1)?.as_str().into())
            }
            _ => None,
        }
    };
    if let [(_, place)] = places {
        return text(place);
    }
    let mut joined = String::new();
    for (between, place) in places {
        joined.push_str(between);
        joined.push_str(text(place)?.trim());
    }
    Some(joined.into())
}

/// The candidates with what was measured, best first: those that every row has, and of several readings of one column
/// the one with the better order. The second list says what was wrong with the others.
pub(crate) fn ranked(mut candidates: Vec<Candidate>) -> (Vec<TimeColumn>, Vec<String>) {
    let mut refused = Vec::new();
    candidates.retain(|candidate| {
        let (absent, rows) = (candidate.disorder.absent, candidate.disorder.rows);
        if absent > 0 && rows > 0 {
            let all = absent + rows;
            refused.push(format!(
                "{} is no event time: {absent} of {all} rows have none, and an event time must not be NULL",
                candidate.source
            ));
        }
        absent == 0 && rows > 0
    });
    refused.dedup();
    for candidate in &mut candidates {
        candidate.score += if candidate.disorder.behind == 0 { 6 } else { 0 };
        candidate.score += if candidate.disorder.is_unordered() { 0 } else { 4 };
    }
    candidates.sort_by_key(|candidate| (-candidate.score, candidate.disorder.behind, candidate.disorder.lag_ms));
    let mut times: Vec<TimeColumn> = Vec::new();
    for candidate in candidates {
        match times.iter_mut().find(|time| time.source == candidate.source) {
            Some(better) if better.disorder.behind == candidate.disorder.behind => better.notes.push(format!(
                "{} may be {} as well; nothing in the rows tells which",
                candidate.source,
                candidate.form.describe()
            )),
            Some(_) => {}
            None => times.push(time_column(candidate)),
        }
    }
    (times, refused)
}

fn time_column(candidate: Candidate) -> TimeColumn {
    let as_it_is = matches!(candidate.kind, Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3));
    let (expression, zoned) = candidate.form.expression(&candidate.sql, &candidate.kind);
    let named = candidate.sql == quoted(&candidate.source);
    let notes = candidate.form.note().into_iter().collect();
    TimeColumn {
        source: candidate.source,
        described: candidate.form.describe(),
        expression: (!(as_it_is && named)).then_some(expression),
        zoned,
        disorder: candidate.disorder,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_happened_come_before_names_of_what_follows() {
        let order = ["event_time", "timestamp", "created_at", "pickup_datetime", "date", "updated_at", "amount"];
        let scores = order.map(name_score);
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        assert!(scores[3] > scores[4] && scores[4] > scores[5], "{scores:?}");
        assert_eq!(scores[6], 0);
        assert!(name_score("tpep_pickup_datetime") > name_score("tpep_dropoff_datetime"));
    }
}

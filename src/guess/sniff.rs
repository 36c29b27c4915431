//! How a CSV file is made up: delimiter, quote, comments, header.

use super::evidence::Evidence;
use super::records::{Found, record};
use crate::format::{CsvOptions, Syntax};
use crate::types::Type;

/// Records that are looked at.
const RECORDS: usize = 500;
/// Likely ones first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a CSV file is made up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CsvLayout {
    pub delimiter: u8,
    pub quote: Option<u8>,
    /// Lines that begin with # are no records.
    pub comments: bool,
    /// The texts of the first record, if it names the fields.
    pub header: Option<Vec<String>>,
    /// Fields of a record.
    pub fields: usize,
    /// Of a hundred records, how many have as many fields.
    pub consistent: usize,
}

impl Default for CsvLayout {
    fn default() -> Self {
        CsvLayout { delimiter: b',', quote: Some(b'"'), comments: false, header: None, fields: 1, consistent: 100 }
    }
}

impl CsvLayout {
    pub fn syntax(&self) -> Syntax {
        Syntax::new(&CsvOptions {
            delimiter: self.delimiter.into(),
            quote: self.quote.map(char::from),
            comments: self.comments,
            ..CsvOptions::default()
        })
    }
}

/// Looks at the start of a file. `ends`: that is the whole file. `hint`: the delimiter that the file's name suggests.
pub(crate) fn sniff(bytes: &[u8], ends: bool, hint: Option<u8>) -> CsvLayout {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let double = best(bytes, ends, hint, Some(b'"'));
    let single = best(bytes, ends, hint, Some(b'\''));
    let mut layout = if single.quoted && !double.quoted {
        single.layout
    } else if double.broken {
        let none = best(bytes, ends, hint, None);
        if none.merit > double.merit { none.layout } else { double.layout }
    } else {
        double.layout
    };
    if layout.fields == 1 {
        layout.delimiter = hint.unwrap_or(b',');
    }
    layout.header = header(&layout, bytes, ends, 0);
    layout
}

/// How well a layout fits.
struct Fit {
    merit: usize,
    layout: CsvLayout,
    /// Some records have their quotes in the wrong places.
    broken: bool,
    /// Most records have a field in quotes.
    quoted: bool,
}

/// The delimiter that cuts the records alike.
fn best(bytes: &[u8], ends: bool, hint: Option<u8>, quote: Option<u8>) -> Fit {
    let comments = bytes.starts_with(b"#");
    let none = CsvLayout { quote, comments, ..CsvLayout::default() };
    let mut best = Fit { merit: 0, layout: none.clone(), broken: false, quoted: false };
    for delimiter in DELIMITERS {
        let layout = CsvLayout { delimiter, ..none.clone() };
        let (counts, broken, quoted) = shape(&layout, bytes, ends);
        let total = counts.len() + broken;
        let fields = most_frequent(&counts);
        if total == 0 {
            continue;
        }
        let same = counts.iter().filter(|count| **count == fields).count();
        let consistent = same * 100 / total;
        // Differences of a few records say less than the number of fields; one field says nothing.
        let hinted = usize::from(hint == Some(delimiter));
        let merit = if fields == 1 { 0 } else { 1 + consistent / 5 + hinted * 4 };
        best.broken |= broken > 0;
        if (best.merit, best.layout.fields) < (merit, fields) {
            let layout = CsvLayout { fields, consistent, ..layout };
            best = Fit { merit, layout, broken: best.broken, quoted: quoted * 2 > total };
        }
    }
    best
}

/// The numbers of fields of the first records, how many were broken, and how many have a quoted field.
fn shape(layout: &CsvLayout, bytes: &[u8], ends: bool) -> (Vec<usize>, usize, usize) {
    let (mut counts, mut broken, mut quoted) = (Vec::new(), 0, 0);
    for_each_record(layout, bytes, ends, &mut |fields, text| match fields {
        Some(fields) if fields.len() == 1 && fields[0].trim().is_empty() => {}
        Some(fields) => {
            counts.push(fields.len());
            let starts =
                |quote| text.first() == Some(&quote) || text.windows(2).any(|two| two == [layout.delimiter, quote]);
            quoted += usize::from(layout.quote.is_some_and(starts));
        }
        None => broken += 1,
    });
    (counts, broken, quoted)
}

fn for_each_record(layout: &CsvLayout, bytes: &[u8], ends: bool, take: &mut dyn FnMut(Option<&[String]>, &[u8])) {
    let syntax = layout.syntax();
    let mut fields = Vec::new();
    let mut at = 0;
    for _ in 0..RECORDS {
        at = syntax.skip_to_record(bytes, at);
        if at >= bytes.len() {
            break;
        }
        let next = match record(&syntax, bytes, at, ends, &mut fields) {
            Found::Incomplete => break,
            Found::Broken(next) => {
                take(None, &bytes[at..next]);
                next
            }
            Found::Record(next) => {
                take(Some(&fields), &bytes[at..next]);
                next
            }
        };
        at = next;
    }
}

fn most_frequent(counts: &[usize]) -> usize {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
    runs.max().map_or(1, |(_, fields)| fields)
}

/// The first record, if it names the fields: where a column holds numbers or times and its first text is neither, or
/// where all are names and few of them occur again below. `skipped`: records above it.
fn header(layout: &CsvLayout, bytes: &[u8], ends: bool, skipped: usize) -> Option<Vec<String>> {
    let mut first: Option<Vec<String>> = None;
    let mut columns = vec![Evidence::default(); layout.fields];
    let mut again = vec![false; layout.fields];
    let mut above = skipped;
    for_each_record(layout, bytes, ends, &mut |fields, _| {
        if above > 0 {
            above -= 1;
            return;
        }
        let Some(names) = &first else {
            first = Some(fields.unwrap_or_default().to_vec());
            return;
        };
        let Some(fields) = fields.filter(|fields| fields.len() == layout.fields) else { return };
        for (index, (column, text)) in columns.iter_mut().zip(fields).enumerate() {
            column.observe(text);
            again[index] |= !text.is_empty() && names.get(index) == Some(text);
        }
    });
    let first = first.filter(|names| names.len() == layout.fields)?;
    let named = first.iter().filter(|text| is_name(text)).count();
    if named == 0 || first.iter().any(|text| is_value(text)) && named * 2 < first.len() {
        return None;
    }
    let is_typed = |(column, text): (&Evidence, &String)| {
        column.values > 0
            && is_name(text)
            && (column.decide("", None).0 != Type::string() || !column.forms().is_empty())
    };
    let typed = columns.iter().zip(&first).any(is_typed);
    let blank = first.iter().filter(|text| text.trim().is_empty()).count();
    let all_names = named + blank == first.len() && blank <= 1;
    let repeated = again.iter().filter(|again| **again).count();
    let mut sorted = first.clone();
    sorted.sort();
    sorted.dedup();
    let distinct = sorted.len() == first.len();
    (typed || (all_names && distinct && repeated * 2 < first.len())).then_some(first)
}

/// Records above the header, such as a title; 0 where there is nothing above it, or no header.
pub(crate) fn titles(layout: &CsvLayout, bytes: &[u8], ends: bool) -> usize {
    /// Longer prefaces are rare.
    const TITLES_MAX: usize = 12;
    if layout.header.is_some() || layout.fields < 2 {
        return 0;
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut first = Vec::new();
    for_each_record(layout, bytes, ends, &mut |fields, _| {
        if first.len() < TITLES_MAX {
            let filled = fields.map_or(0, |fields| fields.iter().filter(|field| !field.trim().is_empty()).count());
            first.push(filled);
        }
    });
    // A title has few fields; the header below it has most.
    let found = (1..first.len()).find(|above| first[*above] * 2 > layout.fields);
    let is_title = |above: &usize| first[..*above].iter().all(|filled| filled * 2 <= layout.fields);
    found.filter(is_title).filter(|above| header(layout, bytes, ends, *above).is_some()).unwrap_or(0)
}

/// A number, a time or a truth value.
fn is_value(text: &str) -> bool {
    let mut evidence = Evidence::default();
    evidence.observe(text);
    evidence.values > 0 && (evidence.decide("", None).0 != Type::string() || !evidence.forms().is_empty())
}

/// Whether the text could name a column.
fn is_name(text: &str) -> bool {
    let text = text.trim();
    let mut evidence = Evidence::default();
    evidence.observe(text);
    text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '%' | '$' | '@' | '('))
        && text.chars().count() <= 80
        && evidence.values > 0
        && !is_value(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> CsvLayout {
        sniff(text.as_bytes(), true, None)
    }

    #[test]
    fn the_delimiter_that_cuts_records_alike_is_found() {
        for (text, delimiter, fields) in [
            ("1,a;b\n2,c\n3,d\n", b',', 2),
            ("a;b;c\n1,5;2;3\n2,5;3;4\n", b';', 3),
            ("1\ta,b\t3\n2\tc\t4\n", b'\t', 3),
            ("1|2|3\n4|5|6", b'|', 3),
            ("one\ntwo\n", b',', 1),
            ("\"a,b\",\"c\"\n\"d,e,f\",\"g\"\n", b',', 2),
        ] {
            let layout = of(text);
            assert_eq!((layout.delimiter, layout.fields), (delimiter, fields), "{text}");
        }
    }

    #[test]
    fn a_header_is_told_by_what_stands_below() {
        for (text, expected) in [
            ("ts,v\n2024-01-01 00:00:00,1\n", true),
            ("2024-01-01 00:00:00,1\n2024-01-01 00:00:01,2\n", false),
            ("name,city\nann,paris\nbob,rome\n", true),
            ("ann,paris\nbob,paris\nann,rome\n", false),
            (",a,b\n0,1,2\n1,2,3\n", true),
            ("a,b,c\n", true),
            ("x,1\ny,2\n", false),
            ("id,2019,2020\nann,1.5,2.5\n", false),
            ("Country,Group,ID\nAngola,Africa,AO\nIndonesia,Asia,ID\n", true),
            ("name,state\nmercury,1\nstate,2\n", true),
        ] {
            assert_eq!(of(text).header.is_some(), expected, "{text}");
        }
    }

    #[test]
    fn titles_above_a_header_are_counted() {
        let above = |text: &str| titles(&of(text), text.as_bytes(), true);
        assert_eq!(above("Made in 2024,,\na,b,c\n1,2,3\n4,5,6\n"), 1);
        assert_eq!(above("Made in 2024\n7,x\na,b,c,d,e\n1,2,3,4,5\n4,5,6,7,8\n9,1,2,3,4\n"), 2);
        assert_eq!(above("a,b,c\n1,2,3\n"), 0);
        assert_eq!(above("1,2,3\n4,5,6\n"), 0);
    }

    #[test]
    fn quotes_and_comments_are_found() {
        assert_eq!(of("'a','b'\n'c','d,e'\n").quote, Some(b'\''));
        assert_eq!(of("5\" pipe,1\n\"6\" pipe,2\n").quote, None);
        let layout = of("# made by hand\na,b\n1,2\n");
        assert!(layout.comments);
        assert_eq!(layout.header, Some(vec!["a".to_string(), "b".to_string()]));
    }
}

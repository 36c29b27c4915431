//! Records that are set aside are the same ones at the same places, however a file is cut.

use std::path::Path;

use arrow::array::RecordBatch;
use proptest::prelude::*;

use super::{read, scan, schema, spec};
use crate::error::Result;
use crate::format::FormatSpec;
use crate::plan::ScanSpec;
use crate::source::{Position, Reason, Stretch, open_with};
use crate::types::{Schema, Type};

/// Line and column, reason and text.
type Found = ((u64, u64), String, String);

/// The rows as JSON, and what was set aside. Asks for the records of all rows, too.
fn read_setting_aside(scan: &ScanSpec, schema: &Schema, block_bytes: usize) -> Result<(Vec<u8>, Vec<Found>)> {
    let mut encoder = FormatSpec::Json(crate::format::JsonOptions::default()).text_encoder(schema).expect("text");
    let (mut text, mut found) = (Vec::new(), Vec::new());
    let place = |before: Stretch, position: Position| match position {
        Position::Text(stretch) => before.then(stretch).place(),
        Position::Place(line, column) => (line, column),
        Position::Row(row) => (row, 0),
    };
    for split in open_with(scan, block_bytes, true)? {
        let (mut state, mut before, mut last) = (0, split.text_before(0), (0, 0));
        for block in 0..split.extent().blocks {
            let stats = split.decode(block, state, 7, &mut |batch: RecordBatch| encoder.encode(&batch, &mut text))?;
            assert_eq!(split.text_before(block), before);
            for earlier in [block / 2, block.saturating_sub(1)] {
                let between = split.text_between(earlier, block);
                assert_eq!(split.text_before(earlier).then(between), before, "from block {earlier} to {block}");
            }
            let rows: Vec<u64> = (0..stats.rows).collect();
            let records = split.records(block, state, &rows)?;
            assert_eq!(records.len(), rows.len(), "each row has a record");
            for (position, _) in records {
                assert!(place(before, position) >= last, "records are in order");
                last = place(before, position);
            }
            found.extend(stats.aside.rejected.into_iter().map(|rejected| {
                let Reason::Unreadable(reason) = rejected.reason else { panic!("only the engine knows of times") };
                (place(before, rejected.position), reason, rejected.text)
            }));
            before = before.then(stats.aside.text);
            state = split.probe(block)?.0[usize::from(state)];
        }
    }
    Ok((text, found))
}

fn check(path: &Path, text: &[u8], options: &[(&str, &str)]) {
    std::fs::write(path, text).expect("written");
    let schema = schema(&[("a", Type::string()), ("b", Type::Int)]);
    let scan = scan(path, &spec(options, &schema).expect("a format"), &schema, &[0, 1]);
    let whole = read_setting_aside(&scan, &schema, 1 << 20).expect("nothing fails");
    for block_bytes in [1, 2, 7, 64] {
        let cut = read_setting_aside(&scan, &schema, block_bytes).expect("nothing fails");
        assert_eq!(whole, cut, "blocks of {block_bytes} bytes: {:?}", String::from_utf8_lossy(text));
    }
    // The first record that is set aside is the one that fails the job without a quarantine.
    let first = whole.1.first().map(|(place, reason, _)| (*place, reason.clone()));
    // But for errors that are ignored there, and comments that are not UTF-8, which are no records.
    let differs = |key: &str| key.ends_with("ignore-parse-errors") || key.ends_with("allow-comments");
    if !options.iter().any(|(key, _)| differs(key)) {
        let error = read(&scan, 1 << 20, 8_192).err();
        let place = error.map(|error| {
            let place = error.place().cloned().unwrap_or_default();
            ((place.line, place.column), error.message().to_string())
        });
        assert_eq!(first, place, "{:?}", String::from_utf8_lossy(text));
    }
}

/// Pieces of which broken and whole records are made.
fn soup(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

const CSV: &[&[u8]] = &[
    b"a",
    b"1",
    b",",
    b",",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"\"",
    b"x,1\n",
    b"\"q\",2\n",
    b"\xFF",
    b"\xC3\xA9",
    b"\\",
    b"#",
];
const JSON: &[&[u8]] = &[
    b"{\"a\":\"x\",\"b\":1}\n",
    b"{\"b\":2,\"a\":\"y\"}",
    b"{\"a\":\"x\",\"b\":\"no\"}\n",
    b"[{\"b\":1},{\"b\":\"no\"}]\n",
    b"{",
    b"}",
    b"\n",
    b"\r\n",
    b"\"",
    b"\xFF",
    b"\xC3\xA9",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn csv_records_are_set_aside_alike_in_blocks_of_any_size(text in soup(CSV)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.txt");
        let format = ("format", "csv");
        check(&path, &text, &[format]);
        check(&path, &text, &[format, ("csv.ignore-parse-errors", "true")]);
        check(&path, &text, &[format, ("csv.escape-character", "\\"), ("csv.allow-comments", "true")]);
    }

    #[test]
    fn json_lines_are_set_aside_alike_in_blocks_of_any_size(text in soup(JSON)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.txt");
        check(&path, &text, &[("format", "json")]);
        check(&path, &text, &[("format", "json"), ("json.ignore-parse-errors", "true")]);
    }
}

//! What stands where a table's files should be.

use std::path::Path;
use std::process::Command;

use super::{read, scan, schema, spec};
use crate::error::{Error, ErrorKind};
use crate::format::{FormatSpec, ParquetOptions};
use crate::plan::{Codec, Compression, SourceSpec};
use crate::source::{FILES_KEPT_OPEN, open};
use crate::types::Type;

const COLUMNS: [(&str, Type); 1] = [("v", Type::Int)];

fn csv() -> FormatSpec {
    spec(&[("format", "csv")], &schema(&COLUMNS)).expect("a format")
}

fn refusal(path: &Path, format: &FormatSpec) -> Error {
    let error = open(&scan(path, format, &schema(&COLUMNS), &[0]), 64).err().expect("must fail");
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    assert!(error.remedy().is_some(), "{error}");
    error
}

#[test]
fn a_fifo_is_refused_without_waiting_for_a_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events.csv");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    for format in [csv(), FormatSpec::Parquet(ParquetOptions::default())] {
        for path in [path.as_path(), folder.path()] {
            let error = refusal(path, &format);
            assert!(error.message().contains("events.csv: it is not a regular file"), "{error}");
        }
    }
}

#[test]
fn a_link_to_a_folder_above_it_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("a/b");
    std::fs::create_dir_all(&inner).expect("created");
    std::fs::write(inner.join("x.csv"), "1\n").expect("written");
    std::os::unix::fs::symlink("..", inner.join("up")).expect("linked");
    assert!(refusal(folder.path(), &csv()).message().contains("b/up: the link leads back"));
    std::fs::remove_file(inner.join("up")).expect("removed");
    std::os::unix::fs::symlink(&inner, folder.path().join("beside")).expect("linked");
    let scan = scan(folder.path(), &csv(), &schema(&COLUMNS), &[0]);
    assert_eq!(read(&scan, 64, 10).expect("rows").1.rows, 2);
}

#[test]
fn files_that_are_not_kept_open_must_stay_the_same_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |index: usize| folder.path().join(format!("{index:03}.csv"));
    for index in 0..=FILES_KEPT_OPEN {
        std::fs::write(path(index), format!("{index}\n")).expect("written");
    }
    let scan = scan(folder.path(), &csv(), &schema(&COLUMNS), &[0]);
    let splits = open(&scan, 64).expect("opens");
    let rows = |index: usize| splits[index].decode(0, 0, 10, &mut |_| Ok(())).map(|stats| stats.rows);
    for index in [0, FILES_KEPT_OPEN] {
        assert_eq!(rows(index).expect("rows"), 1);
        let other = folder.path().join(".other");
        std::fs::write(&other, "7\n8\n").expect("written");
        std::fs::rename(&other, path(index)).expect("renamed");
    }
    assert_eq!(rows(0).expect("the old file is still open"), 1);
    let error = rows(FILES_KEPT_OPEN).expect_err("another file");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("it was replaced") && error.remedy().is_some(), "{error}");
}

#[test]
fn a_glob_does_not_reach_into_hidden_folders_unless_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a/x.csv", "_b/x.csv", ".c/x.csv", "a/_d/x.csv", "a/.e.csv"] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, "1\n").expect("written");
    }
    let count = |pattern: &str| {
        let scan = scan(&folder.path().join(pattern), &csv(), &schema(&COLUMNS), &[0]);
        open(&scan, 64).map(|splits| splits.len())
    };
    // The folder's own name begins with a dot, as tempfile makes it.
    for (pattern, files) in [("*/*.csv", 1), ("**/*.csv", 1), ("*", 1), ("_b/*.csv", 1), ("a/../*/x.csv", 1)] {
        assert_eq!(count(pattern).expect("files"), files, "{pattern}");
    }
    let error = count("a/_*/*.csv").expect_err("must fail");
    assert!(error.remedy().unwrap().contains("are not read"), "{error}");
}

#[test]
fn archives_and_packed_columns_are_refused_when_they_are_opened_with_the_command_that_unpacks_them() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, start, what, command) in [
        ("a.zip", &b"PK\x03\x04"[..], "a zip archive", "unzip -p"),
        ("events", b"\x04\x22\x4D\x18", "compressed with lz4", "lz4 -dc"),
        ("logs.tar.gz", b"\x1F\x8B", "a tar archive", "tar -xO -f"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, start).expect("written");
        let error = open(&scan(&path, &csv(), &schema(&COLUMNS), &[0]), 64).err().expect("must be refused");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(what), "{error}");
        assert!(error.remedy().unwrap().contains(command), "{error:?}");
    }
    let path = folder.path().join("a.parquet.gz");
    std::fs::write(&path, b"\x1F\x8B").expect("written");
    let error = open(&scan(&path, &FormatSpec::Parquet(ParquetOptions::default()), &schema(&COLUMNS), &[0]), 64)
        .err()
        .expect("must be refused");
    assert!(error.message().contains("parquet file compressed with gzip"), "{error}");
}

#[test]
fn the_ending_tells_how_a_text_is_packed_and_else_its_first_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = zstd::encode_all(&b"1\n2\n"[..], 1).expect("packed");
    for (name, content, rows) in [
        ("a.zst", packed.as_slice(), 2),
        ("b.log", &packed, 2),
        ("c.csv", b"BZh,1\n".as_slice(), 0),
        ("d.csv", b"3\n", 1),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        let outcome = read(&scan(&path, &csv(), &schema(&COLUMNS), &[0]), 64, 10);
        assert_eq!(outcome.map_or(0, |(rows, _)| rows.len()), rows, "{name}");
    }
    // The option goes before both.
    let path = folder.path().join("e.gz");
    std::fs::write(&path, &packed).expect("written");
    let mut table = scan(&path, &csv(), &schema(&COLUMNS), &[0]);
    let error = read(&table, 64, 10).expect_err("no gzip");
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().contains("this is no gzip data"), "{error}");
    let SourceSpec::Files(files) = &mut table.source else { panic!("no files") };
    files.compression = Compression::Codec(Codec::Zstd);
    assert_eq!(read(&table, 64, 10).expect("rows").0.len(), 2);
}

#[test]
fn a_record_beyond_64_mib_is_refused_even_where_it_would_fit_the_buffer() {
    const MOST: usize = 64 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.csv");
    let columns = schema(&[("k", Type::string())]);
    let scan = scan(&path, &spec(&[("format", "csv")], &columns).expect("a format"), &columns, &[0]);
    let rows = |length: usize, block_bytes: usize| {
        let text = ["a\n", &"x".repeat(length), "\nb\n"].concat();
        std::fs::write(&path, text).expect("written");
        let splits = open(&scan, block_bytes).expect("opens");
        let (mut rows, mut state) = (0, 0);
        for block in 0..splits[0].extent().blocks {
            rows += splits[0].decode(block, state, 10, &mut |_| Ok(()))?.rows;
            state = splits[0].probe(block)?.0[usize::from(state)];
        }
        Ok::<u64, Error>(rows)
    };
    for block_bytes in [20 << 20, 1 << 30] {
        assert_eq!(rows(MOST, block_bytes).expect("the longest record"), 3);
        let error = rows(MOST + 1, block_bytes).expect_err("too long");
        assert_eq!((error.kind(), error.message()), (ErrorKind::Data, "this record is longer than 64 MiB"));
        assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 1)));
        assert!(error.remedy().unwrap().contains("a missing line end"));
    }
}

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};

use super::*;
use crate::arena::ArenaVec;
use crate::error::Result;

/// State of every kind.
#[derive(Default)]
struct State {
    column: ArenaVec<u64>,
    numbers: (i64, i64),
    pairs: Vec<(u32, bool)>,
    slices: BTreeMap<i64, ArenaVec<u32>>,
    rows: Vec<RecordBatch>,
}

impl State {
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.column)?;
        archive.numbers([&mut self.numbers.0, &mut self.numbers.1])?;
        archive.list(&mut self.pairs, |&(a, b)| [a, u32::from(b)], |[a, b]| (a, b != 0))?;
        archive.map(&mut self.slices, || Ok(ArenaVec::new()), |archive, slice| archive.cells(slice))?;
        archive.rows(&mut self.rows)
    }
}

fn batch() -> RecordBatch {
    let fields = vec![Field::new("k", DataType::Utf8, true), Field::new("v", DataType::Int64, true)];
    let columns: Vec<arrow::array::ArrayRef> =
        vec![Arc::new(StringArray::from(vec![Some("é"), None])), Arc::new(Int64Array::from(vec![None, Some(7)]))];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn state() -> State {
    let mut state = State {
        numbers: (-5, i64::MAX),
        pairs: vec![(3, true), (9, false)],
        rows: vec![batch(), batch()],
        ..State::default()
    };
    (0..20_000).for_each(|cell| state.column.push(cell * 3));
    for slice in [-60_000, 0, 60_000] {
        let mut cells = ArenaVec::new();
        cells.extend_from_slice(&[1, 2, slice as u32]);
        state.slices.insert(slice, cells);
    }
    state
}

fn written(folder: &Path) -> StateFileEntry {
    let (mut first, mut second) = (state(), State::default());
    let mut writer = StateWriter::default();
    first.archive(&mut writer.stage(0)).unwrap();
    second.archive(&mut writer.stage(2)).unwrap();
    let pending = CheckpointRoot::new(folder).run("run").begin(7).unwrap();
    pending.write_state(&writer, (1, 4), &mut Kept::default()).unwrap()
}

fn manifest(files: Vec<StateFileEntry>) -> Manifest {
    Manifest {
        checkpoint: 7,
        created_ms: 1_700_000_000_000,
        release: "0.1.0".into(),
        script: "job.sql".into(),
        statement: 2,
        key_groups: 128,
        shards: 4,
        block_bytes: 1 << 20,
        stages: Vec::new(),
        splits: Vec::new(),
        sinks: Vec::new(),
        counts: Counts { totals: vec![1, 2], written: vec![3] },
        files,
    }
}

#[test]
fn state_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let entry = written(folder.path());
    let path = folder.path().join("run/chk-7").join(&entry.name);
    assert_eq!(fs::metadata(&path).unwrap().len(), entry.bytes);
    let file = StateFile::open(&path).unwrap();
    assert_eq!((file.checkpoint(), file.shard(), file.shards(), file.hash()), (7, 1, 4, entry.hash));
    let mut reader = file.into_reader();
    let (mut first, mut none) = (State::default(), State::default());
    first.archive(&mut reader.stage(0)).unwrap();
    reader.end_stage().unwrap();
    assert!(none.archive(&mut reader.stage(1)).is_err());
    none.archive(&mut reader.stage(2)).unwrap();
    reader.end_stage().unwrap();
    let whole = state();
    assert_eq!(first.column.as_slice(), whole.column.as_slice());
    assert_eq!((first.numbers, first.pairs, first.rows), (whole.numbers, whole.pairs, whole.rows));
    assert!(
        first.slices.iter().map(|(k, v)| (k, v.as_slice())).eq(whole.slices.iter().map(|(k, v)| (k, v.as_slice())))
    );
    assert!(none.column.is_empty() && none.rows.is_empty());
}

#[test]
fn state_that_is_not_asked_for_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let entry = written(folder.path());
    let mut reader = StateFile::open(&folder.path().join("run/chk-7").join(&entry.name)).unwrap().into_reader();
    reader.stage(0).cells(&mut ArenaVec::<u64>::new()).unwrap();
    assert!(reader.end_stage().is_err());
    assert!(reader.stage(2).cells(&mut ArenaVec::<u32>::new()).is_err());
}

/// A checkpoint of the columns, in a folder of its own number, and what it is to read.
fn checkpoint(run: &CheckpointFolder, number: u64, columns: &mut [ArenaVec<u64>], kept: &mut Kept) -> StateFileEntry {
    let mut writer = StateWriter::default();
    let mut archive = writer.stage(0);
    columns.iter_mut().for_each(|column| archive.cells(column).unwrap());
    let pending = run.begin(number).unwrap();
    let entry = pending.write_state(&writer, (0, 1), kept).unwrap();
    drop(writer);
    let mut reader = StateFile::open(&pending.path().join(&entry.name)).unwrap().into_reader();
    let mut archive = reader.stage(0);
    for column in columns.iter() {
        let mut read = ArenaVec::<u64>::new();
        archive.cells(&mut read).unwrap();
        assert!(read.as_slice() == column.as_slice(), "checkpoint {number}");
    }
    reader.end_stage().unwrap();
    entry
}

#[test]
fn what_has_not_changed_is_not_written_again() {
    let root = tempfile::tempdir().unwrap();
    let (run, mut kept) = (CheckpointRoot::new(root.path()).run("run"), Kept::default());
    let mut columns: Vec<ArenaVec<u64>> = (0..4).map(|_| ArenaVec::new()).collect();
    for (number, column) in columns.iter_mut().enumerate() {
        (0..50_000 + number as u64).for_each(|cell| column.push(cell));
    }
    let first = checkpoint(&run, 1, &mut columns, &mut kept);
    columns[2][7] = 1;
    let second = checkpoint(&run, 2, &mut columns, &mut kept);
    assert!(first.bytes > 1_600_000 && second.bytes < first.bytes / 3, "{} {}", first.bytes, second.bytes);
    // The first checkpoint goes; what the others have of it stays.
    run.forget_before(2);
    columns.swap(0, 3);
    columns[3].resize(40_000, 0);
    let third = checkpoint(&run, 3, &mut columns, &mut kept);
    assert!(third.bytes < first.bytes / 3, "{}", third.bytes);
    run.forget_before(3);
    let fourth = checkpoint(&run, 4, &mut columns, &mut kept);
    assert!(fourth.bytes < 1_000, "{}", fourth.bytes);
    // A file that hardly anything is wanted of is not kept for it.
    for column in &mut columns[1..] {
        column.iter_mut().for_each(|cell| *cell += 1);
    }
    let fifth = checkpoint(&run, 5, &mut columns, &mut kept);
    let names = fs::read_dir(run.path().join("chk-5")).unwrap().count();
    assert_eq!((names, fifth.bytes > 1_500_000), (1, true));
}

#[test]
fn damage_in_what_is_referred_to_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let (run, mut kept) = (CheckpointRoot::new(root.path()).run("run"), Kept::default());
    let mut columns = vec![ArenaVec::<u64>::new()];
    columns[0].resize(10_000, 3);
    checkpoint(&run, 1, &mut columns, &mut kept);
    let entry = checkpoint(&run, 2, &mut columns, &mut kept);
    let path = run.path().join("chk-2").join(&entry.name);
    let base = path.with_file_name(format!("chk-1.{}", entry.name));
    let bytes = fs::read(&base).unwrap();
    for at in (0..100).map(|hundredth| bytes.len() * hundredth / 100) {
        let mut spoilt = bytes.clone();
        spoilt[at] ^= 4;
        for spoilt in [&spoilt[..], &bytes[..at]] {
            fs::write(&base, spoilt).unwrap();
            let error = StateFile::open(&path).map(drop).unwrap_err().to_string();
            assert!(error.contains("chk-1."), "{error}");
        }
    }
    fs::remove_file(&base).unwrap();
    assert!(StateFile::open(&path).is_err());
    // A file of the same place that is another one.
    columns[0][0] = 4;
    checkpoint(&run, 1, &mut columns, &mut Kept::default());
    fs::copy(run.path().join("chk-1").join(&entry.name), &base).unwrap();
    assert!(StateFile::open(&path).is_err());
    fs::write(&base, &bytes).unwrap();
    assert!(StateFile::open(&path).is_ok());
}

/// Every way in which `change` may spoil a file is noticed, and nothing panics.
fn spoil(bytes: &[u8], open: &dyn Fn(&[u8]) -> Result<()>) {
    open(bytes).unwrap();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut spoilt = bytes.to_vec();
    for hundredth in 0..100 {
        let at = bytes.len() * hundredth / 100;
        assert!(open(&bytes[..at]).is_err(), "cut off at byte {at}");
        spoilt[at] ^= 1 << random(8);
        assert!(open(&spoilt).is_err(), "a bit of byte {at}");
        spoilt[at] = bytes[at];
    }
    for _ in 0..10_000 {
        let (at, length) = (random(bytes.len()), 1 + random(70));
        let end = (at + length).min(bytes.len());
        spoilt[at..end].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1 + random(255) as u8));
        assert!(open(&spoilt).is_err(), "bytes {at} to {end}");
        spoilt[at..end].copy_from_slice(&bytes[at..end]);
    }
    let longer = [bytes, &[0; 64]].concat();
    assert!(open(&longer).is_err());
}

#[test]
fn damaged_state_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let entry = written(folder.path());
    let bytes = fs::read(folder.path().join("run/chk-7").join(&entry.name)).unwrap();
    let path = folder.path().join("spoilt");
    spoil(&bytes, &|bytes| {
        fs::write(&path, bytes).unwrap();
        StateFile::open(&path).map(drop).inspect_err(|error| {
            assert!(error.to_string().contains("spoilt"), "{error}");
        })
    });
}

#[test]
fn a_damaged_manifest_is_noticed() {
    let bytes = manifest(Vec::new()).to_bytes().unwrap();
    assert_eq!(Manifest::from_bytes(&bytes).unwrap(), manifest(Vec::new()));
    spoil(&bytes, &|bytes| Manifest::from_bytes(bytes).map(drop));
}

#[test]
fn only_checkpoints_with_a_manifest_are_found() {
    let root = tempfile::tempdir().unwrap();
    let entry = written(root.path());
    assert!(CheckpointRoot::new(root.path()).all().unwrap().is_empty());
    let run = CheckpointRoot::new(root.path()).run("run");
    let left = root.path().join("run/chk-7").join(&entry.name);
    let bytes = fs::read(&left).unwrap();
    let pending = run.begin(7).unwrap();
    assert!(!left.exists(), "what an earlier run has left under the number");
    fs::write(&left, bytes).unwrap();
    pending.publish(&manifest(vec![entry])).unwrap();
    let later = CheckpointRoot::new(root.path()).run("other").begin(1).unwrap();
    later.publish(&Manifest { checkpoint: 1, created_ms: i64::MAX, ..manifest(Vec::new()) }).unwrap();
    let all = CheckpointRoot::new(root.path()).all().unwrap();
    let found: Vec<u64> = all.iter().map(|(_, manifest)| manifest.as_ref().unwrap().checkpoint).collect();
    assert_eq!(found, [1, 7]);
    let (folder, manifest) = &all[1];
    let manifest = manifest.as_ref().unwrap();
    assert_eq!(manifest.open_state(folder).unwrap().len(), 1);
    fs::copy(folder.join(METADATA), folder.join(&manifest.files[0].name)).unwrap();
    assert!(manifest.open_state(folder).is_err());
    run.forget_before(8);
    assert_eq!(CheckpointRoot::new(root.path()).all().unwrap().len(), 1);
}

#[test]
fn what_a_dead_run_has_left_goes_and_what_a_checkpoint_needs_stays() {
    let (root, table) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let prefix = |mark: &str| vec![(table.path().to_path_buf(), format!(".transom-{mark}-"))];
    let file = |name: &str| table.path().join(name);
    let names = [".transom-a-part-0-0.csv", ".transom-a-part-0-1.csv", ".transom-b-part-0-0.csv", "part-a-0-0.csv"];
    names.iter().for_each(|name| fs::write(file(name), "").unwrap());
    let (a, b) = (CheckpointRoot::new(root.path()).run("a"), CheckpointRoot::new(root.path()).run("b"));
    let (lives, _other) = (a.lock().unwrap(), b.lock().unwrap());
    assert!(a.lock().is_err());
    a.note_files(&prefix("a")).unwrap();
    b.note_files(&prefix("b")).unwrap();
    let part = ClosedPart { number: 1, shard: 0, hidden: names[1].to_string(), visible: String::new() };
    let files = SinkState { marks: Vec::new(), parts: vec![part] };
    let fingerprint = Fingerprint { title: String::new(), text: String::new() };
    let pending = a.begin(1).unwrap();
    pending.publish(&Manifest { sinks: vec![NamedSink { fingerprint, files }], ..manifest(Vec::new()) }).unwrap();
    a.begin(2).unwrap();
    CheckpointRoot::new(root.path()).clean_up().unwrap();
    assert!(names.iter().all(|name| file(name).exists()) && CheckpointFolder::is_live(pending.path()));
    drop(lives);
    assert!(!CheckpointFolder::is_live(pending.path()));
    CheckpointRoot::new(root.path()).clean_up().unwrap();
    assert_eq!(names.map(|name| file(name).exists()), [false, true, true, true]);
    assert!(pending.path().exists() && !a.path().join("chk-2").exists());
    a.forget();
    a.leave();
    CheckpointRoot::new(root.path()).clean_up().unwrap();
    assert!(!a.path().exists() && b.path().exists());
}

#[test]
fn places_are_no_part_of_a_fingerprint() {
    let of = |text: &str| Fingerprint { title: "t".into(), text: text.into() }.without_places().text;
    let place =
        |file: &str, line: u64| format!("{:?}", crate::error::Place { file: file.into(), line, column: 2, length: 1 });
    for file in ["job.sql", "a } b.sql", "./x, line: y.sql"] {
        let text = format!("key ({}, 1) and {} end", place(file, 1), place(file, 20));
        assert_eq!(of(&text), of(&format!("key ({}, 1) and {} end", place("job.sql", 3), place("b", 4))), "{file}");
    }
    assert_eq!(of("no places"), "no places");
    assert_eq!(of("Place { file: cut off"), "Place { file: cut off");
}

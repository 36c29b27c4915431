//! What is in a checkpoint.

use std::path::Path;

use transom::error::Result;
use transom::key::KeyGroups;
use transom::numbers::{bytes, grouped as count};
use transom::snapshot::{METADATA, Manifest, SinkState, StateFile};
use transom::time::{Watermark, WatermarkStart};

use super::table::{Align, aligned};
use super::{print, size, written};

/// Prints all that the manifest says, and how much state there is of what. A file of state that is damaged has no
/// sizes, and is what the command ends with.
pub fn show(folder: &Path) -> Result<()> {
    let manifest = Manifest::read(&folder.join(METADATA))?;
    let (mut files, mut damaged) = (Vec::new(), Ok(()));
    for entry in &manifest.files {
        let opened = manifest.open_file(folder, entry);
        files.push(opened.map_err(|error| damaged = Err(error)).ok());
    }
    print(&text(folder, &manifest, &files))?;
    damaged
}

/// `files`: those that are as they were written.
fn text(folder: &Path, manifest: &Manifest, files: &[Option<StateFile>]) -> String {
    let lines = [
        ("checkpoint", format!("{}, in {}", manifest.checkpoint, folder.display())),
        ("script", format!("{}, statement {}", manifest.script, manifest.statement)),
        ("written", format!("{} by release {}", written(manifest), manifest.release)),
        ("keys", format!("{} key groups on {} shards", manifest.key_groups, manifest.shards)),
        ("size", format!("{} of state{}", bytes(size(manifest)), referred(files))),
        ("blocks", format!("of {} in text files", bytes(manifest.block_bytes))),
    ];
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:>10}  {value}\n")).collect();
    let sections = [
        ("splits", splits(manifest)),
        ("operators", stages(manifest, files)),
        ("key groups", key_groups(manifest, files)),
        ("sinks", sinks(manifest)),
    ];
    for (title, section) in sections {
        text.push_str(&format!("\n{title}\n"));
        section.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text
}

/// What files of earlier checkpoints have.
fn referred(files: &[Option<StateFile>]) -> String {
    match files.iter().flatten().map(StateFile::bytes_referred).sum() {
        0 => String::new(),
        referred => format!(", and {} in files of earlier checkpoints", bytes(referred)),
    }
}

/// How far each file was read.
fn splits(manifest: &Manifest) -> String {
    let mut rows = vec![["scan", "file", "bytes", "blocks read", "watermark"].map(str::to_string)];
    for split in &manifest.splits {
        rows.push([
            (split.branch + 1).to_string(),
            split.name.clone(),
            count(split.bytes),
            count(split.next_block),
            watermark(WatermarkStart::Sql.emitted(Watermark(split.peaks[0]))),
        ]);
    }
    aligned(&rows, [Align::Right, Align::Left, Align::Right, Align::Right, Align::Left])
}

/// Each operator, and how much state it has on each shard.
fn stages(manifest: &Manifest, files: &[Option<StateFile>]) -> String {
    let header = ["", "operator", "watermark", "bytes of state, by shard"];
    let mut rows = vec![header.map(str::to_string)];
    for (stage, state) in manifest.stages.iter().enumerate() {
        let bytes: Vec<String> =
            files.iter().map(|file| file.as_ref().map_or("?".into(), |file| own(file, stage))).collect();
        let number = (stage + 1).to_string();
        rows.push([number, state.fingerprint.title.clone(), watermark(Watermark(state.watermark)), bytes.join(" + ")]);
    }
    aligned(&rows, [Align::Right, Align::Left, Align::Left, Align::Left])
}

/// How the keys of each operator lie in key groups: those with the most.
fn key_groups(manifest: &Manifest, files: &[Option<StateFile>]) -> String {
    const SHOWN: usize = 5;
    let groups = KeyGroups { groups: manifest.key_groups.max(1), shards: 1 };
    let header = ["", "keys in tables", "the key groups with the most, as multiples of the average"];
    let mut rows = vec![header.map(str::to_string)];
    for stage in 0..manifest.stages.len() {
        let mut keys = vec![0; groups.groups as usize];
        for file in files.iter().flatten() {
            keys.iter_mut().zip(file.keys_by_group(stage, groups)).for_each(|(sum, more)| *sum += more);
        }
        let sum: u64 = keys.iter().sum();
        let average = sum as f64 / keys.len() as f64;
        let mut most: Vec<(u64, usize)> = keys.into_iter().enumerate().map(|(group, keys)| (keys, group)).collect();
        most.sort_by_key(|&(keys, group)| (std::cmp::Reverse(keys), group));
        let most = most.iter().take(SHOWN).filter(|(keys, _)| *keys > 0);
        let most: Vec<String> =
            most.map(|(keys, group)| format!("{group}: {} ({:.1}x)", count(*keys), *keys as f64 / average)).collect();
        rows.push([(stage + 1).to_string(), count(sum), most.join(", ")]);
    }
    aligned(&rows, [Align::Right, Align::Right, Align::Left])
}

/// The bytes of a stage in a file.
fn own(file: &StateFile, stage: usize) -> String {
    let found = file.bytes_by_stage().into_iter().find(|(number, _)| *number == stage);
    count(found.map_or(0, |(_, bytes)| bytes))
}

/// Each sink with its rows and files.
fn sinks(manifest: &Manifest) -> String {
    let mut text = String::new();
    for (at, sink) in manifest.sinks.iter().enumerate() {
        let rows = manifest.counts.written.get(at).copied().unwrap_or(0);
        text.push_str(&format!("{}: {} rows before the checkpoint\n", sink.fingerprint.title, count(rows)));
        text.push_str(&parts(&sink.files));
    }
    text
}

fn parts(files: &SinkState) -> String {
    let part = |part: &transom::snapshot::ClosedPart| {
        let becomes = if part.visible.is_empty() { "a piece of the table's file" } else { &part.visible };
        [format!("  {}", part.hidden), becomes.to_string()]
    };
    let rows: Vec<[String; 2]> = files.parts.iter().map(part).collect();
    aligned(&rows, [Align::Left, Align::Left])
}

fn watermark(at: Watermark) -> String {
    match at {
        Watermark::MIN => "none".to_string(),
        Watermark::MAX => "the end".to_string(),
        Watermark(ms) => jiff::Timestamp::from_millisecond(ms)
            .map_or_else(|_| format!("{ms} ms"), |time| time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()),
    }
}

//! The house as docs/architecture.md draws it: this test reads the table of rooms there and the
//! `use crate::…` lines of every file, so that the picture stays true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Longer files and functions are where a reader gets lost.
const FILE_LINES_MAX: usize = 700;
const FUNCTION_LINES_MAX: usize = 80;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
}

fn files(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in folders {
        sources(&root().join(folder), &mut found);
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("UTF-8 source");
        (path.strip_prefix(root()).expect("below the root").to_path_buf(), text)
    };
    found.into_iter().map(read).collect()
}

/// The room of a file below src: its folder or its own name.
fn room(path: &Path) -> String {
    let below = path.strip_prefix("src").expect("below src");
    let first = below.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

/// Tests may look at anything.
fn is_test(path: &Path) -> bool {
    path.ends_with("sim.rs") || path.ends_with("tests.rs") || path.iter().any(|part| part == "tests")
}

/// Lines outside test modules and comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let mut in_tests = false;
    text.lines().filter(move |line| {
        in_tests |= line.starts_with("mod tests {");
        !in_tests && !line.trim_start().starts_with("//")
    })
}

/// room -> rooms that it may import, from the table in docs/architecture.md.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).expect("docs/architecture.md");
    let ticked = |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_string).collect() };
    let mut table = BTreeMap::new();
    let rows = text.lines().skip_while(|line| !line.starts_with("| room")).skip(2).take_while(|l| l.starts_with('|'));
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let may_import = ticked(cells[2]);
        for room in ticked(cells[1]) {
            table.insert(room, may_import.clone());
        }
    }
    table
}

#[test]
fn rooms_import_only_what_the_table_allows() {
    let table = table();
    assert!(table.len() > 10, "docs/architecture.md has a table that starts with `| room`");
    let mut faults = Vec::new();
    for (path, text) in files(&["src"]) {
        let room = room(&path);
        if ["lib", "main", "cli"].contains(&room.as_str()) || is_test(&path) {
            continue;
        }
        let Some(allowed) = table.get(&room) else {
            faults.push(format!("{}: room `{room}` is not in the table", path.display()));
            continue;
        };
        for line in code(&text) {
            for part in line.split("crate::").skip(1) {
                let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if !used.is_empty() && used != room && !allowed.contains(&used) {
                    faults.push(format!("{}: `{room}` may not import `{used}`", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_has_no_cycle() {
    let table = table();
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    while let Some(room) = table.keys().find(|room| {
        !settled.contains(room.as_str()) && table[*room].iter().all(|used| settled.contains(used.as_str()))
    }) {
        settled.insert(room);
    }
    let left: Vec<_> = table.keys().filter(|room| !settled.contains(room.as_str())).collect();
    assert!(left.is_empty(), "these import each other, or rooms that are not in the table: {left:?}");
}

#[test]
fn unsafe_code_lives_in_the_arena_only() {
    for (path, text) in files(&["src", "bench-harness/src"]) {
        let here = code(&text)
            .any(|line| line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl"));
        assert!(!here || room_is_arena(&path), "{} has unsafe code", path.display());
    }
}

fn room_is_arena(path: &Path) -> bool {
    path.starts_with("src/arena")
}

#[test]
fn glommio_is_named_in_one_file() {
    for (path, text) in files(&["src"]) {
        assert!(!text.contains("glommio") || path.ends_with("io/uring.rs"), "{} names glommio", path.display());
    }
}

#[test]
fn files_and_functions_stay_short_enough_to_read() {
    let mut faults = Vec::new();
    for (path, text) in files(&["src", "bench-harness/src"]) {
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(format!("{} has {lines} lines (at most {FILE_LINES_MAX})", path.display()));
        }
        for (name, length) in functions(&text) {
            if length > FUNCTION_LINES_MAX {
                faults.push(format!("{}: `{name}` has {length} lines (at most {FUNCTION_LINES_MAX})", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Names and lengths of functions: from the line with `fn` to the brace at the same indent.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let Some((before, after)) = trimmed.split_once("fn ") else { continue };
        if !before.is_empty() && !before.ends_with(' ') || before.contains("//") || before.contains('"') {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        if let Some(length) = lines[start..].iter().position(|line| *line == closing) {
            let name = after.split(['(', '<']).next().unwrap_or_default();
            found.push((name.to_string(), length + 1));
        }
    }
    found
}

#[test]
fn nothing_is_left_undone_in_the_code() {
    let words = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    for (path, text) in files(&["src", "bench-harness/src", "tests"]) {
        for word in &words {
            assert!(!text.contains(word), "{} says {word}: file an issue instead", path.display());
        }
    }
}

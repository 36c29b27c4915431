//! The programs in examples/ print what they say they print, and the documents quote it.

use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: [&str; 10] = [
    "clicks_per_user",
    "early_dashboard",
    "error_rate",
    "failed_logins",
    "last_transactions",
    "library",
    "p95_histogram",
    "rollup",
    "shopping_sessions",
    "timeline",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Cargo builds examples for tests, into the folder beside that of this test.
fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/TEST");
    folder.join("examples").join(name)
}

fn output_of(name: &str) -> String {
    let output = Command::new(binary(name)).output().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; `cargo test --test examples` alone does not build it: cargo build --examples",
            binary(name).display()
        )
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} failed: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The text block of the module's comment.
fn promised(name: &str) -> String {
    let source = read(&format!("examples/{name}.rs"));
    let lines = source.lines().skip_while(|line| *line != "//! ```text").skip(1).take_while(|line| *line != "//! ```");
    lines.map(|line| format!("{}\n", line.strip_prefix("//! ").unwrap_or_default())).collect()
}

#[test]
fn every_program_is_on_the_list() {
    let files = std::fs::read_dir(root().join("examples")).expect("a folder of examples").flatten();
    let mut programs: Vec<String> = files
        .filter_map(|file| file.file_name().to_str().and_then(|name| name.strip_suffix(".rs")).map(str::to_string))
        .collect();
    programs.sort();
    assert_eq!(programs, EXAMPLES);
}

#[test]
fn every_program_prints_what_its_first_comment_says() {
    for name in EXAMPLES {
        let promised = promised(name);
        assert!(!promised.is_empty(), "{name} has a block of its output");
        assert_eq!(output_of(name), promised, "{name}");
    }
}

#[test]
fn the_documents_quote_the_programs_word_for_word() {
    for (document, name) in [("docs/api.md", "timeline"), ("README.md", "library")] {
        let block = format!("```text\n{}```\n", promised(name));
        assert!(read(document).contains(&block), "{document} quotes the output of examples/{name}.rs:\n{block}");
    }
    let source = read("examples/library.rs");
    let program: Vec<&str> = source.lines().skip_while(|line| line.starts_with("//!")).skip(1).collect();
    let block = format!("```rust\n{}\n```\n", program.join("\n"));
    assert!(read("README.md").contains(&block), "README.md quotes examples/library.rs:\n{block}");
}

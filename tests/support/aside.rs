//! Jobs with a quarantine: what it gets in every way to run them.

use std::collections::BTreeSet;

use transom::job::{JobSummary, RunOptions};

use super::{Job, read_lines};

/// Rows in windows of the table `src`.
pub const COUNT: &str = "SELECT window_start, COUNT(*) AS n \
    FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end";

/// A script that counts the rows of the files `in*`, with a quarantine at `${OUT}/rejected.jsonl`.
pub fn script(format: &str) -> String {
    format!(
        "SET 'transom.quarantine.path' = '${{OUT}}/rejected.jsonl';\n\
         CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{DATA}}/in*', {format});\n\
         CREATE TABLE results (window_start TIMESTAMP(3), n BIGINT)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/results', 'format' = 'json');\n\
         CREATE TABLE whole (ts TIMESTAMP(3), k STRING, v INT)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/whole', 'format' = 'json');\n\
         EXECUTE STATEMENT SET BEGIN\n\
           INSERT INTO results {COUNT};\n\
           INSERT INTO whole SELECT ts, k, v FROM src;\n\
         END;"
    )
}

/// The lines of the quarantine, and the summary of the job.
pub fn run(job: &Job, shards: usize, batch_rows: usize, block_bytes: usize) -> (Vec<String>, JobSummary) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let run = RunOptions { shards, batch_rows, block_bytes, ..RunOptions::default() };
    let summary = job.run_in(out.path(), &run).unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    read_lines(&out.path().join("rejected.jsonl"), &mut lines);
    let folder = job.folder.path().display().to_string();
    (lines.iter().map(|line| line.replace(&folder, "")).collect(), summary.jobs[0].clone())
}

/// Runs the job in all ways: on any number of shards the file is the same to the byte, and in blocks of any size it
/// has the same lines. Checks that the summary adds up.
pub fn in_all_ways(job: &Job) -> (Vec<String>, JobSummary) {
    let mut all: Option<BTreeSet<String>> = None;
    let mut last = None;
    for block_bytes in [7, 64, 1 << 20] {
        let mut first: Option<Vec<String>> = None;
        for (shards, batch_rows) in [(1, 8_192), (2, 1), (7, 5)] {
            let (lines, summary) = run(job, shards, batch_rows, block_bytes);
            let totals = &summary.totals;
            let accounted = totals.rows_used()
                + totals.rows_filtered
                + totals.rows_late
                + totals.rows_malformed
                + totals.rows_quarantined();
            assert_eq!(accounted, totals.rows_read() + totals.rows_repeated, "the summary adds up");
            assert_eq!(lines.len() as u64, totals.rows_quarantined());
            assert_eq!(lines, *first.get_or_insert(lines.clone()), "{shards} shards, blocks of {block_bytes}");
            let set: BTreeSet<String> = lines.iter().cloned().collect();
            assert_eq!(set, *all.get_or_insert(set.clone()), "blocks of {block_bytes} bytes");
            last = Some((lines, summary));
        }
    }
    last.expect("at least one run")
}

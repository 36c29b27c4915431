//! The recorded cases in `datasets/conformance` are whole.

use std::path::Path;

use bench_harness::conformance::case::{Expected, Kind, find};
use bench_harness::conformance::{compare, rows};

#[test]
fn every_recorded_case_can_be_read_and_equals_itself() {
    let cases = find(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/conformance")]).unwrap();
    let (mut sql, mut timeline, mut failures) = (0, 0, 0);
    for case in &cases {
        let Kind::Sql(case) = &case.kind else {
            timeline += 1;
            continue;
        };
        sql += 1;
        match &case.expected {
            Expected::Failure { .. } => failures += 1,
            Expected::Sinks(sinks) => {
                assert!(!sinks.is_empty(), "{}", case.name);
                for sink in sinks {
                    let expected = rows::read_file(&sink.file, &sink.columns).unwrap();
                    assert_eq!(compare::difference(&expected, &expected, &sink.columns), None, "{}", case.name);
                    assert!(case.script.contains(&format!("'${{OUT}}/{}'", sink.sink)), "{}", case.name);
                }
            }
        }
    }
    assert_eq!((sql, timeline, failures), (376, 365, 79));
}

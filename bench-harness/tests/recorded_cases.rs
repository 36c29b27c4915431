//! The recorded cases in `datasets/conformance` are whole.

use std::path::Path;

use bench_harness::conformance::case::{Expected, Kind, find};
use bench_harness::conformance::{compare, rows};
use bench_harness::timeline::{self, script};

#[test]
fn every_recorded_case_can_be_read_and_equals_itself() {
    let cases = find(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/conformance")]).unwrap();
    let (mut sql, mut timeline, mut failures) = (0, 0, 0);
    for case in &cases {
        let case = match &case.kind {
            Kind::Sql(case) => case,
            Kind::Timeline(case) => {
                timeline += 1;
                if let script::Expected::Outputs { outputs, .. } = &case.script.expected {
                    let place = timeline::compare::Place::OfStep;
                    assert_eq!(timeline::compare::difference(&case.script, outputs, outputs, place), None);
                }
                continue;
            }
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
    assert_eq!((sql, timeline, failures), (613, 365, 122));
}

//! When two outputs of a script are the same.

use std::collections::BTreeMap;

use super::play::batch_of;
use super::script::{At, Output, Script, Value, What};

/// Averages may differ by this much of their size.
const AVERAGE_TOLERANCE: f64 = 1e-9;

/// How finely a run says where an output belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    OfStep,
    /// Of a batch of elements.
    OfBatch,
    /// The run as a whole.
    OfRun,
}

impl Place {
    fn of(self, script: &Script, at: At) -> At {
        match (self, at) {
            (Place::OfRun, _) => At::End,
            (Place::OfBatch, At::Step(step)) => At::Step(batch_of(script, step)),
            (_, at) => at,
        }
    }
}

/// How values compare, where the order of merged contents is not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Exact,
    /// Lists as multisets.
    Unordered,
    /// An evictor goes by an order that is not defined: only keys and windows count.
    Undefined,
}

impl Values {
    fn of(script: &Script) -> Self {
        match (script.merge_order, &script.evictor) {
            (false, _) => Values::Exact,
            (true, None) => Values::Unordered,
            (true, Some(_)) => Values::Undefined,
        }
    }
}

fn same_value(a: &Value, b: &Value, values: Values) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => (a - b).abs() <= AVERAGE_TOLERANCE * a.abs().max(b.abs()),
        (Value::List(a), Value::List(b)) if values == Values::Unordered => {
            let sorted = |list: &[i64]| {
                let mut list = list.to_vec();
                list.sort_unstable();
                list
            };
            sorted(a) == sorted(b)
        }
        _ => a == b,
    }
}

fn same(a: &Output, b: &Output, values: Values) -> bool {
    let free = values == Values::Undefined && matches!(a.what, What::Result(_));
    a.key == b.key && a.what == b.what && (free || same_value(&a.value, &b.value, values))
}

/// Compares as multisets, place by place: what is missing and what is not expected at the first place that differs.
pub fn difference(script: &Script, expected: &[Output], got: &[Output], place: Place) -> Option<String> {
    let mut places: BTreeMap<At, (Vec<&Output>, Vec<&Output>)> = BTreeMap::new();
    for output in expected {
        places.entry(place.of(script, output.at)).or_default().0.push(output);
    }
    for output in got {
        places.entry(place.of(script, output.at)).or_default().1.push(output);
    }
    places.into_iter().find_map(|(at, (expected, got))| {
        let what = unmatched(expected, got, Values::of(script))?;
        Some(match at {
            At::Step(step) => format!("step {step} ({}): {what}", script.steps[step]),
            At::End if place == Place::OfRun => what,
            At::End => format!("at the end: {what}"),
        })
    })
}

/// As [`difference`], at one step.
pub fn difference_at(script: &Script, expected: &[Output], got: &[Output], at: At) -> Option<String> {
    let there = |outputs: &[Output]| outputs.iter().filter(|o| o.at == at).cloned().collect::<Vec<_>>();
    let (expected, got) = (there(expected), there(got));
    unmatched(expected.iter().collect(), got.iter().collect(), Values::of(script))
}

fn unmatched(expected: Vec<&Output>, mut got: Vec<&Output>, values: Values) -> Option<String> {
    let mut missing = Vec::new();
    for output in expected {
        match got.iter().position(|other| same(output, other, values)) {
            Some(at) => drop(got.remove(at)),
            None => missing.push(output),
        }
    }
    let list = |outputs: &[&Output]| outputs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match (missing.as_slice(), got.as_slice()) {
        ([], []) => None,
        (missing, []) => Some(format!("missing {}", list(missing))),
        ([], unexpected) => Some(format!("unexpected {}", list(unexpected))),
        (missing, unexpected) => Some(format!("missing {}; unexpected {}", list(missing), list(unexpected))),
    }
}

/// Results, and late elements, of two runs of one program: they come in the same order.
pub fn first_out_of_order(one: &[Output], other: &[Output]) -> Option<String> {
    let of = |outputs: &[Output], late: bool| {
        let kind = outputs.iter().filter(|output| matches!(output.what, What::Late(_)) == late);
        kind.map(ToString::to_string).collect::<Vec<_>>()
    };
    [false, true].into_iter().find_map(|late| {
        let (one, other) = (of(one, late), of(other, late));
        let differs = one.iter().zip(&other).position(|(a, b)| a != b)?;
        Some(format!("output {differs} is {}, but {} step by step", other[differs], one[differs]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(merge_order: bool, evictor: &str) -> Script {
        Script::parse(&format!(
            r#"{{"window": {{"type": "session", "gap_ms": 5}}, "trigger": null, "evictor": {evictor}, "function": "list",
                "steps": [{{"k": "a", "t": 1, "v": 1}}, {{"k": "a", "t": 2, "v": 2}}, {{"wm": 9}}, {{"k": "b", "t": 3}}],
                "expected": [], "merge_order": {merge_order}}}"#
        ))
        .unwrap()
    }
    fn output(step: usize, list: &[i64]) -> Output {
        let (at, what) = (At::Step(step), What::Result(Some((0, 5))));
        Output { at, key: "a".into(), what, value: Value::List(list.to_vec()) }
    }

    #[test]
    fn outputs_are_multisets_of_a_step_of_a_batch_or_of_a_run() {
        let script = script(false, "null");
        let expected = [output(0, &[1]), output(1, &[2])];
        let swapped = [output(1, &[1]), output(0, &[2])];
        assert!(difference(&script, &expected, &swapped, Place::OfStep).unwrap().starts_with("step 0 (element a at 1"));
        assert_eq!(difference(&script, &expected, &swapped, Place::OfBatch), None);
        let behind = [output(2, &[1]), output(0, &[2])];
        assert!(difference(&script, &expected, &behind, Place::OfBatch).is_some());
        assert_eq!(difference(&script, &expected, &behind, Place::OfRun), None);
        assert_eq!(difference(&script, &expected, &expected[..1], Place::OfRun).unwrap(), "missing a [0, 5) [2]");
        assert!(first_out_of_order(&expected, &behind[..]).is_none());
        assert!(first_out_of_order(&expected, &[output(0, &[2]), output(0, &[1])]).is_some());
    }

    #[test]
    fn the_order_of_merged_contents_counts_only_where_it_is_defined() {
        let (one, other) = ([output(0, &[1, 2])], [output(0, &[2, 1])]);
        assert!(difference(&script(false, "null"), &one, &other, Place::OfStep).is_some());
        assert_eq!(difference(&script(true, "null"), &one, &other, Place::OfStep), None);
        let evicts = script(true, r#"{"type": "count", "n": 1, "after": false}"#);
        assert_eq!(difference(&evicts, &one, &[output(0, &[7])], Place::OfStep), None);
        assert!(difference(&evicts, &one, &[], Place::OfStep).is_some());
    }
}

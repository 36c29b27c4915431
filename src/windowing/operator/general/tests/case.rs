//! A timeline in words: windows, trigger, evictor, function and what happens one after the other.

use serde::{Deserialize, Serialize};

use serde_json::Value as Json;

use crate::windowing::function::PaneTiming;

#[derive(Debug, Clone, PartialEq)]
pub enum Windows {
    Tumbling { size: i64, offset: i64 },
    Sliding { size: i64, slide: i64, offset: i64 },
    Cumulating { size: i64, step: i64, offset: i64 },
    Session { gap: i64 },
    DynamicSession,
    Global { end_of_stream: bool },
    CountTumbling { size: u64 },
    CountSliding { size: u64, slide: u64 },
    ClockTumbling { size: i64, offset: i64 },
    ClockSliding { size: i64, slide: i64, offset: i64 },
    ClockSession { gap: i64 },
}

impl Windows {
    pub fn is_merging(&self) -> bool {
        matches!(self, Windows::Session { .. } | Windows::DynamicSession | Windows::ClockSession { .. })
    }
    pub fn is_global(&self) -> bool {
        matches!(self, Windows::Global { .. } | Windows::CountTumbling { .. } | Windows::CountSliding { .. })
    }
    pub fn is_clocked(&self) -> bool {
        use Windows::{ClockSession, ClockSliding, ClockTumbling};
        matches!(self, ClockTumbling { .. } | ClockSliding { .. } | ClockSession { .. })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Firing {
    EventTime,
    ProcessingTime,
    Count(u64),
    Continuous(i64),
    ContinuousClock(i64),
    /// Fires where `v` has grown by more than this.
    Delta(i64),
    EarlyCount(u64),
    SessionCap(i64),
    Never,
    EndOfStream,
    Purging(Box<Firing>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evicting {
    Count(u64),
    Time(i64),
    Delta(i64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Function {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    List,
}

/// An element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ev {
    pub k: String,
    pub t: i64,
    pub v: i64,
    pub gap: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Element(Ev),
    Watermark(i64),
    Clock(i64),
}

#[derive(Debug, Clone)]
pub struct Case {
    pub windows: Windows,
    pub trigger: Option<Firing>,
    /// `true`: after the function.
    pub evictor: Option<(Evicting, bool)>,
    pub lateness: i64,
    pub side_output: bool,
    pub function: Function,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Float(f64),
    List(Vec<i64>),
}

/// What a firing of a window gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub key: String,
    /// Start and end; `None` for the global window.
    pub window: Option<(i64, i64)>,
    pub value: Value,
    pub timing: PaneTiming,
    pub index: u32,
    /// What the function saw of time.
    pub watermark: i64,
    pub clock: i64,
}

impl Function {
    /// Of all elements, in their order.
    pub fn of<'a>(self, elements: impl Iterator<Item = &'a Ev>) -> Value {
        let values: Vec<i64> = elements.map(|element| element.v).collect();
        let sum = values.iter().fold(0_i64, |sum, v| sum.wrapping_add(*v));
        match self {
            Function::Count => Value::Int(values.len() as i64),
            Function::Sum => Value::Int(sum),
            Function::Min => values.iter().min().map_or(Value::Null, |v| Value::Int(*v)),
            Function::Max => values.iter().max().map_or(Value::Null, |v| Value::Int(*v)),
            Function::Avg if values.is_empty() => Value::Null,
            Function::Avg => Value::Float(sum as f64 / values.len() as f64),
            Function::List => Value::List(values),
        }
    }
}

fn int(json: &Json, field: &str) -> i64 {
    json.get(field).map_or(0, |value| value.as_i64().unwrap_or_else(|| panic!("{field} of {json}")))
}

fn firing(json: &Json) -> Firing {
    match json["type"].as_str().unwrap() {
        "event_time" => Firing::EventTime,
        "count" => Firing::Count(int(json, "n") as u64),
        "continuous_event_time" => Firing::Continuous(int(json, "interval_ms")),
        "delta" => Firing::Delta(int(json, "threshold")),
        "purging" => Firing::Purging(Box::new(firing(&json["of"]))),
        "early_count" => Firing::EarlyCount(int(json, "n") as u64),
        "session_cap" => Firing::SessionCap(int(json, "max_ms")),
        other => panic!("trigger {other}"),
    }
}

impl Case {
    pub fn read(json: &Json) -> Case {
        let window = &json["window"];
        let (size, offset) = (int(window, "size_ms"), int(window, "offset_ms"));
        let (count, every) = (int(window, "size") as u64, int(window, "slide") as u64);
        let windows = match window["type"].as_str().unwrap() {
            "tumbling" => Windows::Tumbling { size, offset },
            "sliding" => Windows::Sliding { size, slide: int(window, "slide_ms"), offset },
            "session" => Windows::Session { gap: int(window, "gap_ms") },
            "session_dynamic" => Windows::DynamicSession,
            "global" => Windows::Global { end_of_stream: window["end_of_stream"].as_bool().unwrap_or(false) },
            "count_tumbling" => Windows::CountTumbling { size: count },
            "count_sliding" => Windows::CountSliding { size: count, slide: every },
            other => panic!("window {other}"),
        };
        let evictor = json.get("evictor").filter(|evictor| !evictor.is_null()).map(|evictor| {
            let evicting = match evictor["type"].as_str().unwrap() {
                "count" => Evicting::Count(int(evictor, "n") as u64),
                "time" => Evicting::Time(int(evictor, "window_ms")),
                "delta" => Evicting::Delta(int(evictor, "threshold")),
                other => panic!("evictor {other}"),
            };
            (evicting, evictor["after"].as_bool().unwrap_or(false))
        });
        let function = match json["function"].as_str().unwrap() {
            "count" => Function::Count,
            "sum" => Function::Sum,
            "min" => Function::Min,
            "max" => Function::Max,
            "avg" => Function::Avg,
            "list" => Function::List,
            other => panic!("function {other}"),
        };
        let step = |step: &Json| match step.get("wm") {
            Some(_) => Step::Watermark(int(step, "wm")),
            None => {
                let k = step["k"].as_str().unwrap().to_string();
                Step::Element(Ev { k, t: int(step, "t"), v: int(step, "v"), gap: int(step, "gap") })
            }
        };
        Case {
            windows,
            trigger: json.get("trigger").filter(|trigger| !trigger.is_null()).map(firing),
            evictor,
            lateness: int(json, "allowed_lateness_ms"),
            side_output: json["side_output_late"].as_bool().unwrap_or(false),
            function,
            steps: json["steps"].as_array().unwrap().iter().map(step).collect(),
        }
    }
}

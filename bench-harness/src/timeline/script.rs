//! A script as its file says it.

use std::fmt;
use std::path::Path;

use crate::json::Json;

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub window: WindowSpec,
    /// `None`: that of the windows.
    pub trigger: Option<TriggerSpec>,
    pub evictor: Option<EvictorSpec>,
    pub allowed_lateness_ms: i64,
    pub side_output_late: bool,
    pub function: Function,
    pub steps: Vec<Step>,
    pub expected: Expected,
    /// The contents of merged sessions have no defined order.
    pub merge_order: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSpec {
    Tumbling { size_ms: i64, offset_ms: i64 },
    Sliding { size_ms: i64, slide_ms: i64, offset_ms: i64 },
    Session { gap_ms: i64 },
    SessionDynamic,
    Global { end_of_stream: bool },
    CountTumbling { size: u64 },
    CountSliding { size: u64, slide: u64 },
}

#[derive(Debug, Clone, PartialEq)]
pub enum TriggerSpec {
    EventTime,
    Count(u64),
    ContinuousEventTime { interval_ms: i64 },
    Delta { threshold: f64 },
    Purging(Box<TriggerSpec>),
    EarlyCount(u64),
    SessionCap { max_ms: i64 },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvictorSpec {
    pub kind: EvictorKind,
    pub after: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EvictorKind {
    Count(u64),
    Time { window_ms: i64 },
    Delta { threshold: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `gap`: of a dynamic session.
    Element {
        key: String,
        time: i64,
        value: i64,
        gap: i64,
    },
    Watermark(i64),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Outputs {
        outputs: Vec<Output>,
        late_dropped: u64,
    },
    /// Flink refuses it: its message.
    Rejection(String),
}

/// Which step caused an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    Step(usize),
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub at: At,
    pub key: String,
    pub what: What,
    pub value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// With start and end where the window is one of time.
    Result(Option<(i64, i64)>),
    /// With its timestamp.
    Late(i64),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Double(f64),
    List(Vec<i64>),
}

impl Script {
    /// # Errors
    /// A file that cannot be read, or what it says wrong, with its path.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// # Errors
    /// What is missing or of the wrong type.
    pub fn parse(text: &str) -> Result<Self, String> {
        let json = Json::parse(text)?;
        let function = match text_of(&json, "function")? {
            "count" => Function::Count,
            "sum" => Function::Sum,
            "min" => Function::Min,
            "max" => Function::Max,
            "avg" => Function::Avg,
            "list" => Function::List,
            other => return Err(format!("unknown function {other}")),
        };
        let steps = json.get("steps").ok_or("no steps")?.as_list();
        Ok(Script {
            window: window(json.get("window").ok_or("no window")?)?,
            trigger: present(&json, "trigger").map(trigger).transpose()?,
            evictor: present(&json, "evictor").map(evictor).transpose()?,
            allowed_lateness_ms: integer_or(&json, "allowed_lateness_ms", 0)?,
            side_output_late: flag(&json, "side_output_late"),
            function,
            steps: steps.iter().map(step).collect::<Result<_, _>>()?,
            expected: expected(&json, function)?,
            merge_order: flag(&json, "merge_order"),
        })
    }
}

fn present<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    json.get(name).filter(|value| **value != Json::Null)
}

fn text_of<'a>(json: &'a Json, name: &str) -> Result<&'a str, String> {
    json.get(name).and_then(Json::as_text).ok_or_else(|| format!("no text {name} in {json}"))
}

fn flag(json: &Json, name: &str) -> bool {
    json.get(name) == Some(&Json::Bool(true))
}

fn integer_or(json: &Json, name: &str, default: i64) -> Result<i64, String> {
    present(json, name).map_or(Ok(default), as_integer)
}

fn integer(json: &Json, name: &str) -> Result<i64, String> {
    as_integer(present(json, name).ok_or_else(|| format!("no {name} in {json}"))?)
}

fn count(json: &Json, name: &str) -> Result<u64, String> {
    u64::try_from(integer(json, name)?).map_err(|_| format!("{name} is negative in {json}"))
}

fn as_integer(json: &Json) -> Result<i64, String> {
    match json {
        Json::Number(digits) => digits.parse().map_err(|_| format!("{digits} is no 64-bit integer")),
        other => Err(format!("{other} is no integer")),
    }
}

fn double(json: &Json, name: &str) -> Result<f64, String> {
    match present(json, name) {
        Some(Json::Number(digits)) => digits.parse().map_err(|_| format!("{digits} is no number")),
        _ => Err(format!("no number {name} in {json}")),
    }
}

fn window(json: &Json) -> Result<WindowSpec, String> {
    let offset = || integer_or(json, "offset_ms", 0);
    Ok(match text_of(json, "type")? {
        "tumbling" => WindowSpec::Tumbling { size_ms: integer(json, "size_ms")?, offset_ms: offset()? },
        "sliding" => WindowSpec::Sliding {
            size_ms: integer(json, "size_ms")?,
            slide_ms: integer(json, "slide_ms")?,
            offset_ms: offset()?,
        },
        "session" => WindowSpec::Session { gap_ms: integer(json, "gap_ms")? },
        "session_dynamic" => WindowSpec::SessionDynamic,
        "global" => WindowSpec::Global { end_of_stream: flag(json, "end_of_stream") },
        "count_tumbling" => WindowSpec::CountTumbling { size: count(json, "size")? },
        "count_sliding" => WindowSpec::CountSliding { size: count(json, "size")?, slide: count(json, "slide")? },
        other => return Err(format!("unknown window {other}")),
    })
}

fn trigger(json: &Json) -> Result<TriggerSpec, String> {
    Ok(match text_of(json, "type")? {
        "event_time" => TriggerSpec::EventTime,
        "count" => TriggerSpec::Count(count(json, "n")?),
        "continuous_event_time" => TriggerSpec::ContinuousEventTime { interval_ms: integer(json, "interval_ms")? },
        "delta" => TriggerSpec::Delta { threshold: double(json, "threshold")? },
        "purging" => TriggerSpec::Purging(Box::new(trigger(json.get("of").ok_or("purging of nothing")?)?)),
        "early_count" => TriggerSpec::EarlyCount(count(json, "n")?),
        "session_cap" => TriggerSpec::SessionCap { max_ms: integer(json, "max_ms")? },
        other => return Err(format!("unknown trigger {other}")),
    })
}

fn evictor(json: &Json) -> Result<EvictorSpec, String> {
    let kind = match text_of(json, "type")? {
        "count" => EvictorKind::Count(count(json, "n")?),
        "time" => EvictorKind::Time { window_ms: integer(json, "window_ms")? },
        "delta" => EvictorKind::Delta { threshold: double(json, "threshold")? },
        other => return Err(format!("unknown evictor {other}")),
    };
    Ok(EvictorSpec { kind, after: flag(json, "after") })
}

fn step(json: &Json) -> Result<Step, String> {
    if json.get("wm").is_some() {
        return Ok(Step::Watermark(integer(json, "wm")?));
    }
    Ok(Step::Element {
        key: text_of(json, "k")?.to_string(),
        time: integer(json, "t")?,
        value: integer_or(json, "v", 0)?,
        gap: integer_or(json, "gap", 0)?,
    })
}

fn expected(json: &Json, function: Function) -> Result<Expected, String> {
    if let Some(message) = json.get("expected_error").and_then(Json::as_text) {
        return Ok(Expected::Rejection(message.to_string()));
    }
    let outputs = json.get("expected").ok_or("neither expected nor expected_error")?.as_list();
    let outputs = outputs.iter().map(|json| output(json, function)).collect::<Result<_, _>>()?;
    Ok(Expected::Outputs { outputs, late_dropped: count(json, "late_dropped").unwrap_or(0) })
}

/// Reads an entry of `expected`.
///
/// # Errors
/// What is wrong with it.
pub fn output(json: &Json, function: Function) -> Result<Output, String> {
    let at = match json.get("step") {
        Some(Json::Text(end)) if end == "end" => At::End,
        _ => At::Step(usize::try_from(integer(json, "step")?).map_err(|e| e.to_string())?),
    };
    let is_late = text_of(json, "kind")? == "late";
    let what = if is_late {
        What::Late(integer(json, "t")?)
    } else if json.get("start").is_some() {
        What::Result(Some((integer(json, "start")?, integer(json, "end")?)))
    } else {
        What::Result(None)
    };
    let value = match json.get("value").ok_or("no value")? {
        Json::Null => Value::Null,
        Json::List(items) => Value::List(items.iter().map(as_integer).collect::<Result<_, _>>()?),
        _ if function == Function::Avg && !is_late => Value::Double(double(json, "value")?),
        value => Value::Integer(as_integer(value)?),
    };
    Ok(Output { at, key: text_of(json, "k")?.to_string(), what, value })
}

impl Output {
    /// An entry of `expected`.
    pub fn to_json(&self) -> Json {
        let number = |n: i64| Json::Number(n.to_string());
        let step = match self.at {
            At::Step(step) => Json::Number(step.to_string()),
            At::End => Json::from("end"),
        };
        let mut fields = vec![("step", step)];
        let key = || ("k", Json::from(self.key.as_str()));
        match self.what {
            What::Result(window) => {
                fields.extend([("kind", Json::from("result")), key()]);
                fields.extend(window.into_iter().flat_map(|(s, e)| [("start", number(s)), ("end", number(e))]));
            }
            What::Late(time) => fields.extend([("kind", Json::from("late")), key(), ("t", number(time))]),
        }
        fields.push(("value", self.value.to_json()));
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}

impl Value {
    fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Integer(n) => Json::Number(n.to_string()),
            Value::Double(x) => Json::Number(format!("{x:?}")),
            Value::List(items) => Json::List(items.iter().map(|n| Json::Number(n.to_string())).collect()),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.to_json();
        match self.what {
            What::Result(Some((start, end))) => write!(f, "{} [{start}, {end}) {value}", self.key),
            What::Result(None) => write!(f, "{} {value}", self.key),
            What::Late(time) => write!(f, "{} late at {time}: {value}", self.key),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Element { key, time, value, gap } => {
                write!(f, "element {key} at {time}: {value}")?;
                if *gap == 0 { Ok(()) } else { write!(f, ", gap {gap}") }
            }
            Step::Watermark(watermark) => write!(f, "watermark {watermark}"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Outputs { outputs, .. } => write!(f, "{} outputs", outputs.len()),
            Expected::Rejection(message) => write!(f, "rejection: {message}"),
        }
    }
}

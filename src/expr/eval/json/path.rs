//! Paths into JSON documents, as Jayway's JsonPath reads them: `$.a[0]['b']`, `$..b`, `$.a[*]`, `$.a[1:3]`.

use super::tree::Json;
use crate::error::{Error, Result};

/// A path and whether errors on the way are errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    pub(super) strict: bool,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Name(String),
    Names(Vec<String>),
    Index(i64),
    Indexes(Vec<i64>),
    Slice(Option<i64>, Option<i64>),
    /// `*`
    Every,
    /// `..`: the next step at every depth.
    Anywhere,
    /// `length()`
    Length,
}

/// A path that leads nowhere, or is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NotFound;

impl Path {
    /// Reads `[strict|lax] path`; strict unless it says otherwise. `Ok(None)`: no valid path, which fails every
    /// look-up in both modes.
    ///
    /// # Errors
    /// Kind Unsupported for filters and functions.
    pub(crate) fn parse(text: &str) -> Result<Option<Path>> {
        let (strict, rest) = mode(text);
        let Some(steps) = Reader::new(rest).steps()? else { return Ok(None) };
        let path = Path { strict, steps };
        if path.steps.last() == Some(&Step::Length) && !path.is_definite() {
            return Err(unsupported("length() of several values"));
        }
        Ok(Some(path))
    }

    /// Whether it can lead to one value only.
    fn is_definite(&self) -> bool {
        self.steps.iter().enumerate().all(|(i, step)| self.step_is_definite(i, step))
    }

    fn step_is_definite(&self, at: usize, step: &Step) -> bool {
        match step {
            Step::Name(_) | Step::Index(_) | Step::Length => true,
            // The last step of several names gives one object.
            Step::Names(_) => at + 1 == self.steps.len(),
            Step::Indexes(_) | Step::Slice(..) | Step::Every | Step::Anywhere => false,
        }
    }

    /// The value that the path leads to: `Ok(None)` is a JSON null, or in lax mode nothing; an array of all that
    /// was found if the path may lead to several.
    pub(super) fn find(&self, document: &Json) -> std::result::Result<Option<Json>, NotFound> {
        if *document == Json::Null {
            return Err(NotFound);
        }
        let mut found = Vec::new();
        let walked = self.walk(document, 0, true, &mut found);
        if !self.is_definite() {
            return match walked {
                Err(NotFound) if self.strict => Err(NotFound),
                _ => Ok(Some(Json::Array(found))),
            };
        }
        match (walked, found.pop()) {
            (Ok(()), Some(Json::Null)) => Ok(None),
            (Ok(()), Some(value)) => Ok(Some(value)),
            _ if self.strict => Err(NotFound),
            _ => Ok(None),
        }
    }

    fn walk(
        &self,
        value: &Json,
        at: usize,
        definite: bool,
        found: &mut Vec<Json>,
    ) -> std::result::Result<(), NotFound> {
        let Some(step) = self.steps.get(at) else {
            found.push(value.clone());
            return Ok(());
        };
        let last = at + 1 == self.steps.len();
        let definite_after = definite && self.step_is_definite(at, step);
        let mut next = |value: &Json| self.walk(value, at + 1, definite_after, found);
        let wrong_kind = if definite { Err(NotFound) } else { Ok(()) };
        match (step, value) {
            (Step::Name(name), Json::Object(_)) => match value.get(name) {
                Some(value) => next(value),
                None if last || !definite => Ok(()),
                None => Err(NotFound),
            },
            (Step::Names(names), Json::Object(_)) if last => {
                let members = names.iter().filter_map(|name| Some((name.clone(), value.get(name)?.clone())));
                next(&Json::Object(members.collect()))
            }
            (Step::Names(names), Json::Object(_)) => names.iter().filter_map(|name| value.get(name)).try_for_each(next),
            (Step::Index(index), Json::Array(items)) => {
                place(*index, items.len()).map_or(Ok(()), |at| next(&items[at]))
            }
            (Step::Indexes(all), Json::Array(items)) => {
                all.iter().filter_map(|index| place(*index, items.len())).try_for_each(|at| next(&items[at]))
            }
            (Step::Slice(from, to), Json::Array(items)) => {
                let bound = |bound: i64| {
                    let bound = if bound < 0 { bound + items.len() as i64 } else { bound };
                    bound.clamp(0, items.len() as i64) as usize
                };
                let (from, to) = (from.map_or(0, bound), to.map_or(items.len(), bound));
                items.get(from..to).unwrap_or_default().iter().try_for_each(next)
            }
            (Step::Every, Json::Array(items)) => items.iter().try_for_each(next),
            (Step::Every, Json::Object(members)) => members.iter().try_for_each(|(_, value)| next(value)),
            (Step::Every, _) => Ok(()),
            (Step::Length, Json::Array(items)) => next(&Json::Number(items.len().to_string())),
            (Step::Length, Json::Object(members)) => next(&Json::Number(members.len().to_string())),
            (Step::Length, _) => next(&Json::Null),
            (Step::Anywhere, value) => self.anywhere(value, at + 1, found),
            _ => wrong_kind,
        }
    }

    /// A value and all below it, each before what is in it.
    fn anywhere(&self, value: &Json, at: usize, found: &mut Vec<Json>) -> std::result::Result<(), NotFound> {
        match value {
            Json::Array(items) => {
                self.walk(value, at, false, found)?;
                items.iter().try_for_each(|item| self.anywhere(item, at, found))
            }
            Json::Object(members) => {
                self.walk(value, at, false, found)?;
                members.iter().try_for_each(|(_, member)| self.anywhere(member, at, found))
            }
            _ => Ok(()),
        }
    }
}

/// An index from the start or, negative, from the end.
fn place(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok().filter(|at| *at < length)
}

/// Splits `lax ` or `strict ` off, in any case.
fn mode(text: &str) -> (bool, &str) {
    let trimmed = text.trim_start();
    for (word, strict) in [("strict", true), ("lax", false)] {
        if let (Some(head), Some(rest)) = (trimmed.get(..word.len()), trimmed.get(word.len()..))
            && head.eq_ignore_ascii_case(word)
            && rest.starts_with(char::is_whitespace)
            && !rest.trim_start().is_empty()
        {
            return (strict, rest.trim_start());
        }
    }
    (true, text)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

/// What reading a part gives: `None` where the path is none.
type Read<T> = Result<Option<T>>;

impl Reader {
    fn new(text: &str) -> Reader {
        let text = text.trim_end();
        let rooted = text.starts_with(['$', '@']);
        let text = if rooted { text.to_string() } else { format!("$.{text}") };
        Reader { chars: text.chars().collect(), at: 1 }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn steps(mut self) -> Read<Vec<Step>> {
        let mut steps = Vec::new();
        if self.chars.last() == Some(&'.') {
            return Ok(None);
        }
        while let Some(c) = self.peek() {
            match c {
                '.' if self.chars.get(self.at + 1) == Some(&'.') => {
                    self.at += 2;
                    steps.push(Step::Anywhere);
                    if self.peek() == Some('.') {
                        return Ok(None);
                    }
                }
                '.' => self.at += 1,
                '[' => {}
                _ => return Ok(None),
            }
            let step = match self.peek() {
                Some('[') => self.bracket()?,
                Some('*') => {
                    self.at += 1;
                    Some(Step::Every)
                }
                _ => self.name()?,
            };
            match step {
                Some(step) => steps.push(step),
                None => return Ok(None),
            }
        }
        Ok(Some(steps))
    }

    fn name(&mut self) -> Read<Step> {
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                '.' | '[' => break,
                ' ' => return Ok(None),
                '(' => {
                    let name: String = self.chars[start..self.at].iter().collect();
                    let rest: String = self.chars[self.at..].iter().collect();
                    if matches!(name.as_str(), "length" | "size") && rest == "()" {
                        self.at += 2;
                        return Ok(Some(Step::Length));
                    }
                    return Err(unsupported(&format!("the function {name}(…)")));
                }
                _ => self.at += 1,
            }
        }
        let name: String = self.chars[start..self.at].iter().collect();
        Ok((!name.is_empty()).then_some(Step::Name(name)))
    }

    fn bracket(&mut self) -> Read<Step> {
        self.at += 1;
        self.skip_blanks();
        match self.peek() {
            Some('\'' | '"') => self.quoted_names(),
            Some('?') => Err(unsupported("a filter [?(…)]")),
            Some('*') => {
                self.at += 1;
                self.skip_blanks();
                Ok(self.close().then_some(Step::Every))
            }
            _ => self.places(),
        }
    }

    fn close(&mut self) -> bool {
        let closed = self.peek() == Some(']');
        self.at += 1;
        closed
    }

    fn quoted_names(&mut self) -> Read<Step> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            let Some(quote @ ('\'' | '"')) = self.peek() else { return Ok(None) };
            self.at += 1;
            let mut name = String::new();
            loop {
                let Some(c) = self.peek() else { return Ok(None) };
                self.at += 1;
                match c {
                    c if c == quote => break,
                    '\\' => {
                        let Some(next) = self.peek() else { return Ok(None) };
                        self.at += 1;
                        name.push(next);
                    }
                    c => name.push(c),
                }
            }
            names.push(name);
            self.skip_blanks();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {
                    self.at += 1;
                    let one = names.len() == 1;
                    return Ok(Some(if one { Step::Name(names.remove(0)) } else { Step::Names(names) }));
                }
                _ => return Ok(None),
            }
        }
    }

    /// `1`, `-1`, `0,2`, `1:3`, `:2`, `1:`.
    fn places(&mut self) -> Read<Step> {
        let start = self.at;
        while self.peek().is_some_and(|c| c != ']') {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        if !self.close() {
            return Ok(None);
        }
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|n| n.unsigned_abs() <= i32::MAX as u64);
        if let Some((from, to)) = text.split_once(':') {
            let bound = |text: &str| if text.trim().is_empty() { Some(None) } else { number(text).map(Some) };
            let both_missing = from.trim().is_empty() && to.trim().is_empty();
            let bounds = bound(from).zip(bound(to)).filter(|_| !both_missing);
            return Ok(bounds.map(|(from, to)| Step::Slice(from, to)));
        }
        let all: Option<Vec<i64>> = text.split(',').map(number).collect();
        Ok(all.map(|mut all| if all.len() == 1 { Step::Index(all.remove(0)) } else { Step::Indexes(all) }))
    }
}

fn unsupported(what: &str) -> Error {
    Error::unsupported(format!("{what} in a JSON path")).help("name the members and elements: $.a.b[0]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &str, path: &str) -> String {
        let document = Json::parse(document).unwrap();
        match Path::parse(path).unwrap().map(|path| path.find(&document)) {
            Some(Ok(Some(value))) => value.shown(),
            Some(Ok(None)) => "null".into(),
            Some(Err(NotFound)) | None => "error".into(),
        }
    }

    #[test]
    fn paths_lead_where_flink_goes() {
        let cases = [
            (r#"{"a":[1,2,3]}"#, "$.a[-1]", "3"),
            (r#"{"a":[1,2,3]}"#, "$.a[0,2]", "[1,3]"),
            (r#"{"a":[1,2,3]}"#, "$.a[:-1]", "[1,2]"),
            (r#"{"a":[1,2,3]}"#, "$.a[5:9]", "[]"),
            (r#"{"a":[1,2,3]}"#, "$.a[last]", "error"),
            (r#"{"a":[[1],[2,3]]}"#, "$.a[*][1]", "[3]"),
            (r#"{"a":{"b":[1,{"b":2}]}}"#, "$..b", r#"[[1,{"b":2}],2]"#),
            (r#"{"a":{"b":[1,{"b":2}]}}"#, "$..*", r#"[{"b":[1,{"b":2}]},[1,{"b":2}],1,{"b":2},2]"#),
            (r#"{"a":{"b":1,"c":2}}"#, "$.a['b',\"z\"]", r#"{"b":1}"#),
            (r#"{"a":{"b":1},"d":{"c":2}}"#, "$.*.c", "[2]"),
            (r#"{"a":1}"#, "$.x[*]", "error"),
            (r#"{"a":1}"#, "lax $.x[*]", "[]"),
            (r#"{"a":5}"#, "$.a[*]", "[]"),
            (r#"{"a":[1,[2]]}"#, "$.a..[0]", "[1,2]"),
            (r#"{"a":1}"#, "a", "1"),
            (r#"{"a":1}"#, "LAX $.b", "null"),
            (r#"{"a":1}"#, "strict $.b", "error"),
            (r#"{"a":1}"#, "lax $[", "error"),
            (r#"{"a":{"b":1}}"#, "$.a .b", "error"),
            (r#"{"a":{"b":1}}"#, "$.a.['b']", "1"),
            (r#"{"a":[0,1]}"#, "$.a[ 1 ]", "1"),
            (r#"{"a":null}"#, "$.a", "null"),
            (r#"{"a":[1,2,3]}"#, "$.a.length()", "3"),
            (r#"{"a":"xyz"}"#, "$.a.length()", "null"),
            ("null", "lax $", "error"),
        ];
        for (document, path, expected) in cases {
            assert_eq!(found(document, path), expected, "{document} {path}");
        }
    }

    #[test]
    fn filters_and_functions_are_refused_by_name() {
        assert!(Path::parse("$.a[?(@.b > 1)]").is_err());
        assert!(Path::parse("$.a.max()").is_err());
        assert!(Path::parse("$..a.length()").is_err());
    }
}

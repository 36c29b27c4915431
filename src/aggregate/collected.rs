//! LISTAGG, ARRAY_AGG and the JSON aggregates: all values, in the order in which they came.

use std::any::Any;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, StringArray, StringBuilder};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;

use super::chains::Chains;
use super::values::Values;
use super::{Accumulator, AggregateCall, AggregateKind, Setting, same, selected, values};
use crate::error::{Error, Result};
use crate::snapshot::Archive;

/// Bytes of the strings of one column.
const TEXT_MAX: usize = i32::MAX as usize;

pub(super) struct Collected {
    form: Form,
    /// Values that are NULL are kept.
    nulls: bool,
    chains: Chains,
    /// One for each argument.
    columns: Vec<Values>,
}

/// What becomes of the values. Values of JSON come as the text of a JSON array of at most one element: an array
/// without one is a NULL that is left out.
enum Form {
    Array(ArrowType),
    Text {
        separator: String,
    },
    JsonArray,
    /// The first column has the keys.
    JsonObject,
}

impl Collected {
    pub(super) fn new(call: &AggregateCall) -> Result<Self> {
        let form = match (call.kind, &call.setting) {
            (AggregateKind::ArrayAgg, _) => Form::Array(call.output.kind.to_arrow()),
            (AggregateKind::ListAgg, Setting::Separator(separator)) => Form::Text { separator: separator.clone() },
            (AggregateKind::JsonArrayAgg, _) => Form::JsonArray,
            (AggregateKind::JsonObjectAgg, _) => Form::JsonObject,
            (kind, setting) => return Err(Error::internal(format!("{kind:?} with {setting:?}"))),
        };
        Ok(Collected {
            nulls: match form {
                Form::Array(_) => call.setting != Setting::IgnoreNulls,
                Form::Text { .. } => false,
                Form::JsonArray | Form::JsonObject => true,
            },
            form,
            chains: Chains::default(),
            columns: call.inputs.iter().map(|input| Values::new(input.kind.to_arrow())).collect(),
        })
    }

    fn arrays(&self, groups: &[u32], to: &ArrowType) -> Result<ArrayRef> {
        let ArrowType::List(field) = to else { return Err(Error::internal(format!("ARRAY_AGG of the type {to}"))) };
        let (mut entries, mut lengths) = (Vec::new(), Vec::with_capacity(groups.len()));
        for &group in groups {
            let before = entries.len();
            entries.extend(self.chains.list(group));
            lengths.push(entries.len() - before);
        }
        if i32::try_from(entries.len()).is_err() {
            return Err(Error::data("the arrays of one result column have more than 2^31 elements"));
        }
        let nulls: NullBuffer = lengths.iter().map(|&length| length > 0).collect();
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        let elements = self.columns[0].take(&entries)?;
        let lists = ListArray::try_new(field.clone(), OffsetBuffer::from_lengths(lengths), elements, nulls);
        Ok(Arc::new(lists.map_err(|error| Error::internal(format!("the arrays of ARRAY_AGG: {error}")))?))
    }

    /// The text of each group; `write` appends it, from the chunks of each column.
    fn texts(
        &self,
        groups: &[u32],
        write: impl Fn(&mut String, u32, &[Vec<&StringArray>]) -> Result<bool>,
    ) -> Result<ArrayRef> {
        let columns = self.columns.iter().map(strings).collect::<Result<Vec<_>>>()?;
        let (mut texts, mut text, mut bytes) = (StringBuilder::new(), String::new(), 0);
        for &group in groups {
            text.clear();
            let valid = write(&mut text, group, &columns)?;
            bytes += text.len();
            if bytes > TEXT_MAX {
                return Err(Error::data("the strings of one result column exceed 2 GiB"));
            }
            texts.append_option(valid.then_some(text.as_str()));
        }
        Ok(Arc::new(texts.finish()))
    }

    fn text_of<'a>(&self, column: usize, chunks: &[Vec<&'a StringArray>], entry: u32) -> &'a str {
        let (chunk, row) = self.columns[column].locate(entry);
        chunks[column][chunk].value(row)
    }

    fn joined(&self, text: &mut String, group: u32, separator: &str, chunks: &[Vec<&StringArray>]) {
        for (i, entry) in self.chains.list(group).enumerate() {
            if i > 0 {
                text.push_str(separator);
            }
            text.push_str(self.text_of(0, chunks, entry));
        }
    }

    fn json_array(&self, text: &mut String, group: u32, chunks: &[Vec<&StringArray>]) {
        text.push('[');
        for entry in self.chains.list(group) {
            let value = element(self.text_of(0, chunks, entry));
            if !value.is_empty() {
                if text.len() > 1 {
                    text.push(',');
                }
                text.push_str(value);
            }
        }
        text.push(']');
    }

    /// An object with its keys in order.
    fn json_object(&self, text: &mut String, group: u32, chunks: &[Vec<&StringArray>]) -> Result<()> {
        let mut members: Vec<(Cow<'_, str>, &str, &str)> = Vec::new();
        for entry in self.chains.list(group) {
            let value = element(self.text_of(1, chunks, entry));
            if value.is_empty() {
                continue;
            }
            let key = element(self.text_of(0, chunks, entry));
            let name = unquoted(key).ok_or_else(|| {
                Error::data("a key of JSON_OBJECTAGG is NULL").help("filter such rows, or COALESCE the key")
            })?;
            members.push((name, key, value));
        }
        members.sort_by(|(a, ..), (b, ..)| in_utf16(a, b));
        text.push('{');
        for (i, (name, key, value)) in members.iter().enumerate() {
            if i > 0 && members[i - 1].0 == *name {
                return Err(Error::data(format!("JSON_OBJECTAGG has the key '{name}' twice"))
                    .help("filter the rows, or make the keys of a group unique, with the time for instance"));
            }
            if i > 0 {
                text.push(',');
            }
            text.push_str(key);
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
        Ok(())
    }
}

/// What stands between the brackets of a JSON array.
fn element(array: &str) -> &str {
    array.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default()
}

/// The text that a JSON string stands for; `None` if it is none.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    let bare = json.strip_prefix('"')?.strip_suffix('"')?;
    if bare.contains('\\') { serde_json::from_str(json).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(bare)) }
}

/// The order of Java's strings.
fn in_utf16(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

fn strings(values: &Values) -> Result<Vec<&StringArray>> {
    let wrong = |array: &ArrayRef| Error::internal(format!("texts of an aggregate that are {}", array.data_type()));
    values.chunks().iter().map(|array| array.as_string_opt().ok_or_else(|| wrong(array))).collect()
}

impl Accumulator for Collected {
    fn resize(&mut self, groups: usize) {
        self.chains.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        values(args, groups)?;
        if args.len() != self.columns.len() {
            return Err(Error::internal(format!("{} arguments for {}", args.len(), self.columns.len())));
        }
        let rows: Vec<u32> = match selected(if self.nulls { &[] } else { args }, filter) {
            None => (0..groups.len() as u32).collect(),
            Some(mask) => mask.set_indices().map(|row| row as u32).collect(),
        };
        for (column, array) in self.columns.iter_mut().zip(args) {
            column.push_rows(array, &rows)?;
        }
        rows.iter().try_for_each(|&row| self.chains.push(groups[row as usize]))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Collected>(other)?;
        let mut entries = Vec::new();
        for (&from, &to) in from.iter().zip(to) {
            for entry in other.chains.list(from) {
                entries.push(entry);
                self.chains.push(to)?;
            }
        }
        let mut columns = self.columns.iter_mut().zip(&other.columns);
        columns.try_for_each(|(mine, theirs)| mine.push_from(theirs, &entries))
    }
    fn reset(&mut self, groups: &[u32]) {
        self.chains.reset(groups);
        let Some(remains) = self.chains.remains() else { return };
        // A copy only saves memory: without it, all goes on as before.
        if let Ok(columns) = self.columns.iter().map(|column| column.kept(&remains)).collect() {
            self.columns = columns;
            self.chains.renumber();
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        match &self.form {
            Form::Array(to) => self.arrays(groups, to),
            Form::Text { separator } => self.texts(groups, |text, group, chunks| {
                self.joined(text, group, separator, chunks);
                Ok(!self.chains.is_empty(group))
            }),
            Form::JsonArray => self.texts(groups, |text, group, chunks| {
                self.json_array(text, group, chunks);
                Ok(true)
            }),
            Form::JsonObject => self.texts(groups, |text, group, chunks| {
                self.json_object(text, group, chunks)?;
                Ok(true)
            }),
        }
    }
    fn bytes(&self) -> usize {
        self.chains.bytes() + self.columns.iter().map(Values::bytes).sum::<usize>()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.chains.archive(archive)?;
        self.columns.iter_mut().try_for_each(|column| column.archive(archive))
    }
}

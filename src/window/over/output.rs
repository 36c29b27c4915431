//! Result rows of OVER: the row, then one column a call.

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;

use super::super::{Emit, Emitted};
use super::function::Function;
use super::store::{Place, Store};
use crate::error::{Error, Result};
use crate::plan::OverSpec;

/// Rows of one result batch at most: columns of it stay in the cache of whoever takes it.
const ROWS_MAX: usize = 8_192;

/// Rows taken and not given out yet.
pub(super) struct Output {
    schema: SchemaRef,
    /// Columns of the input.
    width: usize,
    places: Vec<Place>,
    /// When each was due.
    due: Vec<i64>,
    /// The watermark before each that came too late for its own time.
    before: Vec<Option<i64>>,
}

impl Output {
    /// # Errors
    /// Internal if the schema does not fit.
    pub fn new(spec: &OverSpec) -> Result<Self> {
        let (width, columns) = (spec.input.len(), spec.schema.len());
        if columns != width + spec.calls.len() {
            return Err(Error::internal(format!("OVER of {width} columns with a schema of {columns}")));
        }
        let (places, due, before) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Output { schema: spec.schema.to_arrow(), width, places, due, before })
    }

    /// Adds a row with the functions' present results.
    pub fn push(&mut self, functions: &mut [Box<dyn Function>], group: u32, place: Place, (due, time): (i64, i64)) {
        functions.iter_mut().for_each(|function| function.push(group));
        self.places.push(place);
        self.due.push(due);
        self.before.push((due > time).then(|| due - 1));
    }

    pub fn flush_if_full(&mut self, functions: &mut [Box<dyn Function>], store: &Store, emit: Emit<'_>) -> Result<()> {
        if self.places.len() < ROWS_MAX { Ok(()) } else { self.flush(functions, store, emit) }
    }

    pub fn flush(&mut self, functions: &mut [Box<dyn Function>], store: &Store, emit: Emit<'_>) -> Result<()> {
        if self.places.is_empty() {
            return Ok(());
        }
        let places = std::mem::take(&mut self.places);
        let mut columns = store.columns(&places, self.width)?;
        for function in functions {
            columns.push(function.finish(store)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
        let rows = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::internal(format!("the rows of OVER: {error}")))?;
        let mut emitted = Emitted::of(rows, std::mem::take(&mut self.due));
        let before = std::mem::take(&mut self.before);
        if before.iter().any(Option::is_some) {
            emitted.before = before;
        }
        emit(emitted)
    }
}

//! Result rows: keys, aggregates, window bounds.

use std::sync::Arc;

use arrow::array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, SchemaRef, TimestampMillisecondType};

use super::zone::Scale;
use super::{Emit, Emitted};
use crate::error::{Error, Result};
use crate::plan::WindowAggregateSpec;
use crate::state::table::all_groups;
use crate::state::{Generations, Table};

/// Rows of one result batch at most: columns of it stay in the cache of whoever takes it.
const ROWS_MAX: usize = 16_384;

/// Builds the result batches of an operator.
pub(super) struct Output {
    schema: SchemaRef,
    /// Types of window_start, window_end and window_time.
    bounds: [ArrowType; 3],
    ordered: bool,
    scale: Scale,
    /// Rows given out.
    pub rows: u64,
}

impl Output {
    /// # Errors
    /// Internal if the schema does not end in the three window columns.
    pub(super) fn new(spec: &WindowAggregateSpec, scale: &Scale) -> Result<Self> {
        let schema = spec.schema.to_arrow();
        let columns = spec.keys.len() + spec.aggregates.len() + 3;
        if schema.fields().len() != columns {
            let got = schema.fields().len();
            return Err(Error::internal(format!("a window aggregate of {columns} columns with a schema of {got}")));
        }
        let bound = |i: usize| schema.field(columns - 3 + i).data_type().clone();
        let bounds = [bound(0), bound(1), bound(2)];
        if bounds.iter().any(|bound| !matches!(bound, ArrowType::Timestamp(arrow::datatypes::TimeUnit::Millisecond, _)))
        {
            return Err(Error::internal(format!("window bounds of the types {bounds:?}")));
        }
        Ok(Output { schema, bounds, ordered: spec.ordered, scale: scale.clone(), rows: 0 })
    }

    /// Gives out the groups of a table for which `alive` holds, as the rows of one window.
    pub(super) fn window(
        &mut self,
        table: &Table,
        (start, end): (i64, i64),
        alive: Option<&dyn Fn(u32) -> bool>,
        emit: Emit<'_>,
    ) -> Result<()> {
        let groups = self.groups(table, alive);
        if groups.is_empty() {
            return Ok(());
        }
        let rows = groups.len().min(ROWS_MAX);
        let time = self.scale.instant(end.saturating_sub(1));
        let bounds = [vec![start; rows], vec![end; rows], vec![time; rows]];
        let bounds = self.bounds(bounds);
        for chunk in groups.chunks(ROWS_MAX) {
            let bounds = bounds.iter().map(|bound| bound.slice(0, chunk.len()));
            let rows = self.batch(table.columns(chunk)?.into_iter().chain(bounds).collect(), chunk.len())?;
            emit(Emitted::at(rows, end))?;
        }
        Ok(())
    }

    /// Gives out all groups of a table, as the rows of one window.
    pub(super) fn generations(&mut self, table: &mut Generations, bounds: (i64, i64), emit: Emit<'_>) -> Result<()> {
        if self.ordered {
            return self.window(table.melt()?, bounds, None, emit);
        }
        for part in table.parts() {
            let has = |group| part.has(group);
            let alive: Option<&dyn Fn(u32) -> bool> = if part.is_whole() { None } else { Some(&has) };
            self.window(part.table, bounds, alive, emit)?;
        }
        Ok(())
    }

    fn groups(&self, table: &Table, alive: Option<&dyn Fn(u32) -> bool>) -> Vec<u32> {
        if !self.ordered {
            let mut groups = all_groups(table.len());
            if let Some(alive) = alive {
                groups.retain(|&group| alive(group));
            }
            return groups;
        }
        let entries = table.index.in_order(|group| alive.is_none_or(|alive| alive(group)));
        entries.into_iter().map(|(_, group)| group).collect()
    }

    /// Gives out sessions: keys, accumulators, start and end of each, in this order.
    pub(super) fn sessions(
        &mut self,
        columns: impl Fn(&[usize]) -> Result<Vec<ArrayRef>>,
        bounds: &[(i64, i64)],
        emit: Emit<'_>,
    ) -> Result<()> {
        let numbers: Vec<usize> = (0..bounds.len()).collect();
        for chunk in numbers.chunks(ROWS_MAX) {
            let ends = |f: &dyn Fn((i64, i64)) -> i64| chunk.iter().map(|&i| f(bounds[i])).collect::<Vec<i64>>();
            let times = ends(&|(_, end)| self.scale.instant(end.saturating_sub(1)));
            let last = ends(&|(_, end)| end);
            let bounds = self.bounds([ends(&|(start, _)| start), last.clone(), times]);
            let rows = self.batch(columns(chunk)?.into_iter().chain(bounds).collect(), chunk.len())?;
            emit(Emitted::of(rows, last))?;
        }
        Ok(())
    }

    fn bounds(&self, values: [Vec<i64>; 3]) -> Vec<ArrayRef> {
        let array = |(values, data_type): (Vec<i64>, &ArrowType)| -> ArrayRef {
            let array = PrimitiveArray::<TimestampMillisecondType>::new(values.into(), None);
            Arc::new(array.with_data_type(data_type.clone()))
        };
        values.into_iter().zip(&self.bounds).map(array).collect()
    }

    fn batch(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::internal(format!("the rows of a window: {error}")))?;
        self.rows += rows as u64;
        Ok(batch)
    }
}

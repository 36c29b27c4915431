//! What the shell shows of a statement: its rows, its progress, how it ended.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Instant;

use anstyle::AnsiColor;
use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use transom::error::Result;
use transom::expr::EvalContext;
use transom::job::{JobSummary, Report, Snapshot};
use transom::plan::{JobPlan, SinkConnector, SinkSpec};
use transom::types::{RowKind, Schema, Type};

use super::tableau::{Tableau, WIDTH_DEFAULT, cell};
use crate::cli::progress::Progress;
use crate::cli::results::{Output, Results, one_line, texts};
use crate::cli::{note, say, summary};

/// Shows statements.
pub struct ShellReport {
    quiet: bool,
    /// Somebody reads along: summaries are short.
    interactive: bool,
    progress: Option<Progress>,
    results: Results,
    /// Columns for values without a natural width.
    pub width_max: usize,
    began: Instant,
    select: Option<Select>,
    /// Settings without effect that were named.
    named: BTreeSet<String>,
}

/// A SELECT under way.
struct Select {
    schema: Schema,
    tableau: Tableau,
    rows: u64,
}

impl ShellReport {
    pub fn new(interactive: bool, quiet: bool) -> ShellReport {
        ShellReport {
            quiet,
            interactive,
            progress: (!quiet && std::io::stderr().is_terminal()).then(Progress::new),
            results: Results::new(Output::Table),
            width_max: WIDTH_DEFAULT,
            began: Instant::now(),
            select: None,
            named: BTreeSet::new(),
        }
    }

    /// A line about what was done.
    pub fn info(&mut self, text: &str) {
        if !self.quiet {
            let blue = AnsiColor::Blue.on_default().bold();
            say(&format!("{blue}[INFO] {text}{blue:#}\n"));
        }
    }

    /// Prints a text as it is.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.results.raw(text)?;
        self.results.flush()
    }

    /// Says once of each setting that it means nothing.
    pub fn name_ignored<'k>(&mut self, keys: impl Iterator<Item = &'k str>) {
        let new: Vec<&str> = keys.filter(|key| self.named.insert(key.to_string())).collect();
        if !new.is_empty() {
            self.notice(&format!("settings that mean nothing on one machine: {}", new.join(", ")));
        }
    }

    /// A statement's job has ended before its time; `cancelled`: by Ctrl-C.
    pub fn broken_off(&mut self, cancelled: bool) -> Result<()> {
        self.clear_progress();
        match self.select.take() {
            Some(select) => {
                self.close(&select)?;
                if cancelled {
                    self.results.raw(&format!("Query terminated, received a total of {}\n", counted(select.rows)))?;
                }
            }
            None if cancelled => self.info("The statement was cancelled; the files that it writes are as they were."),
            None => {}
        }
        self.results.flush()
    }

    fn clear_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
    }

    /// The border below the rows, if there are any.
    fn close(&mut self, select: &Select) -> Result<()> {
        if select.rows > 0 { self.results.raw(&select.tableau.border()) } else { Ok(()) }
    }
}

impl Select {
    /// The lines of the rows, each with what it does to the result.
    fn text(&self, batch: &RecordBatch, context: &EvalContext) -> Result<String> {
        let columns = shown(batch, &self.schema, context)?;
        let kinds = RowKind::column(batch, self.schema.len());
        let line = |row: usize| {
            let kind = kinds.map_or(RowKind::Insert, |kinds| RowKind::of_code(kinds.value(row)));
            let values = columns.iter().map(|column| cell(value(column, row)));
            let cells: Vec<String> = std::iter::once(kind.short().to_string()).chain(values).collect();
            self.tableau.row(&cells)
        };
        Ok((0..batch.num_rows()).map(line).collect())
    }
}

/// Every column as Flink's client shows it: as a text, bytes in hexadecimal digits.
fn shown(batch: &RecordBatch, schema: &Schema, context: &EvalContext) -> Result<Vec<StringArray>> {
    let mut columns = texts(batch, schema, context)?;
    for (index, field) in schema.fields.iter().enumerate() {
        if let (Type::Binary(_) | Type::VarBinary(_), Some(bytes)) =
            (&field.data_type.kind, batch.column(index).as_binary_opt::<i32>())
        {
            let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            columns[index] = bytes.iter().map(|bytes| bytes.map(|bytes| format!("x'{}'", digits(bytes)))).collect();
        }
    }
    Ok(columns)
}

fn value(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

fn counted(rows: u64) -> String {
    format!("{rows} {}", if rows == 1 { "row" } else { "rows" })
}

impl Report for ShellReport {
    fn notice(&mut self, text: &str) {
        if !self.quiet {
            self.clear_progress();
            note(text);
        }
    }
    fn warning(&mut self, text: &str) {
        if !self.quiet {
            self.clear_progress();
            let yellow = AnsiColor::Yellow.on_default().bold();
            say(&format!("{yellow}warning:{yellow:#} {text}\n"));
        }
    }
    fn progress(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.results.flush()?;
        if let Some(progress) = &mut self.progress {
            progress.show(snapshot);
        }
        Ok(())
    }
    fn statement_begins(&mut self, plan: &JobPlan) -> Result<()> {
        self.began = Instant::now();
        self.results.prepare(plan);
        let collects = plan.pipelines.iter().find(|one| matches!(one.sink.connector, SinkConnector::Collect));
        self.select = collects.map(|pipeline| {
            let schema = pipeline.sink.schema.clone();
            Select { tableau: Tableau::of_changes(&schema, self.width_max), schema, rows: 0 }
        });
        Ok(())
    }
    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        self.clear_progress();
        let Some(mut select) = self.select.take() else { return Ok(()) };
        if select.rows == 0 && batch.num_rows() > 0 {
            self.results.raw(&select.tableau.header())?;
        }
        let rows = select.text(batch, self.results.context())?;
        self.results.raw(&rows)?;
        select.rows += batch.num_rows() as u64;
        self.select = Some(select);
        Ok(())
    }
    fn print(&mut self, sink: &SinkSpec, batch: &RecordBatch) -> Result<()> {
        self.clear_progress();
        self.results.print(sink, batch)
    }
    fn explain(&mut self, text: &str) -> Result<()> {
        self.results.text(text)
    }
    fn answer(&mut self, schema: &Schema, rows: &RecordBatch) -> Result<()> {
        // A statement that SHOW CREATE gives, to be copied.
        if schema.fields.iter().map(|field| field.name.as_str()).eq(["result"]) {
            return self.results.answer(schema, rows);
        }
        if rows.num_rows() == 0 {
            return self.text("Empty set\n");
        }
        let columns = texts(rows, schema, self.results.context())?;
        let cells = |row: usize| {
            let values = columns.iter().map(|column| value(column, row));
            values.map(|value| one_line(value.unwrap_or_default())).collect::<Vec<String>>()
        };
        let cells: Vec<Vec<String>> = (0..rows.num_rows()).map(cells).collect();
        let tableau = Tableau::of_rows(schema.fields.iter().map(|field| one_line(&field.name)).collect(), &cells);
        self.results.raw(&tableau.header())?;
        for row in &cells {
            self.results.raw(&tableau.row(row))?;
        }
        self.results.raw(&tableau.border())?;
        self.text(&format!("{} in set\n", counted(cells.len() as u64)))
    }
    fn statement_ends(&mut self, job: &JobSummary) -> Result<()> {
        self.clear_progress();
        let seconds = format!("({:.2} seconds)", self.began.elapsed().as_secs_f64());
        match self.select.take() {
            Some(select) => {
                self.close(&select)?;
                let total = match select.rows {
                    0 => "Empty set".to_string(),
                    rows => format!("Received a total of {}", counted(rows)),
                };
                self.results.raw(&format!("{total} {seconds}\n"))?;
                self.results.flush()?;
            }
            None => {
                self.results.flush()?;
                let written = job.sinks.iter().map(|(_, rows)| rows).sum();
                self.info(&format!("Wrote {} {seconds}", counted(written)));
            }
        }
        if !self.quiet {
            say(&if self.interactive { summary::brief(job) } else { summary::text(job) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int8Array, Int64Array};
    use transom::types::{Field, ROW_KIND};

    use super::*;

    #[test]
    fn each_row_says_what_it_does_to_the_result() {
        let schema = Schema::new(vec![Field::new("n", Type::BigInt.not_null())]);
        let select = Select { tableau: Tableau::of_changes(&schema, WIDTH_DEFAULT), schema, rows: 0 };
        let context = EvalContext { time_zone: "UTC".to_string(), now_ms: 0 };
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 1, 2, 2]));
        let kinds: ArrayRef = Arc::new(Int8Array::from(vec![0, 1, 2, 3]));
        let ops = |batch: &RecordBatch| {
            let text = select.text(batch, &context).expect("texts");
            text.lines().map(|line| line[2..4].to_string()).collect::<Vec<_>>()
        };
        let added = RecordBatch::try_from_iter([("n", numbers.clone())]).expect("a batch");
        assert_eq!(ops(&added), ["+I", "+I", "+I", "+I"]);
        let changed = RecordBatch::try_from_iter([("n", numbers), (ROW_KIND, kinds)]).expect("a batch");
        assert_eq!(ops(&changed), ["+I", "-U", "+U", "-D"]);
    }
}

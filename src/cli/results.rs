//! Rows of SELECTs and print sinks on stdout.

use std::io::{BufWriter, Stdout, Write};

use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use clap::ValueEnum;
use transom::error::{Error, Result};
use transom::expr::{EvalContext, Expr, resolve};
use transom::format::{CsvOptions, FormatSpec, JsonOptions, TextEncoder};
use transom::plan::{JobPlan, Pipeline, SinkConnector, SinkSpec};
use transom::types::{DataType, RowKind, Schema, Type};
use unicode_width::UnicodeWidthStr;

use super::changelog;

/// How the rows of a SELECT are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Aligned columns under a header
    Table,
    /// A header line, then comma-separated values
    Csv,
    /// One JSON object a line
    Json,
}

/// Rows whose widths decide how wide a table's columns are; later rows that are wider stand out.
const MEASURED_ROWS: usize = 2_000;
/// No column of a table is made wider than this for the sake of one long text.
const WIDTH_MAX: usize = 60;

pub struct Results {
    out: BufWriter<Stdout>,
    output: Output,
    context: EvalContext,
    select: Option<Select>,
    /// Of tables that are stdout, by name.
    encoders: Vec<(String, TextEncoder)>,
    /// The job reads stdin: rows are shown while it is open.
    live: bool,
}

/// A SELECT under way.
struct Select {
    /// Of the rows as they are shown.
    schema: Schema,
    /// What happened to each row stands in front of it.
    changelog: bool,
    encoder: Option<TextEncoder>,
    /// Cells of the rows that wait for the widths.
    measured: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    rows: u64,
    /// How NULL prints in a table.
    null: &'static str,
}

impl Results {
    pub fn new(output: Output) -> Self {
        Results {
            out: BufWriter::with_capacity(1 << 16, std::io::stdout()),
            output,
            context: EvalContext { time_zone: "UTC".to_string(), now_ms: 0 },
            select: None,
            encoders: Vec::new(),
            live: false,
        }
    }

    /// The start of a statement.
    pub fn begin(&mut self, plan: &JobPlan) -> Result<()> {
        self.prepare(plan);
        let collects = |pipeline: &&Pipeline| matches!(pipeline.sink.connector, SinkConnector::Collect);
        match plan.pipelines.iter().find(collects) {
            Some(pipeline) => self.begin_select(&pipeline.sink.schema, pipeline.sink.changelog),
            None => Ok(()),
        }
    }

    /// Takes over what a statement says of print sinks and times, without the head of a table.
    pub fn prepare(&mut self, plan: &JobPlan) {
        self.context.time_zone.clone_from(&plan.config.time_zone);
        self.encoders.clear();
        self.live = plan.pipelines.iter().any(|pipeline| !pipeline.root.stdin_scans().is_empty());
    }

    /// How values become texts.
    pub fn context(&self) -> &EvalContext {
        &self.context
    }

    fn begin_select(&mut self, schema: &Schema, changelog: bool) -> Result<()> {
        let schema = &if changelog { changelog::with_op(schema) } else { schema.clone() };
        let encoder = match self.output {
            Output::Table => None,
            Output::Csv => {
                let names: Vec<String> = schema.fields.iter().map(|field| quoted(&field.name)).collect();
                self.line(&names.join(","))?;
                FormatSpec::Csv(CsvOptions::default()).text_encoder(schema)
            }
            Output::Json => FormatSpec::Json(JsonOptions::default()).text_encoder(schema),
        };
        let schema = schema.clone();
        let (measured, widths) = (Vec::new(), None);
        self.select = Some(Select { schema, changelog, encoder, measured, widths, rows: 0, null: "NULL" });
        Ok(())
    }

    pub fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(mut select) = self.select.take() else { return Ok(()) };
        select.rows += batch.num_rows() as u64;
        let batch = &if select.changelog { changelog::with_kinds(batch, &select.schema)? } else { batch.clone() };
        if let Some(encoder) = &mut select.encoder {
            let mut bytes = Vec::new();
            encoder.encode(batch, &mut bytes)?;
            self.bytes(&bytes)?;
        } else {
            let columns = texts(batch, &select.schema, &self.context)?;
            for row in 0..batch.num_rows() {
                let cells: Vec<String> = columns.iter().map(|column| cell(column, row, select.null)).collect();
                match &select.widths {
                    Some(widths) => self.table_row(&cells, widths, &select.schema)?,
                    None => select.measured.push(cells),
                }
            }
            if select.widths.is_none() && select.measured.len() >= MEASURED_ROWS {
                self.print_measured(&mut select)?;
            }
        }
        self.select = Some(select);
        Ok(())
    }

    /// The rows of SHOW and DESCRIBE. A statement that SHOW CREATE gives prints as text that can be run.
    pub fn answer(&mut self, schema: &Schema, rows: &RecordBatch) -> Result<()> {
        if let (Output::Table, [field]) = (self.output, schema.fields.as_slice())
            && field.name == "result"
        {
            let column = rows.column(0).as_string::<i32>().clone();
            for statement in column.iter().flatten() {
                self.line(&format!("{statement};"))?;
            }
            return self.flush();
        }
        self.begin_select(schema, false)?;
        if let Some(select) = &mut self.select {
            select.null = "";
        }
        self.rows(rows)?;
        self.end()
    }

    /// The end of a statement.
    pub fn end(&mut self) -> Result<()> {
        if let Some(mut select) = self.select.take()
            && self.output == Output::Table
        {
            self.print_measured(&mut select)?;
            self.line(&format!("({} row{})", select.rows, if select.rows == 1 { "" } else { "s" }))?;
        }
        self.flush()
    }

    /// Called now and then while the job runs: what came from a source that goes on must not wait for its end.
    pub fn pause(&mut self) -> Result<()> {
        if !self.live {
            return Ok(());
        }
        if let Some(mut select) = self.select.take() {
            if !select.measured.is_empty() {
                self.print_measured(&mut select)?;
            }
            self.select = Some(select);
        }
        self.flush()
    }

    /// Rows of a table that is stdout.
    fn encode(&mut self, sink: &SinkSpec, format: &FormatSpec, batch: &RecordBatch) -> Result<()> {
        let mut bytes = Vec::new();
        match self.encoders.iter_mut().find(|(table, _)| *table == sink.table) {
            Some((_, encoder)) => encoder.encode(batch, &mut bytes)?,
            None => {
                let Some(mut encoder) = format.text_encoder(&sink.schema) else {
                    return Err(Error::internal("a table on stdout whose format is no text"));
                };
                bytes.extend_from_slice(encoder.header());
                encoder.encode(batch, &mut bytes)?;
                self.encoders.push((sink.table.clone(), encoder));
            }
        }
        self.bytes(&bytes)
    }

    /// Rows of a print sink, as Flink's: `+I[a, 2024-05-01T12:00, 1]`.
    pub fn print(&mut self, sink: &SinkSpec, batch: &RecordBatch) -> Result<()> {
        if let SinkConnector::Stdout { format } = &sink.connector {
            return self.encode(sink, format, batch);
        }
        // Instants print as Java's, whatever the session's zone.
        let context = EvalContext { time_zone: "UTC".to_string(), now_ms: self.context.now_ms };
        let columns = texts(batch, &sink.schema, &context)?;
        let (prefix, to_stderr) = match &sink.connector {
            SinkConnector::Print { identifier, standard_error } => {
                (identifier.as_ref().map(|identifier| format!("{identifier}> ")).unwrap_or_default(), *standard_error)
            }
            _ => (String::new(), false),
        };
        let kinds = RowKind::column(batch, sink.schema.len());
        for row in 0..batch.num_rows() {
            let kind = kinds.map_or(RowKind::Insert, |kinds| RowKind::of_code(kinds.value(row))).short();
            let cells: Vec<String> = columns
                .iter()
                .zip(&sink.schema.fields)
                .map(|(column, field)| printed(column, row, &field.data_type))
                .collect();
            let line = format!("{prefix}{kind}[{}]", cells.join(", "));
            if to_stderr {
                writeln!(std::io::stderr(), "{line}").map_err(|error| Error::io("write to", "stderr", error))?;
            } else {
                self.line(&line)?;
            }
        }
        Ok(())
    }

    /// Prints a text as it is.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.line(text)?;
        self.flush()
    }

    /// Takes a text as it is, without a line end.
    pub fn raw(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(stdout_failed)
    }

    fn print_measured(&mut self, select: &mut Select) -> Result<()> {
        if select.widths.is_none() {
            let widths = widths(&select.schema, &select.measured);
            let header: Vec<String> = select.schema.fields.iter().map(|field| one_line(&field.name)).collect();
            self.table_row(&header, &widths, &select.schema)?;
            let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width + 2)).collect();
            self.line(&rule.join("+"))?;
            for cells in std::mem::take(&mut select.measured) {
                self.table_row(&cells, &widths, &select.schema)?;
            }
            select.widths = Some(widths);
        }
        Ok(())
    }

    fn table_row(&mut self, cells: &[String], widths: &[usize], schema: &Schema) -> Result<()> {
        let mut line = String::new();
        for (index, (text, &width)) in cells.iter().zip(widths).enumerate() {
            let fill = " ".repeat(width.saturating_sub(text.width()));
            let bar = if index > 0 { " | " } else { " " };
            let right = schema.fields[index].data_type.kind.is_numeric();
            line.push_str(&if right { format!("{bar}{fill}{text}") } else { format!("{bar}{text}{fill}") });
        }
        let end = line.trim_end().len();
        self.line(&line[..end])
    }

    fn line(&mut self, line: &str) -> Result<()> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(stdout_failed)
    }
}

fn stdout_failed(error: std::io::Error) -> Error {
    Error::io("write to", "stdout", error)
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

/// Every column as CAST(… AS STRING) gives it.
pub fn texts(batch: &RecordBatch, schema: &Schema, context: &EvalContext) -> Result<Vec<StringArray>> {
    let text = |(index, field): (usize, &transom::types::Field)| {
        let column = Expr::column(index, field.data_type.clone());
        let text = resolve::cast(column, Type::string().nullable(), false)?.eval(batch, context)?;
        Ok(text.as_string::<i32>().clone())
    };
    schema.fields.iter().enumerate().map(text).collect()
}

fn cell(column: &StringArray, row: usize, null: &str) -> String {
    if column.is_null(row) { null.to_string() } else { one_line(column.value(row)) }
}

/// Without line ends, tabs and what else would upset a terminal.
pub fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn printed(column: &StringArray, row: usize, data_type: &DataType) -> String {
    if column.is_null(row) {
        return "null".to_string();
    }
    let text = column.value(row);
    match data_type.kind {
        Type::Timestamp(_) | Type::Time(_) => iso(text),
        Type::TimestampLtz(_) => instant(text),
        Type::Decimal(..) => scientific(text),
        Type::Boolean => text.to_ascii_lowercase(),
        _ => text.to_string(),
    }
}

/// As Java's LocalDateTime prints: no seconds where they are zero, fractions in groups of three digits.
fn iso(text: &str) -> String {
    let text = text.replacen(' ', "T", 1);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = fraction.trim_end_matches('0');
    if digits.is_empty() {
        return whole.strip_suffix(":00").unwrap_or(whole).to_string();
    }
    format!("{whole}.{digits:0<width$}", width = digits.len().div_ceil(3) * 3)
}

/// As Java's Instant prints: always with seconds.
fn instant(text: &str) -> String {
    let iso = iso(text);
    // T12:00 has one colon, T12:00:01 two.
    if iso.matches(':').count() == 1 { format!("{iso}:00Z") } else { format!("{iso}Z") }
}

/// As Java's BigDecimal prints: with an exponent if more than five zeros stood behind the point.
fn scientific(text: &str) -> String {
    let (sign, number) = text.strip_prefix('-').map_or(("", text), |number| ("-", number));
    let scale = number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits = number.replace('.', "");
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let exponent = digits.len() as i64 - 1 - scale as i64;
    if exponent >= -6 {
        return text.to_string();
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{exponent}")
}

fn widths(schema: &Schema, rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows.iter().map(|cells| cells[column].width()).max().unwrap_or(0);
        cells.min(WIDTH_MAX).max(one_line(&schema.fields[column].name).width())
    };
    (0..schema.len()).map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_javas_local_date_time() {
        assert_eq!(iso("2024-05-01 12:00:00.000"), "2024-05-01T12:00");
        assert_eq!(iso("2024-05-01 12:00:09.999"), "2024-05-01T12:00:09.999");
        assert_eq!(iso("2024-05-01 12:00:10.5"), "2024-05-01T12:00:10.500");
        assert_eq!(iso("12:00:00"), "12:00");
    }

    #[test]
    fn a_cell_of_a_table_stays_on_its_line() {
        assert_eq!(one_line("a\nb\tc\u{1b}[31m 漢"), "a b c [31m 漢");
    }

    #[test]
    fn instants_print_with_seconds() {
        assert_eq!(instant("2024-07-01 10:00:00.000"), "2024-07-01T10:00:00Z");
        assert_eq!(instant("2024-07-01 10:00:00.001"), "2024-07-01T10:00:00.001Z");
        assert_eq!(instant("2024-07-01 10:00:01"), "2024-07-01T10:00:01Z");
    }

    #[test]
    fn small_decimals_print_with_an_exponent() {
        let plain = ["1.5000000000", "0.000001", "-0.0000010", "0.000000", "12"];
        assert_eq!(plain.map(scientific), plain);
        assert_eq!(scientific("0.0000000000"), "0E-10");
        assert_eq!(scientific("-0.0000000001"), "-1E-10");
        assert_eq!(scientific("0.0000000123"), "1.23E-8");
    }
}

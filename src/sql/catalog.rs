//! The tables and views of a script.

use std::collections::BTreeMap;
use std::rc::Rc;

use sqlparser::ast::Query;

use super::ddl::CreateTable;
use super::lint::Unused;
use super::text::place_of;
use crate::error::{Error, Place, Result, nearest};
use crate::expr::Expr;
use crate::plan::{DatagenSpec, FileMetadata, NexmarkSpec, Options, SinkConnector, SourceSpec};
use crate::types::{DataType, Schema};

/// Flink's connectors that are not ours.
const FOREIGN_CONNECTORS: &[&str] = &[
    "kafka",
    "upsert-kafka",
    "jdbc",
    "elasticsearch-6",
    "elasticsearch-7",
    "elasticsearch-8",
    "opensearch",
    "hbase-1.4",
    "hbase-2.2",
    "kinesis",
    "kinesis-legacy",
    "firehose",
    "dynamodb",
    "mongodb",
    "pulsar",
    "rabbitmq",
    "hive",
    "hudi",
    "iceberg",
    "paimon",
    "mysql-cdc",
    "postgres-cdc",
    "mongodb-cdc",
    "oracle-cdc",
    "sqlserver-cdc",
    "faker",
    "raw-socket",
    "socket",
    "redis",
    "doris",
    "starrocks",
    "clickhouse",
    "python-input-format",
];
const CONNECTORS: &[&str] = &["filesystem", "datagen", "nexmark", "print", "blackhole"];

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct TableColumn {
    pub name: String,
    pub data_type: DataType,
    /// Over the table's columns; `None` for a physical column.
    pub computed: Option<Expr>,
    /// What the source says of the row's file.
    pub metadata: Option<FileMetadata>,
}

/// `WATERMARK FOR`.
#[derive(Debug, Clone)]
pub(super) struct TableWatermark {
    /// Index of the time column among the table's columns.
    pub time: usize,
    /// Over the table's columns.
    pub expression: Expr,
    pub text: String,
    /// Of the time column.
    pub place: Option<Place>,
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub name: String,
    pub columns: Vec<TableColumn>,
    pub watermark: Option<TableWatermark>,
    pub options: Options,
    /// What it was made from; a LIKE has been carried out.
    pub definition: Rc<CreateTable>,
}

#[derive(Debug, Clone)]
pub(super) struct View {
    pub query: Query,
    /// New names of its columns, or none.
    pub columns: Vec<String>,
    /// The query as it was written.
    pub spelling: String,
    pub comment: Option<String>,
    pub temporary: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Entry {
    Table(Rc<Table>),
    View(Rc<View>),
}

/// What names mean at a point of the script.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    pub entries: BTreeMap<String, Entry>,
}

impl Catalog {
    /// The error for a name that means nothing.
    pub(super) fn unknown(&self, name: &str) -> Error {
        let error = Error::script(format!("table or view '{name}' does not exist"));
        match nearest(name, self.entries.keys().map(String::as_str)) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help(format!("create it with CREATE TABLE {name} (…) before this statement")),
        }
    }
}

impl Table {
    /// The columns that are stored: in files, or in the names of their folders.
    pub(super) fn physical(&self) -> Schema {
        let physical = self.columns.iter().filter(|column| column.computed.is_none() && column.metadata.is_none());
        Schema::new(physical.map(|c| crate::types::Field::new(&c.name, c.data_type.clone())).collect())
    }

    /// The connector of a table that is read. `ignored` takes options without effect.
    pub(super) fn source(&self, ignored: &mut dyn FnMut(&str)) -> Result<SourceSpec> {
        let mut options = self.options.clone();
        let connector = self.connector(&mut options)?;
        if let (true, Some(key)) = (connector != "filesystem", self.definition.partition_keys.first()) {
            let error = Error::script(format!("the connector '{connector}' has no partitions"));
            return Err(error.at_place(place_of(key.span).unwrap_or_default()).help("remove PARTITIONED BY"));
        }
        match connector.as_str() {
            "filesystem" => {
                let files = self.read_files(&mut options, ignored)?;
                options.finish()?;
                Ok(SourceSpec::Files(files))
            }
            "datagen" => {
                let spec = DatagenSpec::from_options(&mut options, &self.physical())?;
                take_ignored(&mut options, &["scan.parallelism"], ignored);
                options.finish()?;
                Ok(SourceSpec::Datagen(spec))
            }
            "nexmark" => {
                let spec = NexmarkSpec::from_options(&mut options, &self.physical(), ignored)?;
                options.finish()?;
                Ok(SourceSpec::Nexmark(spec))
            }
            name => Err(Error::script(format!("the connector '{name}' cannot be read from"))
                .at_place(options.place_of("connector"))
                .help("use 'connector' = 'filesystem', 'datagen' or 'nexmark' for tables that a query reads")),
        }
    }

    /// The connector of a table that is written.
    pub(super) fn sink(&self, ignored: &mut dyn FnMut(&str)) -> Result<SinkConnector> {
        let mut options = self.options.clone();
        let sink = match self.connector(&mut options)?.as_str() {
            "filesystem" => self.write_files(&mut options, ignored)?,
            "print" => {
                let standard_error = options.take_bool("standard-error", false)?;
                take_ignored(&mut options, &["sink.parallelism"], ignored);
                let identifier = options.take("print-identifier").filter(|text| !text.is_empty());
                SinkConnector::Print { identifier, standard_error }
            }
            name @ ("datagen" | "nexmark") => {
                return Err(Error::script(format!("the connector '{name}' cannot be written to"))
                    .at_place(options.place_of("connector"))
                    .help("use 'connector' = 'filesystem', 'print' or 'blackhole' for tables that an INSERT writes"));
            }
            _ => SinkConnector::Blackhole,
        };
        options.finish()?;
        Ok(sink)
    }

    /// An option that is accepted without effect.
    pub(super) fn unused(&self, key: &str) -> Unused {
        Unused { key: key.to_string(), table: self.name.clone(), place: self.options.place_of(key) }
    }

    fn connector(&self, options: &mut Options) -> Result<String> {
        let name = options.require("connector")?;
        if CONNECTORS.contains(&name.as_str()) {
            return Ok(name);
        }
        let place = options.place_of("connector");
        if FOREIGN_CONNECTORS.contains(&name.as_str()) {
            return Err(Error::unsupported(format!("the connector '{name}'"))
                .at_place(place)
                .help("read from and write to files: 'connector' = 'filesystem'"));
        }
        let error = Error::script(format!("unknown connector '{name}' of table {}", self.name)).at_place(place);
        Err(match nearest(&name, CONNECTORS.iter().copied()) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help(format!("the connectors are {}", CONNECTORS.join(", "))),
        })
    }
}

pub(super) fn take_ignored(options: &mut Options, keys: &[&str], ignored: &mut dyn FnMut(&str)) {
    for key in keys {
        if options.take(key).is_some() {
            ignored(key);
        }
    }
}

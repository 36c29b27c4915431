//! A case while it is drawn: tables, views, sinks, and its text at the end.

use std::collections::BTreeSet;

use super::draw::Draw;
use super::expression;
use super::relation::{Column, Query, Relation, Type};
use super::table::{Clock, Table};

#[derive(Debug)]
pub struct Script {
    pub draw: Draw,
    pub clock: Clock,
    pub features: BTreeSet<&'static str>,
    tables: Vec<Table>,
    views: String,
    view_count: usize,
    sinks: Vec<(String, Query)>,
    changelog: bool,
}

impl Script {
    pub fn new(mut draw: Draw) -> Self {
        let clock = Clock::draw(&mut draw);
        let features = BTreeSet::from(["random"]);
        let (tables, views, sinks) = (Vec::new(), String::new(), Vec::new());
        Script { draw, clock, features, tables, views, view_count: 0, sinks, changelog: false }
    }

    pub fn feature(&mut self, name: &'static str) {
        self.features.insert(name);
    }

    /// A new table. Where several inputs meet, none may be `late`: what is then dropped depends on their speed.
    pub fn table(&mut self, late: bool) -> Relation {
        let name = format!("src{}", self.tables.len());
        let table = Table::draw(&mut self.draw, &name, &self.clock, late);
        let relation = table.relation.clone();
        self.tables.push(table);
        if self.clock.ltz {
            self.feature("ltz");
        }
        relation
    }

    /// A table, or what a simple view makes of one.
    pub fn rows(&mut self, late: bool) -> Relation {
        let table = self.table(late);
        match self.draw.between(0, 9) {
            0 => self.filtered(&table),
            1 => self.unnested(&table),
            _ => table,
        }
    }

    fn filtered(&mut self, table: &Relation) -> Relation {
        self.feature("view");
        let filter = expression::condition(&mut self.draw, &table.values());
        let texts = [Column::new("c", Type::Text), Column::new("k", Type::Text)];
        let key = expression::value(&mut self.draw, &texts);
        let number = *self.draw.pick(&["v", "v - g", "v * 2", "CASE WHEN b THEN v ELSE g END"]);
        let text = format!(
            "SELECT id, {} AS k, g, ts, {number} AS v, m, d, c, b\nFROM {}\nWHERE {filter}",
            if key.sql_type == Type::Text { &key.name } else { "k" },
            table.name
        );
        let columns = table.columns.iter().filter(|c| c.name != "n" && c.name != "xs").cloned().collect();
        self.view(Query { text, relation: Relation { columns, ..table.clone() } })
    }

    fn unnested(&mut self, table: &Relation) -> Relation {
        self.feature("unnest");
        let join = *self.draw.pick(&["CROSS JOIN UNNEST(xs) AS u (x)", "LEFT JOIN UNNEST(xs) AS u (x) ON TRUE"]);
        let text = format!("SELECT id, k, g, ts, v, d, c, b, x\nFROM {} {join}", table.name);
        let mut columns: Vec<Column> =
            table.columns.iter().filter(|c| !["n", "m", "xs"].contains(&c.name.as_str())).cloned().collect();
        columns.push(Column::new("x", Type::Int));
        self.view(Query { text, relation: Relation { columns, unique: Vec::new(), ..table.clone() } })
    }

    /// Gives a query a name.
    pub fn view(&mut self, query: Query) -> Relation {
        let name = format!("view{}", self.view_count);
        self.view_count += 1;
        self.views.push_str(&format!("CREATE VIEW {name} AS\n{};\n\n", query.text));
        Relation { name, ..query.relation }
    }

    /// The result, or one of several.
    pub fn insert(&mut self, query: Query) {
        let name = if self.sinks.is_empty() { "results".to_string() } else { format!("more{}", self.sinks.len()) };
        self.sinks.push((name, query));
    }

    /// The result is updated row by row.
    pub fn insert_updates(&mut self, query: Query) {
        self.changelog = true;
        self.insert(query);
    }

    /// Names and texts of the input files.
    pub fn files(&self) -> Vec<(String, &str)> {
        self.tables.iter().map(|table| (format!("{}.csv", table.relation.name), table.csv.as_str())).collect()
    }

    /// The script.
    pub fn text(&self) -> String {
        let mut text = "SET 'execution.runtime-mode' = 'streaming';\nSET 'parallelism.default' = '1';\n\
                        SET 'pipeline.auto-watermark-interval' = '0';\n"
            .to_string();
        if self.clock.zone != "UTC" {
            text.push_str(&format!("SET 'table.local-time-zone' = '{}';\n", self.clock.zone));
        }
        for table in &self.tables {
            text.push_str(&format!("\n{}", table.statement()));
        }
        text.push('\n');
        text.push_str(&self.views);
        let format = if self.changelog { "debezium-json" } else { "json" };
        let mut inserts = String::new();
        for (name, query) in &self.sinks {
            let columns: Vec<String> =
                query.relation.columns.iter().map(|column| format!("{} {}", column.name, column.sql_type)).collect();
            text.push_str(&format!(
                "CREATE TABLE {name} (\n  {}\n) WITH (\n  'connector' = 'filesystem',\n  'path' = '${{OUT}}/{name}',\n  \
                 'format' = '{format}'\n);\n\n",
                columns.join(", ")
            ));
            inserts.push_str(&format!("INSERT INTO {name}\n{};\n", query.text));
        }
        if self.sinks.len() > 1 {
            format!("{text}EXECUTE STATEMENT SET BEGIN\n{inserts}END;\n")
        } else {
            text + &inserts
        }
    }
}

//! Jobs with much state, and what they must give.

use std::collections::BTreeMap;

/// A job over made-up rows: row `n` has a key and a time that follow from `n`, and the value `n % 1000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub name: &'static str,
    pub about: &'static str,
    kind: Kind,
    /// Keys at scale 1.
    keys: u64,
    /// Memory that it may take, in bytes at scale 1, the rest goes to the disk.
    pub memory: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Windows of an hour, every minute; all keys in each minute.
    EveryKey,
    /// The same; a key in one minute of five.
    OneInFive,
    /// A session of each key.
    Sessions,
    /// A window of a day: all keys once, then one key in a hundred again and again.
    Day,
    /// A window of a day: all keys, in another order each time.
    Busy,
}

const MINUTE: i64 = 60_000;
/// Minutes of rows for windows of an hour.
const MINUTES: u64 = 65;
/// From one key to the next where they come in no order.
const STEP: u64 = 7_919_111;
/// One key in so many is written out and compared.
const CHECKED: u64 = 100_003;

pub const JOBS: [Job; 5] = [
    Job {
        name: "every-key",
        about: "HOP of 1 h every minute, 2 M keys, all in every minute, accumulators of 48 bytes",
        kind: Kind::EveryKey,
        keys: 2_000_000,
        memory: None,
    },
    Job {
        name: "one-in-five",
        about: "the same, 10 M keys, each in one minute of five, 64 bytes, in 9 GiB and the disk",
        kind: Kind::OneInFive,
        keys: 2_000_000,
        memory: Some(9 << 30),
    },
    Job {
        name: "sessions",
        about: "100 M sessions open at once, COUNT and SUM",
        kind: Kind::Sessions,
        keys: 100_000_000,
        memory: None,
    },
    Job {
        name: "checkpoints",
        about: "TUMBLE of a day, 24 M keys, then 1 % of them again and again; a checkpoint each second",
        kind: Kind::Day,
        keys: 24_000_000,
        memory: None,
    },
    Job {
        name: "busy-checkpoints",
        about: "TUMBLE of a day, 1 M keys that all change in each second; a checkpoint each second",
        kind: Kind::Busy,
        keys: 1_000_000,
        memory: None,
    },
];

impl Job {
    pub fn names() -> Vec<&'static str> {
        JOBS.iter().map(|job| job.name).collect()
    }

    pub fn takes_checkpoints(&self) -> bool {
        matches!(self.kind, Kind::Day | Kind::Busy)
    }

    fn keys(&self, scale: u64) -> u64 {
        (self.keys / scale).max(100)
    }

    /// One key in so many is looked at.
    fn checked(scale: u64) -> u64 {
        (CHECKED / scale).max(1)
    }

    pub fn rows(&self, scale: u64) -> u64 {
        let keys = self.keys(scale);
        match self.kind {
            Kind::EveryKey | Kind::OneInFive => keys * MINUTES,
            Kind::Sessions => keys * 6 / 5,
            Kind::Day => keys * 9,
            Kind::Busy => keys * 150,
        }
    }

    fn key(&self, n: u64, keys: u64) -> u64 {
        match self.kind {
            Kind::EveryKey | Kind::Sessions => n % keys,
            Kind::OneInFive => (n % keys) * 5 + n / keys % 5,
            Kind::Day if n < keys => n,
            Kind::Day => n % (keys / 100) * 100,
            Kind::Busy => n * STEP % keys,
        }
    }

    fn time_ms(&self, n: u64, keys: u64) -> i64 {
        let time = match self.kind {
            Kind::EveryKey | Kind::OneInFive => n * 60_000 / keys,
            Kind::Sessions | Kind::Day | Kind::Busy => n * 1_000 / keys,
        };
        time as i64
    }

    /// `output`: the file of the results of some keys. `checkpoints`: the folder where these go, one each second. Some
    /// numbers of rows are printed as they are read.
    pub fn script(&self, scale: u64, output: &str, checkpoints: Option<&str>) -> String {
        let (keys, rows) = (self.keys(scale), self.rows(scale));
        let key = match self.kind {
            Kind::EveryKey | Kind::Sessions => format!("n % {keys}"),
            Kind::OneInFive => format!("(n % {keys}) * 5 + (n / {keys}) % 5"),
            Kind::Busy => format!("n * {STEP} % {keys}"),
            Kind::Day => format!("CASE WHEN n < {keys} THEN n ELSE (n % {}) * 100 END", keys / 100),
        };
        let time = match self.kind {
            Kind::EveryKey | Kind::OneInFive => format!("n * 60000 / {keys}"),
            Kind::Sessions | Kind::Day | Kind::Busy => format!("n * 1000 / {keys}"),
        };
        let (window, partition) = match self.kind {
            Kind::EveryKey | Kind::OneInFive => ("HOP", ", INTERVAL '1' MINUTE, INTERVAL '1' HOUR"),
            Kind::Sessions => ("SESSION", ", INTERVAL '30' MINUTE"),
            Kind::Day | Kind::Busy => ("TUMBLE", ", INTERVAL '1' DAY"),
        };
        let by = if self.kind == Kind::Sessions { " PARTITION BY k" } else { "" };
        let names: Vec<String> = (1..=self.sums().len()).map(|number| format!("s{number}")).collect();
        let sums: Vec<String> =
            self.sums().iter().zip(&names).map(|(sum, name)| format!("SUM({sum}) AS {name}")).collect();
        let columns: Vec<String> = names.iter().map(|name| format!("{name} BIGINT")).collect();
        let settings = checkpoints.map_or(String::new(), |folder| {
            format!(
                "SET 'execution.checkpointing.interval' = '1 s';\nSET 'execution.checkpointing.dir' = '{folder}';\n\
                 SET 'execution.checkpointing.num-retained' = '1000';\n"
            )
        });
        let checked = Self::checked(scale);
        format!(
            "{settings}CREATE TABLE events (n BIGINT, k AS {key}, v AS CAST(n % 1000 AS BIGINT),
               ts AS TO_TIMESTAMP_LTZ({time}, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
             WITH ('connector' = 'datagen', 'number-of-rows' = '{rows}', 'rows-per-second' = '1000000000',
               'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '{last}');
             CREATE TABLE results (k BIGINT, c BIGINT, {columns})
             WITH ('connector' = 'filesystem', 'path' = '{output}', 'format' = 'csv');
             CREATE TABLE seen (n BIGINT) WITH ('connector' = 'print');
             EXECUTE STATEMENT SET BEGIN
             INSERT INTO results SELECT k, c, {names} FROM (
               SELECT k, COUNT(*) AS c, {sums}
               FROM {window}(TABLE events{by}, DESCRIPTOR(ts){partition})
               GROUP BY window_start, window_end, k) WHERE k % {checked} = 0;
             INSERT INTO seen SELECT n FROM events WHERE n % {seen} = 0;
             END;\n",
            last = rows - 1,
            columns = columns.join(", "),
            names = names.join(", "),
            sums = sums.join(", "),
            seen = (keys / 20_000).max(1),
        )
    }

    /// What is added up, for each accumulator behind the count.
    fn sums(&self) -> &'static [&'static str] {
        const SUMS: [&str; 7] = ["v", "v + 1", "v * 2", "v + k", "k", "v * 3", "v + 7"];
        match self.kind {
            Kind::EveryKey => &SUMS[..5],
            Kind::OneInFive | Kind::Day | Kind::Busy => &SUMS,
            Kind::Sessions => &SUMS[..1],
        }
    }

    /// The rows that must come, sorted: key, then count and sums; as many as there are windows of the key.
    pub fn expected(&self, scale: u64) -> Vec<Vec<i64>> {
        let (keys, checked) = (self.keys(scale), Self::checked(scale));
        let mut rows: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
        for n in 0..self.rows(scale) {
            let key = self.key(n, keys);
            if key.is_multiple_of(checked) {
                rows.entry(key).or_default().push((self.time_ms(n, keys), (n % 1_000) as i64));
            }
        }
        let mut expected = Vec::new();
        for (key, rows) in rows {
            for values in self.windows(&rows) {
                expected.push(self.result(key as i64, &values));
            }
        }
        expected.sort();
        expected
    }

    /// The values in each window of a key.
    fn windows(&self, rows: &[(i64, i64)]) -> Vec<Vec<i64>> {
        match self.kind {
            Kind::Sessions | Kind::Day | Kind::Busy => vec![rows.iter().map(|(_, value)| *value).collect()],
            Kind::EveryKey | Kind::OneInFive => {
                let ends = (1..=MINUTES as i64 + 59).map(|minute| minute * MINUTE);
                let within = |end: i64| {
                    let inside = rows.iter().filter(move |(time, _)| (end - 60 * MINUTE..end).contains(time));
                    inside.map(|(_, value)| *value).collect::<Vec<i64>>()
                };
                ends.map(within).filter(|values| !values.is_empty()).collect()
            }
        }
    }

    fn result(&self, key: i64, values: &[i64]) -> Vec<i64> {
        let (count, sum) = (values.len() as i64, values.iter().sum::<i64>());
        let sums = [sum, sum + count, sum * 2, sum + key * count, key * count, sum * 3, sum + 7 * count];
        [&[key, count], &sums[..self.sums().len()]].concat()
    }
}

//! The scripts that are killed: one for each kind of state and of sink.

/// A script over the tables of `super::input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub name: &'static str,
    /// Sinks and statements, behind [`TABLES`].
    body: &'static str,
}

/// What every script begins with. IN, OUT and CHK are folders.
const TABLES: &str = "\
SET 'execution.checkpointing.dir' = '${CHK}';
CREATE TABLE events (ts TIMESTAMP(3), k STRING, v BIGINT, u BIGINT, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '${IN}/events', 'format' = 'csv');
CREATE TABLE rates (ts TIMESTAMP(3), k STRING, w BIGINT, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND,
  PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '${IN}/rates', 'format' = 'json');
";

pub const JOBS: &[Job] = &[
    Job {
        name: "tumble",
        body: "\
CREATE TABLE out (k STRING, ws TIMESTAMP(3), n BIGINT, s BIGINT, d BIGINT, first_u BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/tumble', 'format' = 'json');
INSERT INTO out SELECT k, window_start, COUNT(*), SUM(v), COUNT(DISTINCT u), FIRST_VALUE(u)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;",
    },
    Job {
        name: "hop",
        body: "\
CREATE TABLE out (k STRING, ws TIMESTAMP(3), n BIGINT, a DOUBLE, g BIGINT) PARTITIONED BY (g)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/hop', 'format' = 'csv');
INSERT INTO out SELECT k, window_start, COUNT(*), AVG(CAST(v AS DOUBLE)), CHAR_LENGTH(k)
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY k, window_start, window_end;",
    },
    Job {
        name: "cumulate",
        body: "\
CREATE TABLE out (u BIGINT, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, d BIGINT, m STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/cumulate', 'format' = 'parquet');
INSERT INTO out SELECT u, window_start, window_end, COUNT(*), COUNT(DISTINCT k), MAX(k)
FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE))
GROUP BY u, window_start, window_end;",
    },
    Job {
        name: "session",
        body: "\
CREATE TABLE out (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT, m BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/session.csv', 'format' = 'csv', 'csv.header' = 'true');
INSERT INTO out SELECT k, window_start, window_end, COUNT(*), MIN(v)
FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND))
GROUP BY k, window_start, window_end;",
    },
    Job {
        name: "top-n",
        body: "\
CREATE TABLE out (k STRING, v BIGINT, u BIGINT, ws TIMESTAMP(3), rn BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/top', 'format' = 'json');
INSERT INTO out SELECT k, v, u, window_start, rn FROM (SELECT *, ROW_NUMBER() OVER (
  PARTITION BY window_start, window_end, k ORDER BY v DESC, u) AS rn
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE rn <= 3;",
    },
    Job {
        name: "window-join",
        body: "\
CREATE TABLE out (k STRING, v BIGINT, w BIGINT, ws TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${OUT}/joined.json', 'format' = 'json');
INSERT INTO out SELECT L.k, L.v, R.w, L.window_start
FROM (SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE v < 100) L
LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(ts), INTERVAL '10' SECOND))) R
ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;",
    },
    Job {
        name: "interval-join",
        body: "\
CREATE TABLE out (k STRING, v BIGINT, w BIGINT, t TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${OUT}/near', 'format' = 'csv');
INSERT INTO out SELECT e.k, e.v, r.w, e.ts FROM (SELECT * FROM events WHERE v < 300) e LEFT JOIN rates r
ON e.k = r.k AND r.ts BETWEEN e.ts - INTERVAL '2' SECOND AND e.ts + INTERVAL '1' SECOND;",
    },
    Job {
        name: "temporal-join",
        body: "\
CREATE TABLE out (k STRING, v BIGINT, w BIGINT, t TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '${OUT}/versions.parquet', 'format' = 'parquet');
INSERT INTO out SELECT e.k, e.v, r.w, e.ts FROM (SELECT * FROM events WHERE v < 200) e
LEFT JOIN rates FOR SYSTEM_TIME AS OF e.ts AS r ON e.k = r.k;",
    },
    Job {
        name: "over",
        body: "\
CREATE TABLE out (k STRING, ts TIMESTAMP(3), v BIGINT, n BIGINT, s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/over', 'format' = 'parquet');
INSERT INTO out SELECT k, ts, v, COUNT(*) OVER w, SUM(u) OVER w FROM events WHERE v < 200
WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW);",
    },
    Job {
        name: "group-by",
        body: "\
CREATE TABLE out (k STRING, n BIGINT, s BIGINT, d BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/changes', 'format' = 'debezium-json');
INSERT INTO out SELECT k, COUNT(*), SUM(v), COUNT(DISTINCT u) FROM events WHERE v < 100 GROUP BY k;",
    },
    Job {
        name: "late-firing",
        body: "\
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 ms';
SET 'table.exec.emit.allow-lateness' = '30 s';
CREATE TABLE out (k STRING, ws TIMESTAMP(3), n BIGINT, s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/late', 'format' = 'debezium-json');
INSERT INTO out SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE), COUNT(*), SUM(v)
FROM events GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE);",
    },
    Job {
        name: "stateless",
        body: "\
CREATE TABLE out (ts TIMESTAMP(3), k STRING, v BIGINT, u BIGINT) PARTITIONED BY (u)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/rows', 'format' = 'csv');
INSERT INTO out SELECT ts, k, v * 2, MOD(u, 5) FROM events WHERE v < 200;",
    },
    Job {
        name: "three-sinks",
        body: "\
CREATE TABLE sums (k STRING, ws TIMESTAMP(3), s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/sums', 'format' = 'csv');
CREATE TABLE counts (u BIGINT, ws TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/counts.json', 'format' = 'json');
CREATE TABLE picked (k STRING, v BIGINT, u BIGINT) PARTITIONED BY (u)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/picked', 'format' = 'parquet');
EXECUTE STATEMENT SET BEGIN
INSERT INTO sums SELECT k, window_start, SUM(v)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
INSERT INTO counts SELECT u, window_start, COUNT(*)
FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))
GROUP BY u, window_start, window_end;
INSERT INTO picked SELECT k, v, MOD(u, 3) FROM events WHERE v < 20;
END;",
    },
    Job {
        name: "nexmark",
        body: "\
CREATE TABLE made (event_type INT, person ROW<`dateTime` TIMESTAMP(3)>, auction ROW<`dateTime` TIMESTAMP(3)>,
  bid ROW<auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3)>,
  t AS CASE event_type WHEN 0 THEN person.`dateTime` WHEN 1 THEN auction.`dateTime` ELSE bid.`dateTime` END, WATERMARK FOR t AS t - INTERVAL '4' SECOND)
WITH ('connector' = 'nexmark', 'events.num' = '${ROWS}');
CREATE TABLE out (auction BIGINT, ws TIMESTAMP(3), n BIGINT, p BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/bids', 'format' = 'json');
CREATE VIEW bids AS SELECT bid.auction AS auction, bid.price AS price, t FROM made WHERE event_type = 2;
INSERT INTO out SELECT auction, window_start, COUNT(*), MAX(price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(t), INTERVAL '2' SECOND)) GROUP BY auction, window_start, window_end;",
    },
    Job {
        name: "datagen",
        body: "\
CREATE TABLE made (n BIGINT, k INT, v INT, t AS TO_TIMESTAMP_LTZ(n * 10, 3), WATERMARK FOR t AS t)
WITH ('connector' = 'datagen', 'rows-per-second' = '100000000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1',
  'fields.n.end' = '${ROWS}', 'fields.k.min' = '0', 'fields.k.max' = '99', 'fields.v.min' = '0', 'fields.v.max' = '999');
CREATE TABLE out (k INT, ws TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/made.csv', 'format' = 'csv');
INSERT INTO out SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE made, DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;",
    },
];

impl Job {
    pub fn names() -> Vec<&'static str> {
        JOBS.iter().map(|job| job.name).collect()
    }

    pub fn parse(name: &str) -> Option<Job> {
        JOBS.iter().find(|job| job.name == name).copied()
    }

    /// The whole script.
    pub fn script(&self) -> String {
        format!("{TABLES}{}\n", self.body)
    }
}

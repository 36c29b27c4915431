SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv', 'csv.null-literal' = 'NULL'
);

CREATE TABLE results (
  k STRING, ts TIMESTAMP(3), v INT, s INT, n BIGINT, f INT, l INT, mn INT, a INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, ts, v, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING), COUNT(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING), FIRST_VALUE(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING), LAST_VALUE(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING), MIN(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING), AVG(v) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) FROM src;

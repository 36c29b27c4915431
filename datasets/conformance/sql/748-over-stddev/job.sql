SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv', 'csv.null-literal' = 'NULL'
);

CREATE TABLE results (
  ts TIMESTAMP(3), s DOUBLE, p DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT ts, STDDEV_SAMP(v) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING), VAR_POP(v) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) FROM src;

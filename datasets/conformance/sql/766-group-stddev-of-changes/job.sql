SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE results (
  a DOUBLE, b DOUBLE, c DECIMAL(38, 6), d INT, e DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT STDDEV_POP(s), VAR_SAMP(s), AVG(CAST(s AS DECIMAL(10, 2))), AVG(CAST(s AS INT)), SUM(s)
FROM (SELECT k, SUM(CAST(v AS DOUBLE) / 3) AS s FROM src GROUP BY k);

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
  k STRING, s DOUBLE, a DOUBLE, mi DOUBLE, ma DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT k, SUM(x), AVG(x), MIN(x), MAX(x)
FROM (SELECT k, CASE WHEN v = 3 THEN CAST('NaN' AS DOUBLE) WHEN v = 0 THEN CAST('-0.0' AS DOUBLE) ELSE CAST(v AS DOUBLE) END AS x FROM src)
GROUP BY k;

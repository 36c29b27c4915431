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
  s DECIMAL(38, 0), n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT SUM(d), COUNT(d)
FROM (SELECT k, MAX(CASE WHEN v = 5 THEN CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) ELSE CAST(v AS DECIMAL(38, 0)) END) AS d FROM src GROUP BY k);

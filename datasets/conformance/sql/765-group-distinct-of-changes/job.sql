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
  d BIGINT, s INT, f BIGINT, m INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT COUNT(DISTINCT s), SUM(DISTINCT s), COUNT(DISTINCT s) FILTER (WHERE s > 2), MAX(DISTINCT s)
FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM src GROUP BY k);

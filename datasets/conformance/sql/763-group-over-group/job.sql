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
  n BIGINT, c BIGINT, s BIGINT, mi STRING, ma STRING, a BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT n, COUNT(*), SUM(n), MIN(k), MAX(k), AVG(s)
FROM (SELECT k, COUNT(*) AS n, SUM(v) AS s FROM src GROUP BY k)
GROUP BY n;

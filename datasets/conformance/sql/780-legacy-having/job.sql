SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  x STRING, n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT CAST(TUMBLE_START(ts, INTERVAL '10' SECOND) AS STRING) || k, COUNT(*)
FROM src
GROUP BY TUMBLE(ts, INTERVAL '10' SECOND), k, TUMBLE(ts, INTERVAL '10' SECOND)
HAVING TUMBLE_END(ts, INTERVAL '10' SECOND) > TIMESTAMP '2024-05-01 12:00:10' AND COUNT(*) >= 1;

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
  ws TIMESTAMP(3), n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT ws, COUNT(*)
FROM (SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, TUMBLE_END(ts, INTERVAL '10' SECOND) AS we FROM src GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND))
GROUP BY ws, we;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Europe/Berlin';

CREATE TABLE src (
  k STRING, ms BIGINT, v INT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), rt TIMESTAMP_LTZ(3), s INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, HOP_START(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), HOP_END(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), HOP_ROWTIME(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), SUM(v)
FROM src
GROUP BY k, HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR);

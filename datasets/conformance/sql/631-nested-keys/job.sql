SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE src (
  r ROW<k STRING, d DOUBLE>, a ARRAY<INT>, m MAP<STRING, INT>, s STRING, v INT, t ROW<moment TIMESTAMP(3)>,
  ts AS t.moment,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  r ROW<k STRING, d DOUBLE>, a ARRAY<INT>, m MAP<STRING, INT>, b BYTES, window_start TIMESTAMP(3), n BIGINT, total INT, arrays BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT r, a, m, CAST(s AS BYTES), window_start, COUNT(*), SUM(v), COUNT(DISTINCT a)
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE v > 0
GROUP BY r, a, m, CAST(s AS BYTES), window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
SET 'table.local-time-zone' = 'America/Los_Angeles';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, k STRING, ts0 TIMESTAMP(3), v INT, d DOUBLE, ts AS CAST(ts0 AS TIMESTAMP_LTZ(3)),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE results (
  id INT, k STRING, v INT, rn BIGINT, window_start TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT id, k, v, rn, window_start FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS rn
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' HOUR)))
WHERE rn <= 1;

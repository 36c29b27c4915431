SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Europe/Berlin';

CREATE TABLE src (
  k STRING, ts TIMESTAMP_LTZ(3), v INT,
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, s INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '15' SECOND))
GROUP BY k, window_start, window_end;

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

CREATE VIEW small AS
SELECT k, window_start AS ws, window_end AS we, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY k, window_start, window_end, window_time
HAVING COUNT(*) < 4;

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), last TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, MAX(we) AS last
FROM TABLE(TUMBLE(TABLE small, DESCRIPTOR(window_time), INTERVAL '15' SECOND))
WHERE n <= 15 AND k <> 'b'
GROUP BY k, window_start, window_end;

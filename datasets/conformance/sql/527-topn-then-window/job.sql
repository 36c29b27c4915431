SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, k STRING, ts TIMESTAMP(3), v INT, d DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE results (
  c BIGINT, s INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE TEMPORARY VIEW top2 AS
SELECT v, window_time FROM (
SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS rn
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)))
WHERE rn <= 2;
INSERT INTO results
SELECT COUNT(*), SUM(v), window_start, window_end
FROM TABLE(TUMBLE(TABLE top2, DESCRIPTOR(window_time), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;

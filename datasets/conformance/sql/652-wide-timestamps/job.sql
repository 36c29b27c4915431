SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE src (
  id INT, rt TIMESTAMP(3), t9 TIMESTAMP(9), z7 TIMESTAMP_LTZ(7),
  WATERMARK FOR rt AS rt
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  w TIMESTAMP(3),
  t9 TIMESTAMP(9),
  n BIGINT,
  lo TIMESTAMP_LTZ(7),
  hi TIMESTAMP_LTZ(7),
  s STRING,
  plus TIMESTAMP(9),
  fl TIMESTAMP(9),
  y BIGINT,
  ns BIGINT,
  diff INT,
  cmp BOOLEAN,
  dt DATE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT
  window_start AS w,
  t9,
  COUNT(*) AS n,
  MIN(z7) AS lo,
  MAX(z7) AS hi,
  CAST(MAX(t9) AS STRING) AS s,
  MAX(t9) + INTERVAL '0.001' SECOND AS plus,
  FLOOR(MIN(t9) TO DAY) AS fl,
  EXTRACT(YEAR FROM t9) AS y,
  EXTRACT(NANOSECOND FROM t9) AS ns,
  TIMESTAMPDIFF(DAY, t9, TIMESTAMP '2000-01-01 00:00:00') AS diff,
  t9 < TIMESTAMP '2262-04-11 23:47:16.854775808' AS cmp,
  CAST(t9 AS DATE) AS dt
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(rt), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, t9;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Europe/Berlin';

CREATE TABLE src (
  ts TIMESTAMP_LTZ(3),
  ks STRING,
  kd DECIMAL(6, 2),
  kt DATE,
  kb BOOLEAN,
  ki TINYINT,
  kc CHAR(2),
  n INT,
  b BIGINT,
  s SMALLINT,
  t TINYINT,
  f FLOAT,
  d DOUBLE,
  m DECIMAL(10, 3),
  w DECIMAL(38, 4),
  x STRING,
  dt DATE,
  tm TIMESTAMP(3),
  bo BOOLEAN,
  h DECIMAL(20, 8),
  WATERMARK FOR ts AS ts - INTERVAL '3' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  kd DECIMAL(6, 2),
  ki TINYINT,
  ks STRING,
  kx STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 TINYINT,
  a1 DECIMAL(38, 6),
  a2 DECIMAL(38, 4),
  a3 BIGINT,
  a4 DECIMAL(38, 4)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT kd, ki, ks, COALESCE(x, 'null') AS kx, window_start, window_end, MAX(t) AS a0, AVG(w) AS a1, SUM(w) AS a2, COUNT(w) AS a3, MIN(w) AS a4
FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '15' MINUTE, INTERVAL '30' MINUTE, INTERVAL '10' MINUTE))
WHERE kd < 1.5
GROUP BY ki, window_start, COALESCE(x, 'null'), ks, window_end, kd;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'America/New_York';

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
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  window_time TIMESTAMP_LTZ(3),
  a0 BIGINT,
  a1 BIGINT,
  a2 DATE,
  a3 BIGINT,
  a4 TIMESTAMP(3),
  a5 BIGINT,
  a6 BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT window_start, window_end, window_time, MAX(b) AS a0, AVG(b) AS a1, MAX(DISTINCT dt) AS a2, STDDEV_POP(b) AS a3, MIN(tm) FILTER (WHERE kb IS NOT TRUE) AS a4, SUM(b) AS a5, COUNT(b) AS a6
FROM TABLE(SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '10' MINUTE))
GROUP BY window_start, window_time, window_end;

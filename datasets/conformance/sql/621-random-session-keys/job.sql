SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  ts TIMESTAMP(3),
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
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  ki TINYINT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 TINYINT,
  a1 DATE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT ki, window_start, window_end, STDDEV_SAMP(t) AS a0, MIN(kt) AS a1
FROM TABLE(SESSION(TABLE src PARTITION BY ki, DESCRIPTOR(ts), INTERVAL '8' SECOND))
GROUP BY window_end, ki, window_start
HAVING COUNT(*) > 1;

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
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  kt DATE,
  ki TINYINT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 STRING,
  a1 INT,
  a2 INT,
  a3 BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT kt, ki, window_start, window_end, MAX(ks) AS a0, SUM(n) AS a1, COALESCE(SUM(n), 0) AS a2, AVG(b) + AVG(b) AS a3
FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE, INTERVAL '2' MINUTE))
WHERE MOD(n, 2) = 0
GROUP BY ki, window_start, kt, window_end;

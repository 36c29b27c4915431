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
  WATERMARK FOR ts AS ts - INTERVAL '60' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  kt DATE,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 DOUBLE,
  a1 TIMESTAMP(3),
  a2 FLOAT,
  a3 DOUBLE,
  a4 TIMESTAMP(3),
  a5 BIGINT,
  a6 DOUBLE,
  a7 BIGINT,
  a8 DOUBLE,
  a9 DATE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW u AS
SELECT * FROM src WHERE f >= 0
UNION ALL
SELECT * FROM src WHERE n IS NOT NULL;

INSERT INTO results
SELECT kt, window_start, window_end, STDDEV_POP(d) AS a0, MIN(tm) FILTER (WHERE x = 'p') AS a1, MAX(f) AS a2, MIN(d) AS a3, MIN(DISTINCT tm) AS a4, COUNT(kc) AS a5, AVG(d) AS a6, COUNT(d) AS a7, SUM(d) AS a8, CAST(window_end AS DATE) AS a9
FROM TABLE(HOP(TABLE u, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '5' SECOND))
GROUP BY window_end, window_start, kt;

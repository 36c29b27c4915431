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
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  ks STRING,
  kt DATE,
  ki TINYINT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 DECIMAL(10, 3),
  a1 DECIMAL(38, 4),
  a2 INT,
  a3 INT,
  a4 INT,
  a5 STRING,
  a6 SMALLINT,
  a7 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT ks, kt, ki, window_start, window_end, MIN(m) FILTER (WHERE ks <> 'q') AS a0, SUM(w) AS a1, MIN(n) FILTER (WHERE kb) AS a2, SUM(n) FILTER (WHERE kb) AS a3, MAX(n) FILTER (WHERE kb) AS a4, MIN(x) AS a5, SUM(s) AS a6, CAST(ROUND(AVG(m), 2) AS STRING) AS a7
FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '6' SECOND))
GROUP BY ks, window_start, window_end, kt, ki
HAVING MAX(n) IS NOT NULL;

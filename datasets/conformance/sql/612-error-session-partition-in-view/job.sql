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
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  kc CHAR(2),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 STRING,
  a1 DECIMAL(38, 3),
  a2 INT,
  a3 DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW v1 AS
SELECT kc, ki, kd, MAX(dt) AS dt, AVG(d) AS d, MAX(b) AS b, MIN(x) AS x, SUM(f) AS f, SUM(m) AS m, window_time AS ts
FROM TABLE(SESSION(TABLE src PARTITION BY (kc, ki, kd), DESCRIPTOR(ts), INTERVAL '6' SECOND))
GROUP BY kc, ki, kd, window_start, window_end, window_time;

INSERT INTO results
SELECT kc, window_start, window_end, MAX(x) AS a0, SUM(m) FILTER (WHERE m < 1.5) AS a1, TIMESTAMPDIFF(SECOND, window_start, window_end) AS a2, CAST(SUM(m) AS DOUBLE) AS a3
FROM TABLE(SESSION(TABLE v1 PARTITION BY kc, DESCRIPTOR(ts), INTERVAL '3' SECOND))
WHERE x IS NULL
GROUP BY window_start, kc, window_end
HAVING COUNT(DISTINCT x) > 1;

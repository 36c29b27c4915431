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
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 BIGINT,
  a1 BIGINT,
  a2 FLOAT,
  a3 BOOLEAN,
  a4 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW v1 AS
SELECT MAX(tm) AS tm, MAX(w) AS w, AVG(f) AS f, MAX(m) AS m, MIN(dt) AS dt, SUM(t) AS t, COUNT(*) AS b, window_time AS ts
FROM TABLE(SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '6' SECOND))
GROUP BY window_start, window_end, window_time;

CREATE VIEW v2 AS
SELECT SUM(t) AS t, AVG(b) AS b, AVG(w) AS w, MIN(f) AS f, MAX(tm) AS tm, MAX(m) AS m, window_time AS ts
FROM TABLE(SESSION(TABLE v1, DESCRIPTOR(ts), INTERVAL '2' SECOND))
GROUP BY window_start, window_end, window_time;

INSERT INTO results
SELECT window_start, window_end, MAX(b) AS a0, COUNT(*) AS a1, SUM(f) AS a2, MAX(tm) > window_start AS a3, DATE_FORMAT(window_start, 'yyyy-MM-dd HH:mm') AS a4
FROM TABLE(HOP(TABLE v2, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '6' SECOND, INTERVAL '2' SECOND))
GROUP BY window_start, window_end;

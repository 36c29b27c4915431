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
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 BIGINT,
  a1 BIGINT,
  a2 BIGINT,
  a3 BIGINT,
  a4 BIGINT,
  a5 FLOAT,
  a6 BIGINT,
  a7 INT,
  a8 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW v1 AS
SELECT SUM(f) AS f, MIN(tm) AS tm, SUM(h) AS h, MIN(m) AS m, MIN(w) AS w, MAX(dt) AS dt, COUNT(*) AS b, window_time AS ts
FROM TABLE(SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '3' SECOND))
WHERE dt >= DATE '2020-02-29'
GROUP BY window_start, window_end, window_time
HAVING AVG(n) > 0 OR COUNT(*) = 1;

INSERT INTO results
SELECT window_start, window_end, SUM(b) AS a0, MAX(b) AS a1, COUNT(DISTINCT b) FILTER (WHERE h < 1.5) AS a2, COUNT(b) AS a3, VAR_SAMP(b) AS a4, MAX(f) AS a5, AVG(b) AS a6, TIMESTAMPDIFF(SECOND, MIN(tm), MAX(tm)) AS a7, CAST(AVG(f) AS STRING) AS a8
FROM TABLE(TUMBLE(TABLE v1, DESCRIPTOR(ts), INTERVAL '6' SECOND, INTERVAL '-1' SECOND))
GROUP BY window_end, window_start;

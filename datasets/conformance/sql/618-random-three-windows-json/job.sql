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
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  ks STRING,
  ki TINYINT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 TINYINT,
  a1 DECIMAL(20, 8),
  a2 DECIMAL(20, 8),
  a3 BIGINT,
  a4 BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW v1 AS
SELECT ki, ks, SUM(d) AS d, MAX(dt) AS dt, MIN(h) AS h, MIN(w) AS w, MAX(bo) AS bo, MIN(t) AS t, COUNT(*) AS b, window_time AS ts
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '20' SECOND))
GROUP BY ki, ks, window_start, window_end, window_time;

CREATE VIEW v2 AS
SELECT ki, ks, SUM(d) AS d, MIN(bo) AS bo, MAX(h) AS h, MAX(b) AS b, MAX(t) AS t, MAX(w) AS w, window_time AS ts
FROM TABLE(HOP(TABLE v1, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '35' SECOND, INTERVAL '-3' SECOND))
GROUP BY ki, ks, window_start, window_end, window_time;

INSERT INTO results
SELECT ks, ki, window_start, window_end, MAX(ki) FILTER (WHERE MOD(t, 2) = 0) AS a0, MIN(DISTINCT h) AS a1, MIN(h) AS a2, MAX(b) AS a3, COUNT(ki) FILTER (WHERE MOD(t, 2) = 0) AS a4
FROM TABLE(TUMBLE(TABLE v2, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' SECOND))
WHERE w < -3.25
GROUP BY window_start, window_end, ki, ks;

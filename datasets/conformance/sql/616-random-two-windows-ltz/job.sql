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
  ks STRING,
  kb BOOLEAN,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  window_time TIMESTAMP_LTZ(3),
  a0 BOOLEAN,
  a1 FLOAT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

CREATE VIEW v1 AS
SELECT ks, kb, MIN(tm) AS tm, MAX(f) AS f, MIN(d) AS d, MAX(s) AS s, SUM(t) AS t, MAX(bo) AS bo, COUNT(*) AS b, window_time AS ts
FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '30' MINUTE, INTERVAL '90' MINUTE))
GROUP BY ks, kb, window_start, window_end, window_time;

INSERT INTO results
SELECT ks, kb, window_start, window_end, window_time, MIN(bo) FILTER (WHERE t > 1) AS a0, SUM(f) AS a1
FROM TABLE(CUMULATE(DATA => TABLE v1, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '60' MINUTE, SIZE => INTERVAL '2' HOUR))
GROUP BY window_start, ks, window_time, kb, window_end;

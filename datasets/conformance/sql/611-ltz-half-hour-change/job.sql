SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Australia/Lord_Howe';

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
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  kd DECIMAL(6, 2),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  a0 BIGINT,
  a1 DECIMAL(38, 8)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT kd, window_start, window_end, COUNT(tm) FILTER (WHERE m < 1.5) AS a0, SUM(h) AS a1
FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE, INTERVAL '4' MINUTE))
GROUP BY window_start, window_end, kd;

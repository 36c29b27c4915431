SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE src (
  id INT, t0 TIMESTAMP(0), t3 TIMESTAMP(3), t6 TIMESTAMP(6), z0 TIMESTAMP_LTZ(0), z3 TIMESTAMP_LTZ(3), t9 TIMESTAMP(9),
  WATERMARK FOR t3 AS t3 - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  id INT,
  a TIMESTAMP(0),
  b TIMESTAMP(3),
  c TIMESTAMP(6),
  d TIMESTAMP_LTZ(0),
  e TIMESTAMP_LTZ(3),
  f TIMESTAMP(9),
  g TIMESTAMP(9),
  h TIMESTAMP(0),
  i TIMESTAMP(3),
  j TIMESTAMP(6),
  k TIMESTAMP_LTZ(9),
  l STRING,
  m STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT
  id,
  t0 AS a,
  t3 AS b,
  t6 AS c,
  z0 AS d,
  z3 AS e,
  t9 AS f,
  t3 AS g,
  t3 AS h,
  t6 AS i,
  t9 AS j,
  z3 AS k,
  CAST(t3 AS STRING) AS l,
  CAST(t0 AS STRING) AS m
FROM src WHERE id <> 99;

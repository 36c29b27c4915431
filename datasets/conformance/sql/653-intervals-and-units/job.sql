SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE src (
  id INT, a TIMESTAMP(3), b TIMESTAMP(3), d DATE, e DATE, x TIME, y TIME, z STRING, q DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  id INT,
  c01 STRING,
  c02 STRING,
  c03 STRING,
  c04 STRING,
  c05 STRING,
  c06 TIMESTAMP(3),
  c07 BOOLEAN,
  c08 BIGINT,
  c09 INT,
  c10 BIGINT,
  c11 INT,
  c12 INT,
  c13 INT,
  c14 BOOLEAN,
  c15 BOOLEAN,
  c16 BOOLEAN,
  c17 BOOLEAN,
  c18 BOOLEAN,
  c19 STRING,
  c20 STRING,
  c21 TIMESTAMP_LTZ(3),
  c22 TIMESTAMP_LTZ(6),
  c23 TIMESTAMP_LTZ(3),
  c24 DATE,
  c25 DATE,
  c26 STRING,
  c27 BOOLEAN
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT
  id,
  CAST((a - b) DAY TO SECOND AS STRING) AS c01,
  CAST((a - b) YEAR TO MONTH AS STRING) AS c02,
  CAST((d - e) DAY AS STRING) AS c03,
  CAST((d - e) MONTH AS STRING) AS c04,
  CAST((x - y) HOUR TO SECOND AS STRING) AS c05,
  b + (a - b) DAY TO SECOND AS c06,
  (a - b) SECOND > INTERVAL '1' HOUR AS c07,
  EXTRACT(HOUR FROM (a - b) DAY TO SECOND) AS c08,
  TIMESTAMPDIFF(MILLISECOND, a, b) AS c09,
  TIMESTAMPDIFF(NANOSECOND, a, b) AS c10,
  TIMESTAMPDIFF(DECADE, a, b) AS c11,
  TIMESTAMPDIFF(CENTURY, a, b) AS c12,
  TIMESTAMPDIFF(SECOND, x, y) AS c13,
  (a, b) OVERLAPS (TIMESTAMP '2024-01-15 00:00:00', INTERVAL '2' DAY) AS c14,
  (d, e) OVERLAPS (DATE '2024-02-29', DATE '2024-03-01') AS c15,
  id BETWEEN SYMMETRIC 4 AND 2 AS c16,
  id NOT BETWEEN SYMMETRIC 4 AND 2 AS c17,
  id BETWEEN ASYMMETRIC 4 AND 2 AS c18,
  DATE_FORMAT(a, 'B W F') AS c19,
  CONVERT_TZ('2024-07-01 00:00:00', 'UTC', z) AS c20,
  TO_TIMESTAMP_LTZ(q, 0) AS c21,
  TO_TIMESTAMP_LTZ('2024-01-01 00:00:00.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS') AS c22,
  TO_TIMESTAMP_LTZ('2024-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss', z) AS c23,
  CEIL(d TO DAY) AS c24,
  FLOOR(d TO HOUR) AS c25,
  CAST(d + INTERVAL '1' DAY AS STRING) AS c26,
  CAST(0.1 AS FLOAT) = 0.1 AS c27
FROM src;

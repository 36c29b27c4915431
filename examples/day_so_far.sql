-- The day so far at every airport: every three hours the totals since midnight, written to files.
--
--   transom run examples/day_so_far.sql         (writes out/day_so_far)
--
-- No row is late with a bound of 22 hours.
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE flights (
  departed  TIMESTAMP(3),
  scheduled TIMESTAMP(3),
  carrier   STRING,
  flight    INT,
  tailnum   STRING,
  origin    STRING,
  dest      STRING,
  dep_delay INT,
  arr_delay INT,
  air_time  INT,
  distance  INT,
  WATERMARK FOR departed AS departed - INTERVAL '22' HOUR
) WITH (
  'connector' = 'filesystem',
  'path' = 'datasets/flights/flights-2013-01.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NA'
);

CREATE TABLE day_so_far (
  window_start  TIMESTAMP(3),
  window_end    TIMESTAMP(3),
  origin        STRING,
  flights       BIGINT,
  average_delay DOUBLE,
  air_minutes   BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = 'out/day_so_far',
  'format' = 'json'
);

INSERT INTO day_so_far
SELECT
  window_start,
  window_end,
  origin,
  COUNT(*),
  AVG(CAST(dep_delay AS DOUBLE)),
  SUM(CAST(air_time AS BIGINT))
FROM TABLE(CUMULATE(TABLE flights, DESCRIPTOR(departed), INTERVAL '3' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin;

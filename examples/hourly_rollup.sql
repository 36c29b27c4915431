-- Departures of every hour at every airport, written to files.
--
--   transom run examples/hourly_rollup.sql      (writes out/hourly_rollup)
--
-- No row is late with a bound of 22 hours; with 6 hours it would be 1506 of 26483.
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

CREATE TABLE hourly_rollup (
  window_start  TIMESTAMP(3),
  window_end    TIMESTAMP(3),
  origin        STRING,
  flights       BIGINT,
  carriers      BIGINT,
  delayed       BIGINT,
  average_delay DOUBLE,
  miles         BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = 'out/hourly_rollup',
  'format' = 'json'
);

INSERT INTO hourly_rollup
SELECT
  window_start,
  window_end,
  origin,
  COUNT(*),
  COUNT(DISTINCT carrier),
  COUNT(*) FILTER (WHERE dep_delay > 15),
  AVG(CAST(dep_delay AS DOUBLE)),
  SUM(CAST(distance AS BIGINT))
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(departed), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin;

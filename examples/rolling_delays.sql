-- Bad stretches: six-hour windows, a new one every hour, in which a carrier with at least 20 departures
-- was more than an hour late on average.
--
--   transom run examples/rolling_delays.sql
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

SELECT
  window_start,
  window_end,
  carrier,
  COUNT(*)                                  AS flights,
  ROUND(AVG(CAST(dep_delay AS DOUBLE)), 1)  AS average_delay,
  MAX(dep_delay)                            AS longest_delay
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(departed), INTERVAL '1' HOUR, INTERVAL '6' HOUR))
GROUP BY window_start, window_end, carrier
HAVING COUNT(*) >= 20 AND AVG(CAST(dep_delay AS DOUBLE)) > 60;

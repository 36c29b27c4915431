-- Bursts of flights: an aircraft that left New York at least four times, never more than six hours apart.
--
--   transom run examples/aircraft_bursts.sql
--
-- No row is late with a bound of 22 hours. A session ends when the aircraft was not seen for longer than the gap.
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
  tailnum,
  window_start              AS first_departure,
  window_end                AS quiet_since,
  COUNT(*)                  AS flights,
  COUNT(DISTINCT dest)      AS destinations,
  SUM(distance)             AS miles
FROM TABLE(SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(departed), INTERVAL '6' HOUR))
GROUP BY tailnum, window_start, window_end
HAVING COUNT(*) >= 4;

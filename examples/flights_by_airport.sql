-- How punctual was each of New York's airports, day by day, in January 2013?
--
--   transom run examples/flights_by_airport.sql
--
-- The file is in the order of the timetable, the event time is when a flight really left: rows are out of
-- order by their delays. The longest delay of the month is 21 h 41 min, so a bound of 22 hours loses no row.
-- (A bound of 6 hours would lose 1131 of 26483: flights that left many hours late pull the watermark ahead.)
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
  origin,
  COUNT(*)                                  AS flights,
  ROUND(AVG(CAST(dep_delay AS DOUBLE)), 1)  AS average_delay,
  MAX(dep_delay)                            AS longest_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(departed), INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin;

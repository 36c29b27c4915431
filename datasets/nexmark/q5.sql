-- Query 5: the auctions with the most bids in the last 10 seconds, every 2 seconds. A window join of two aggregations
-- over the same sliding windows.

CREATE TABLE results (
  auction BIGINT, num BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT counts.auction, counts.num
FROM (
  SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
) AS counts
JOIN (
  SELECT MAX(num) AS most, starttime, endtime
  FROM (
    SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
  )
  GROUP BY starttime, endtime
) AS maxima
ON counts.starttime = maxima.starttime AND counts.endtime = maxima.endtime AND counts.num >= maxima.most;

-- Query 8: people who came and opened an auction within the same 10 seconds. A window join.

CREATE TABLE results (
  id BIGINT, name STRING, stime TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT p.id, p.name, p.starttime
FROM (
  SELECT id, name, window_start AS starttime, window_end AS endtime
  FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY id, name, window_start, window_end
) AS p
JOIN (
  SELECT seller, window_start AS starttime, window_end AS endtime
  FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY seller, window_start, window_end
) AS a
ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime;

-- Query 11: how many bids a person makes without a pause of 10 seconds. A session window, in the older syntax.

CREATE TABLE results (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bidder, COUNT(*),
  SESSION_START(`dateTime`, INTERVAL '10' SECOND), SESSION_END(`dateTime`, INTERVAL '10' SECOND)
FROM bid
GROUP BY bidder, SESSION(`dateTime`, INTERVAL '10' SECOND);

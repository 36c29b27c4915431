-- Query 12: how many bids a person makes in every 10 seconds of processing time.

CREATE TABLE results (
  bidder BIGINT, bid_count BIGINT, starttime TIMESTAMP(3), endtime TIMESTAMP(3)
) WITH ('connector' = 'blackhole');

CREATE VIEW timed AS
SELECT *, PROCTIME() AS p_time
FROM bid;

INSERT INTO results
SELECT bidder, COUNT(*), window_start, window_end
FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(p_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end;

-- Query 7: the highest bids of every 10 seconds. The bids are joined with the maximum of each window on the price; the
-- time is an ordinary condition, so this is a join without a window.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT b.auction, b.bidder, b.price, b.`dateTime`, b.extra
FROM bid AS b
JOIN (
  SELECT MAX(price) AS maxprice, window_end AS `dateTime`
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS m
ON b.price = m.maxprice
WHERE b.`dateTime` BETWEEN m.`dateTime` - INTERVAL '10' SECOND AND m.`dateTime`;

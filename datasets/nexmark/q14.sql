-- Query 14: the bids of a range of prices, with the time of day in words and how often `c` occurs in `extra`. The
-- benchmark counts with a function written in Java; here built-in functions do.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), bidTimeType STRING, `dateTime` TIMESTAMP(3), extra STRING,
  c_counts BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, bidder, 0.908 * price,
  CASE
    WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
    WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END,
  `dateTime`, extra,
  CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', ''))
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;

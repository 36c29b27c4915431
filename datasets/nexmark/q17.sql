-- Query 17: the bids of each auction and day, in all and for three ranges of prices, and their prices.

CREATE TABLE results (
  auction BIGINT, `day` STRING,
  total_bids BIGINT, rank1_bids BIGINT, rank2_bids BIGINT, rank3_bids BIGINT,
  min_price BIGINT, max_price BIGINT, avg_price BIGINT, sum_price BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT
  auction,
  DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'),
  COUNT(*),
  COUNT(*) FILTER (WHERE price < 10000),
  COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000),
  COUNT(*) FILTER (WHERE price >= 1000000),
  MIN(price), MAX(price), AVG(price), SUM(price)
FROM bid
GROUP BY auction, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd');

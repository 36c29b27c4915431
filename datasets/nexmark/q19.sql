-- Query 19: the ten highest bids of each auction. A Top-N without a window, with the rank in the result.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING,
  rank_number BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT *
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
  FROM bid
)
WHERE rank_number <= 10;

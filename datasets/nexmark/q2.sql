-- Query 2: the bids for one auction in 123.

CREATE TABLE results (
  auction BIGINT, price BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, price
FROM bid
WHERE MOD(auction, 123) = 0;

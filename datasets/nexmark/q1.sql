-- Query 1: the prices of all bids in another currency.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, bidder, 0.908 * price, `dateTime`, extra
FROM bid;

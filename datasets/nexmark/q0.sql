-- Query 0: every bid as it is. What remains is the cost of reading and writing.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, bidder, price, `dateTime`, extra
FROM bid;

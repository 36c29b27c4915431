-- Query 20: each bid for an auction of category 10, with that auction. A join without a window.

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, bid_dateTime TIMESTAMP(3), bid_extra STRING,
  itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, auction_dateTime TIMESTAMP(3),
  expires TIMESTAMP(3), seller BIGINT, category BIGINT, auction_extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT auction, bidder, price, channel, url, b.`dateTime`, b.extra,
  itemName, description, initialBid, reserve, a.`dateTime`, expires, seller, category, a.extra
FROM bid AS b
INNER JOIN auction AS a ON b.auction = a.id
WHERE a.category = 10;

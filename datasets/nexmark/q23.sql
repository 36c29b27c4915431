-- Query 23: the bids of people who sell something too, with the person and what they sell. Two joins without windows.

CREATE TABLE results (
  bidder BIGINT, price BIGINT, channel STRING, url STRING, bid_extra STRING,
  person_id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
  person_extra STRING,
  itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, auction_dateTime TIMESTAMP(3),
  expires TIMESTAMP(3), seller BIGINT, category BIGINT, auction_extra STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT bidder, price, channel, url, b.extra,
  p.id, name, emailAddress, creditCard, city, state, p.extra,
  itemName, description, initialBid, reserve, a.`dateTime`, expires, seller, category, a.extra
FROM bid AS b
JOIN person AS p ON p.id = b.bidder
JOIN auction AS a ON a.seller = b.bidder;

-- Query 6: the average price of the last 10 auctions of each seller. Flink refuses it: such an OVER needs the order of
-- the event time, and rows of a join have none.

CREATE TABLE results (
  seller BIGINT, avg_price BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT seller, AVG(price) OVER (PARTITION BY seller ORDER BY `dateTime` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id, seller ORDER BY price DESC) AS rownum
  FROM (
    SELECT a.id, a.seller, b.price, b.`dateTime`
    FROM auction AS a, bid AS b
    WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires
  )
)
WHERE rownum <= 1;

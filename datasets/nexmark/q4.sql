-- Query 4: the average price at which auctions of a category end. An aggregation over an aggregation over a join.

CREATE TABLE results (
  category BIGINT, avg_price BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT category, AVG(final)
FROM (
  SELECT MAX(b.price) AS final, a.category
  FROM auction AS a, bid AS b
  WHERE a.id = b.auction AND b.`dateTime` BETWEEN a.`dateTime` AND a.expires
  GROUP BY a.id, a.category
)
GROUP BY category;

SET 'execution.checkpointing.interval' = '1 h';
SET 'execution.checkpointing.dir' = 'checkpoints';

CREATE TABLE bids (
  ts TIMESTAMP(3),
  item STRING,
  bidder INT,
  price DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'bids.csv', 'format' = 'csv');

CREATE TABLE sales (
  ts TIMESTAMP(3),
  item STRING,
  seller STRING,
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'sales.json', 'format' = 'json');

CREATE TABLE minutes (
  window_start TIMESTAMP(3), item STRING, bids BIGINT, bidders BIGINT, total DOUBLE, last_price DOUBLE
) WITH ('connector' = 'filesystem', 'path' = 'out/minutes', 'format' = 'json');

CREATE TABLE best (
  window_start TIMESTAMP(3), item STRING, bidder INT, price DOUBLE, place BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/best.csv', 'format' = 'csv');

CREATE TABLE visits (
  window_start TIMESTAMP(3), window_end TIMESTAMP(3), bidder INT, bids BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/visits', 'format' = 'csv');

CREATE TABLE near (
  ts TIMESTAMP(3), item STRING, seller STRING, price DOUBLE
) WITH ('connector' = 'filesystem', 'path' = 'out/near', 'format' = 'json');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO minutes
SELECT window_start, item, COUNT(*), COUNT(DISTINCT bidder), SUM(price), LAST_VALUE(price)
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, item;

INSERT INTO best
SELECT window_start, item, bidder, price, place
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC, bidder) AS place
  FROM TABLE(HOP(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE))
)
WHERE place <= 2;

INSERT INTO visits
SELECT window_start, window_end, bidder, COUNT(*)
FROM TABLE(SESSION(TABLE bids PARTITION BY bidder, DESCRIPTOR(ts), INTERVAL '45' SECOND))
GROUP BY window_start, window_end, bidder;

INSERT INTO near
SELECT s.ts, s.item, s.seller, b.price
FROM sales AS s LEFT JOIN bids AS b
  ON s.item = b.item AND b.ts BETWEEN s.ts - INTERVAL '1' MINUTE AND s.ts;
END;

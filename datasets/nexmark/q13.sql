-- Query 13: each bid with a text that a file has for its auction. A lookup join; SIDE is the file, CSV with a number
-- and a text in a line.

CREATE TABLE side_input (
  key BIGINT, `value` STRING
) WITH ('connector' = 'filesystem', 'path' = '${SIDE}', 'format' = 'csv');

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), `value` STRING
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT b.auction, b.bidder, b.price, b.`dateTime`, s.`value`
FROM (SELECT *, PROCTIME() AS p_time FROM bid) AS b
JOIN side_input FOR SYSTEM_TIME AS OF b.p_time AS s
ON MOD(b.auction, 10000) = s.key;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE datagen (
  event_type INT,
  person ROW<
    id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
    `dateTime` TIMESTAMP(3), extra STRING>,
  auction ROW<
    id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
    `dateTime` TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT, extra STRING>,
  bid ROW<
    auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
    `dateTime` TIMESTAMP(3), extra STRING>,
  `dateTime` AS CASE event_type
    WHEN 0 THEN person.`dateTime`
    WHEN 1 THEN auction.`dateTime`
    ELSE bid.`dateTime`
  END,
  WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/events.json',
  'format' = 'json'
);

CREATE VIEW person AS
SELECT person.id, person.name, person.emailAddress, person.creditCard, person.city, person.state, `dateTime`, person.extra
FROM datagen
WHERE event_type = 0;

CREATE VIEW auction AS
SELECT auction.id, auction.itemName, auction.description, auction.initialBid, auction.reserve, `dateTime`,
  auction.expires, auction.seller, auction.category, auction.extra
FROM datagen
WHERE event_type = 1;

CREATE VIEW bid AS
SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, `dateTime`, bid.extra
FROM datagen
WHERE event_type = 2;

CREATE TABLE results (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

CREATE TABLE q1 (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), `dateTime` TIMESTAMP(3), extra STRING
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q1', 'format' = 'json');

CREATE TABLE q2 (
  auction BIGINT, price BIGINT
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q2', 'format' = 'json');

CREATE TABLE q10 (
  auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), extra STRING, dt STRING, hm STRING
) PARTITIONED BY (dt, hm) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q10', 'format' = 'json');

CREATE TABLE q14 (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), bidTimeType STRING, `dateTime` TIMESTAMP(3), extra STRING,
  c_counts BIGINT
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q14', 'format' = 'json');

CREATE TABLE q21 (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, channel_id STRING
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q21', 'format' = 'json');

CREATE TABLE q22 (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, dir1 STRING, dir2 STRING, dir3 STRING
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/q22', 'format' = 'json');

EXECUTE STATEMENT SET BEGIN
INSERT INTO results
SELECT auction, bidder, price, `dateTime`, extra
FROM bid;

INSERT INTO q1
SELECT auction, bidder, 0.908 * price, `dateTime`, extra
FROM bid;

INSERT INTO q2
SELECT auction, price
FROM bid
WHERE MOD(auction, 123) = 0;

INSERT INTO q10
SELECT auction, bidder, price, `dateTime`, extra, DATE_FORMAT(`dateTime`, 'yyyy-MM-dd'), DATE_FORMAT(`dateTime`, 'HH:mm')
FROM bid;

INSERT INTO q14
SELECT auction, bidder, 0.908 * price,
  CASE
    WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
    WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
    ELSE 'otherTime'
  END,
  `dateTime`, extra,
  CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', ''))
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;

INSERT INTO q21
SELECT auction, bidder, price, channel,
  CASE
    WHEN LOWER(channel) = 'apple' THEN '0'
    WHEN LOWER(channel) = 'google' THEN '1'
    WHEN LOWER(channel) = 'facebook' THEN '2'
    WHEN LOWER(channel) = 'baidu' THEN '3'
    ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
  END
FROM bid
WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
  OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu');

INSERT INTO q22
SELECT auction, bidder, price, channel,
  SPLIT_INDEX(url, '/', 3), SPLIT_INDEX(url, '/', 4), SPLIT_INDEX(url, '/', 5)
FROM bid;
END;

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
  'path' = '${DATA}/../810-nexmark-stateless/events.json',
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
  auction BIGINT, num BIGINT
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results
SELECT counts.auction, counts.num
FROM (
  SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
) AS counts
JOIN (
  SELECT MAX(num) AS most, starttime, endtime
  FROM (
    SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
  )
  GROUP BY starttime, endtime
) AS maxima
ON counts.starttime = maxima.starttime AND counts.endtime = maxima.endtime AND counts.num >= maxima.most;

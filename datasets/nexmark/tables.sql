-- The events of Nexmark and the three views that the queries read.
--
-- EVENTS: how many events come, 0 for no end. RATE: how many of them in a second of event time.
-- Give both with --set, see README.md.

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
  'connector' = 'nexmark',
  'events.num' = '${EVENTS}',
  'first-event.rate' = '${RATE}',
  'next-event.rate' = '${RATE}',
  'person.proportion' = '1',
  'auction.proportion' = '3',
  'bid.proportion' = '46'
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

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE l (
  k STRING, lts TIMESTAMP(3), lv INT,
  WATERMARK FOR lts AS lts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/l.csv',
  'format' = 'csv'
);

CREATE TABLE r (
  k STRING, rts TIMESTAMP(3), v INT, n INT, rv AS v + 0 * CHAR_LENGTH(REPEAT('x', n)),
  WATERMARK FOR rts AS rts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv'
);

CREATE VIEW versions AS
SELECT k, rts, rv FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY rts DESC) AS rn FROM r) WHERE rn = 1;

CREATE TABLE results (
  k STRING, lv INT, rv INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k, lv, rv FROM l L LEFT JOIN versions FOR SYSTEM_TIME AS OF L.lts AS R ON L.k = R.k;

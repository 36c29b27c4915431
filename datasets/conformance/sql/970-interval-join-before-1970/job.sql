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

CREATE TABLE results (
  k STRING, lv INT, k2 STRING, rv INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k, lv, R.k, rv FROM l L FULL JOIN r R ON L.k = R.k AND L.lts BETWEEN R.rts - INTERVAL '1' SECOND AND R.rts + INTERVAL '3' SECOND;

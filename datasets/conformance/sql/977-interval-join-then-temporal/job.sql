SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE l (
  k STRING, lts TIMESTAMP(3), lv INT,
  WATERMARK FOR lts AS lts - INTERVAL '50' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/l.csv',
  'format' = 'csv'
);

CREATE TABLE r (
  k STRING, rts TIMESTAMP(3), rv INT,
  WATERMARK FOR rts AS rts - INTERVAL '50' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv'
);

CREATE TABLE s (
  k STRING, sts TIMESTAMP(3), sv INT,
  WATERMARK FOR sts AS sts - INTERVAL '50' SECOND,
  PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  a INT, b INT, c INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT lv, rv, sv FROM l L JOIN r R ON L.k = R.k AND L.lts BETWEEN R.rts - INTERVAL '1' SECOND AND R.rts + INTERVAL '3' SECOND LEFT JOIN s FOR SYSTEM_TIME AS OF R.rts AS S ON S.k = L.k AND sv <> rv;

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
  k STRING, rts TIMESTAMP(3), rv INT, x INT,
  WATERMARK FOR rts AS rts - INTERVAL '50' SECOND,
  PRIMARY KEY (k, rv) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, lv INT, rv INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k, lv, rv FROM l L  JOIN r FOR SYSTEM_TIME AS OF L.lts AS R ON L.k = R.k;

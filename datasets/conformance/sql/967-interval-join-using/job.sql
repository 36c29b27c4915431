SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE l (
  k STRING, ts TIMESTAMP(3), lv INT,
  WATERMARK FOR ts AS ts - INTERVAL '50' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/l.csv',
  'format' = 'csv'
);

CREATE TABLE r (
  k STRING, ts TIMESTAMP(3), rv INT,
  WATERMARK FOR ts AS ts - INTERVAL '50' SECOND
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
SELECT k, lv, rv FROM l LEFT JOIN r USING (k, ts);

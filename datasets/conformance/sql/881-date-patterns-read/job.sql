SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'America/New_York';

CREATE TABLE src (
  id INT, p STRING, s STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  id INT,
  c01 STRING,
  c02 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT
  id,
  CAST(TO_TIMESTAMP(s, p) AS STRING) AS c01,
  CAST(UNIX_TIMESTAMP(s, p) AS STRING) AS c02
FROM src;

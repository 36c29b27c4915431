SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, a ARRAY<INT>, s ARRAY<STRING>, r ROW<x INT, y STRING>, b BYTES
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = 'NULL'
);

CREATE TABLE results (
  id INT, a ARRAY<INT>, s ARRAY<STRING>, r ROW<x INT, y STRING>, b BYTES
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT * FROM src;

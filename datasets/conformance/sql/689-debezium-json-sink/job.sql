SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, s STRING, r ROW<x INT>, ts TIMESTAMP(3), m DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  id INT, s STRING, r ROW<x INT>, ts TIMESTAMP(3), m DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT * FROM src;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, r ROW<a INT, b STRING, c ROW<d DOUBLE, e BYTES>>, arr ARRAY<INT>, m MAP<STRING, INT>
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);

CREATE TABLE results (
  id INT, r ROW<a INT, b STRING, c ROW<d DOUBLE, e BYTES>>, arr ARRAY<INT>, m MAP<STRING, INT>
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT * FROM src;

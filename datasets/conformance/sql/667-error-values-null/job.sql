SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE results (
  x INT, y STRING, t STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT x, y, TYPEOF(y) FROM (VALUES (1, NULL), (2, 'x')) AS t (x, y);

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE results (
  x STRING, y STRING, z STRING, l INT, tx STRING, ty STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT CAST(x AS STRING), y, '[' || y || ']', CHAR_LENGTH(y), TYPEOF(x), TYPEOF(y) FROM (VALUES (1, 'a'), (2.5, 'bbb')) AS t (x, y);

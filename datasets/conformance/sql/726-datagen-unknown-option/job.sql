SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE gen (i INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1', 'fields.i.length' = '3', 'fields.x.min' = '1');

CREATE TABLE results (i INT) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT i FROM gen;

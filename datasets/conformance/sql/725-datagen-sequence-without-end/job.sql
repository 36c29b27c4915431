SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE gen (i INT) WITH ('connector' = 'datagen', 'fields.i.kind' = 'sequence', 'fields.i.start' = '1');

CREATE TABLE results (i INT) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT i FROM gen;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE gen (i INT, s VARCHAR, b AS CAST(i AS VARCHAR)) WITH (
  'connector' = 'datagen',
  'fields.i.kind' = 'sequence', 'fields.i.start' = '1', 'fields.i.end' = '12',
  'fields.s.kind' = 'sequence', 'fields.s.start' = '1', 'fields.s.end' = '12'
);

CREATE TABLE results (s STRING, b STRING, c STRING) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT s, b, CAST(i + 10 AS VARCHAR) FROM gen;

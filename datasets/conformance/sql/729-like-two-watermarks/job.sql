SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE base (
  i INT, s VARCHAR(4),
  ts AS TO_TIMESTAMP_LTZ(i * 100, 3) COMMENT 'event time',
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'datagen',
  'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '99',
  'fields.s.kind' = 'sequence', 'fields.s.start' = '7', 'fields.s.end' = '1000',
  'rows-per-second' = '100000'
);

CREATE TABLE gen (
  other AS TO_TIMESTAMP_LTZ(i, 3),
  WATERMARK FOR other AS other
) LIKE base (OVERWRITING WATERMARKS);

CREATE TABLE results (i INT) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results SELECT i FROM gen;

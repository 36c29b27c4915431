SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE gen (
  i INT, s VARCHAR(4),
  ts AS TO_TIMESTAMP_LTZ(i * 100, 3) COMMENT 'event time',
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'datagen',
  'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '99',
  'fields.s.kind' = 'sequence', 'fields.s.start' = '7', 'fields.s.end' = '1000',
  'rows-per-second' = '100000'
);

CREATE TABLE results (window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total INT, least STRING) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT window_start, window_end, COUNT(*), SUM(i), MIN(s)
FROM TABLE(TUMBLE(TABLE gen, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end;

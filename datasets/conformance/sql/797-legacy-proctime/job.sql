SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, v INT, pt AS PROCTIME()
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), p TIMESTAMP_LTZ(3), n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, TUMBLE_START(pt, INTERVAL '3650' DAY(4)), TUMBLE_PROCTIME(pt, INTERVAL '3650' DAY(4)), COUNT(*)
FROM src
GROUP BY k, TUMBLE(pt, INTERVAL '3650' DAY(4));

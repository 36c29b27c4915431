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
  k STRING, p TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, TUMBLE_ROWTIME(pt, INTERVAL '1' DAY)
FROM src
GROUP BY k, TUMBLE(pt, INTERVAL '1' DAY);

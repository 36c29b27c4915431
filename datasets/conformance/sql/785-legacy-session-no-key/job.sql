SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  ws TIMESTAMP(3), we TIMESTAMP(3), l STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT SESSION_START(ts, INTERVAL '5' SECOND), SESSION_END(ts, INTERVAL '5' SECOND), LISTAGG(CAST(v AS STRING))
FROM src
GROUP BY SESSION(ts, INTERVAL '5' SECOND);

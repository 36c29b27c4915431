SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  ws TIMESTAMP(3), l STRING, n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT window_start, LISTAGG(CAST(v AS STRING)), COUNT(DISTINCT v)
FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), s STRING, v INT,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 STRING, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, c9 STRING, c10 STRING, c11 STRING, c12 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, TYPEOF(FIRST_VALUE(v)), TYPEOF(LAST_VALUE('a')), TYPEOF(FIRST_VALUE(1) FILTER (WHERE v > 1)), TYPEOF(LISTAGG(s)), TYPEOF(LISTAGG(CAST('a' AS VARCHAR(3)))), TYPEOF(COLLECT(v)), TYPEOF(COLLECT(1) FILTER (WHERE v > 1)), TYPEOF(ARRAY_AGG(v)), TYPEOF(ARRAY_AGG(1)), TYPEOF(JSON_ARRAYAGG(v)), TYPEOF(JSON_OBJECTAGG(KEY CAST(ts AS STRING) VALUE v)), TYPEOF(PERCENTILE(1, 0.5)), TYPEOF(PERCENTILE(v, ARRAY[0.5]))
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

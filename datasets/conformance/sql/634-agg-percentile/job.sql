SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT, d DOUBLE, w BIGINT,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 DOUBLE, c1 DOUBLE, c2 ARRAY<DOUBLE>, c3 DOUBLE, c4 DOUBLE, c5 DOUBLE, c6 DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, PERCENTILE(v, 0.5), PERCENTILE(d, 0.25), PERCENTILE(v, ARRAY[0.0, 0.3, 1]), PERCENTILE(v, 0.5, w), PERCENTILE(DISTINCT v, 0.5), PERCENTILE(DISTINCT v, 0.5, w), PERCENTILE(v, 0.5 + 0.25) FILTER (WHERE v < 6)
FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))
GROUP BY k, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT, w BIGINT, arr ARRAY<INT>,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 ARRAY<INT>, c1 ARRAY<INT>, c2 ARRAY<INT>, c3 ARRAY<INT>, c4 ARRAY<INT>, c5 ARRAY<ARRAY<INT>>, c6 INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, ARRAY_AGG(v), ARRAY_AGG(v) IGNORE NULLS, ARRAY_AGG(v RESPECT NULLS), ARRAY_AGG(v) FILTER (WHERE v < 5), ARRAY_AGG(v ORDER BY w DESC), ARRAY_AGG(arr), CARDINALITY(ARRAY_AGG(DISTINCT v))
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

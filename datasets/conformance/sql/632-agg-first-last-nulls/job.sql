SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), s STRING, v INT, b BOOLEAN, r ROW<a INT, b STRING>,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 INT, c1 STRING, c2 BOOLEAN, c3 INT, c4 INT, c5 ROW<a INT, b STRING>, c6 TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, FIRST_VALUE(v), LAST_VALUE(s), FIRST_VALUE(b), LAST_VALUE(DISTINCT v), FIRST_VALUE(v) FILTER (WHERE v < 5), LAST_VALUE(r), LAST_VALUE(ts)
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), s STRING, v INT, b BOOLEAN,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 MULTISET<STRING>, c1 MULTISET<STRING>, c2 MULTISET<STRING>, c3 ROW<a MULTISET<STRING>, b INT>, c4 ARRAY<MULTISET<STRING>>, c5 MULTISET<STRING>, c6 BOOLEAN, c7 STRING, c8 MULTISET<STRING>, c9 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, COLLECT(s), COLLECT(DISTINCT s), COLLECT(s) FILTER (WHERE v < 5), ROW(COLLECT(s), 1), ARRAY[COLLECT(s)], CAST(COLLECT(v) AS MULTISET<STRING>), COLLECT(s) = COLLECT(DISTINCT s), JSON_STRING(COLLECT(s)), CASE WHEN COUNT(*) > 2 THEN COLLECT(s) END, CAST(COLLECT(b) FILTER (WHERE b) AS STRING)
FROM TABLE(CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))
GROUP BY k, window_start, window_end;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, xs ARRAY<INT>, m MAP<STRING, INT>, rs ARRAY<ROW<a INT, b STRING>>, xxs ARRAY<ARRAY<INT>>, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  k STRING, a INT, b STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, a, b
FROM src LEFT JOIN UNNEST(rs) AS u (a, b) ON a > 1;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  id INT, k STRING, v INT, d INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = '~'
);

CREATE TABLE results (
  id INT, p INT, q INT, r INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT id, LAG(v, 1, -7) OVER w, LAG(v, 2, 55) OVER w, LAG(v, 1, COALESCE(d, 3)) OVER w
FROM src
WINDOW w AS (PARTITION BY k ORDER BY ts);

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
  k STRING, ws TIMESTAMP(3), s INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, SUM(y)
FROM TABLE(TUMBLE((SELECT k, TUMBLE_ROWTIME(rt, INTERVAL '20' SECOND) AS rt, SUM(x) AS y FROM (SELECT k, TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS rt, SUM(v) AS x FROM src GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)) GROUP BY k, TUMBLE(rt, INTERVAL '20' SECOND)), DESCRIPTOR(rt), INTERVAL '40' SECOND))
GROUP BY k, window_start, window_end;

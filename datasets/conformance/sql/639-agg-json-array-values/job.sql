SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), s STRING, v INT, d DOUBLE, `dec` DECIMAL(10, 2), b BOOLEAN, arr ARRAY<INT>, r ROW<a INT, b STRING>, m MAP<STRING, INT>,
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
SELECT k, window_start, window_end, JSON_ARRAYAGG(s), JSON_ARRAYAGG(d), JSON_ARRAYAGG(`dec`), JSON_ARRAYAGG(b), JSON_ARRAYAGG(ts), JSON_ARRAYAGG(arr), JSON_ARRAYAGG(r), JSON_ARRAYAGG(m), JSON_ARRAYAGG(CAST(s AS BYTES)), JSON_ARRAYAGG(JSON_OBJECT('a' VALUE v)), JSON_ARRAYAGG(v ORDER BY v NULL ON NULL), JSON_ARRAYAGG(v) WITHIN GROUP (ORDER BY v), JSON_ARRAY(JSON_ARRAYAGG(v))
FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

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
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), c0 STRING, c1 STRING, c2 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT k, window_start, window_end, JSON_OBJECTAGG(KEY COALESCE(s, 'n') VALUE v), JSON_OBJECTAGG(COALESCE(s, 'n'): v ABSENT ON NULL), JSON_OBJECTAGG(s VALUE v ABSENT ON NULL)
FROM TABLE(HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))
GROUP BY k, window_start, window_end;

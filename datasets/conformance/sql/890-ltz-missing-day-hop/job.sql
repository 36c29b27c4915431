SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Pacific/Apia';

CREATE TABLE src (
  k STRING, z TIMESTAMP_LTZ(3), v INT,
  WATERMARK FOR z AS z 
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  s TIMESTAMP(3), e TIMESTAMP(3), t TIMESTAMP_LTZ(3), k STRING, n BIGINT, total INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT window_start, window_end, window_time, k, COUNT(*), SUM(v)
FROM TABLE(HOP(TABLE src, DESCRIPTOR(z), INTERVAL '1' DAY, INTERVAL '3' DAY, INTERVAL '2' HOUR))
GROUP BY window_start, window_end, window_time, k;

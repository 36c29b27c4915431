SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '0 ms';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), s INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT k, HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), HOP_END(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), SUM(v)
FROM src
GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND);

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
  k STRING, n BIGINT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT k, COUNT(*)
FROM src
GROUP BY k, SESSION(ts, INTERVAL '5' SECOND);

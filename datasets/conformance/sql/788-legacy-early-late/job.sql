SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '0 ms';
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 ms';
SET 'table.exec.emit.allow-lateness' = '20 s';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv'
);

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), n BIGINT, s INT, m INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), COUNT(*), SUM(v), MIN(v)
FROM src
GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);

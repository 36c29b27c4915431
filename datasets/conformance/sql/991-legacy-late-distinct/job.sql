SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 ms';
SET 'table.exec.emit.allow-lateness' = '20 s';

CREATE TABLE src (
  k STRING, ts TIMESTAMP(3), v INT, m DECIMAL(10, 2),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.csv',
  'format' = 'csv',
  'csv.null-literal' = 'x'
);

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), n BIGINT, d BIGINT, s INT, m DECIMAL(38, 2), dm DECIMAL(38, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'debezium-json'
);

INSERT INTO results
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), COUNT(*), COUNT(DISTINCT v), SUM(DISTINCT v), SUM(m), SUM(DISTINCT m)
FROM src
GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE src (k STRING, ts TIMESTAMP(3), n INT, b BIGINT, d DOUBLE, f FLOAT, s SMALLINT, t TINYINT, z INT, WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${DATA}/src.csv', 'format' = 'csv');
CREATE TABLE results (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), a0 INT, a1 INT, a2 BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');
INSERT INTO results SELECT k, window_start, window_end, SUM(COALESCE(n, 0)), AVG(COALESCE(n, 0)), COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY k, window_start, window_end;

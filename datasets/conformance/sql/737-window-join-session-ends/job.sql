SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE l (
  k STRING, lts TIMESTAMP(3), lv INT,
  WATERMARK FOR lts AS lts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/l.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE TABLE r (
  k STRING, rts TIMESTAMP(3), rv INT,
  WATERMARK FOR rts AS rts
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv',
  'csv.null-literal' = ''
);

CREATE VIEW sl AS SELECT k, window_start, window_end, COUNT(*) AS n FROM TABLE(SESSION(TABLE l PARTITION BY k, DESCRIPTOR(lts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;
CREATE VIEW sr AS SELECT k, window_start, window_end, COUNT(*) AS m FROM TABLE(SESSION(TABLE r PARTITION BY k, DESCRIPTOR(rts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;

CREATE TABLE results (
  k STRING, n BIGINT, m BIGINT, ws TIMESTAMP(3), rws TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k, n, m, L.window_start, R.window_start FROM sl L FULL JOIN sr R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;

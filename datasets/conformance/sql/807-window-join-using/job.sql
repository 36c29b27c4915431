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

CREATE VIEW wl AS
SELECT * FROM TABLE(TUMBLE(TABLE l, DESCRIPTOR(lts), INTERVAL '10' SECOND));
CREATE VIEW wr AS
SELECT * FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(rts), INTERVAL '10' SECOND));

CREATE TABLE results (
  k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), lv INT, rv INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT * FROM (SELECT k, lv, window_start, window_end FROM wl) L LEFT JOIN (SELECT k, rv, window_start, window_end FROM wr) R USING (k, window_start, window_end);

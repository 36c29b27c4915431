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
  k STRING, lv INT, rv INT, ws TIMESTAMP(3), we TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k AS k, lv, rv, L.window_start AS ws, L.window_end AS we FROM wl L FULL JOIN wr R ON L.window_start = R.window_start AND L.window_end = R.window_end;

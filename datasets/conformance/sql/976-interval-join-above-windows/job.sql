SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE l (
  k STRING, lts TIMESTAMP(3), lv INT,
  WATERMARK FOR lts AS lts - INTERVAL '50' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/l.csv',
  'format' = 'csv'
);

CREATE TABLE r (
  k STRING, rts TIMESTAMP(3), rv INT,
  WATERMARK FOR rts AS rts - INTERVAL '50' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/r.csv',
  'format' = 'csv'
);

CREATE VIEW wl AS SELECT k, window_start, window_end, window_time AS wt, SUM(lv) AS s FROM TABLE(TUMBLE(TABLE l, DESCRIPTOR(lts), INTERVAL '2' SECOND)) GROUP BY k, window_start, window_end, window_time;

CREATE VIEW wr AS SELECT k, window_start, window_end, window_time AS wt, SUM(rv) AS s FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(rts), INTERVAL '2' SECOND)) GROUP BY k, window_start, window_end, window_time;

CREATE TABLE results (
  k STRING, a INT, b INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT L.k, L.s, R.s FROM wl L FULL JOIN wr R ON L.k = R.k AND L.wt BETWEEN R.wt - INTERVAL '1' SECOND AND R.wt + INTERVAL '3' SECOND;

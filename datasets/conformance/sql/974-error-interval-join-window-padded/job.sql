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

CREATE VIEW j AS SELECT L.k, L.lts, rts, lv, rv FROM l L LEFT JOIN r R ON L.k = R.k AND L.lts BETWEEN R.rts - INTERVAL '1' SECOND AND R.rts + INTERVAL '3' SECOND;

CREATE TABLE results (
  ws TIMESTAMP(3), n BIGINT, s INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT window_start, COUNT(*), SUM(rv) FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(rts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;

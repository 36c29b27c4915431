SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE results (
  x STRING, y ARRAY<INT>, z MAP<STRING, INT>, r ROW<a INT, b STRING>, d DATE, s TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results VALUES (UPPER('a'), ARRAY[1, 2], MAP['p', 1], ROW(1, 'x'), DATE '2024-01-02', TIMESTAMP '2024-01-02 03:04:05.678'), ('b', ARRAY[3], MAP['q', 2], ROW(2, 'y'), DATE '2024-01-03', TIMESTAMP '2024-01-02 03:04:05');

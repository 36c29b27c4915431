CREATE TABLE p (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/e.json.gz', 'format' = 'json');

CREATE TABLE results (ws TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results
SELECT window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

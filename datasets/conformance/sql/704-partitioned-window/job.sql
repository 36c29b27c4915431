CREATE TABLE p (ts TIMESTAMP(3), v INT, region STRING, WATERMARK FOR ts AS ts - INTERVAL '1' HOUR) PARTITIONED BY (region)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/p', 'format' = 'csv');

CREATE TABLE results (region STRING, ws TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results
SELECT region, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, region;

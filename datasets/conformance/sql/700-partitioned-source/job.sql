CREATE TABLE p (dt DATE, v INT, region STRING, s STRING) PARTITIONED BY (dt, region)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/p', 'format' = 'csv');

CREATE TABLE results (dt DATE, v INT, region STRING, s STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT * FROM p;

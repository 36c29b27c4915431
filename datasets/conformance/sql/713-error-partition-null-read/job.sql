CREATE TABLE p (v INT, r STRING) PARTITIONED BY (r)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/p', 'format' = 'csv');

CREATE TABLE results (v INT, r STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT * FROM p;

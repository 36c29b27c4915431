CREATE TABLE p (v INT)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/d', 'format' = 'csv');

CREATE TABLE results (v INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT v FROM p;

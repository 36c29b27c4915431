CREATE TABLE p (v INT, n INT) PARTITIONED BY (n)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/p', 'format' = 'csv');

CREATE TABLE results (v INT, n INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT * FROM p;

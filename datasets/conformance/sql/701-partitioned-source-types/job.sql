CREATE TABLE p (v INT, t TIMESTAMP(3), b BOOLEAN, x DOUBLE, n SMALLINT) PARTITIONED BY (t, b, x, n)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/p', 'format' = 'csv');

CREATE TABLE results (v INT, t TIMESTAMP(3), b BOOLEAN, x DOUBLE, n SMALLINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT * FROM p;

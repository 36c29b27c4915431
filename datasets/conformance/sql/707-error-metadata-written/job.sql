CREATE TABLE m (v INT)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/d', 'format' = 'csv');

CREATE TABLE results (v INT, k STRING METADATA FROM 'file.name')
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT v, 'x' FROM m;

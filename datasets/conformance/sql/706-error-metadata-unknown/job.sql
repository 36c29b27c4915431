CREATE TABLE m (v INT, k STRING METADATA FROM 'file.owner')
WITH ('connector' = 'filesystem', 'path' = '${DATA}/d', 'format' = 'csv');

CREATE TABLE results (v INT, k STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT v, k FROM m;

CREATE TABLE m (v INT, a BIGINT METADATA FROM 'file.size', b INT METADATA FROM 'file.size' VIRTUAL)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/d', 'format' = 'csv');

CREATE TABLE results (v INT, a BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT v, a FROM m;

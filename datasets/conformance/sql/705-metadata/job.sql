CREATE TABLE m (v INT, `file.name` STRING NOT NULL METADATA, sz BIGINT NOT NULL METADATA FROM 'file.size',
  `path` STRING METADATA FROM 'file.path', mt TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'file.modification-time', up AS UPPER(`file.name`), small AS CAST(sz AS INT))
WITH ('connector' = 'filesystem', 'path' = '${DATA}/d', 'format' = 'csv');

CREATE TABLE results (v INT, name STRING, sz BIGINT, small INT, absolute BOOLEAN, tail STRING, recent BOOLEAN, up STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results SELECT v, `file.name`, sz, small, `path` LIKE '/%', REGEXP_EXTRACT(`path`, '/(d/.*)$', 1), YEAR(CAST(mt AS TIMESTAMP(3))) > 2000, up FROM m;

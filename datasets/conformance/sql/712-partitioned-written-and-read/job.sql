CREATE TABLE i (v INT, d STRING, r STRING)
WITH ('connector' = 'filesystem', 'path' = '${DATA}/in.csv', 'format' = 'csv');

CREATE TABLE w (d STRING, v INT, r STRING) PARTITIONED BY (r, d)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/w', 'format' = 'json', 'sink.partition-commit.policy.kind' = 'success-file');

CREATE TABLE results (d STRING, v INT, r STRING)
WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO w SELECT d, v, r FROM i WHERE r <> '';
INSERT INTO w PARTITION (r = 'fix') SELECT d, v FROM i;
INSERT INTO w PARTITION (r = 'both', d = '2024-05-05') SELECT v FROM i;
INSERT INTO w (v, d, r) SELECT v, 'x', 'list' FROM i;
INSERT INTO results SELECT * FROM w;

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE l (k STRING, lv INT, lts TIMESTAMP_LTZ(3), WATERMARK FOR lts AS lts) WITH ('connector'='filesystem','path'='${DATA}/l.csv','format'='csv');
CREATE TABLE r (k STRING, rv INT, rts TIMESTAMP_LTZ(3), WATERMARK FOR rts AS rts) WITH ('connector'='filesystem','path'='${DATA}/r.csv','format'='csv');
CREATE TABLE results (k STRING, lv INT, rv INT, lts TIMESTAMP(3), rts TIMESTAMP(3)) WITH ('connector'='filesystem','path'='${OUT}/results','format'='json');
INSERT INTO results SELECT l.k, lv, rv, CAST(lts AS TIMESTAMP(3)), CAST(rts AS TIMESTAMP(3)) FROM l FULL JOIN r ON l.k = r.k AND lts BETWEEN rts - INTERVAL '20' MINUTE AND rts + INTERVAL '10' MINUTE;

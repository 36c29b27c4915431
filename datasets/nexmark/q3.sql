-- Query 3: who sells something of category 10 and lives in Oregon, Idaho or California. A join without a window.

CREATE TABLE results (
  name STRING, city STRING, state STRING, id BIGINT
) WITH ('connector' = 'blackhole');

INSERT INTO results
SELECT p.name, p.city, p.state, a.id
FROM auction AS a
INNER JOIN person AS p ON a.seller = p.id
WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA');

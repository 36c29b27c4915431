SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';

CREATE TABLE Orders (
  order_id STRING, order_time TIMESTAMP(3), amount INT, product STRING,
  WATERMARK FOR order_time AS order_time
) WITH ('connector' = 'filesystem', 'path' = '${DATA}/orders.csv', 'format' = 'csv');

CREATE TABLE results (
  order_id STRING, order_time TIMESTAMP(3), amount INT, sum_amount INT, avg_amount INT
) WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');

INSERT INTO results
SELECT order_id, order_time, amount, SUM(amount) OVER w AS sum_amount, AVG(amount) OVER w AS avg_amount
FROM Orders
WINDOW w AS (
  PARTITION BY product
  ORDER BY order_time
  RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);

SET 'execution.runtime-mode' = 'streaming';
SET 'parallelism.default' = '1';
SET 'pipeline.auto-watermark-interval' = '0';
SET 'table.local-time-zone' = 'UTC';

CREATE TABLE src (
  id INT, s STRING, t STRING, n INT, l BIGINT, d DOUBLE, m DECIMAL(10, 3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${DATA}/src.json',
  'format' = 'json'
);

CREATE TABLE results (
  id INT,
  c01 STRING,
  c02 STRING,
  c03 STRING,
  c04 STRING,
  c05 BIGINT,
  c06 STRING,
  c07 STRING,
  c08 STRING,
  c09 STRING,
  c10 STRING,
  c11 STRING,
  c12 STRING,
  c13 STRING,
  c14 STRING,
  c15 STRING,
  c16 STRING,
  c17 STRING,
  c18 STRING,
  c19 BOOLEAN,
  c20 BOOLEAN,
  c21 BOOLEAN,
  c22 BOOLEAN,
  c23 INT,
  c24 INT,
  c25 INT,
  c26 STRING,
  c27 STRING,
  c28 STRING,
  c29 STRING,
  c30 STRING,
  c31 STRING,
  c32 STRING,
  c33 STRING,
  c34 STRING,
  c35 STRING,
  c36 STRING,
  c37 INT,
  c38 BOOLEAN,
  c39 STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${OUT}/results',
  'format' = 'json'
);

INSERT INTO results
SELECT
  id,
  HEX(n) AS c01,
  HEX(s) AS c02,
  BIN(n) AS c03,
  INET_NTOA(l) AS c04,
  INET_ATON(s) AS c05,
  PARSE_URL(s, 'HOST') AS c06,
  PARSE_URL(s, 'QUERY', t) AS c07,
  PARSE_URL(s, 'AUTHORITY') AS c08,
  URL_ENCODE(s) AS c09,
  URL_DECODE(s) AS c10,
  TO_BASE64(s) AS c11,
  DECODE(ENCODE(s, 'UTF-16'), 'UTF-16') AS c12,
  DECODE(ENCODE(s, 'US-ASCII'), 'US-ASCII') AS c13,
  DECODE(ENCODE(s, 'ISO-8859-1'), 'ISO-8859-1') AS c14,
  DECODE(UNHEX(HEX(s)), 'UTF-8') AS c15,
  ELT(n, s, t, 'three') AS c16,
  TRANSLATE(s, 'abcß', 'xy') AS c17,
  TRANSLATE(s, t, 'z') AS c18,
  IS_ALPHA(s) AS c19,
  IS_DIGIT(s) AS c20,
  IS_DECIMAL(s) AS c21,
  IS_DECIMAL(t) AS c22,
  REGEXP_COUNT(s, t) AS c23,
  REGEXP_COUNT(s, 'x*') AS c24,
  REGEXP_INSTR(s, '[0-9]') AS c25,
  REGEXP_SUBSTR(s, '[0-9]+') AS c26,
  REGEXP_SUBSTR(s, t) AS c27,
  REGEXP_REPLACE(s, 'x*', '-') AS c28,
  PRINTF('%s|%5s|%-5s|%.2s', s, t, t, t) AS c29,
  PRINTF('%d|%x|%o|%+d|%08d', n, n, n, n, n) AS c30,
  PRINTF('%,d|%(d|% d', l, l, l) AS c31,
  PRINTF('%.2f|%e|%g|%10.1f', d, d, d, d) AS c32,
  PRINTF('%s|%d', m, m) AS c33,
  PRINTF('%s', m) AS c34,
  PRINTF('%c', n) AS c35,
  PRINTF(t, n) AS c36,
  CHAR_LENGTH(UUID()) AS c37,
  RAND() < 1 AS c38,
  CURRENT_DATABASE() AS c39
FROM src;

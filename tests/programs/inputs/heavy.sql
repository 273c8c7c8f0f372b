-- A workload for the sqlite3 shell: schema, bulk inserts, joins, aggregates, windows, common table
-- expressions, text functions, triggers, views, updates, deletes, transactions, errors and dumps.
.bail off
.mode list
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, born INTEGER, score REAL);
CREATE TABLE event(id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id), kind TEXT, amount REAL, day INTEGER);
CREATE INDEX event_person ON event(person, kind);
CREATE UNIQUE INDEX person_name ON person(name);
CREATE TABLE log(id INTEGER PRIMARY KEY, what TEXT);
CREATE TRIGGER changed AFTER UPDATE OF score ON person WHEN new.score > 90
BEGIN INSERT INTO log(what) VALUES (printf('%s:%.1f->%.1f', new.name, old.score, new.score)); END;
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
INSERT INTO person SELECT i, printf('p%05d', i * 7919 % 100003), substr('OsloRomeBonnLima', i % 4 * 4 + 1, 4), 1930 + i * 37 % 80, i * 31 % 1000 / 10.0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO event SELECT i, i * 17 % 600 + 1, CASE i % 5 WHEN 0 THEN 'buy' WHEN 1 THEN 'sell' WHEN 2 THEN 'view' WHEN 3 THEN 'pay' ELSE 'chat' END, i * 13 % 977 / 7.0, i % 365 FROM n;
COMMIT;
SELECT count(*), sum(score), min(born), max(name) FROM person;
SELECT city, count(*), round(avg(score), 3), group_concat(DISTINCT born % 10) FROM person GROUP BY city ORDER BY city;
SELECT p.city, e.kind, count(*), round(sum(e.amount), 2) FROM person p JOIN event e ON e.person = p.id
  WHERE p.born BETWEEN 1940 AND 1980 GROUP BY 1, 2 HAVING count(*) > 10 ORDER BY 4 DESC LIMIT 12;
SELECT name, score, rank() OVER (PARTITION BY city ORDER BY score DESC) AS r, round(avg(score) OVER (ORDER BY id ROWS 3 PRECEDING), 2)
  FROM person WHERE id < 15 ORDER BY id;
SELECT name FROM person WHERE name LIKE 'p0%7' OR name GLOB 'p9[0-3]*' ORDER BY length(city), name DESC LIMIT 9;
UPDATE person SET score = score + 5 WHERE city = 'Rome' AND score > 80;
SELECT count(*), max(what) FROM log;
DELETE FROM event WHERE kind = 'chat' AND day > 300;
SELECT changes(), total_changes() > 100;
CREATE VIEW rich AS SELECT p.name, sum(e.amount) AS total FROM person p LEFT JOIN event e ON p.id = e.person GROUP BY p.id;
SELECT name, round(total, 3) FROM rich ORDER BY total DESC, name LIMIT 5;
WITH RECURSIVE m(x, y, k, a, b) AS (
  SELECT -2.0 + 0.25 * (i % 12), -1.2 + 0.4 * (i / 12), 0, 0.0, 0.0 FROM (WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 83) SELECT i FROM c)
  UNION ALL SELECT x, y, k + 1, a * a - b * b + x, 2 * a * b + y FROM m WHERE a * a + b * b < 4 AND k < 12)
SELECT group_concat(k, '') FROM (SELECT max(k) AS k FROM m GROUP BY y, x ORDER BY y, x);
SELECT upper(substr(name, 1, 3)), instr(name, '0'), replace(city, 'o', '0'), hex(city), quote(score), typeof(score), abs(-id), coalesce(NULL, id) FROM person WHERE id IN (3, 5, 8);
SELECT date(884822400, 'unixepoch'), strftime('%Y/%j', 2451545.5), julianday('2000-01-01');
SELECT json_extract('{"a":[1,2,{"b":"deep"}]}', '$.a[2].b'), json_array(1, 'x', NULL), json_group_array(born) FROM (SELECT born FROM person LIMIT 4);
SELECT a.id, b.id FROM person a, person b WHERE a.id < 40 AND b.id < 40 AND a.born = b.born AND a.id < b.id ORDER BY 1, 2;
EXPLAIN QUERY PLAN SELECT * FROM event WHERE person = 5 AND kind = 'buy';
INSERT INTO person(id, name) VALUES (1, 'duplicate');
SELECT * FROM nowhere;
SELEC nonsense;
SAVEPOINT s; DELETE FROM person; SELECT count(*) FROM person; ROLLBACK TO s; SELECT count(*) FROM person; RELEASE s;
PRAGMA integrity_check;
CREATE TABLE w(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
INSERT INTO w SELECT name, zeroblob(id % 50) FROM person; SELECT sum(length(v)), count(*) FROM w WHERE k > 'p5';
ALTER TABLE w ADD COLUMN extra DEFAULT 'none'; SELECT k, extra FROM w LIMIT 2;
.mode column
.headers on
SELECT kind, count(*) AS n FROM event GROUP BY kind;
.mode csv
SELECT id, name, city FROM person LIMIT 3;
.mode insert copy
SELECT * FROM log LIMIT 3;
.schema log
VACUUM;
SELECT sum(amount * amount) FROM event;

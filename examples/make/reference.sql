-- Measurements of weather stations: what the faster images are compared on.
CREATE TABLE station(code TEXT PRIMARY KEY, height REAL) WITHOUT ROWID;
CREATE TABLE reading(station TEXT, hour INTEGER, celsius REAL, rain REAL, PRIMARY KEY (station, hour));
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
  INSERT INTO station SELECT printf('S%03d', i * 37 % 61), (i * 97 % 1500) / 1.5 FROM n;
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
  INSERT INTO reading
    SELECT code, i, 12.5 - height / 150 + (i * 29 % 24) / 3.0, max(0, (i * 53 % 17) - 12) / 4.0 FROM station, n;
COMMIT;
SELECT code, round(avg(celsius), 3), round(sum(rain), 2) FROM station JOIN reading ON station = code
  GROUP BY code ORDER BY height DESC LIMIT 8;
SELECT a.hour, count(*) FROM reading AS a JOIN reading AS b ON a.station = b.station AND b.hour = a.hour + 1
  WHERE b.celsius > a.celsius + 4 GROUP BY a.hour HAVING count(*) > 30 ORDER BY a.hour LIMIT 20;
CREATE VIEW wet AS SELECT station, hour / 24 AS day, sum(rain) AS rain FROM reading GROUP BY station, hour / 24;
SELECT day, max(rain), count(DISTINCT station) FROM wet WHERE rain > 1 GROUP BY day ORDER BY day;
SELECT station, hour, celsius FROM (SELECT *, row_number() OVER (PARTITION BY station ORDER BY celsius DESC, hour) AS place
  FROM reading) WHERE place = 1 ORDER BY celsius DESC, station LIMIT 10;
REPLACE INTO reading SELECT station, hour, celsius + 0.25, rain FROM reading WHERE hour % 3 = 0;
DELETE FROM reading WHERE station IN (SELECT code FROM station WHERE height < 100);
SELECT count(*), total(celsius), hex(substr(max(station), 2)) FROM reading;
EXPLAIN QUERY PLAN SELECT * FROM wet WHERE rain = (SELECT max(rain) FROM wet);

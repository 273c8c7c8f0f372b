-- A lending library at work: what the images are trained with.
CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, author TEXT, year INTEGER);
CREATE TABLE loan(book INTEGER REFERENCES book, reader INTEGER, day INTEGER, returned INTEGER);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO book SELECT i, 'Title ' || (i * 7919 % 3001), 'Author ' || (i * 31 % 211), 1900 + i % 100 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
  INSERT INTO loan SELECT 1 + i * 613 % 3000, i * 17 % 400, i / 20, CASE i % 5 WHEN 0 THEN NULL ELSE i / 20 + i % 30 END FROM n;
COMMIT;
CREATE INDEX loan_book ON loan(book);
CREATE INDEX book_author ON book(author, year);
SELECT count(*), min(day), max(day), total(returned - day) FROM loan WHERE returned IS NOT NULL;
SELECT author, count(*) AS loans FROM book JOIN loan ON loan.book = book.id
  GROUP BY author ORDER BY loans DESC, author LIMIT 10;
SELECT title FROM book WHERE title LIKE '%99%' AND year BETWEEN 1920 AND 1960 ORDER BY year, title LIMIT 20;
SELECT reader, group_concat(book, ' ') FROM (SELECT reader, book FROM loan WHERE returned IS NULL ORDER BY book)
  GROUP BY reader ORDER BY reader LIMIT 15;
UPDATE loan SET returned = day + 60 WHERE returned IS NULL AND day < 150;
DELETE FROM loan WHERE day < 40;
SELECT upper(substr(title, 7)), length(author), round(avg(year), 2) FROM book GROUP BY author HAVING count(*) > 14 ORDER BY 1 LIMIT 12;
WITH RECURSIVE lent(day, open) AS (SELECT 0, 0 UNION ALL
    SELECT day + 1, (SELECT count(*) FROM loan WHERE loan.day <= lent.day AND returned > lent.day) FROM lent WHERE day < 40)
  SELECT max(open) FROM lent;
PRAGMA integrity_check;

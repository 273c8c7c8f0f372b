"""SQL for the sqlite3 shell: a training script and a reference script.

The reference follows the sections of SQLite's own test/speedtest1.c (public domain): inserts
with and without transactions and indices, ranges by number and by text, LIKE, ORDER BY with
LIMIT, updates, deletes, refills, joins of four tables, subqueries, REPLACE, DISTINCT, ANALYZE,
an integrity check.

The training is what somebody would do who wants a profile of a database: other tables, other
data and other statements, of a lending library, which use the same parts of a database: single
and bulk inserts, look-ups, joins, aggregates, updates, deletes, views and text functions."""

import random

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = ". ten twenty thirty forty fifty sixty seventy eighty ninety".split()


def number_name(n):
    """The number in English words, as speedtest1 makes its texts."""
    words = []
    for unit, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if n >= unit:
            words += [number_name(n // unit), name]
            n %= unit
    if n >= 20:
        words.append(_TENS[n // 10])
        n %= 10
    if n or not words:
        words.append(_ONES[n])
    return " ".join(words)


def reference(n=900):
    """The script as text; its length and its work grow with n, the rows of a table."""
    rng = random.Random(1997)
    out = [
        "PRAGMA page_size=4096;",
        "PRAGMA cache_size=500;",
        "PRAGMA synchronous=OFF;",
        "CREATE TABLE t1(a INTEGER, b INTEGER, c TEXT);",
        "CREATE TABLE t2(a INTEGER UNIQUE, b INTEGER, c TEXT);",
        "CREATE TABLE t3(a INTEGER PRIMARY KEY, b INTEGER, c TEXT);",
    ]
    add = out.append

    def number(limit=10 * n):
        return rng.randrange(limit)

    def transaction(statements):
        add("BEGIN;")
        out.extend(statements)
        add("COMMIT;")

    # 100-120: inserts, one transaction each and many in one
    for i in range(n // 10):
        b = number()
        add(f"INSERT INTO t1 VALUES({i},{b},'{number_name(b)}');")
    for table, order in (("t1", range(n // 10, n)), ("t2", range(n))):
        values = [(a, number()) for a in order]
        transaction(f"INSERT INTO {table} VALUES({a},{b},'{number_name(b)}');" for a, b in values)
    shuffled = rng.sample(range(n), n)
    transaction(
        f"INSERT INTO t3 VALUES({a},{b},'{number_name(b)}');"
        for a, b in zip(shuffled, iter(number, -1))
    )

    # 130-145: reading without an index
    for i in range(16):
        low = number()
        add(f"SELECT count(*), avg(b), sum(length(c)) FROM t1 WHERE b BETWEEN {low} AND {low + n};")
        add(f"SELECT count(*), avg(b) FROM t2 WHERE c LIKE '%{number_name(number(100))}%';")
    for i in range(6):
        word = number_name(number(100))
        add(f"SELECT a, b, c FROM t1 WHERE c LIKE '%{word}%' ORDER BY a;")
        add(f"SELECT a, b, c FROM t3 WHERE c LIKE '{word}%' ORDER BY c, b DESC LIMIT 10;")

    # 150-170: indices, and reading with them
    add("CREATE UNIQUE INDEX t1b ON t1(b, a);")
    add("CREATE INDEX t1c ON t1(c);")
    add("CREATE INDEX t2b ON t2(b);")
    add("CREATE INDEX t2c ON t2(c DESC);")
    add("CREATE INDEX t3bc ON t3(b, c);")
    for i in range(n // 5):
        low = number()
        add(
            f"SELECT count(*), avg(b), sum(length(c)) FROM t1 WHERE b BETWEEN {low} AND {low + 40};"
        )
    for i in range(n // 5):
        word = number_name(number())
        add(f"SELECT count(*), avg(b) FROM t2 WHERE c BETWEEN '{word}' AND '{word}~';")

    # 180-200: inserts with indices, delete and refill
    add("CREATE TABLE t4(a INTEGER PRIMARY KEY, b INTEGER, c TEXT);")
    add("CREATE INDEX t4b ON t4(b);")
    add("CREATE INDEX t4c ON t4(c);")
    transaction(["INSERT INTO t4 SELECT * FROM t1;"])
    transaction(["DELETE FROM t2;", "INSERT INTO t2 SELECT a, b, c FROM t1;"])
    add("VACUUM;")
    add("ALTER TABLE t2 ADD COLUMN d INT DEFAULT 123;")
    add("SELECT sum(d) FROM t2;")

    # 230-300: updates, deletes, refills
    transaction(
        f"UPDATE t2 SET d=b*2 WHERE b BETWEEN {low} AND {low + 60};"
        for low in [number() for _ in range(n // 8)]
    )
    transaction(
        f"UPDATE t3 SET b=b+{i % 7}, c='{number_name(number())}' WHERE a={i};"
        for i in range(0, n, 3)
    )
    add("UPDATE t2 SET d=b*4;")
    add("SELECT sum(d), max(d), min(c) FROM t2;")
    transaction(
        f"DELETE FROM t2 WHERE b BETWEEN {low} AND {low + 30};"
        for low in [number() for _ in range(n // 10)]
    )
    transaction(f"DELETE FROM t3 WHERE a={i};" for i in range(1, n, 4))
    transaction(
        [
            "REPLACE INTO t2(a, b, c) SELECT a, b, c FROM t1;",
            "REPLACE INTO t3(a, b, c) SELECT a, b, c FROM t1;",
        ]
    )

    # 310-320: joins of four tables, subqueries in the result
    for i in range(20):
        add(
            f"SELECT t1.c FROM t1, t2, t3, t4 WHERE t4.a BETWEEN {i * 10} AND {i * 10 + 25} AND"
            f" t3.a=t4.b%{n} AND t2.a=t3.b%{n} AND t1.c=t2.c LIMIT 20;"
        )
    for i in range(2):
        add(
            "SELECT sum(a), max(c), avg((SELECT a FROM t2 WHERE 5+t2.b=t1.b) + rowid), max(c) FROM"
            f" t1 WHERE a%20={i};"
        )

    # 400-520: tables keyed by number and by text
    add("CREATE TABLE t5(a INTEGER PRIMARY KEY, b ANY);")
    add("CREATE TABLE t6(a TEXT PRIMARY KEY, b ANY) WITHOUT ROWID;")
    pairs = [(number(), number()) for _ in range(n)]
    transaction(f"REPLACE INTO t5 VALUES({a},{b});" for a, b in pairs)
    for a, _ in pairs[::3]:
        add(f"SELECT b FROM t5 WHERE a={a};")
    transaction(f"REPLACE INTO t6 VALUES('{number_name(a)}',{b});" for a, b in pairs)
    for a, _ in pairs[::3]:
        add(f"SELECT b FROM t6 WHERE a='{number_name(a)}';")
    for table in ("t1", "t5", "t6"):
        add(f"SELECT DISTINCT b%100 FROM {table};")
        add(f"SELECT DISTINCT b FROM {table} ORDER BY b LIMIT 20;")
    add(
        "SELECT a%20, count(*), group_concat(b%10) FROM t5 GROUP BY 1 HAVING count(*)>3 ORDER BY"
        " 2, 1;"
    )
    add(
        "SELECT upper(c), lower(c), length(c), substr(c, 3, 9), replace(c, 'e', 'E'), hex(b) FROM"
        " t1 WHERE a%9=1;"
    )
    add("PRAGMA integrity_check;")
    add("ANALYZE;")
    for i in range(n // 20):
        low = number()
        add(
            f"SELECT max(t1.b), count(*) FROM t1 JOIN t5 ON t5.a=t1.b WHERE t1.b>{low} AND"
            f" t1.b<{low + 300};"
        )
    return "\n".join(out) + "\n"


_FIRST = "Ada Bela Carl Dora Emil Fay Gus Hana Igor Jane Karl Lena Max Nora Otto Pia".split()
_LAST = (
    "Abbott Berg Chen Diaz Evans Fox Garcia Huber Ito Jensen Kim Lopez Meyer Novak Okoye Patel"
    .split()
)
_TITLE = (
    "river stone winter garden silent night iron city lost letter blue mountain summer road broken"
    " mirror first island golden tower paper house distant star"
).split()
_SUBJECTS = "novel science history travel art law cooking music".split()


def training(n=700):
    """The script as text; n is the number of books."""
    rng = random.Random(21164)
    out = [
        "PRAGMA synchronous=OFF;",
        "PRAGMA foreign_keys=ON;",
        "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT UNIQUE, born INTEGER);",
        (
            "CREATE TABLE book(isbn TEXT PRIMARY KEY, title TEXT NOT NULL, author INTEGER"
            " REFERENCES author(id), year INTEGER, subject TEXT, price REAL, pages INTEGER"
            " CHECK(pages > 0));"
        ),
        "CREATE TABLE member(id INTEGER PRIMARY KEY, name TEXT, joined TEXT, city TEXT);",
        (
            "CREATE TABLE loan(id INTEGER PRIMARY KEY, book TEXT, member INTEGER, day INTEGER,"
            " returned INTEGER);"
        ),
        "CREATE INDEX book_author ON book(author, year);",
        "CREATE INDEX book_title ON book(title);",
        (
            "CREATE VIEW late AS SELECT member, count(*) AS n FROM loan WHERE returned IS NULL"
            " GROUP BY member;"
        ),
    ]
    add = out.append
    members, authors = n // 3, n // 4

    def isbn(i):
        return f"978-{i * 7919 % 100000:05d}-{i % 10}"

    def day():
        return rng.randrange(3000)

    add("BEGIN;")
    for i in range(authors):
        name = f"{rng.choice(_LAST)}, {rng.choice(_FIRST)} {i}"
        add(
            f"INSERT INTO author(id, name, born) VALUES ({i}, '{name}', {rng.randint(1880, 1975)});"
        )
    for i in range(members):
        name = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
        add(
            f"INSERT INTO member VALUES ({i}, '{name}', date('1990-01-01', '+{day()} days'), "
            f"'{rng.choice(['Oslo', 'Rome', 'Bonn', 'Lima', 'Kyoto'])}');"
        )
    add("COMMIT;")
    books = []
    for i in range(n):
        title = " ".join(rng.sample(_TITLE, rng.randint(2, 4))).capitalize()
        books.append(title)
        row = (
            f"('{isbn(i)}', '{title}', {rng.randrange(authors)}, {rng.randint(1930, 1997)}, "
            f"'{rng.choice(_SUBJECTS)}', {rng.randint(300, 9000) / 100}, {rng.randint(40, 1200)})"
        )
        if i % 50 == 0:
            add("BEGIN IMMEDIATE;")
        add(f"INSERT INTO book VALUES {row};")
        if i % 50 == 49:
            add("END;")
    if n % 50:
        add("END;")
    for i in range(n // 10):
        add(
            f"INSERT INTO loan(book, member, day) VALUES ('{isbn(rng.randrange(n))}',"
            f" {rng.randrange(members)}, {day()});"
        )
    add("BEGIN;")
    for i in range(2 * n):
        returned = "NULL" if i % 9 == 0 else day()
        add(
            "INSERT INTO loan(book, member, day, returned) "
            f"VALUES ('{isbn(rng.randrange(n))}', {rng.randrange(members)}, {day()}, {returned});"
        )
    add("COMMIT;")
    add("CREATE INDEX loan_member ON loan(member, day);")
    add("CREATE INDEX loan_book ON loan(book);")

    # What the desk asks all day
    for i in range(n // 2):
        kind = i % 5
        if kind == 0:
            add(f"SELECT title, year, price FROM book WHERE isbn = '{isbn(rng.randrange(n))}';")
        elif kind == 1:
            add(
                "SELECT b.title, a.name FROM book b JOIN author a ON a.id = b.author "
                f"WHERE a.id = {rng.randrange(authors)} ORDER BY b.year;"
            )
        elif kind == 2:
            add(
                "SELECT count(*), min(day), max(day) FROM loan WHERE member ="
                f" {rng.randrange(members)} AND day > {day()};"
            )
        elif kind == 3:
            start = books[rng.randrange(n)][:5]
            add(
                f"SELECT isbn, title FROM book WHERE title >= '{start}' AND title < '{start}~'"
                " LIMIT 8;"
            )
        else:
            add(
                "SELECT m.name, b.title, l.day FROM loan l, member m, book b WHERE l.member = m.id"
                f" AND b.isbn = l.book AND m.id = {rng.randrange(members)} ORDER BY l.day DESC;"
            )
    # What the head of the library asks once a month
    for word in _TITLE[:10]:
        add(
            f"SELECT title, price FROM book WHERE title LIKE '%{word}%' AND price < 60 ORDER BY"
            " price DESC, title;"
        )
    for year in range(1935, 1995, 6):
        add(
            "SELECT subject, count(*), round(avg(price), 2), sum(pages) FROM book WHERE year"
            f" BETWEEN {year} AND {year + 9} GROUP BY subject HAVING count(*) > 1 ORDER BY 2 DESC;"
        )
    add(
        "SELECT m.city, count(DISTINCT l.book), sum(l.returned - l.day) FROM loan l JOIN member m"
        " ON m.id = l.member GROUP BY m.city;"
    )
    add(
        "SELECT a.name, (SELECT count(*) FROM book b WHERE b.author = a.id) AS n FROM author a"
        " ORDER BY n DESC, a.name LIMIT 25;"
    )
    add("SELECT title FROM book WHERE isbn NOT IN (SELECT book FROM loan) ORDER BY title;")
    add(
        "SELECT name FROM member WHERE EXISTS (SELECT 1 FROM loan WHERE member = member.id AND"
        " returned IS NULL);"
    )
    add("SELECT DISTINCT subject, year / 10 * 10 AS decade FROM book ORDER BY decade, subject;")
    add("SELECT * FROM late WHERE n > 2 ORDER BY n DESC, member;")
    add(
        "SELECT trim(title) || ' (' || year || ')', upper(substr(title, 1, 1)), instr(title, 'n'),"
        " typeof(price) FROM book WHERE pages % 7 = 3;"
    )
    for subject in _SUBJECTS:
        add(
            "SELECT b1.title, b2.title FROM book b1, book b2, author a WHERE b1.author = a.id AND"
            f" b2.author = a.id AND b1.isbn < b2.isbn AND b1.subject = '{subject}' AND b2.subject ="
            f" '{subject}' ORDER BY 1, 2;"
        )
    # Changes
    add("BEGIN;")
    for i in range(n // 3):
        add(
            f"UPDATE loan SET returned = {day()} WHERE id = {rng.randrange(2 * n)} AND returned IS"
            " NULL;"
        )
    for i in range(n // 10):
        add(
            "UPDATE book SET price = price * 1.1, pages = pages + 1 WHERE author ="
            f" {rng.randrange(authors)};"
        )
    add("COMMIT;")
    add("UPDATE member SET city = 'Bergen' WHERE city = 'Oslo';")
    add("BEGIN;")
    for i in range(n // 30):
        add(f"DELETE FROM loan WHERE day BETWEEN {(low := day())} AND {low + 5};")
        add(
            f"INSERT OR REPLACE INTO member(id, name, city) VALUES ({rng.randrange(members)},"
            f" 'moved {i}', 'Graz');"
        )
    add("COMMIT;")
    add("DELETE FROM member WHERE id NOT IN (SELECT member FROM loan);")
    add("ALTER TABLE member ADD COLUMN email TEXT DEFAULT '';")
    add("UPDATE member SET email = lower(replace(name, ' ', '.')) || '@example.org';")
    add("CREATE TABLE archive AS SELECT * FROM loan WHERE returned IS NOT NULL;")
    add("INSERT INTO archive SELECT * FROM loan WHERE id % 3 = 0;")
    add("SELECT count(*), max(email) FROM member;")
    add("ANALYZE;")
    add("PRAGMA integrity_check;")
    add("VACUUM;")
    return "\n".join(out) + "\n"

#!/usr/bin/env python3
"""Databases of older versions of Respike are brought up to date by the next command, and keep what they hold; those of
newer ones are refused with a sentence and not touched.

tests/unit/database_N.sql is a database as version N of the schema made it."""

import re
import sqlite3
import sys

import common
from applications import World, static_program
from common import expect

FILES = {int(re.search(r"\d+", file.name)[0]): file for file in (common.ROOT / "tests/unit").glob("database_*.sql")}
NEWEST = int(re.search(r"version (\d+)", (common.ROOT / "profiledb/schema.sql").read_text())[1])


def database_of(world, version):
    """A database of that version; the files of its images are nowhere."""
    world.database.parent.mkdir(parents=True, exist_ok=True)
    text = re.sub(r"'(?=/(usr/)?(lib|bin)/)", f"'{world.folder}/gone", FILES[version].read_text())
    database = sqlite3.connect(world.database)
    database.executescript(text)
    database.close()
    return rows_of(world.database)


def rows_of(path):
    """Table -> its rows, each column -> value."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
    rows = {table: [dict(row) for row in database.execute(f"select * from {table}")] for table in tables}
    database.close()
    return rows


def structure_of(path):
    """The form of the tables: columns, keys, references, indexes."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    result = {}
    for name, kind in database.execute("select name, type from sqlite_master where name not like 'sqlite_%'").fetchall():
        if kind == "index":
            result[name] = [row[2] for row in database.execute(f"pragma index_info({name})")]
            continue
        columns = {(row[1], row[2], row[3], row[5]) for row in database.execute(f"pragma table_info({name})")}
        references = {row[2:7] for row in database.execute(f"pragma foreign_key_list({name})")}
        result[name] = (columns, references)
    database.close()
    return result


def check_version(scratch, version):
    new = World(scratch)
    new.ok("register", new.copy(static_program().image, "program"))
    world = World(scratch)
    before = database_of(world, version)
    expect(before["schema_version"] == [{"version": version}], f"{before['schema_version']}")
    modes = {view["name"]: view["mode"] for view in world.json("list")["applications"]}
    expect(modes == {row["name"]: row["mode"] for row in before["application"]} and "sort" in modes, f"{modes}")
    after = rows_of(world.database)
    expect(after["schema_version"] == [{"version": NEWEST}], f"{after['schema_version']}")
    expect(structure_of(world.database) == structure_of(new.database), "the tables are not those of a new database")
    for table, rows in before.items():
        if table in ("schema_version", "application_image", "image"):
            continue  # paths and uses are also brought up to date
        kept = [{column: row[column] for column in rows[0]} for row in after[table]] if rows else []
        expect(kept == rows, f"{table}: {kept}, not {rows}")
    expect(len(after["image"]) == len(before["image"]), f"{after['image']}")
    database = sqlite3.connect(world.database)
    for pragma in ("integrity_check", "foreign_key_check"):
        found = database.execute(f"pragma {pragma}").fetchall()
        expect(found in ([], [("ok",)]), f"{pragma}: {found}")


def check_all_there(scratch):
    """A change of the schema needs a stored database of that version."""
    expect(set(FILES) == set(range(1, NEWEST + 1)), f"there are databases of the versions {sorted(FILES)}, not of all to {NEWEST}")


def check_newer(scratch):
    """Each command refuses a newer database in one sentence; completions say nothing."""
    world = World(scratch)
    program = world.copy(static_program().image, "program")
    world.ok("register", program)
    database = sqlite3.connect(world.database)
    database.execute(f"update schema_version set version = {NEWEST + 1}")
    database.commit()
    database.close()
    before = world.database.read_bytes()
    name = "program"
    for command in (
        *(["list"], ["show", name], ["register", program], ["instrument", name], ["optimize", name], ["collect"]),
        *(["mode", name, "original"], ["export", name, world.folder / "out"], ["unregister", name], ["prune"]),
        *(["run", name], ["exec", name, "--", "true"], ["session", "true"], ["check", name]),
    ):
        outcome = world.respike(*command)
        text = outcome.stderr.decode()
        expect(outcome.status == (125 if command[0] in ("run", "exec", "session") else 1), f"{command}: {outcome}")
        said = f"of version {NEWEST + 1}, which a newer Respike made; this one reads versions up to {NEWEST}\n"
        expect(text.endswith(said) and text.count("\n") == 1, f"{command}: {text}")
    outcome = world.respike("complete", "run", "")
    expect(outcome.status == 0 and outcome.stdout == b"words\n" and not outcome.stderr, f"{outcome}")
    expect(world.database.read_bytes() == before, "the database was changed")


def check_only_read(scratch):
    """Completions only read, and do not bring a database up to date."""
    world = World(scratch)
    database_of(world, 1)
    before = world.database.read_bytes()
    outcome = world.respike("complete", "run", "")
    expect(outcome.status == 0 and not outcome.stderr, f"{outcome}")
    expect(world.database.read_bytes() == before, "the database was changed")


def cases(scratch):
    checks = {"all there": check_all_there, "newer": check_newer, "only read": check_only_read}
    for version in sorted(FILES):
        checks[f"version {version}"] = lambda scratch, version=version: check_version(scratch, version)
    return common.named_cases(checks, scratch)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

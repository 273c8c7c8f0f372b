#!/usr/bin/env python3
"""One file is one image however its path is spelt; what becomes of images when links change, and of
the images of an old database, which were known by their spelt paths.

Oracles: the file system, and a database in which the same runs were counted under one path."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import common
from applications import World, rows_of
from common import expect

LOOP = r"""
#include <stdio.h>
#ifdef LIBRARY
int value(int x) { int sum = 0; while (x-- > 0) sum += x % 3 ? x : 1; return sum; }
int version(void) { return VERSION; }
#else
#ifdef ALONE
static int value(int x) { int sum = 0; while (x-- > 0) sum += x % 3 ? x : 1; return sum; }
static int version(void) { return VERSION; }
#else
int value(int), version(void);
#endif
int main(int count, char** arguments) {
  printf("%d of %d\n", value(10 * count), version());
  return 0;
}
#endif
"""


def build_program(scratch, image, version=1):
    """A program whose other images are the system's: how often code of the C library runs may depend
    on the program's path."""
    source = scratch.file("loop.c")
    source.write_text(f"#define ALONE\n#define VERSION {version}\n" + LOOP)
    image.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([common.compiler(), "-O2", "-Wl,-q", source, "-o", image], check=True)
    return image


def build_library(scratch, library, version):
    source = scratch.file("library.c")
    source.write_text(f"#define LIBRARY\n#define VERSION {version}\n" + LOOP)
    library.parent.mkdir(parents=True, exist_ok=True)
    words = ["-O2", "-Wl,-q", "-fPIC", "-shared", "-Wl,-soname,libloop.so.1"]
    subprocess.run([common.compiler(), *words, source, "-o", library], check=True)
    return library


def build_user(scratch, image, library, *options):
    """A program that loads the library."""
    source = scratch.file("user.c")
    source.write_text(LOOP)
    image.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([common.compiler(), "-O2", "-Wl,-q", source, library, *options, "-o", image], check=True)
    return image


def paths(world):
    return sorted(path for (path,) in rows_of(world.database, "select path from image where optimizable"))


def counts(world, path):
    """All counts of the finished runs of an image, as the database keeps them."""
    query = """select procedure_count.ordinal, counts, runs, purpose from procedure_count
               join count_set on count_set.id = count_set join shape on shape.id = shape
               join build on build.id = build join image on image.id = image
               where path = ? and purpose = 'day' order by count_set.id, ordinal"""
    connection = sqlite3.connect(world.database)
    try:
        return connection.execute(query, [str(path)]).fetchall()
    finally:
        connection.close()


def make_old(database, spelt):
    """Makes the database one of version 5, with images under the paths that `spelt` gives them."""
    connection = sqlite3.connect(database)
    connection.executescript("""
        pragma foreign_keys = off;
        pragma legacy_alter_table = on;
        begin;
        create table old (id integer primary key, path text not null unique, soname text not null, machine text not null,
                          optimizable integer not null, reason text not null);
        insert into old select id, path, soname, machine, optimizable, reason from image;
        drop table image;
        alter table old rename to image;
        create table old (application integer not null references application (id) on delete cascade,
                          image integer not null references image (id),
                          role text not null check (role in ('main', 'linked', 'opened')), primary key (application, image));
        insert into old select application, image, role from application_image;
        drop table application_image;
        alter table old rename to application_image;
        create index application_image_by_image on application_image (image);
        drop table fault;
        drop table last_run;
        drop table last_check;
        drop table last_export;
        alter table derived_image drop column forecast;
        update schema_version set version = 5;
        commit;""")
    for real, path in spelt.items():
        connection.execute("update image set path = ? where path = ?", [str(path), str(real)])
    connection.commit()
    connection.close()


# --- Spellings ------------------------------------------------------------------------------------


def check_spellings(scratch):
    """Links of files and of folders, "..", and the present folder: one image, one profile."""
    world = World(scratch)
    image = build_program(scratch, world.folder / "usr" / "bin" / "prog")
    (world.folder / "bin").symlink_to("usr/bin")  # a merged /usr
    (world.folder / "alias").symlink_to("bin/prog")
    spellings = [image, world.folder / "bin" / "prog", world.folder / "alias"]
    spellings += [world.folder / "bin" / ".." / "bin" / "prog", image.parent / "." / "prog"]
    for number, path in enumerate(spellings):
        result = world.json("register", path, "--name", f"app{number}")
        expect(result["images"][0]["path"] == str(image), result)
    outcome = world.ok("register", "prog", "--name", "here", cwd=image.parent)
    expect(paths(world) == [str(image)], f"{paths(world)} {outcome}")
    for number in range(len(spellings)):
        world.ok("instrument", f"app{number}")
        expect(world.ok("run", f"app{number}").stdout == b"31 of 1\n", "it runs")
    for number, path in enumerate(spellings):
        shown = world.images(f"app{number}")["prog"]
        expect(shown["profile"]["runs"] == len(spellings), shown)
        expect(world.ok("optimize", f"app{number}", "--image", path).status == 0, "named by any path")
        expect(world.ok("run", f"app{number}").stdout == b"31 of 1\n", "optimized")
    hard = image.with_name("hard")
    os.link(image, hard)
    world.ok("register", hard)
    expect(paths(world) == [str(hard), str(image)], "hard links are different images")
    expect(world.images("hard")["hard"]["profile"]["runs"] == 0, "with profiles of their own")
    world.ok("register", image, hard, "--name", "both")
    text = world.ok("optimize", "both", "--image", hard).stdout.decode()
    expect(f"{hard}: " in text and f"{image}: " not in text, f"one of two hard links: {text}")


def check_shared_library(scratch):
    """Two programs load one library by different links: it has one profile."""
    world = World(scratch)
    library = build_library(scratch, world.folder / "usr" / "lib" / "libloop.so.1.1", 1)
    library.with_name("libloop.so.1").symlink_to(library.name)
    (world.folder / "lib").symlink_to("usr/lib")
    for name, folder in (("one", "usr/lib"), ("two", "lib")):
        image = build_user(scratch, world.folder / name, library, f"-Wl,-rpath,{world.folder}/{folder}")
        world.ok("register", image)
        shown = world.images(name)[library.name]
        expect(shown["loaded_as"] == f"{world.folder}/{folder}/libloop.so.1", shown)
        world.ok("instrument", name)
        world.ok("run", name)
    expect(world.images("one")[library.name]["profile"]["runs"] == 2, "one profile")
    for name in ("libloop.so.1", library.name, world.folder / "lib" / "libloop.so.1"):
        world.ok("optimize", "two", "--image", name)
    world.ok("optimize", "two")
    root = world.folder / "root"
    world.ok("export", "two", "--root", root, "--image", library.name)
    exported = root / library.relative_to("/")
    expect(exported.is_file() and not exported.is_symlink(), "the real file")
    expect(os.readlink(exported.with_name("libloop.so.1")) == library.name, "the link")


# --- Links that change ----------------------------------------------------------------------------


def check_upgrade(scratch):
    """A link leads to the file of a newer version: the application follows it, and the profile is
    carried over. When the link leads back, the old file is as it was."""
    world = World(scratch)
    folder = world.folder / "lib"
    old = build_library(scratch, folder / "libloop.so.1.1", 1)
    link = folder / "libloop.so.1"
    link.symlink_to(old.name)
    world.ok("register", build_user(scratch, world.folder / "user", old, f"-Wl,-rpath,{folder}"), "--name", "app")
    world.ok("instrument", "app")
    for _ in range(3):
        world.ok("run", "app")
    world.ok("optimize", "app")
    new = build_library(scratch, folder / "libloop.so.1.2", 2)

    def lead_to(library):
        link.unlink()
        link.symlink_to(library.name)

    lead_to(new)
    outcome = world.ok("run", "app")
    warning = outcome.stderr.decode()
    expect(outcome.stdout == b"31 of 2\n", "the new library runs")
    expect(f"{new} has changed: it runs as it is" in warning and warning.count("\n") == 1, warning)
    notes = world.ok("show", "app").stderr.decode()
    expect(f"app: {link} leads to {new} now, and no longer to {old}" in notes, notes)
    expect(f"{new}: of the " in notes and f"that ran in build 1 of {old}" in notes, notes)
    expect(not world.ok("show", "app").stderr, "once")
    shown = world.images("app")
    expect(set(shown) >= {"user", new.name} and old.name not in shown, set(shown))
    profile = shown[new.name]["profile"]
    expect(profile["carried_runs"] == 3 and profile["carried_confidence"] > 0.9 and profile["runs"] == 0, profile)
    text = world.ok("optimize", "app").stdout.decode()
    expect("by the profile of an older build, 3 runs" in text, text)
    expect(world.ok("run", "app").stdout == b"31 of 2\n", "optimized")
    lead_to(old)
    outcome = world.ok("run", "app")
    expect(outcome.stdout == b"31 of 1\n" and not outcome.stderr, f"the version of the old file is there: {outcome}")
    shown = world.images("app")[old.name]
    expect(shown["profile"]["runs"] == 3 and shown["optimized"], shown)
    expect(world.ok("optimize", "app").stdout.count(b"up to date") == 2, "it is as it was")
    world.ok("mode", "app", "instrumented")
    world.ok("run", "app")
    lead_to(new)
    old.unlink()  # counts of the old file wait, and the file is gone
    notes = world.ok("register", world.folder / "user", "--name", "app").stderr.decode()
    expect("leads to" in notes and "does not load" not in notes, notes)
    world.ok("optimize", "app")
    profile = world.images("app")[new.name]["profile"]
    expect(profile["carried_runs"] == 4, f"counts that came later are carried over, too: {profile}")


def check_two_upgrades(scratch):
    """The version in between never ran: the profile comes from the one before."""
    world = World(scratch)
    folder = world.folder / "lib"
    libraries = [build_library(scratch, folder / f"libloop.so.1.{v}", v) for v in (1, 2, 3)]
    link = folder / "libloop.so.1"
    link.symlink_to(libraries[0].name)
    world.ok("register", build_user(scratch, world.folder / "user", libraries[0], f"-Wl,-rpath,{folder}"), "--name", "app")
    for step in ("instrument", "run"):
        world.ok(step, "app")
    for library in libraries[1:]:
        link.unlink()
        link.symlink_to(library.name)
        expect(b"confidence" in world.ok("show", "app").stderr, "carried over")
    expect(world.images("app")[libraries[2].name]["profile"]["carried_runs"] == 1, "from the first")
    world.ok("prune")
    expect(world.images("app")[libraries[2].name]["profile"]["carried_runs"] == 1, "the old images went")
    expect(len(paths(world)) == 2, paths(world))


def check_folder_link(scratch):
    """A whole installation is replaced by changing the link of its folder."""
    world = World(scratch)
    for version in (1, 2):
        folder = world.folder / f"app-{version}"
        library = build_library(scratch, folder / "lib" / f"libloop.so.1.{version}", version)
        library.with_name("libloop.so.1").symlink_to(library.name)
        build_user(scratch, folder / "bin" / "user", library, "-Wl,-rpath,$ORIGIN/../lib")
    current = world.folder / "current"
    current.symlink_to("app-1")
    program = current / "bin" / "user"
    for step in (["register", program], ["instrument", "user"], ["run", "user"]):
        world.ok(*step)
    current.unlink()
    current.symlink_to("app-2")
    outcome = world.ok("register", program)
    expect(outcome.stdout.startswith(b"user: was registered already"), outcome)
    shown = world.images("user")
    for name in ("user", "libloop.so.1.2"):
        expect(shown[name]["path"].startswith(str(world.folder / "app-2")), shown[name])
        expect(shown[name]["profile"]["carried_runs"] == 1, shown[name])
    expect("libloop.so.1.1" not in shown, set(shown))
    world.ok("optimize", "user")
    expect(world.ok("run", "user").stdout == b"31 of 2\n", "it runs")


def check_broken_link(scratch):
    """A link that leads nowhere, or to a file that is not a library of the machine, changes nothing until it is right
    again."""
    world = World(scratch)
    folder = world.folder / "lib"
    library = build_library(scratch, folder / "libloop.so.1.1", 1)
    link = folder / "libloop.so.1"
    link.symlink_to(library.name)
    world.ok("register", build_user(scratch, world.folder / "user", library, f"-Wl,-rpath,{folder}"), "--name", "app")
    for step in ("instrument", "run"):
        world.ok(step, "app")
    before = world.show("app")
    text = folder / "text"
    text.write_text("no library\n")
    for target in ("nowhere", text.name):
        link.unlink()
        link.symlink_to(target)
        expect(world.respike("show", "app").status == 0, target)
        world.json("list")
        link.unlink()
        link.symlink_to(library.name)
        outcome = world.ok("show", "app")
        expect(not outcome.stderr and world.show("app") == before, f"{target}: {outcome}")


# --- Old databases --------------------------------------------------------------------------------


def two_spellings(scratch, counters=("shared", "atomic")):
    """An old database with an image for each of two spellings of one file; both images ran, and both have a run that is
    not merged."""
    world = World(scratch)
    image = build_program(scratch, world.folder / "usr" / "bin" / "prog")
    other = world.folder / "bin" / "prog"
    other.parent.mkdir()
    shutil.copy(image, other)
    for name, path, kind, runs in (("one", image, counters[0], 3), ("two", other, counters[1], 2)):
        for step in (["register", path, "--name", name], ["instrument", name, "--counters", kind]):
            world.ok(*step)
        for _ in range(runs):
            world.ok("run", name, "x")
        world.ok("collect")
        world.ok("run", name)
    shutil.rmtree(other.parent)
    other.parent.symlink_to("usr/bin")
    make_old(world.database, {})
    return world, image


def expect_merged(world, image, expected):
    expect(paths(world) == [str(image)], paths(world))
    for name in ("one", "two"):
        shown = world.images(name)["prog"]
        expect(shown["builds"] == 1 and shown["profile"]["runs"] == 7 and shown["instrumented"], shown)
    expect(counts(world, image) == expected, "counts differ")
    runs = rows_of(world.database, "select count(*), sum(state = 'finished') from run")
    expect(runs == [(7, 7)] and not world.spool(), f"{runs} {world.spool()}")
    for pragma in ("integrity_check", "foreign_key_check"):
        rows = rows_of(world.database, f"pragma {pragma}")
        expect(rows in ([("ok",)], []), rows)


def counted_once(scratch):
    """The counts of the runs of two_spellings() under one path."""
    world = World(scratch)
    image = build_program(scratch, world.folder / "usr" / "bin" / "prog")
    for step in (["register", image, "--name", "one"], ["instrument", "one"]):
        world.ok(*step)
    for args in [["x"]] * 5 + [[]] * 2:
        world.ok("run", "one", *args)
    world.ok("collect")
    rows = counts(world, image)
    expect(rows and {runs for _, _, runs, _ in rows} == {7}, rows)
    return rows


def check_old_database(scratch):
    """Two images of one file become one, with the counts of both and the waiting counts; existing versions stay;
    nothing is counted twice."""
    expected = counted_once(scratch)
    for counters in (("shared", "atomic"), ("shared", "shared")):
        world, image = two_spellings(scratch, counters)
        waiting = set(world.spool())
        outcome = world.ok("run", "two")
        expect(outcome.stdout == b"31 of 1\n" and not outcome.stderr, f"`run` comes first: {outcome}")
        (counted,) = set(world.spool()) - waiting
        counted.unlink()
        notes = world.ok("list").stderr.decode()
        expect(notes.count("both are one image now, with the counts of both") == 1, notes)
        expect_merged(world, image, expected)
        expect(not world.ok("list").stderr, "once")
        for name in ("one", "two"):
            world.ok("optimize", name)
            expect(world.ok("run", name).stdout == b"31 of 1\n", "it runs")


def check_old_links(scratch):
    """Images of an old database that were known by links get the paths of their files."""
    world = World(scratch)
    folder = world.folder / "lib"
    library = build_library(scratch, folder / "libloop.so.1.1", 1)
    link = folder / "libloop.so.1"
    link.symlink_to(library.name)
    program = build_user(scratch, world.folder / "user", library, f"-Wl,-rpath,{folder}")
    for step in (["register", program, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        world.ok(*step)
    make_old(world.database, {library: link})
    outcome = world.ok("run", "app")
    expect(outcome.stdout == b"31 of 1\n" and not outcome.stderr, f"`run` comes first: {outcome}")
    expect(str(link) in paths(world), "`run` changes nothing")
    away = library.with_name("away")
    library.rename(away)
    expect("does not exist" in world.ok("show", "app").stdout.decode() and str(link) in paths(world), "left until it is back")
    away.rename(library)
    outcome = world.ok("show", "app")
    expect(not outcome.stderr and paths(world) == [str(library), str(program)], f"{outcome} {paths(world)}")
    shown = world.images("app")[library.name]
    expect(shown["loaded_as"] == str(link) and shown["profile"]["runs"] == 1 and shown["optimized"], shown)
    expect(world.show("app")["programs"] == [str(program)], "the main image is a program")
    expect(world.ok("optimize", "app").stdout.count(b"up to date") == 2, "nothing to do")
    world.ok("unregister", "app")
    make_old(world.database, {})
    world.ok("register", program, "--name", "again")
    expect(world.show("again")["programs"] == [str(program)], "an old database knows programs of applications only")
    expect(world.ok("run", "again").stdout == b"31 of 1\n", "it runs")


def check_merged_at_once(scratch):
    """Many commands find the two images at the same time."""
    expected = counted_once(scratch)
    for _ in range(3):
        world, image = two_spellings(scratch)
        commands = [["list"], ["collect"], ["show", "one"], ["show", "two"], ["register", image, "--name", "one"]] * 2
        words = [[common.RESPIKE, *map(str, command)] for command in commands]
        options = {"env": world.environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started = [subprocess.Popen(command, **options) for command in words]
        for process in started:
            _, err = process.communicate(timeout=120)
            expect(process.returncode == 0 and b"warning" not in err, err)
        expect_merged(world, image, expected)


def check_killed(scratch):
    """Commands that are killed at random moments while they bring the database up to date."""
    chance = random.Random(1)
    expected = counted_once(scratch)
    world, image = two_spellings(scratch)
    kept = world.folder / "kept"
    shutil.copytree(world.database.parent, kept, symlinks=True)
    started = time.monotonic()
    world.ok("list")
    whole = time.monotonic() - started
    for _ in range(int(os.environ.get("RESPIKE_KILLS", 10))):
        shutil.rmtree(world.database.parent)
        shutil.copytree(kept, world.database.parent, symlinks=True)
        while True:
            process = subprocess.Popen(
                [common.RESPIKE, "list"], env=world.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(chance.random() * whole)
            process.send_signal(signal.SIGKILL)
            if process.wait() == 0 or chance.random() < 0.5:
                break
        world.ok("list")
        expect_merged(world, image, expected)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "spellings": check_spellings,
            "shared library": check_shared_library,
            "upgrade": check_upgrade,
            "two upgrades": check_two_upgrades,
            "folder link": check_folder_link,
            "broken link": check_broken_link,
            "old database": check_old_database,
            "old links": check_old_links,
            "merged at once": check_merged_at_once,
            "killed": check_killed,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())

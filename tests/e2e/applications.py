"""Applications for tests: a database of its own for each case, programs to register, and queries of
the database."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import common
from common import expect

SYSROOT = os.environ.get("QEMU_LD_PREFIX", "/usr/alpha-linux-gnu")


class World:
    """A database of its own, and copies of programs."""

    def __init__(self, scratch):
        self.folder = scratch.folder()
        self.database = self.folder / "a b" / "profiles.db"
        self.environment = dict(os.environ, RESPIKE_DB=str(self.database))

    def copy(self, image, name=None):
        path = self.folder / "bin" / (name or pathlib.Path(image).name)
        path.parent.mkdir(exist_ok=True)
        shutil.copy(image, path)
        return path

    def respike(self, *args, **options):
        return common.respike(*args, env=self.environment, **options)

    def ok(self, *args, **options):
        return common.respike_ok(*args, env=self.environment, **options)

    def json(self, *args):
        return json.loads(self.ok(*args, "--json").stdout)

    def show(self, name):
        return self.json("show", name)

    def images(self, name):
        return {pathlib.Path(i["path"]).name: i for i in self.show(name)["images"]}

    def state(self):
        """All files of the image store with their times."""
        store = pathlib.Path(f"{self.database}.files") / "images"
        return {str(p): p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file()}

    def spool(self):
        return list((pathlib.Path(f"{self.database}.files") / "spool").glob("*/*.counts"))


class UserWorld(World):
    """A world in which a user works, in its folder; `user`: the words in front of his commands, none: this one."""

    def __init__(self, scratch, user):
        super().__init__(scratch)
        self.user = list(user)

    def give(self):
        """Gives all files to the user."""
        for folder in self.folder.parents:
            if folder.name.startswith("respike-e2e-"):
                folder.chmod(0o755)
        if self.user:
            subprocess.run(["chown", "-R", "65534:65534", self.folder], check=True)

    def respike(self, *args, **options):
        return common.run_command([*self.user, common.RESPIKE, *args], env=self.environment, cwd=self.folder, **options)

    def ok(self, *args, **options):
        outcome = self.respike(*args, **options)
        expect(outcome.status == 0, f"{args}: {outcome}")
        return outcome


def split_counted(outcome):
    """The outcome of `respike exec` without the attendant's line about counted runs at the end, and that line."""
    lines = outcome.stderr.splitlines(keepends=True)
    first = len(lines)
    while first and (b" counted\n" in lines[first - 1] or b"was counted: " in lines[first - 1]) and lines[first - 1].startswith(b"respike: "):
        first -= 1
    rest = common.Outcome(outcome.status, outcome.stdout, b"".join(lines[:first]))
    return rest, b"".join(lines[first:]).decode()


def same_behaviour(expected, actual, what):
    expect(
        expected.behaviour() == actual.behaviour(), f"{what}: {common.describe_difference(expected, actual)}: {actual.stderr}"
    )


def static_program():
    """A program of a single image."""
    return common.first_program("interpreter.static", "interpreter.pie")


def rows_of(database, query):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


CHAIN = """
#include <stdio.h>
#ifdef LAST
int value(void) { return 7; }
#elif defined(MIDDLE)
int value(void);
int twice(void) { return 2 * value(); }
#else
int twice(void);
int main(void) { return printf("%d\\n", twice()) == 3 ? 0 : 1; }
#endif
"""


ECHO = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** arguments) {
  int c, sum = 0;
  for (int i = 1; i < count; i++) printf("[%s]\n", arguments[i]);
  printf("%s %s\n", getenv("FIRST") ? getenv("FIRST") : "-", getenv("SECOND") ? getenv("SECOND") : "-");
  while ((c = getchar()) != EOF) sum += c;
  printf("%d\n", sum);
  fflush(stdout);
  if (count > 2 && !strcmp(arguments[1], "exit")) return atoi(arguments[2]);
  if (count > 2 && !strcmp(arguments[1], "die")) raise(atoi(arguments[2]));
  if (count > 2 && !strcmp(arguments[1], "sleep")) sleep(atoi(arguments[2]));
  return 0;
}
"""


def build_echo(scratch):
    source, image = scratch.file("echo.c"), scratch.file("echo")
    source.write_text(ECHO)
    link_alone(source, image)
    return image


def link_alone(source, image):
    """Compiles a program of a single image: statically, for machines whose static programs can be
    rewritten."""
    static = [] if common.is_native() else ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"]
    subprocess.run([common.compiler(), "-O2", "-Wl,-q", *static, source, "-o", image], check=True)


def rebuilt(scratch, image):
    """Another build of an image: the same behaviour, but other bytes."""
    path = scratch.file("rebuilt")
    common.optimize(image, path, "--layout", "random", "--seed", "3")
    return path

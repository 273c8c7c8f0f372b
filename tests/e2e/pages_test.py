#!/usr/bin/env python3
"""README, docs/tutorial.md and docs/tour.md, line by line: their commands run in a home of their own, and print what the
pages say.

In the pages' blocks a command follows "$ ", its further lines follow "> ", and its output comes next. Figures may
differ from the page's, and "..." stands for any lines. In the tutorial, a command prints nothing but the output shown;
the other pages leave some outputs out. The sources of the tutorial are the sources of the tests' programs: apt-get is
not called."""

import os
import pathlib
import re
import shutil
import sys

import common
import ia64_programs
from common import Skip, expect

TUTORIAL, README, TOUR = (common.ROOT / page for page in ("docs/tutorial.md", "README.md", "docs/tour.md"))
FETCH = "apt-get source lua5.4"
# Verdicts by time depend on the other work of the machine.
VERDICT = re.compile(r"(ship: |speedup  ).*")
FIGURE = re.compile(r"0x[0-9a-f]+|(?<![\w/.-])[-+]?\d[\d,.]*")
APP = """
#include <stdio.h>
#include <stdlib.h>
static long __attribute__((noinline)) step(long n, long k) {
  if (n % 7 == 6) return n / 7 + k;
  if (n < 0) { fprintf(stderr, "%ld is negative\\n", n); exit(2); }
  return n % 2 ? 3 * n + 1 : n / 2;
}
int main(int count, char** words) {
  long most = count > 1 ? atol(words[1]) : 1, sum = 0;
  for (long k = 0; k < most * 1000; ++k)
    for (long n = k, i = 0; n != 1 && i < 50; ++i) sum += n = step(n, k);
  printf("%ld\\n", sum);
}
"""


def steps(page=TUTORIAL):
    """The page's commands: (command, lines that it prints)."""
    result = []
    for line in page.read_text().splitlines():
        if line.startswith("    $ "):
            result.append([line[6:], []])
        elif line.startswith("    > "):
            result[-1][0] += "\n" + line[6:]
        elif line.startswith("    ") and result and result[-1]:
            result[-1][1].append(line[4:])
        elif line and not line.startswith("    "):
            result.append(None)  # a block that begins without a command shows something else
    return [step for step in result if step]


def pattern_of(line, home):
    """The allowed forms of a line: other figures, other widths of columns."""
    if VERDICT.fullmatch(line):
        return VERDICT.pattern
    words = [FIGURE.split(word) for word in line.replace("/home/me", str(home)).split()]
    texts = [r"(0x[0-9a-f]+|[-+]?[\d,.]+)".join(map(re.escape, parts)) for parts in words]
    return r"\s*" + r"\s+".join(texts) + r"\s*"


def compare(command, promised, printed, home):
    """Fails unless the printed lines are the promised lines."""
    at = 0
    anywhere = False
    for line in promised:
        if line.strip() == "...":
            anywhere = True
            continue
        pattern = pattern_of(line, home)
        fits = [n for n in range(at, len(printed)) if re.fullmatch(pattern, printed[n])]
        expect(fits and (anywhere or fits[0] == at), f"{command} prints not {line!r} ({pattern}) but {printed[at:at + 20]}")
        at, anywhere = fits[0] + 1, False
    expect(anywhere or at == len(printed), f"{command} prints more than the page says: {printed[at:]}")


def sources():
    for folder in (common.PROGRAMS, common.PROGRAMS.parent):
        if (folder / "sources/lua5.4/src").is_dir():
            return folder / "sources/lua5.4"
    raise Skip("Debian's sources were unreachable")


def compiles(command, machine):
    outcome = common.run_command([command, "-dumpmachine"]) if shutil.which(command) else None
    return outcome and outcome.stdout.startswith(machine)


def home_of(scratch):
    """A folder with a folder bin of commands, and the environment of somebody whose home it is."""
    if not compiles("gcc", b"x86_64"):
        raise Skip("there is no compiler for x86-64 programs")
    home = scratch.folder()
    (home / "bin").mkdir()
    for command in ("respike", "respike-ia64"):
        (home / "bin" / command).symlink_to(pathlib.Path(common.RESPIKE).resolve().with_name(command))
    environment = {name: os.environ[name] for name in ("LANG", "TMPDIR", "ASAN_OPTIONS") if name in os.environ}
    environment.update(HOME=str(home), PATH=f"{home}/bin:{os.environ['PATH']}")
    return home, environment


def check_tutorial(scratch):
    lua = sources()
    home, environment = home_of(scratch)
    gdb = shutil.which("gdb") or shutil.which("gdb-multiarch")
    if gdb:
        (home / "bin/gdb").symlink_to(gdb)
    folder = home
    commands = steps()
    expect(len(commands) > 15 and commands[2][0] == FETCH, f"{commands}")
    for command, promised in commands:
        if command == FETCH:
            shutil.copytree(lua, folder / "lua5.4-5.4.4")
            continue
        if command.startswith("gdb ") and not gdb:
            continue
        script = f"set -e\n{command}\npwd > '{home}/folder'\n"
        outcome = common.run_command(["bash", "-c", script], cwd=folder, env=environment)
        folder = pathlib.Path((home / "folder").read_text().strip())
        expect(outcome.status == 0, f"{command}: {outcome}")
        errors = outcome.stderr.decode() if "gdb" not in command else ""
        expect(not errors, f"{command}: {errors}")
        compare(command, promised, outcome.stdout.decode().splitlines(), home)
    database = home / ".local/share/respike/respike.db"
    expect(database.exists(), "the database is not where the page says")


def follow(page, home, environment, without=()):
    """Runs a page's commands, except commands with a word of `without`; their output is compared if the page shows an
    output."""
    for command, promised in steps(page):
        if any(word in command for word in without):
            continue
        outcome = common.run_command(["bash", "-c", command], cwd=home, env=environment)
        refused = bool(promised) and promised[0].startswith(("respike: ", "bisect-procedures: "))
        expect(outcome.status == refused, f"{command}: {outcome}")
        if promised:
            compare(command, promised, (outcome.stderr if refused else outcome.stdout).decode().splitlines(), home)


def check_readme(scratch):
    home, environment = home_of(scratch)
    (home / "app.c").write_text(APP)
    expect(len(steps(README)) == 5, f"{steps(README)}")
    follow(README, home, environment)
    expected = common.run_command([home / "app", "31"])
    expect(common.run_command([home / "out/app", "31"]).behaviour() == expected.behaviour(), "the exported program does something else")


def check_tour(scratch):
    home, environment = home_of(scratch)
    commands = steps(TOUR)
    (source,) = (promised for command, promised in commands if command == "cat hello.c")
    (home / "hello.c").write_text("\n".join(source) + "\n")
    common.run_command(["gcc", "hello.c", "-o", "plain"], cwd=home)
    (home / "scripts").symlink_to(common.ROOT / "scripts")
    environment["RESPIKE"] = str(home / "bin/respike")
    without = []
    if not shutil.which("alpha-linux-gnu-gcc") or not shutil.which("qemu-alpha"):
        without.append("alpha")
    if (toolchain := ia64_programs.toolchain()) is None:
        without.append("ia64")
    else:
        environment["PATH"] += f":{toolchain / 'bin'}"
    follow(TOUR, home, environment, without)


CHECKS = {"tutorial": check_tutorial, "readme": check_readme, "tour": check_tour}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))

#!/usr/bin/env python3
"""docs/tutorial.md, line by line: its commands run in a home of their own, and print what the page says.

In the page's blocks a command stands behind "$ ", with lines behind "> " that belong to it; what it prints follows. Figures
may be others than the page's, and "..." stands for any lines. The sources are those that the tests' programs are made of:
apt-get is not called."""

import os
import pathlib
import re
import shutil
import sys

import common
from common import Skip, expect

PAGE = common.ROOT / "docs/tutorial.md"
FETCH = "apt-get source lua5.4"
# Verdicts by time depend on what else the machine does.
VERDICT = re.compile(r"ship: .*")
FIGURE = re.compile(r"0x[0-9a-f]+|(?<![\w/.-])[-+]?\d[\d,.]*")


def steps():
    """The page's commands: (command, lines that it prints)."""
    result = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("    $ "):
            result.append([line[6:], []])
        elif line.startswith("    > "):
            result[-1][0] += "\n" + line[6:]
        elif line.startswith("    "):
            result[-1][1].append(line[4:])
    return result


def pattern_of(line, home):
    """What a line may be: other figures, other widths of columns."""
    if VERDICT.fullmatch(line):
        return VERDICT.pattern
    words = [FIGURE.split(word) for word in line.replace("/home/me", str(home)).split()]
    texts = [r"(0x[0-9a-f]+|[-+]?[\d,.]+)".join(map(re.escape, parts)) for parts in words]
    return r"\s*" + r"\s+".join(texts) + r"\s*"


def compare(command, promised, printed, home):
    """Fails unless the lines that were printed are those promised."""
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


def check_page(scratch):
    if not shutil.which("gcc") or not common.run_command(["gcc", "-dumpmachine"]).stdout.startswith(b"x86_64"):
        raise Skip("there is no compiler for x86-64 programs")
    lua, home = sources(), scratch.folder()
    (home / "bin").mkdir()
    (home / "bin/respike").symlink_to(pathlib.Path(common.RESPIKE).resolve())
    gdb = shutil.which("gdb") or shutil.which("gdb-multiarch")
    if gdb:
        (home / "bin/gdb").symlink_to(gdb)
    environment = {name: os.environ[name] for name in ("LANG", "TMPDIR", "ASAN_OPTIONS") if name in os.environ}
    environment.update(HOME=str(home), PATH=f"{home}/bin:{os.environ['PATH']}")
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


CHECKS = {"page": check_page}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))

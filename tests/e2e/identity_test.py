#!/usr/bin/env python3
"""What a program can notice: the table of docs/environment.md, row by row.

A program prints what it sees of itself and of its surroundings, started by itself and in all the ways of the table's
columns. A cell says whether the value is the same in both."""

import os
import pathlib
import re
import subprocess
import sys

import applications
import common
from common import Skip, expect
from exec_test import can_intercept

DOCS = common.ROOT / "docs" / "environment.md"
SOURCE = common.ROOT / "tests" / "session" / "seen.c"
WORDS = ["a b", "", "--help"]
COMPILERS = {"native": "gcc", "alpha": "alpha-linux-gnu-gcc"}
ALPHA = ["qemu-alpha", "-L", applications.SYSROOT]
CELLS = {"same": (), "other": (False, True), "other for users": (True,), "other for root": (False,)}  # by ordinary users
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WAYS = {  # columns of the table: kind of program, command, mode
    "run": ("native", "run", "optimized"),
    "run, counting": ("native", "run", "instrumented"),
    "exec": ("native", "exec", "optimized"),
    "exec, counting": ("native", "exec", "instrumented"),
    "Alpha, run": ("alpha", "run", "optimized"),
    "Alpha, run, counting": ("alpha", "run", "instrumented"),
}


def table():
    """{row: {column: cell}}"""
    text = DOCS.read_text()
    lines = [line for line in text[text.index("### What a program can notice") :].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head = cells[0]
    rows = {}
    for row in cells[2:]:
        if len(row) != len(head):
            break
        rows[re.sub(r"`", "", row[0])] = dict(zip(head[1:], row[1:]))
    return rows


class Work(applications.World):
    """The program, registered, with both versions; `user`: the prefix of commands."""

    def __init__(self, scratch, kind, user):
        super().__init__(scratch)
        self.user = list(user)
        self.program = self.folder / "seen"
        self.database.parent.mkdir()
        subprocess.run(
            [COMPILERS[kind], "-O2", "-w", "-rdynamic", "-Wl,-q", SOURCE, "-o", self.program, "-ldl"], check=True
        )
        for path in (self.folder, self.database.parent, self.folder.parent):
            path.chmod(0o755)
        if user:
            for path in (self.folder, self.database.parent, self.program):
                os.chown(path, 65534, 65534)
        self.start([common.RESPIKE, "register", self.program])
        for command in ("optimize", "instrument"):
            self.start([common.RESPIKE, command, "seen"])

    def start(self, command, expected=0):
        outcome = common.run_command(
            [*self.user, *command], timeout=common.TOOL_TIMEOUT, env=self.environment, cwd=self.folder
        )
        expect(outcome.status == expected, f"{command}: {outcome}")
        return outcome

    def seen(self, command):
        lines = self.start(command, 7).stdout.decode().split("\n")
        return dict(line.split("\t", 1) for line in lines if line)


def values(scratch, kind, user):
    """{column: {row: value}} and the values without Respike under ""."""
    work = Work(scratch, kind, user)
    direct = [work.program, *WORDS] if kind == "native" else [*ALPHA, "-0", work.program, work.program, *WORDS]
    found = {"": work.seen(direct)}
    for column, (own, command, mode) in WAYS.items():
        if own != kind:
            continue
        work.start([common.RESPIKE, "mode", "seen", mode])
        words = ["run", "seen"] if command == "run" else ["exec", "seen", "--", work.program]
        found[column] = work.seen([common.RESPIKE, *words, *WORDS])
    return found


def may_mount():
    """Whether this process has CAP_SYS_ADMIN."""
    (mask,) = re.findall(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(mask, 16) >> 21 & 1 == 1


def check(scratch, kind, user):
    if not can_intercept():
        raise Skip("no binfmt_misc in user namespaces here")
    if user and os.geteuid() != 0:
        raise Skip("this needs root")
    ordinary = bool(user) or os.geteuid() != 0
    if not ordinary and not may_mount():
        raise Skip("root has no CAP_SYS_ADMIN here")
    rows, found = table(), values(scratch, kind, user)
    plain = found.pop("")
    expect(sorted(rows) == sorted(plain), f"rows without a test or tests without a row: {set(rows) ^ set(plain)}")
    wrong = []
    for column, seen in found.items():
        for row, value in seen.items():
            cell = rows[row][column]
            expect(cell in CELLS, f"{row}, {column}: {cell}")
            other = ordinary in CELLS[cell]
            if (value != plain[row]) != other:
                wrong.append(f"{row}, {column}: {plain[row][:200]!r} without, {value[:200]!r} with, {cell} in the table")
    expect(not wrong, "\n".join(wrong))


def cases(scratch):
    for kind in COMPILERS:
        yield common.Case(kind, lambda k=kind: check(scratch, k, ()))
        yield common.Case(f"{kind} nobody", lambda k=kind: check(scratch, k, AS_USER))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

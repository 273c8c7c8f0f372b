#!/usr/bin/env python3
"""What a program can notice: the table of docs/environment.md, row by row.

A program prints what it sees of itself and of its surroundings, started without Respike and in all the ways of the
table's columns. A cell says whether the value is the same in both."""

import os
import pathlib
import re
import subprocess
import sys

import applications
import common
import ia64_programs
from common import Skip, expect
from exec_test import can_intercept

DOCS = common.ROOT / "docs" / "environment.md"
SOURCE = common.ROOT / "tests" / "session" / "seen.c"
WORDS = ["a b", "", "--help"]
TOOLCHAIN = ia64_programs.toolchain()
COMPILERS = {"native": "gcc", "alpha": "alpha-linux-gnu-gcc", "ia64": TOOLCHAIN and TOOLCHAIN / "bin" / "ia64-linux-gnu-gcc"}
EMULATORS = {
    "native": [],
    "alpha": ["qemu-alpha", "-L", applications.SYSROOT, "-0"],
    "ia64": [pathlib.Path(common.RESPIKE).resolve().parent / "respike-ia64", "--sysroot", TOOLCHAIN and TOOLCHAIN / "sysroot", "--argv0"],
}
CELLS = {"same": (), "other": (False, True), "other for users": (True,), "other for root": (False,)}  # by ordinary users
IMPOSSIBLE = "-"
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WAYS = {  # columns of the table: kind of program, command, mode
    "run": ("native", "run", "optimized"),
    "run, counting": ("native", "run", "instrumented"),
    "exec": ("native", "exec", "optimized"),
    "exec, counting": ("native", "exec", "instrumented"),
    "Alpha, run": ("alpha", "run", "optimized"),
    "Alpha, run, counting": ("alpha", "run", "instrumented"),
    "Itanium, run": ("ia64", "run", "optimized"),
    "Itanium, run, counting": ("ia64", "run", "instrumented"),
}
GDB = ["gdb", "-batch", "-nx", "-ex", "set confirm off", "-ex", "break main", "-ex", "run", "-ex", "bt", "-ex", "continue", "--args"]
SET_UID = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { return printf("%d\\n", geteuid()) < 0; }\n'


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
        self.user, self.kind = list(user), kind
        if kind == "ia64":
            self.environment["QEMU_LD_PREFIX"] = str(TOOLCHAIN / "sysroot")
        self.program = self.folder / "seen"
        self.database.parent.mkdir()
        subprocess.run(
            [COMPILERS[kind], "-O2", "-w", "-rdynamic", "-Wl,-q,--build-id", SOURCE, "-o", self.program, "-ldl"], check=True
        )
        for path in (self.folder, self.database.parent, self.folder.parent):
            path.chmod(0o755)
        if user:
            for path in (self.folder, self.database.parent, self.program):
                os.chown(path, 65534, 65534)
        if os.geteuid() == 0:
            self.make_set_uid()
        self.start([common.RESPIKE, "register", self.program])
        for command in ("optimize", "instrument"):
            self.start([common.RESPIKE, command, "seen"])

    def make_set_uid(self):
        """A program that runs as another user than this one."""
        source, program = self.folder / "set-uid.c", self.folder / "set-uid"
        source.write_text(SET_UID)
        subprocess.run(["gcc", source, "-o", program], check=True)
        os.chown(program, 0 if self.user else 65534, 0)
        program.chmod(0o4755)

    def start(self, command, expected=(0,)):
        outcome = common.run_command(
            [*self.user, *command], timeout=common.TOOL_TIMEOUT, env=self.environment, cwd=self.folder, core=True
        )
        expect(outcome.status in expected, f"{command}: {outcome}")
        return outcome

    def seen(self, command):
        lines = self.start([*command, *WORDS], (7,)).stdout.decode().split("\n")
        return dict(line.split("\t", 1) for line in lines if line) | self.attached(command)

    def attached(self, command):
        """gdb's view when it attaches to the program."""
        process = subprocess.Popen(
            [*self.user, *command, "--wait"], env=self.environment, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        number = process.stdout.readline().decode().strip()
        text = self.start(["gdb", "-batch", "-nx", "-ex", "bt", "-p", number]).stdout.decode()
        process.communicate()
        detached = f"(process {number}) detached" in text
        return {"a gdb that attaches": f"{detached}, main in the stack: {' main ' in text}, end: {process.returncode}"}

    def debugged(self, command, program):
        """gdb's view when it starts the program."""
        text = self.start([*command, *GDB, program, "--end"], (0, 1)).stdout.decode()
        stops = re.findall(r"^(?:Breakpoint 1,|#\d).* (\w+) \(\)|exited with code (\d+)", text, re.MULTILINE)
        executed = re.findall(r"is executing new program: (.*)", text)
        return {"breakpoints of a gdb that starts it": str(stops), "executions that this gdb sees": str(executed)}


def values(scratch, kind, user):
    """{column: {row: value}} and the values without Respike under ""."""
    work = Work(scratch, kind, user)
    direct = [*EMULATORS[kind], *[work.program] * (1 if kind == "native" else 2)]
    found = {"": work.seen(direct)}
    if kind == "native":
        found[""] |= work.debugged([], work.program)
    for column, (own, command, mode) in WAYS.items():
        if own != kind:
            continue
        work.start([common.RESPIKE, "mode", "seen", mode])
        below = [common.RESPIKE, "exec", "seen", "--"]
        found[column] = work.seen([common.RESPIKE, "run", "seen"] if command == "run" else [*below, work.program])
        if command == "exec":
            found[column] |= work.debugged(below, work.program)
    return found


def may_mount():
    """Whether this process has CAP_SYS_ADMIN."""
    (mask,) = re.findall(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(mask, 16) >> 21 & 1 == 1


def check(scratch, kind, user):
    if not can_intercept():
        raise Skip("no binfmt_misc in user namespaces here")
    if COMPILERS[kind] is None:
        raise Skip(ia64_programs.MISSING)
    if user and os.geteuid() != 0:
        raise Skip("this needs root")
    ordinary = bool(user) or os.geteuid() != 0
    if not ordinary and not may_mount():
        raise Skip("root has no CAP_SYS_ADMIN here")
    rows, found = table(), values(scratch, kind, user)
    plain = found.pop("")
    wrong = []
    for column, seen in found.items():
        possible = {row for row in rows if rows[row][column] != IMPOSSIBLE}
        expect(possible == set(seen), f"{column}: rows without a test or tests without a row: {possible ^ set(seen)}")
        for row, value in seen.items():
            cell = rows[row][column]
            expect(cell in CELLS, f"{row}, {column}: {cell}")
            other = ordinary in CELLS[cell]
            if (value != plain[row]) != other and plain[row] != "missing":
                wrong.append(f"{row}, {column}: {plain[row][:200]!r} without, {value[:200]!r} with, {cell} in the table")
    expect(not wrong, "\n".join(wrong))


def cases(scratch):
    for kind in COMPILERS:
        yield common.Case(kind, lambda k=kind: check(scratch, k, ()))
        yield common.Case(f"{kind} nobody", lambda k=kind: check(scratch, k, AS_USER))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

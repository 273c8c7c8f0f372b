#!/usr/bin/env python3
"""Two people work in sessions, in terminals: every start runs the version that it should, every file that leaves is
the original, and no count is lost.

Two programs share a library. In two sessions, of bash and dash in pseudo-terminals, they are started in all ways, and
built, installed, copied, stripped, moved, packed and removed, while a third process changes modes, builds and versions.
Programs print which versions of themselves and of the library run."""

import dataclasses
import hashlib
import itertools
import os
import pathlib
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import time

import common
from applications import UserWorld
from common import Skip, expect
from exec_test import USERS, can_intercept

STARTS = int(os.environ.get("RESPIKE_STARTS", "120"))  # of one user, with one seed
SEEDS = int(os.environ.get("RESPIKE_SEEDS", "1"))
APPLICATIONS = ("one", "two")

# Says for each of two files whether it is the original (-), counted (c) or optimized (o), and which build it is. The
# text must not contain its own search string.
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int holds(const char* bytes, size_t size, char* coded) {
  char text[64];
  size_t length = strlen(coded);
  for (size_t i = 0; i < length; i++) text[i] = coded[i] - 1;
  return memmem(bytes, size, text, length) != 0;
}
static char version_of(const char* path) {
  static char bytes[1 << 22];
  FILE* file = fopen(path, "rb");
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  if (!size) return '?';
  if (holds(bytes, size, "gjmft0tqppm")) return 'c';
  return holds(bytes, size, "/opuf/sftqjlf") ? 'o' : '-';
}
#ifdef LIBRARY
char library_version(void) {
  Dl_info info;
  dladdr((void*)library_version, &info);
  return version_of(info.dli_fname);
}
int library_build(void) { return BUILD; }
#else
char library_version(void);
int library_build(void);
int main(int count, char** arguments) {
  printf("%s=%c%d/%c%d.\n", NAME, version_of("/proc/self/exe"), BUILD, library_version(), library_build());
  return 0;
}
#endif
"""

MAKEFILE = """
all: one two libshared.so
one two: libshared.so
\tgcc -O1 -w -Wl,-q -DNAME='"$@"' -DBUILD=$(BUILD) source.c -L. -lshared -Wl,-rpath,'$$ORIGIN' -o $@.new && mv $@.new $@
libshared.so:
\tgcc -O1 -w -Wl,-q -shared -fPIC -DLIBRARY -DBUILD=0 source.c -o $@
install:
\tgcc -O1 -w -Wl,-q -DNAME='"$(WHAT)"' -DBUILD=$(BUILD) source.c -L. -lshared -Wl,-rpath,'$$ORIGIN' -o built
\tinstall built $(WHAT)
start:
\t@./$(WHAT)
"""

STARTS_OF = (
    "./{}", "$PWD/{}", "PATH=$PWD:$PATH {}", "./{}.link", "./{}.script", "make -s start WHAT={}", "env -i ./{}",
    "sh -c './{}; true'", "bash -c 'exec ./{}'", "echo x | xargs ./{}", "find {} -exec ./{{}} \\;", "timeout 60 ./{}",
    "python3 -c 'import subprocess; subprocess.run([\"./{}\"])'", "(cd / && \"$OLDPWD/{}\")",
)  # fmt: skip

# Commands that must not see a version, with their output; they restore their changes.
READERS = (
    "cp -p {} copy && sha256sum < copy && rm copy",
    "tar cf - {} | tar xOf - | sha256sum",
    "install {} there && sha256sum < there && rm there",
    "strip -o bare {} && cmp -s bare {}.bare && sha256sum < {} && rm bare",
    "mv {} moved && sha256sum < moved && mv moved {}",
    "cat {} | sha256sum",
    "cp {} kept && rm {} && cp -p kept {} && sha256sum < {} && rm kept",
    "dd if={} bs=4096 2>/dev/null | sha256sum",
    "gzip -c {} | gunzip | sha256sum",
)
if shutil.which("rsync"):
    READERS += ("rsync -a {} synced && sha256sum < synced && rm synced",)


class Terminal:
    """A session in a pseudo-terminal."""

    def __init__(self, work, shell):
        self.master, terminal = pty.openpty()
        environment = dict(work.environment, PS1="", PS2="", HISTFILE="", HOME=str(work.folder), TERM="dumb")
        command = [*work.user, common.RESPIKE, "session", *shell]
        self.process = subprocess.Popen(
            command, cwd=work.folder, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        )
        os.close(terminal)
        self.text = ""
        self.type("stty -echo")

    def type(self, line):
        """Types a line; returns the output until the shell reads the next line."""
        mark = f"end{random.getrandbits(60)}"
        os.write(self.master, f"{line}; echo {mark[:3]}''{mark[3:]}\n".encode())
        end = time.monotonic() + 120
        while mark not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            expect(ready, f"{line}: nothing comes: {self.text}")
            self.text += os.read(self.master, 65536).decode().replace("\r", "")
        printed, _, self.text = self.text.partition(mark)
        return printed

    def leave(self):
        os.write(self.master, b"exit 3\n")
        expect(self.process.wait(timeout=60) == 3, "the shell ends otherwise")
        os.close(self.master)


@dataclasses.dataclass
class Application:
    mode: str = "original"
    build: int = 0
    made: set = dataclasses.field(default_factory=set)  # kinds of versions of the present build
    told: bool = True  # the sessions know of the present build
    counted: int = 0  # starts of the present build
    sum: str = ""


class Work(UserWorld):
    def __init__(self, scratch, user):
        super().__init__(scratch, USERS[user])
        if not can_intercept():
            raise Skip("no binfmt_misc in user namespaces here")
        (self.folder / "source.c").write_text(SOURCE)
        (self.folder / "Makefile").write_text(MAKEFILE)
        subprocess.run(["make", "-s", "libshared.so"], cwd=self.folder, check=True)
        subprocess.run(["make", "-s", "all", "BUILD=0"], cwd=self.folder, check=True)
        for name in APPLICATIONS:
            (self.folder / f"{name}.link").symlink_to(name)
            script = self.folder / f"{name}.script"
            script.write_text(f"#!{self.folder / name} option\n")
            script.chmod(0o755)
        self.give()
        self.applications = {name: Application() for name in APPLICATIONS}
        self.library_counted = 0
        for name in APPLICATIONS:
            self.ok("register", name)
            self.ok("instrument", name)
            self.ok("optimize", name)
            self.applications[name].mode = "optimized"
            self.applications[name].made = {"instrumented", "optimized"}
            self.look_at(name)

    def look_at(self, name):
        path = self.folder / name
        self.applications[name].sum = hashlib.sha256(path.read_bytes()).hexdigest()
        subprocess.run(["strip", "-o", f"{path}.bare", path], check=True)

    # ---- events ----

    def start(self, terminal, name, way):
        state = self.applications[name]
        printed = terminal.type(way.format(name))
        seen = re.findall(r"^(\w+)=(.)(\d+)/(.)(\d+)\.$", printed, re.MULTILINE)
        kind = {"original": "-", "instrumented": "c", "optimized": "o"}[state.mode]
        program = kind if state.mode in state.made else "-"
        # A rebuilt program is another file, until some command notifies the sessions.
        library = kind if state.told else "-"
        expect(seen == [(name, program, str(state.build), library, "0")], f"{way}: {printed!r}, not {program}{state.build}/{library}0")
        state.counted += program == "c"
        self.library_counted += library == "c"

    def read(self, terminal, name, command):
        printed = terminal.type(command.format(*[name] * command.count("{}")))
        expect(self.applications[name].sum in printed, f"{command}: {printed!r}")

    def change(self, name, choose):
        state = self.applications[name]
        for each in self.applications.values():
            each.told = True
        what = choose.choice(["mode", "mode", "mode", "instrument", "optimize"])
        if what == "mode":
            state.mode = choose.choice(["original", "instrumented", "optimized"])
            self.ok("mode", name, state.mode)
            return
        before = state.made
        self.ok(what, name)
        state.mode = f"{what}ed" if what == "instrument" else "optimized"
        state.made = before | {state.mode}

    def build(self, terminal, name):
        state = self.applications[name]
        terminal.type(f"make -s install WHAT={name} BUILD={state.build + 1}")
        self.finish_build(name)
        state.build += 1
        state.made = set()
        state.told = False
        self.look_at(name)

    def finish_build(self, name):
        """Counts of a build are compared when the build is left."""
        state = self.applications[name]
        state.counted = 0

    def check_counts(self):
        for name, state in self.applications.items():
            image = self.images(name)[name]
            if state.made:
                expect(image["profile"]["runs"] == state.counted, f"{name}: {image['profile']['runs']} of {state.counted}")
        runs = self.images("one")["libshared.so"]["profile"]["runs"]
        expect(runs == self.library_counted, f"the library: {runs} of {self.library_counted} runs are counted")


def check_work(scratch, user, seed):
    choose = random.Random(seed)
    work = Work(scratch, user)
    mounts = pathlib.Path("/proc/self/mountinfo").read_text()
    terminals = [Terminal(work, shell) for shell in (["bash", "--norc", "--noediting"], ["dash"])]
    starts = 0
    while starts < STARTS:
        name, terminal = choose.choice(APPLICATIONS), choose.choice(terminals)
        what = choose.random()
        if what < 0.12:
            work.change(name, choose)
        elif what < 0.25:
            work.read(terminal, name, choose.choice(READERS))
        elif what < 0.27:
            work.check_counts()
            work.build(terminal, name)
        else:
            work.start(terminal, name, choose.choice(STARTS_OF))
            starts += 1
    work.check_counts()
    for terminal in terminals:
        terminal.leave()
    expect(not work.ok("session", "--list").stdout, "a session is left")
    expect(pathlib.Path("/proc/self/mountinfo").read_text() == mounts, "a mount is left")


# Commands that work on files of applications, and do the same in a session as outside. `run` comes last: it counts.
COMMANDS = r"""
"$R" measure -- ./one
"$R" measure -- ./one.link
"$R" compare ./one ./one
"$R" compare ./one ./two
"$R" compare one --
"$R" check one --runs 2 --
"$R" register ./one
"$R" list
"$R" show two
"$R" show one --json | grep -e problem -e path
"$R" instrument two; "$R" mode two "$M"
"$R" report-fault one
"$R" report-fault two --run --
"$R" export one out; sha256sum out/one
"$R" image info one --json | grep -v seconds
"$R" image verify one out/one
"$R" image disasm one | sha256sum
"$R" image instrument one -o counted; sha256sum counted; rm counted
"$R" image optimize libshared.so -o moved.so --layout random; sha256sum moved.so; rm moved.so
"$R" report one -o page.html; rm page.html
"$R" prune --dry-run
"$R" exec one -- ./one
"$R" session ./two
"$R" run one
"""
VARYING = re.compile(r"^respike: .*(?:was|were) counted\b.*\n|^(?:least|median|most|a quarter|faster|speedup|runs).*\n|\d+ (?:runs?|counter files)", re.MULTILINE)


def check_commands(scratch, user):
    """Commands of Respike see originals below `exec` and in sessions, and do the same as outside."""
    work = Work(scratch, user)
    work.environment["R"] = common.RESPIKE

    def said(*below):
        outcome = common.run_command([*work.user, *below, "sh", "-c", COMMANDS], env=work.environment, cwd=work.folder)
        # Numbers of runs and times vary, and with them the widths of columns.
        return re.sub(" +", " ", VARYING.sub("", (outcome.stdout + b"\n" + outcome.stderr).decode()))

    for mode in ("instrumented", "optimized") if common.is_sampled() else ("original", "instrumented", "optimized"):
        for name in APPLICATIONS:
            work.ok("mode", name, mode)
        work.environment["M"] = mode
        said()  # exports, for example, are up to date from now on
        outside = said()
        # The measured program's output: the original ran.
        expect(outside.count("one=-0/-0.") >= 2, outside)
        for below in (["session"], ["exec", ",".join(APPLICATIONS), "--"]):
            inside = said(common.RESPIKE, *below)
            pairs = itertools.zip_longest(outside.split("\n"), inside.split("\n"))
            wrong = [pair for pair in pairs if pair[0] != pair[1]]
            expect(not wrong, f"{mode}, {below[0]}: {wrong}")


def cases(scratch):
    for user in USERS:
        yield common.Case(f"commands {user}", lambda u=user: check_commands(scratch, u))
    for user in USERS:
        for seed in range(1, SEEDS + 1):
            yield common.Case(f"work {user} {seed}", lambda u=user, s=seed: check_work(scratch, u, s))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

#!/usr/bin/env python3
"""A library that is registered by itself runs in its mode in all programs that load it below `respike exec`.

Programs unknown to Respike load the library: linked, by dlopen, from Python. They have to print the same as without
Respike, every load has to be counted, and readers of the file get the original."""

import shutil
import subprocess
import sys

import common
import ia64_programs
from applications import UserWorld, split_counted
from common import Skip, expect
from exec_test import ALPHA, USERS, can_intercept

KINDS = {"native": ["gcc"]}
if shutil.which(ALPHA[0]) and shutil.which("qemu-alpha"):
    KINDS["alpha"] = ALPHA
if ia64_programs.toolchain():
    KINDS["ia64"] = [ia64_programs.toolchain() / "bin" / "ia64-linux-gnu-gcc"]
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef LIBRARY
__attribute__((noinline)) static int step(int i) { return i % 3 ? i : 2 * i; }
int value(int count) { int sum = 0; for (int i = 0; i < count; i++) sum += step(i); return sum; }
#elif defined(OPENS)
static void* sleeps(void* seconds) { pause(); return 0; }
int main(int count, char** arguments) {
  pthread_t thread;
  if (count > 2) pthread_create(&thread, 0, sleeps, 0);
  void* library = dlopen(arguments[1], RTLD_NOW);
  Dl_info info;
  if (!library) { puts(dlerror()); return 9; }
  int (*value)(int) = (int (*)(int))dlsym(library, "value");
  dladdr((void*)value, &info);
  printf("%d %s\n", value(10), info.dli_fname);
  return 3;
}
#else
int value(int count);
int main(int count, char** arguments) { printf("%d\n", value(7)); return 0; }
#endif
"""


class Work(UserWorld):
    def __init__(self, scratch, kind, user):
        super().__init__(scratch, USERS[user])
        if not can_intercept():
            raise Skip("no binfmt_misc in user namespaces here")
        if kind == "ia64":
            self.environment["QEMU_LD_PREFIX"] = str(ia64_programs.toolchain() / "sysroot")
        source = self.folder / "source.c"
        source.write_text(SOURCE)
        self.library = self.folder / "libvalue.so"
        compiler = [*KINDS[kind], "-O1", "-w"]
        subprocess.run([*compiler, "-Wl,-q", "-shared", "-fPIC", "-DLIBRARY", source, "-o", self.library], check=True)
        subprocess.run([*compiler, source, f"-L{self.folder}", "-lvalue", "-Wl,-rpath,$ORIGIN", "-o", self.folder / "uses"], check=True)
        subprocess.run([*compiler, "-DOPENS", source, "-ldl", "-lpthread", "-o", self.folder / "opens"], check=True)
        self.give()

    def below(self, script):
        outcome, self.counted = split_counted(self.respike("exec", "lib", "--", "sh", "-c", script))
        expect(not outcome.stderr, f"{script}: {outcome}")
        return outcome.stdout.decode()

    def runs(self):
        return self.images("lib")["libvalue.so"]["profile"]["runs"]


def check_modes(scratch, kind, user):
    work = Work(scratch, kind, user)
    work.ok("register", "libvalue.so", "--name", "lib")
    script = f"./uses; ./opens ./libvalue.so; ./opens {work.library}; cat libvalue.so | sha256sum; cp libvalue.so copy; cmp copy libvalue.so"
    expected = work.below(script)
    expect(expected.startswith("30\n63 "), expected)
    for command, loads in (("instrument", 3), ("optimize", 3)):
        work.ok(command, "lib")
        seen = work.below(script)
        expect(seen == expected, f"{command}: {seen} instead of {expected}")
        expect(work.runs() == loads, f"{command}: {work.runs()}")
    work.ok("mode", "lib", "original")
    expect(work.below("env | grep -c -e LD_AUDIT -e RESPIKE_LIBRARIES; true") == "0\n", "nothing is substituted")


def check_native(scratch, user):
    """Other environments, threads, other programs of applications, commands of Respike."""
    work = Work(scratch, "native", user)
    work.ok("register", "libvalue.so", "--name", "lib")
    work.ok("instrument", "lib")
    python = f"import ctypes; print(ctypes.CDLL('{work.library}').value(5))"
    for script, loads, printed in (
        ("./uses; ./uses | cat; (./uses)", 3, "30\n" * 3),
        (f'python3 -c "{python}"', 1, "13\n"),
        ("env -i ./uses", 0, "30\n"),
        ("./opens ./libvalue.so thread", 0, "63 ./libvalue.so\n"),
        ("for i in 1 2 3 4 5 6 7 8; do ./uses & done; wait", 8, "30\n" * 8),
        ("true; ls > /dev/null; strip -o bare libvalue.so", 0, ""),
        ("LD_LIBRARY_PATH=/nowhere ./uses; cp libvalue.so other.so; ./opens ./other.so", 1, "30\n63 ./other.so\n"),
    ):
        before = work.runs()
        outcome = work.below(script)
        expect(outcome == printed, f"{script}: {outcome!r}")
        said = f"{loads} run{'s' if loads != 1 else ''} of lib {'were' if loads != 1 else 'was'} counted"
        expect((said if loads else "no run of lib was counted: ") in work.counted, f"{script}: {work.counted!r}")
        expect(work.runs() == before + loads, f"{script}: {work.runs() - before} loads are counted")
    before = work.runs()
    outcome = work.respike("session", "sh", "-c", "./uses; env -i ./uses")
    expect(outcome.stdout == b"30\n30\n" and work.runs() == before + 1, f"in a session: {outcome}")
    for command in ("measure --", "compare ./uses"):
        outcome = work.respike("exec", "lib", "--", common.RESPIKE, *command.split(), "./uses")
        expect(outcome.status == 0, f"{outcome}")
    expect(work.runs() == before + 1, "what Respike measures is the original")
    # A program of an application also has its own module.
    source = work.folder / "main.c"
    source.write_text((work.folder / "source.c").read_text())
    main = work.folder / "main"
    subprocess.run(["gcc", "-w", "-Wl,-q", "-DOPENS", source, "-o", main], check=True)
    work.ok("register", main, "--name", "app")
    work.ok("instrument", "app")
    before = work.runs()
    outcome, _ = split_counted(work.respike("exec", "lib,app", "--", "sh", "-c", "./main ./libvalue.so; ./uses; ./main ./libvalue.so"))
    expect(outcome.stdout == b"63 ./libvalue.so\n30\n63 ./libvalue.so\n" and not outcome.stderr, f"{outcome}")
    expect(work.runs() == before + 3, f"{work.runs() - before} loads are counted")
    expect(work.images("app")["main"]["profile"]["runs"] == 2, "the program")


def check_gone(scratch):
    """A registered library that is gone does not stand in the way of sessions."""
    work = Work(scratch, "native", "own user")
    work.ok("register", "libvalue.so", "--name", "lib")
    work.ok("instrument", "lib")
    work.library.rename(work.folder / "away.so")
    outcome = work.respike("session", "sh", "-c", "echo works")
    expect(outcome.stdout == b"works\n" and outcome.status == 0, f"{outcome}")
    work.library.write_text("no library any more\n")
    outcome = work.respike("session", "sh", "-c", "echo works")
    expect(outcome.stdout == b"works\n" and outcome.status == 0, f"{outcome}")


def cases(scratch):
    yield common.Case("gone", lambda: check_gone(scratch))
    for kind in KINDS:
        yield common.Case(f"modes: {kind}", lambda k=kind: check_modes(scratch, k, "own user"))
    for user in USERS:
        yield common.Case(f"native, {user}", lambda u=user: check_native(scratch, u))
        if user != "own user":
            yield common.Case(f"modes: native, {user}", lambda u=user: check_modes(scratch, "native", u))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

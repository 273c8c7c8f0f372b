#!/usr/bin/env python3
"""Respike works from where `cmake --install` puts it: in a folder with blanks in its path, moved afterwards, and staged.

Commands are in bin; the programs and modules that they start or load are found in libexec/respike. A program of the
host and a program for Alpha go through register, instrument, run, exec, optimize and measure, a program for Itanium
through register, run and measure."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import common
import ia64_programs
from applications import World
from common import Skip, expect
from exec_test import can_intercept

BUILD = pathlib.Path(common.RESPIKE).parent
KINDS = {"native": ["gcc"], "alpha": ["alpha-linux-gnu-gcc"]}
SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static int step(int i) { return i % 3 ? i : -i; }
int main(int count, char** words) {
  int sum = count;
  for (int i = 0; i < 20000; i++) sum += step(i);
  printf("%d\\n", sum);
  return 3;
}
"""


def install(folder, *options, environment=None):
    done = common.run_command(["cmake", "--install", BUILD, *options], env=dict(os.environ, **(environment or {})), cwd=folder)
    expect(done.status == 0, f"{done.stderr.decode()[-500:]}")


def installed(scratch):
    """The command of an installation that was moved."""
    folder = scratch.folder()
    install(folder, "--prefix", folder / "first place")
    (folder / "first place").rename(folder / "an other place")
    return folder / "an other place" / "bin" / "respike"


def check_work(scratch, kind):
    world = World(scratch)
    respike = installed(scratch)
    program = world.folder / "work"
    if kind == "ia64":
        shutil.copy2(ia64_programs.freestanding("calls", scratch.folder(), "-q"), program)
    else:
        source = scratch.file("work.c")
        source.write_text(SOURCE)
        subprocess.run([*KINDS[kind], "-O1", "-Wl,-q", source, "-o", program], check=True)

    def run(*words):
        return common.run_command([respike, *words], env=world.environment, cwd=world.folder)

    def ok(*words):
        outcome = run(*words)
        expect(outcome.status == 0, f"{words}: {outcome}")
        return outcome

    ok("register", program)
    expected = run("run", "work")
    expect(expected.status not in (1, 2, 125), f"{expected}")
    if kind == "ia64":  # the small program has no room for a program header
        return expect(json.loads(run("measure", "--json", "--", program).stdout)["cycles"] > 0, "it is not measured")
    ok("instrument", "work")
    ways = [["run", "work"]] + ([["exec", "work", "--", program]] if can_intercept() else [])
    for way in ways:
        outcome = run(*way)
        expect(outcome.behaviour() == expected.behaviour(), f"{way}: {common.describe_difference(expected, outcome)}")
    (image,) = [i for i in json.loads(ok("show", "work", "--json").stdout)["images"] if i["path"] == str(program)]
    expect(image["profile"]["runs"] == len(ways), f"{image}")
    ok("optimize", "work")
    outcome = run("run", "work")
    expect(outcome.behaviour() == expected.behaviour(), f"{common.describe_difference(expected, outcome)}")
    measured = json.loads(run("measure", "--json", "--", program).stdout)
    expect(measured["instructions"] > 0 and (kind != "native" or measured["cycles"] > 0), f"{measured}")


def check_staged(scratch):
    """DESTDIR; the place of each file."""
    folder = scratch.folder()
    install(folder, "--prefix", "/usr", environment={"DESTDIR": str(folder / "stage")})
    files = {str(f.relative_to(folder / "stage" / "usr")) for f in (folder / "stage" / "usr").rglob("*") if f.is_file()}
    wanted = {"bin/respike", "bin/respike-ia64", "libexec/respike/respike-starter", "libexec/respike/respike-emulate",
              "libexec/respike/respike-measure.so", "share/respike/respike.mk", "share/cmake/Respike/RespikeConfig.cmake",
              "share/man/man1/respike.1", "share/man/man5/respike-database.5", "share/man/man5/respike-profile.5"}
    expect(wanted <= files, f"{wanted - files} are missing")
    expect({f for f in files if f.startswith("bin/")} <= {f"bin/respike{end}" for end in ("", "-ia64", "-nt", "-ecoff", "-manager")},
           f"others are in bin: {sorted(f for f in files if f.startswith('bin/'))}")
    expect(any(f.endswith("/LICENSE") for f in files), "there is no licence")


LISTS = """
cmake_minimum_required(VERSION 3.25)
project(work C)
find_package(Respike 0.1 REQUIRED)
add_executable(work work.c)
respike_optimize(work {})
"""
MAKEFILE = """
RESPIKE_PROGRAMS := work
{} := {}
include {}
work: work.c
\tgcc -O1 $(RESPIKE_LDFLAGS) $< -o $@
"""


def check_builds(scratch, tool):
    """CMake finds the package, make includes respike.mk: both train, and both use a profile instead."""
    respike = installed(scratch)
    prefix = respike.parent.parent
    folder = scratch.folder()
    environment = dict(os.environ, PATH=f"{respike.parent}:{os.environ['PATH']}")
    environment.pop("RESPIKE_DB", None)
    (folder / "work.c").write_text(SOURCE)
    expect(common.run_command([respike, "--version"]).stdout.startswith(b"respike 0."), "--version says no version")

    def check(build, key, value):
        if tool == "cmake":
            (folder / "CMakeLists.txt").write_text(LISTS.format(f"{key} {value}"))
            options = ["-S", folder, "-B", folder / build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
            commands = [["cmake", *options], ["cmake", "--build", folder / build]] * 2
            database = folder / build / "respike.db"
        else:
            name = {"TRAIN": "RESPIKE_TRAIN", "PROFILE": "RESPIKE_PROFILE"}[key]
            where = str(prefix / "share/respike/respike.mk").replace(" ", "\\ ")
            (folder / "Makefile").write_text(MAKEFILE.format(name, value, where))
            commands = [["make", "respike", f"RESPIKE_OUTPUT={build}/fast"]] * 2
            database = folder / build / "fast.respike/respike.db"
        for command in commands:
            done = common.run_command(command, env=environment, cwd=folder)
            expect(done.status == 0, f"{command}: {done.stdout.decode()[-1500:]} {done.stderr.decode()[-1500:]}")
        expect(common.run_command([folder / build / "fast/work"]).status == 3, "the faster image ends otherwise")
        return database

    train = "1 2 3" if tool == "cmake" else "./work 1 2 3 || test $$? = 3"
    if tool == "cmake":  # its training has to succeed
        (folder / "work.c").write_text(SOURCE.replace("return 3", "return count == 1 ? 3 : 0"))
    database = check("trained", "TRAIN", train)
    common.respike_ok("--db", database, "profile", "export", "work", "-o", folder / "work.profile")
    check("profiled", "PROFILE", folder / "work.profile")


def cases(scratch):
    if shutil.which("cmake") is None:
        raise Skip("there is no cmake")
    for kind in ("native", "alpha", "ia64"):
        yield common.Case(f"work {kind}", lambda k=kind: check_work(scratch, k))
    if can_intercept():
        yield common.Case("make", lambda: check_builds(scratch, "make"))
    yield common.Case("cmake", lambda: check_builds(scratch, "cmake"))
    yield common.Case("staged", lambda: check_staged(scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

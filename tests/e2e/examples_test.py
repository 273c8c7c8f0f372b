#!/usr/bin/env python3
"""The examples keep their promises: one command from sources to faster images, nothing to do the
second time, and the profile is used again after a change of the sources.

Each example is copied with its surroundings into a scratch folder, and built for Alpha and for the host. SQLite's
sources are the same as for the test programs. For Alpha, the simulator shows which image is faster, on work that
differs from the training; for the host there is no model, and times vary."""

import json
import os
import re
import shutil
import sys

import common
from common import Skip, expect

SOURCES = common.PROGRAMS / "sources" / "sqlite3-amalgamation"
LEAST_GAIN = 1.03  # cycles of the original over cycles of the optimized image


class Project:
    """An example in a tree of its own, at the same place as in the repository."""

    def __init__(self, scratch, name, place="."):
        root = scratch.folder() / place
        self.folder = root / "examples" / name
        shutil.copytree(common.ROOT / "examples" / name, self.folder, ignore=shutil.ignore_patterns("build"))
        shutil.copytree(common.ROOT / "cmake", root / "cmake")
        self.environment = dict(os.environ, XDG_DATA_HOME=str(root / "data"))
        for name in ("RESPIKE_DB", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS"):
            self.environment.pop(name, None)

    def do(self, *command):
        """Runs a command, which has to succeed; returns its output."""
        outcome = common.run_command(command, cwd=self.folder, env=self.environment, timeout=600)
        text = (outcome.stdout + outcome.stderr).decode(errors="replace")
        expect(outcome.status == 0, f"{common.shorten_command(command)}: {text[-1500:]}")
        return text

    def files(self):
        """All files with their times, except the database's, which change whenever the database is
        read."""
        files = [p for p in self.folder.rglob("*") if p.is_file() and ".db" not in p.name]
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_ino) for p in files}

    def json(self, command, *args, environment=None, stdin=None):
        """The JSON that a command of respike prints, and its messages on stderr."""
        command = [common.RESPIKE, command, "--json", *args]
        environment = self.environment | (environment or {})
        outcome = common.run_command(command, stdin=stdin, cwd=self.folder, env=environment, timeout=600)
        expect(outcome.status == 0, outcome.stderr.decode(errors="replace")[-600:])
        return json.loads(outcome.stdout), outcome.stderr


def append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def expect_carried_over(text, image):
    """Checks that the build said how much of the older profile it used for `image`."""
    found = re.search(rf"{re.escape(image)}: of the (\d+) procedures .* with ([\d.]+)% .*confidence ([\d.]+)", text)
    expect(found, f"{image}: nothing on the share that was matched: {text[-1500:]}")
    expect(int(found[1]) >= 5 and float(found[2]) > 95 and float(found[3]) > 0.9, found[0])


# --- make -----------------------------------------------------------------------------------------

PROBE = "\nint respike_example_probe(int n) { int s = 0; while (n-- > 0) s += n * n; return s; }\n"


def check_make(scratch, machine):
    if not SOURCES.exists():
        raise Skip("SQLite's sources are not here")
    project = Project(scratch, "make")
    sources = project.folder / "sources"
    shutil.copytree(SOURCES, sources)
    make = ["make", "-j2", f"RESPIKE={common.RESPIKE}", f"SQLITE={sources}"]
    # Levels that compile in less time; one of two programs is enough the second time.
    make += ["MACHINE=alpha", "CFLAGS=-O1"] if machine == "alpha" else ["CFLAGS=-O0", "build/fast/shared/sqlite3"]
    build, variants = ("build/alpha", ("single", "shared")) if machine == "alpha" else ("build", ("shared",))
    project.do(*make)
    reference = project.folder / "reference.sql"

    def expect_faster(variant):
        images = [f"{build}/{variant}/sqlite3", f"{build}/fast/{variant}/sqlite3"]
        result, _ = project.json("compare", *images, "--", "-batch", ":memory:", stdin=reference)
        expect(result["same_output"], f"{variant}: the images print different things")
        if machine == "alpha":
            gain = result["before"]["cycles_c"] / result["after"]["cycles_c"]
            expect(gain > LEAST_GAIN, f"{variant}: the gain is {gain:.3f}")

    for variant in variants if machine == "alpha" else ():  # of the host's, the second images are enough
        expect_faster(variant)
    library = project.folder / build / "fast/shared/libsqlite3.so"
    expect(library.exists(), "the library is not exported")
    for image in [library, *(library.parent.parent / v / "sqlite3" for v in variants)]:
        common.respike_ok("image", "verify", project.folder / build / image.parent.name / image.name, image)
    before = project.files()
    text = project.do(*make)
    expect(("Nothing to be done" in text or "is up to date" in text) and len(text.splitlines()) == 1, f"the second make: {text}")
    expect(project.files() == before, "the second make changed files")
    append(sources / "sqlite3.c", PROBE)
    text = project.do(*make, f"{build}/fast/shared/sqlite3")
    expect(f"{common.RESPIKE} run " not in text, f"trained again: {text}")
    expect_carried_over(text, "libsqlite3.so")
    symbols = common.run_command(["nm", library]).stdout.decode()
    expect("respike_example_probe" in symbols, "the library exported is not of the new sources")
    expect_faster("shared")


# --- CMake ----------------------------------------------------------------------------------------


def check_cmake(scratch, machine):
    project = Project(scratch, "cmake", "it's here")
    options = ["-DCMAKE_TOOLCHAIN_FILE=alpha.cmake"] if machine == "alpha" else []
    project.do("cmake", "-S", ".", "-B", "build", f"-DRESPIKE={common.RESPIKE}", *options)
    build = ["cmake", "--build", "build"]
    project.do(*build)
    # Programs that CMake builds look for libraries in the folder of the build.
    measured = []
    for folder in (project.folder / "build", project.folder / "build/fast"):
        own_library = {"LD_LIBRARY_PATH": str(folder)}
        program = [folder / "count-words", *(10 * sorted((common.ROOT / "docs").glob("*.md")))]
        measured.append(project.json("measure", "--", *program, environment=own_library))
    (original, expected), (fast, printed) = measured
    expect(printed == expected and b"words" in printed, f"the images print different things: {expected} {printed}")
    if machine == "alpha":
        # Most of the program's time is spent in the C library and in loops that no layout can improve.
        expect(fast["cycles_c"] < original["cycles_c"], f"{fast['cycles_c']} cycles, not {original['cycles_c']}")
        expect(fast["taken_jumps"] < 0.9 * original["taken_jumps"], f"{fast['taken_jumps']} of {original['taken_jumps']} jumps")
    expect((project.folder / "build/fast/libwords.so").exists(), "the library is not exported")
    before = project.files()
    project.do(*build)
    changed = {p for p, state in project.files().items() if before.get(p) != state}
    expect(not any("/fast/" in p or p.endswith((".so", ".trained")) for p in changed), f"made again: {changed}")
    append(project.folder / "words.c", PROBE)
    printed = project.do(*build)
    expect("Training" not in printed, printed)
    expect_carried_over(printed, "libwords.so")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        cases = [
            common.Case(f"{check.__name__.removeprefix('check_')} {machine}", lambda c=check, m=machine: c(scratch, m))
            for check in (check_make, check_cmake)
            for machine in ("alpha", "host")
        ]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

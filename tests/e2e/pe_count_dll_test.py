#!/usr/bin/env python3
"""Libraries of Windows NT that count: exactly, whoever loads them, and their profiles lay them out.

The images are those of pe_dll_test.py. A library counts alone, below a program that does not count; together with the
program; when LoadLibrary opens it, once and again after FreeLibrary; at its own base and elsewhere. The oracle
(oracle.py) counts the same run. `respike run` runs programs with counting libraries in place of the originals (mode
instrumented), and `respike optimize` lays the libraries out by the counts of several programs."""

import functools
import json
import pathlib
import re
import shutil
import sys

import common
import oracle
import pe_count_test
import pe_dll_test
import pe_substitution_test
import pe_test
from common import expect

import dlls  # tests/pe, which pe_test puts into the path
import images
import link

LOADER = pe_count_test.LOADER
# Where the libraries go: to their own bases, only one of which is free, or all elsewhere.
PLACES = {"own": (), "moved": ("--libraries", "0x50000000")}
WITHOUT_BRANCHES = ("refusing.dll",)


class World(pe_dll_test.World):
    def opening(self):
        """The folder with late.dll, sqlite3.dll and the program that opens them."""

        def make():
            folder = self.scratch.folder()
            shutil.copy(self.folder("user") / "late.dll", folder)
            shutil.copy(self.folder("sqlite") / "sqlite3.dll", folder)
            objects = [images.compile_source(dlls.PROGRAMS / "opening.c", self.scratch.folder())]
            (folder / "opening.exe").write_bytes(link.link(objects, link.Options(imports=dlls.SYSTEM, symbols=True)))
            return folder

        return self.shared("opening", make)


class Counting:
    """A folder with some images of another folder, which count."""

    def __init__(self, world, folder, counted, *options):
        self.folder, self.spool, self.counted = world.scratch.folder(), world.scratch.folder() / "spool", counted
        self.places, self.profiles = {}, world.scratch.folder()
        for image in sorted(folder.iterdir()):
            output = self.folder / image.name
            if image.name not in counted:
                shutil.copy(image, output)
                continue
            blocks = world.scratch.file("blocks")
            common.respike_ok("image", "instrument", image, "-o", output, "--spool", self.spool, "--block-map", blocks, *options)
            lines = map(str.split, blocks.read_text().splitlines())
            self.places[image.name] = {int(before, 16): int(after, 16) for before, after in lines}

    def files(self, name):
        return sorted(self.spool.glob(f"{name}.*.counts"))

    def profile(self, name):
        path = self.profiles / f"{name}.profile"
        common.respike_ok("image", "collect", *self.files(name), "-o", path)
        return path

    def shown(self, name):
        return json.loads(common.respike_ok("profile", "show", self.profile(name), "--json").stdout)

    def run(self, program, run, options=(), files=None):
        """Counts with the oracle; each image has counted the same. `files`: how many counter files each image makes."""
        for file in self.spool.glob("*"):
            file.unlink()
        paths = [self.folder / name for name in self.counted]
        seen = oracle.count(
            self.folder / program, run.args, images=paths, stdin=run.stdin, loader=[LOADER, *options], folder=self.folder)
        for name, path in zip(self.counted, paths):
            made = len(self.files(name))
            wanted = (files or {}).get(name, 1)
            expect(made == wanted, f"{made} counter files of {name}, not {wanted}")
            if wanted:
                pe_count_test.compare_counts(self.shown(name), self.places[name], seen.images[path], name not in WITHOUT_BRANCHES)
        return seen.outcome


def behaviour(outcome):
    """argv[0] is another path below the oracle, and a name without a suffix, which is taken for that of a library."""
    text = re.sub(rb"(\S*/)?\b(program|user\.exe|PROGRAM)\b", b"PROGRAM", outcome.stdout)
    return outcome.status, re.sub(rb"by GetModuleHandleA: \d", b"", text)


def expect_same(expected, actual, what):
    if behaviour(expected) != behaviour(actual):
        raise common.Failure(f"{what}: {common.describe_difference(expected, actual)}")


def check_counts(world, kind, which, counters, high):
    folder = world.folder(kind, high)
    names = sorted(p.name for p in folder.iterdir())
    libraries = [n for n in names if n.endswith(".dll")]
    counted = libraries if which == "libraries" else names
    for index, (program, run) in enumerate(world.runs(kind)):
        # Another program of the same libraries is in the same folder.
        mine = [n for n in counted if n.endswith(".dll") or n == program]
        counting = world.shared(("counting", kind, which, counters, high, program), lambda: Counting(world, folder, mine, "--counters", counters))
        expected = world.expected(kind, index)[2]
        # Without arguments late.dll is opened by name alone, freed and opened again.
        files = {"late.dll": 2} if kind == "user" and not run.args else {}
        for place, options in PLACES.items():
            outcome = counting.run(program, run, options, files)
            expect_same(expected, outcome, f"{program}, {which} count, {place} bases, run {index}")


def check_opened(world, options):
    """A library that is freed and opened again counts into another file; all that it did is counted."""
    folder = world.opening()
    counting = Counting(world, folder, ["late.dll", "sqlite3.dll", "opening.exe"])
    other = {"late.dll": "sqlite3.dll", "sqlite3.dll": "late.dll"}
    for library, function, argument in (("late.dll", "late_number", "11"), ("sqlite3.dll", "sqlite3_complete", "select 'a'; ")):
        for times in (1, 3):
            run = common.Run((library, function, argument, str(times)), None)
            expected = common.run_command([pe_test.NT, folder / "opening.exe", *run.args], cwd=folder)
            expect(expected.status == 0 and expected.stdout.count(b"still there: 0") == times, f"{expected}")
            outcome = counting.run("opening.exe", run, options, {library: times, other[library]: 0})
            expect_same(expected, outcome, f"{library} opened {times} times")


def check_two_programs(world):
    """Counts of a library below two programs are in one profile, and the library is laid out by it."""
    folder = world.folder("sqlite")
    counting = Counting(world, folder, ["sqlite3.dll"])
    for program, run in world.runs("sqlite"):
        common.run_command([pe_test.NT, counting.folder / program, *run.args], stdin=run.stdin, timeout=600, cwd=world.scratch.folder())
    shown = counting.shown("sqlite3.dll")
    expect(shown["runs"] == 2, f"{shown['runs']} runs")
    out = world.scratch.folder()
    for image in folder.iterdir():
        shutil.copy(image, out)
    said = common.optimize(folder / "sqlite3.dll", out / "sqlite3.dll", "--profile", counting.profile("sqlite3.dll"))
    pe_test.check_tables(out / "sqlite3.dll", folder / "sqlite3.dll")
    pe_dll_test.check_same_tables(folder / "sqlite3.dll", out / "sqlite3.dll")
    common.respike_ok("image", "verify", folder / "sqlite3.dll", out / "sqlite3.dll")
    world.check("sqlite", out, "laid out by the counts of two programs")
    expect(re.search(rb"[0-9.]+% fewer taken direct branches", said.stdout), said.stdout.decode())


def check_without_spool(world):
    """A library that can make no file of counts works all the same."""
    counting = Counting(world, world.folder("user"), ["counting.dll", "late.dll", "middle.dll", "refusing.dll"])
    for program, run in world.runs("user"):
        shutil.rmtree(counting.spool, ignore_errors=True)
        expected = common.run_command([pe_test.NT, world.folder("user") / program, *run.args])
        actual = common.run_command([pe_test.NT, counting.folder / program, *run.args])
        expect_same(expected, actual, "without a spool")
        expect(not counting.spool.exists(), "a library made the spool")


# --- respike run ------------------------------------------------------------------------------------


def home_of(world, folder):
    """A folder with a copy of the images, and a database."""
    return pe_substitution_test.Home(type("Images", (), {"scratch": world.scratch, "images": lambda self: folder})())


def runs_shown(home, application):
    """{image: how many runs it has counted}"""
    shown = json.loads(home.respike("show", application, "--json").stdout)
    return {pathlib.Path(i["path"]).name: (i.get("profile") or {"runs": 0})["runs"] for i in shown["images"]}


def check_run(world):
    """Below `respike run` program and libraries count, and optimize lays out all of them."""
    home = home_of(world, world.folder("sqlite"))
    home.respike("register", home.folder / "query.exe", home.folder / "sqlite3.exe", "--name", "suite")
    home.respike("instrument", "suite")

    def check(what):
        for program, run in world.runs("sqlite"):
            expected = common.run_command([pe_test.NT, home.folder / program, *run.args], stdin=run.stdin, cwd=world.scratch.folder(), timeout=600)
            actual = common.run_command(
                [common.RESPIKE, "run", "--program", home.folder / program, "suite", *run.args], stdin=run.stdin,
                env=home.environment, cwd=world.scratch.folder(), timeout=600)
            expect_same(expected, actual, f"{program}, {what}")

    check("counting")
    expect(runs_shown(home, "suite") == {"query.exe": 1, "sqlite3.exe": 1, "sqlite3.dll": 2}, runs_shown(home, "suite"))
    text = home.respike("optimize", "suite").stdout.decode()
    expect(re.search(r"sqlite3\.dll: optimized by a profile of 2 runs: .* fewer taken direct branches", text), text)
    check("optimized")
    expect(home.hashes() == home.contents, "an original changed")


def check_run_opened(world):
    """Delayed libraries and libraries opened by name also count, once they belong to the application."""
    home = home_of(world, world.folder("user"))
    path = home.folder / "user.exe"
    home.respike("register", path)
    home.respike("instrument", "user.exe")
    for words in ((), ("a", "b")):
        expected = home.run_original(path, *words)
        expect_same(expected, home.respike("run", "user.exe", *words, status=None), f"counting {words}")
    # Without arguments late.dll is opened twice.
    wanted = {"user.exe": 2, "middle.dll": 2, "counting.dll": 2, "late.dll": 3, "refusing.dll": 0}
    expect(runs_shown(home, "user.exe") == wanted, runs_shown(home, "user.exe"))
    home.respike("optimize", "user.exe")
    for words in ((), ("a", "b")):
        expect_same(home.run_original(path, *words), home.respike("run", "user.exe", *words, status=None), f"optimized {words}")
    expect(home.hashes() == home.contents, "an original changed")


def cases(scratch):
    world = World(scratch)

    def case(name, function, *arguments):
        return common.Case(name, functools.partial(function, world, *arguments))

    kinds = ["user"] + [k for k in ("lua", "sqlite") if pe_test.sources_of({"lua": "lua", "sqlite": "sqlite3"}[k])]
    for kind in kinds:
        for which in ("libraries", "all"):
            for counters in ("shared", "atomic"):
                for high in (False, True):
                    text = f"{kind} {which} {counters} {'high' if high else 'adj'}"
                    yield case(text, check_counts, kind, which, counters, high)
    yield case("without a spool", check_without_spool)
    yield case("run opened", check_run_opened)
    if "sqlite" in kinds:
        for place, options in PLACES.items():
            yield case(f"opened {place}", check_opened, options)
        yield case("two programs", check_two_programs)
        yield case("run", check_run)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

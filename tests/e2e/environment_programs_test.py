#!/usr/bin/env python3
"""Applications of several programs, and libraries that are registered by themselves.

Oracle: the original programs, and how often each of them was run."""

import json
import os
import shutil
import subprocess
import sys

import common
from applications import World, link_alone, static_program
from common import expect

TOOL = r"""
#include <stdio.h>
#include <string.h>
int shared(int), own(int);
int main(int count, char** arguments) {
  const char* name = strrchr(arguments[0], '/');
  printf("%s of %s: %d\n", name ? name + 1 : arguments[0], NAME, shared(count) + own(count));
  return 0;
}
"""
LIBRARY = "int NAME(int x) { int sum = 0; while (x-- > 0) sum += x * FACTOR; return sum; }\n"


class Suite(World):
    """Three programs, with a library that all of them load and libraries of their own, which they
    find in different ways."""

    NAMES = ("first", "second", "third")

    def __init__(self, scratch):
        super().__init__(scratch)
        self.installed = self.folder / "installed"
        for folder in ("bin", "lib", "own", "beside"):
            (self.installed / folder).mkdir(parents=True)
        self.shared = self.library(scratch, "shared", "lib", 3)
        compiler = [common.compiler(), "-O2", "-Wl,-q"]
        ways = {"own": "-Wl,-rpath,$ORIGIN/../own", "beside": f"-Wl,-rpath,{self.installed}/beside", "lib": ""}
        self.programs, self.own = [], []
        for number, (name, (folder, option)) in enumerate(zip(self.NAMES, ways.items())):
            library = self.library(scratch, f"own{number}", folder, 5 + number, "own")
            source, image = scratch.file("tool.c"), self.installed / "bin" / name
            source.write_text(TOOL)
            words = [source, f'-DNAME="{name}"', library, self.shared, "-o", image]
            subprocess.run([*compiler, *words, *([option] if option else [])], check=True)
            self.programs.append(image)
            self.own.append(library)
        self.environment["LD_LIBRARY_PATH"] = str(self.installed / "lib")

    def library(self, scratch, name, folder, factor, function="shared"):
        source, library = scratch.file(f"{name}.c"), self.installed / folder / f"lib{name}.so"
        source.write_text(LIBRARY)
        words = [common.compiler(), "-O2", "-Wl,-q", "-fPIC", "-shared", f"-Wl,-soname,{library.name}"]
        words += [f"-DNAME={function}", f"-DFACTOR={factor}"]
        subprocess.run([*words, source, "-o", library], check=True)
        return library

    def expected(self, number, *args):
        """The output of the original."""
        variables = {"LD_LIBRARY_PATH": str(self.installed / "lib")}
        if common.is_native():
            return common.run_command([self.programs[number], *args], env={**os.environ, **variables}).stdout
        option = ["-E", f"LD_LIBRARY_PATH={variables['LD_LIBRARY_PATH']}"]
        return common.run_command([*common.QEMU, *option, self.programs[number], *args]).stdout

    def runs(self, name="suite"):
        """Runs by file name, of the images that can be optimized."""
        return {k: i["profile"]["runs"] for k, i in self.images(name).items() if i["optimizable"]}


def check_suite(scratch):
    """A tour with three programs."""
    world = Suite(scratch)
    names = [p.name for p in world.programs]
    result = world.json("register", *world.programs, "--name", "suite")
    ours = {i["path"]: i["role"] for i in result["images"] if i["optimizable"]}
    expected = {str(p): "main" for p in world.programs} | {str(l): "linked" for l in (world.shared, *world.own)}
    expect(result["added"] and ours == expected, f"by the loader's rules for each program: {ours}")
    shown = world.show("suite")
    expect(shown["main"] == str(world.programs[0]) and shown["programs"] == [str(p) for p in world.programs], shown)
    expect([i["program"] for i in shown["images"]].count(True) >= 3, shown)
    expect(b"/first and 2 more\n" in world.ok("list").stdout, "list")
    text = world.ok("show", "suite").stdout.decode()
    expect(sum(line.startswith("main ") for line in text.splitlines()) == 3, text)
    world.ok("instrument", "suite")
    for number, times in enumerate((1, 2, 3)):
        for _ in range(times):
            outcome = world.ok("run", "--program", names[number], "suite", "x")
            expect(outcome.stdout == world.expected(number, "x") and not outcome.stderr, outcome)
    runs = {"first": 1, "second": 2, "third": 3, "libshared.so": 6, "libown0.so": 1, "libown1.so": 2, "libown2.so": 3}
    expect(world.runs() == runs, world.runs())
    text = world.ok("optimize", "suite").stdout.decode()
    expect(text.count("by a profile of") == 7, text)
    for number in range(3):
        outcome = world.ok("run", "--program", world.programs[number], "suite", "a", "b")
        expect(outcome.stdout == world.expected(number, "a", "b") and not outcome.stderr, outcome)
    expect(not world.spool(), "mode optimized")
    root, out = world.folder / "root", world.folder / "out"
    world.ok("export", "suite", "--root", root)
    for image in (*world.programs, *world.own, world.shared):
        common.respike_ok("image", "verify", image, root / image.relative_to("/"))
    note = world.ok("export", "suite", out).stderr.decode()
    files = {p.name for p in out.rglob("*") if p.is_file()}
    expect(files == {*names, *(l.name for l in (world.shared, *world.own))}, files)
    notes = note.splitlines()
    expect(len(notes) == 3 and all(f"/{name} " in line for name, line in zip(names, sorted(notes))), f"for each program: {note}")
    world.ok("mode", "suite", "original")
    world.ok("unregister", "suite")
    expect(world.json("list")["applications"] == [], "it is still there")
    world.ok("prune")
    world.ok("register", world.programs[1])
    expect(world.runs("second") == {"second": 0, "libshared.so": 0, "libown1.so": 0}, "pruned")


def check_which_program(scratch):
    """`run` of an application with several programs: which one, by path, file name or another name
    of the file."""
    world = Suite(scratch)
    world.ok("register", *world.programs, "--name", "suite")
    outcome = world.respike("run", "suite", "x")
    text = outcome.stderr.decode()
    expect(outcome.status == 125 and text.count("\n") == 1 and not outcome.stdout, outcome)
    for part in ("suite has 3 programs", *map(str, world.programs), "respike run --program FILE suite", "respike exec suite -- COMMAND"):
        expect(part in text, f"{part}: {text}")
    link = world.folder / "alias"
    link.symlink_to(world.programs[2])
    for name, shown in ((world.programs[2], "third"), ("third", "third"), (link, "alias")):
        outcome = world.ok("run", "--program", name, "suite")
        expect(outcome.stdout.startswith(f"{shown} of third".encode()), f"under the name given: {outcome}")
    outcome = world.ok("run", "--program=second", "suite", "--program", "x")
    expect(outcome.stdout == world.expected(1, "--program", "x"), "words behind the name are the program's")
    for name in ("fourth", world.shared, "libshared.so"):
        outcome = world.respike("run", "--program", name, "suite")
        expect(outcome.status == 125 and b"it is no program of suite, which has" in outcome.stderr, outcome)
    expect(world.respike("run", "--program", "", "suite").status == 2, "an empty name")
    world.ok("register", world.programs[0])
    expect(world.ok("run", "--program", "first", "first").stdout == world.expected(0), "of one program")
    other = world.installed / "own" / "second"
    shutil.copy(world.programs[1], other)
    world.ok("register", *world.programs, other, "--name", "suite")
    outcome = world.respike("run", "--program", "second", "suite")
    expect(outcome.status == 125 and b"the name of two programs" in outcome.stderr, outcome)
    world.ok("run", "--program", other, "suite")


def check_another_set(scratch):
    """Who registers an application again with other programs gets these programs."""
    world = Suite(scratch)
    first, second, third = world.programs
    world.ok("register", first, second, "--name", "suite")
    for step in (["instrument", "suite"], ["run", "--program", "first", "suite"], ["run", "--program", "second", "suite"]):
        world.ok(*step)
    outcome = world.ok("register", second, third, "--name", "suite")
    notes = outcome.stderr.decode()
    expect(f"{first} is no program of suite any more" in notes, notes)
    expect(f"suite does not load {world.own[0]} any more" in notes and notes.count("\n") == 2, notes)
    expect(b"was registered already" in outcome.stdout, outcome)
    shown = world.show("suite")
    expect(shown["main"] == str(second) and shown["programs"] == [str(second), str(third)], shown)
    expect(shown["mode"] == "instrumented", "the mode stays")
    runs = {"second": 1, "third": 0, "libshared.so": 2, "libown1.so": 1, "libown2.so": 0}
    expect(world.runs() == runs, world.runs())
    expect(not world.ok("register", third, second, second, "--name", "suite").stderr, "the same set in another order")
    expect(world.show("suite")["main"] == str(third), "the first one named")
    outcome = world.ok("register", first, second, third, "--name", "suite")
    expect(not outcome.stderr and world.runs()["first"] == 1, f"its profile was kept: {outcome}")
    stranger = world.copy(first, "stranger")
    outcome = world.respike("register", stranger, "--name", "suite")
    text = outcome.stderr.decode()
    expect(outcome.status == 1 and "registered already" in text and "choose another name" in text, text)
    expect(len(world.show("suite")["programs"]) == 3, "it was changed all the same")


def check_refused(scratch):
    """Programs that cannot be registered together."""
    world = Suite(scratch)
    first, second, _ = world.programs
    outcome = world.respike("register", first, second)
    text = outcome.stderr.decode()
    expect(outcome.status == 2 and "an application of several programs needs a name: --name NAME" in text, text)
    expect(text.count("\n") == 1, text)
    script = scratch.file("script")
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    cases = [([first, world.shared], "it is a library, not a program: register it by itself")]
    cases += [([first, script], "register the program that it starts"), ([first, world.folder / "none"], "there is no such program")]
    if not common.is_native():
        cases.append(([first, "/bin/true"], "an application has images of one machine"))
    for images, message in cases:
        outcome = world.respike("register", *images, "--name", "suite")
        expect(outcome.status == 1 and message in outcome.stderr.decode() and outcome.stderr.count(b"\n") == 1, outcome)
    expect(world.json("list")["applications"] == [], "registered all the same")
    plain, source = scratch.file("plain"), scratch.file("plain.c")
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([common.compiler(), source, "-o", plain], check=True)
    world.ok("register", plain, first, "--name", "mixed")
    shown = world.images("mixed")
    expect(not shown["plain"]["optimizable"] and shown["first"]["optimizable"], "one of two can be optimized")


def check_library(scratch):
    """A library alone: versions of it are made and exported; registered programs also count it; `run` says that a
    library is not run."""
    world = Suite(scratch)
    library, program = world.shared, world.programs[0]
    result = world.json("register", library, "--name", "lib")
    mains = [i for i in result["images"] if i["role"] == "main"]
    expect([(i["path"], i["program"], i["optimizable"]) for i in mains] == [(str(library), False, True)], mains)
    outcome = world.ok("register", library)
    expect(outcome.stdout.startswith(b"libshared.so: registered\n"), "by default its file name")
    shown = world.show("lib")
    expect(shown["main"] == str(library) and shown["programs"] == [], shown)
    expect(str(library).encode() in world.ok("list").stdout and b"main " in world.ok("show", "lib").stdout, "list, show")
    world.ok("instrument", "lib")
    world.ok("register", program)
    world.ok("instrument", "first", "--image", library)
    for _ in range(2):
        world.ok("run", "first", "x")
    expect(world.runs("lib")["libshared.so"] == 2, "who loads it counts it")
    for mode in ("original", "instrumented", "optimized"):
        world.ok("mode", "lib", mode)
        outcome = world.respike("run", "lib")
        text = outcome.stderr.decode()
        expect(outcome.status == 125 and text.count("\n") == 1, outcome)
        expect("is a library, which is not run by itself: respike exec lib -- COMMAND" in text, text)
    text = world.ok("optimize", "lib").stdout.decode()
    expect("by a profile of 2 runs" in text, text)
    world.ok("mode", "first", "optimized")
    expect(world.ok("run", "first", "x").stdout == world.expected(0, "x"), "optimized")
    out = world.folder / "out"
    outcome = world.ok("export", "lib", out)
    expect([p.name for p in out.iterdir()] == [library.name] and not outcome.stderr, outcome)
    common.respike_ok("image", "verify", library, out / library.name)
    plain, source = scratch.file("libplain.so"), scratch.file("plain.c")
    source.write_text("int plain(void) { return 1; }\n")
    subprocess.run([common.compiler(), "-shared", "-fPIC", source, "-o", plain], check=True)
    outcome = world.respike("register", plain)
    expect(outcome.status == 1 and b"so it is not registered" in outcome.stderr, outcome)
    library.unlink()
    expect("does not exist" in world.ok("show", "lib").stdout.decode(), "a missing file")


def check_names_of_one_file(scratch):
    """A program under two names is a single image, started under the name that was given."""
    world, source = World(scratch), scratch.file("name.c")
    source.write_text(TOOL.replace("int shared(int), own(int);", "").replace("shared(count) + own(count)", "count"))
    source.write_text(source.read_text().replace("NAME", '"box"'))
    image, link = world.folder / "box", world.folder / "other"
    link_alone(source, image)
    link.symlink_to("box")
    result = world.json("register", link, image, "--name", "app")
    expect([i["path"] for i in result["images"] if i["optimizable"]] == [str(image)], result)
    expect(world.ok("run", "app").stdout == b"other of box: 1\n", "the first name given")
    world.ok("register", image, "--name", "app")
    expect(world.ok("run", "app").stdout == b"box of box: 1\n", "the name given now")
    world.ok("register", link, "--name", "second")
    world.ok("instrument", "app")
    expect(world.ok("run", "app").stdout == b"box of box: 1\n", "instrumented")
    world.ok("instrument", "second")
    expect(world.ok("run", "second").stdout == b"other of box: 1\n", "instrumented")
    expect(world.images("app")["box"]["profile"]["runs"] == 2, "one image")


def check_json_stays(scratch):
    """The fields that scripts rely on, of an application of one program."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    world.ok("register", image, "--name", "app")
    (shown,) = json.loads(world.ok("list", "--json").stdout)["applications"]
    expect((shown["name"], shown["main"], shown["mode"]) == ("app", str(image), "original"), shown)
    expect(shown["programs"] == [str(image)] and shown["images"][0]["path"] == str(image), shown)
    expect(set(shown["images"][0]) >= {"path", "machine", "optimizable", "reason", "profile", "role", "loaded_as"}, shown)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "suite": check_suite,
            "which program": check_which_program,
            "another set": check_another_set,
            "refused": check_refused,
            "library": check_library,
            "names of one file": check_names_of_one_file,
            "json stays": check_json_stays,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())

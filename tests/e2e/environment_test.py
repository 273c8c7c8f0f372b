#!/usr/bin/env python3
"""Applications from registering to export: register, instrument, run, collect, optimize, export,
and refusals.

Oracles: of behaviour, the original program; of libraries, the dynamic linker itself; of commands
that do nothing, the files of the database. environment_changes_test.py changes images,
environment_runs_test.py is about running."""

import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys

import common
import ia64_programs
from applications import CHAIN, SYSROOT, World, link_alone, same_behaviour, static_program
from common import expect


def check_tour(scratch):
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    expected = common.run_program(image, program.runs[0])
    args = program.runs[0].args
    world.ok("register", image, "--name", "app")
    for mode in ("instrumented", "optimized"):
        outcome = world.ok("mode", "app", mode)
        expect(f"warning: no image of app is {mode}".encode() in outcome.stderr, outcome)
    world.ok("mode", "app", "original")
    same_behaviour(expected, world.respike("run", "app", *args), "original")
    expect(not world.spool(), "the original counted")
    world.ok("instrument", "app")
    for _ in range(3):
        outcome = world.respike("run", "app", *args)
        same_behaviour(expected, outcome, "instrumented")
        expect(not outcome.stderr, outcome.stderr)
    expect(len(world.spool()) == 3, "counter files")
    shown = world.images("app")[image.name]
    expect(shown["profile"]["runs"] == 3 and 0 < shown["profile"]["coverage"] < 1, shown)
    expect(shown["profile"]["confidence"] == 1 and shown["profile"]["age_days"] == 0, shown)
    expect(not world.spool(), "merged files stay")
    text = world.ok("optimize", "app").stdout.decode()
    expect("3 runs" in text, text)
    outcome = world.ok("mode", "app", "instrumented")
    expect(not outcome.stderr, outcome)
    world.ok("mode", "app", "optimized")
    same_behaviour(expected, world.respike("run", "app", *args), "optimized")
    expect(not world.spool(), "the optimized image counted")
    out = world.folder / "out"
    world.ok("export", "app", out)
    exported = out / image.name
    expect(exported.stat().st_mode == image.stat().st_mode, "mode bits")
    common.respike_ok("image", "verify", image, exported)
    same_behaviour(expected, common.run_program(exported, program.runs[0]), "exported")
    world.ok("mode", "app", "instrumented")
    world.ok("run", "app", *args)
    expect(len(world.spool()) == 1, "mode instrumented")
    expect(json.loads(world.ok("collect", "--json").stdout)["finished"] == 1, "collect")
    expect(common.hash_file(image) == common.hash_file(program.image), "the original was changed")


def check_nothing_twice(scratch):
    """Commands whose work is done already do nothing."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    steps = [("register", image), ("instrument", image.name), ("optimize", image.name)]
    steps += [("export", image.name, world.folder / "out")]
    for step in steps[:2]:
        world.ok(*step)
    world.ok("run", image.name)
    for step in steps[2:]:
        world.ok(*step)
    exported = world.folder / "out" / image.name
    before = world.state(), exported.stat().st_mtime_ns, exported.stat().st_ino
    for _ in range(2):
        for step in steps:
            text = world.ok(*step).stdout.decode()
            expect(step[0] == "register" or "up to date" in text, text)
    expect(before == (world.state(), exported.stat().st_mtime_ns, exported.stat().st_ino), "something was made again")
    expect("latest runs" not in world.ok("show", image.name).stdout.decode(), "no run since")
    expect(not world.images(image.name)[image.name]["profile_grew"], "no run since")
    world.ok("mode", image.name, "instrumented")
    world.ok("run", image.name)
    for command in (["list"], ["show", image.name]):
        expect("before the latest runs" in world.ok(*command).stdout.decode(), command)
    expect(world.images(image.name)[image.name]["profile_grew"], "a run since")
    expect("2 runs" in world.ok("optimize", image.name).stdout.decode(), "a new run changes the profile")


def libraries_by_loader(program, library_path):
    """The files of the libraries that the dynamic linker finds."""
    variables = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_LIBRARY_PATH": str(library_path)}
    if common.is_native():
        text = common.run_command([program], env={**os.environ, **variables}).stdout.decode()
        text = re.sub(r".*linux-vdso.*\n", "", text)  # is not a file
    else:
        options = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
        text = common.run_command([*common.QEMU, *options, program]).stdout.decode()
    found = set()
    for line in text.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        path = (rest if arrow else name).rpartition(" (0x")[0]
        below = pathlib.Path(SYSROOT + path)
        found.add(str(below if below.exists() and not common.is_native() else path))
    return found


def check_libraries(scratch):
    world, program = World(scratch), common.first_program("linked.dynamic")
    image = world.copy(program.image)
    library = world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    expected = common.run_program(program.image, program.runs[0], library.parent)
    registered = world.json("register", image, "--name", "app")
    paths = {i["path"]: i for i in registered["images"]}
    loaded = libraries_by_loader(image, library.parent) | {str(image)}
    expect({i["loaded_as"] for i in world.show("app")["images"]} == loaded, world.show("app"))
    expect(set(paths) == {os.path.realpath(path) for path in loaded}, f"{sorted(paths)}")
    expect(paths[str(library)]["optimizable"] and paths[str(image)]["optimizable"], "our images")
    others = [i for p, i in paths.items() if p not in (str(image), str(library))]
    expect(others and all(not i["optimizable"] and i["reason"] for i in others), others)
    world.ok("instrument", "app")
    same_behaviour(expected, world.respike("run", "app"), "instrumented")
    expect(len(world.spool()) == 2, "both images count")
    text = world.ok("optimize", "app").stdout.decode()
    expect(text.count("by a profile of 1 run") == 2, text)
    same_behaviour(expected, world.respike("run", "app"), "optimized")
    out = world.folder / "out"
    world.ok("export", "app", out)
    expect({p.name for p in out.iterdir()} == {image.name, library.name}, "what is exported")
    same_behaviour(expected, common.run_program(out / image.name, program.runs[0], out), "exported")


def check_origin(scratch, option):
    """Search paths that depend on the folders of the images, for the libraries that needed
    libraries need."""
    world = World(scratch)
    folder = world.folder / "installed"
    (folder / "lib").mkdir(parents=True)
    (folder / "bin").mkdir()
    source = scratch.file("chain.c")
    source.write_text(CHAIN)
    compiler = [common.compiler(), "-O2", "-Wl,-q", f"-Wl,--{option}", source]
    shared = ["-fPIC", "-shared"]
    last, middle, main = folder / "lib" / "liblast.so", folder / "lib" / "libmiddle.so", folder / "bin" / "main"
    beside, other = "-Wl,-rpath,$ORIGIN", "-Wl,-rpath,${ORIGIN}/../lib"
    subprocess.run([*compiler, *shared, "-DLAST", "-o", last], check=True)
    subprocess.run([*compiler, *shared, "-DMIDDLE", "-o", middle, last, "-Wl,-soname,libmiddle.so", beside], check=True)
    link = ["-L", last.parent, "-lmiddle", f"-Wl,-rpath-link,{last.parent}"]
    subprocess.run([*compiler, "-o", main, *link, other], check=True)
    registered = world.json("register", main, "--name", "app")
    paths = {i["path"]: i for i in registered["images"]}
    resolved = {os.path.realpath(p) for p in paths}
    expect(resolved == {os.path.realpath(p) for p in libraries_by_loader(main, "") | {str(main)}}, sorted(paths))
    expect(sum(i["optimizable"] for i in paths.values()) == 3, paths)
    expect(not any(".." in p for p in paths), f"detours: {sorted(paths)}")
    again = world.json("register", folder / "lib" / ".." / "bin" / "main", "--name", "app")
    expect(not again["added"] and again["images"] == registered["images"], f"another path to the same program: {again}")
    world.ok("instrument", "app")
    expect(world.ok("run", "app").stdout == b"14\n", "it runs")
    expect(len(world.spool()) == 3, "all three count")


def check_missing_library(scratch):
    world, program = World(scratch), common.first_program("linked.dynamic")
    image = world.copy(program.image)
    outcome = world.ok("register", image)
    expect(b"libplugin.so" in outcome.stderr, outcome.stderr)
    world.environment["LD_LIBRARY_PATH"] = str(program.libraries[0].path.parent)
    world.ok("register", image)
    expect("libplugin.so" in world.images(image.name), "found the second time")
    del world.environment["LD_LIBRARY_PATH"]
    world.ok("register", image)
    expect("libplugin.so" in world.images(image.name), "it may come back")
    source = scratch.file("needs_less.c")
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([common.compiler(), "-Wl,-q", source, "-o", image], check=True)
    outcome = world.ok("register", image)
    expect(b"does not load" in outcome.stderr and "libplugin.so" not in world.images(image.name), outcome.stderr)
    for command in (["register", image], ["show", image.name]):
        text = world.ok(*command).stdout.decode()
        rows = [line for line in text.splitlines() if "/libc.so" in line or "/ld-linux" in line]
        expect(len(rows) == 2 and all("left alone (system library without relocations)" in r for r in rows), text)
        expect("emit-relocs" not in text, text)


def check_opened(scratch):
    """A library that a run opens belongs to the application from then on, and counts at once."""
    world, program = World(scratch), common.first_program("loaded.dynamic", "loaded.pie")
    image, library = world.copy(program.image), world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    expected = common.run_program(program.image, program.runs[0], library.parent)
    world.ok("register", image, "--name", "app")
    expect(library.name not in world.images("app"), "it is not linked")
    world.ok("instrument", "app")
    same_behaviour(expected, world.respike("run", "app"), "first round")
    outcome = world.ok("show", "app")
    expect(b"note" in outcome.stderr and library.name.encode() in outcome.stderr, outcome.stderr)
    shown = world.images("app")[library.name]
    expect(shown["role"] == "opened" and shown["optimizable"], shown)
    world.ok("instrument", "app")
    (module,) = pathlib.Path(f"{world.database}.files").glob("opened/*/opened.so")
    whole = module.read_bytes()
    module.write_bytes(bytes(len(whole)))
    same_behaviour(expected, world.respike("run", "app"), "second round")
    expect(module.read_bytes() == whole, "another module stays")
    shown = world.images("app")
    expect(shown[library.name]["profile"]["runs"] == 2 and shown[image.name]["profile"]["runs"] == 2, shown)
    world.ok("optimize", "app")
    same_behaviour(expected, world.respike("run", "app"), "optimized")


def check_opened_itanium(scratch):
    """The same with an Itanium program, whose emulator takes the notes. Linked libraries are not
    noted, nor libraries that an executed program opens."""
    toolchain = ia64_programs.toolchain()
    if toolchain is None or common.is_native():
        raise common.Skip(ia64_programs.MISSING)
    world, sources = World(scratch), ia64_programs.ASSEMBLER_SOURCES / "c"
    folder = world.folder / "bin"
    folder.mkdir()
    compiler = [toolchain / "bin" / "ia64-linux-gnu-gcc", "-w", "-O2", "-Wl,-q"]
    for name in ("linked", "opened"):
        subprocess.run([*compiler, "-shared", "-fPIC", sources / f"dynamic_{name}.c", "-o", folder / f"lib{name}.so"], check=True)
    main, library = folder / "main", folder / "libopened.so"
    shutil.copy(library, folder / "libother.so")
    link = [f"-L{folder}", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-llinked", "-ldl", "-lpthread"]
    subprocess.run([*compiler, "-rdynamic", sources / "dynamic_main.c", "-o", main, *link], check=True)
    starter, source = folder / "starter", scratch.file("starter.c")
    source.write_text(STARTER)
    subprocess.run([*compiler, source, "-o", starter], check=True)
    world.environment["QEMU_LD_PREFIX"] = str(toolchain / "sysroot")
    emulator = [pathlib.Path(common.RESPIKE).parent / "respike-ia64", "--sysroot", toolchain / "sysroot"]
    expected = common.run_command([*emulator, main, library])
    expect(expected.status == 4 and expected.stdout, expected)
    world.ok("register", main, "--name", "app")
    linked = set(world.images("app"))
    expect("liblinked.so" in linked and library.name not in linked, linked)
    world.ok("instrument", "app")
    same_behaviour(expected, world.respike("run", "app", library), "first round")
    expect(b"libopened.so: it belongs to the application now" in world.ok("show", "app").stderr, "no note")
    shown = world.images("app")
    expect(set(shown) == linked | {library.name}, set(shown))
    expect(shown[library.name]["role"] == "opened" and shown[library.name]["optimizable"], shown[library.name])
    world.ok("instrument", "app")
    same_behaviour(expected, world.respike("run", "app", library), "second round")
    shown = world.images("app")
    runs = {name: shown[name]["profile"]["runs"] for name in ("main", "liblinked.so", library.name)}
    expect(runs == {"main": 2, "liblinked.so": 2, library.name: 6}, f"the program opens it three times: {runs}")
    expect(shown[library.name]["profile"]["coverage"] > 0, "nothing of it was counted")
    world.ok("optimize", "app")
    expect(all(world.images("app")[name]["optimized"] for name in runs), "optimized")
    same_behaviour(expected, world.respike("run", "app", library), "optimized")
    world.ok("register", starter, "--name", "starter")
    world.ok("instrument", "starter")
    same_behaviour(expected, world.respike("run", "starter", main, folder / "libother.so"), "by another program")
    expect("libother.so" not in world.images("starter"), "the other program's library")


STARTER = """
#include <unistd.h>
int main(int count, char** arguments) { return execv(arguments[1], arguments + 1); }
"""


def check_chosen_images(scratch):
    world, program = World(scratch), common.first_program("linked.dynamic")
    image, library = world.copy(program.image), world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    world.ok("register", image, "--name", "app")
    world.ok("instrument", "app", "--image", library.name)
    shown = world.images("app")
    expect(shown[library.name]["instrumented"] and not shown[image.name]["instrumented"], shown)
    expected = common.run_program(program.image, program.runs[0], library.parent)
    same_behaviour(expected, world.respike("run", "app"), "one of two images")
    shown = world.images("app")
    expect(shown[library.name]["profile"]["runs"] == 1 and shown[image.name]["profile"]["runs"] == 0, shown)
    outcome = world.respike("optimize", "app", "--image", "libnone.so")
    expect(outcome.status == 1 and b"libnone.so" in outcome.stderr, outcome)
    expect(world.respike("optimize", "app", "--image", "").status == 2, "an empty name is none of an image")


def check_odd_names(scratch):
    """Paths with characters that would break a line of a table."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image, "a\nb\x1b[2J")
    out = world.folder / "out"
    for args in (["register", image], ["list"], ["show", image.name], ["optimize", image.name], ["optimize", image.name]):
        text = world.ok(*args).stdout
        expect(rb"a\nb\x1b[2J" in text and b"\x1b" not in text and b"a\nb" not in text, f"{args}: {text}")
    text = world.ok("export", image.name, out).stdout
    expect(text.count(b"exported as") == 1 and b"a\nb" not in text and (out / image.name).exists(), text)


DIFFERENCES = r"""
#include <stdio.h>
int main(int count, char** arguments) {
  static const int places[] = {&&first - &&first, &&second - &&first};
  int sum = 0, step = 0;
next:
  if (step == 10) return printf("%d\n", sum) < 0;
  goto *(&&first + places[(step++ + count) % 2]);
first:
  sum += 3;
  goto next;
second:
  sum *= 2;
  goto next;
}
"""


def check_opaque_code(scratch):
    """A message that much of an image stays as it is comes once for each build, not whenever an
    image is made of the build."""
    world = World(scratch)
    source, image, moved = scratch.file("differences.c"), scratch.file("differences"), scratch.file("moved")
    source.write_text(DIFFERENCES)
    for flags, path in (("-O2", image), ("-O1", moved)):
        subprocess.run([common.compiler(), flags, "-Wl,-q", source, "-o", path], check=True)
    expected = common.run_command([*common.emulator(), image])
    warning = re.compile(rb"respike: warning: " + str(image).encode() + rb": [\d.]+% of the code is opaque and .*: main \(")
    quiet = (["register", image], ["instrument", image.name], ["run", image.name], ["optimize", image.name], ["show", image.name])

    def is_quiet():
        for step in quiet:
            outcome = world.ok(*step)
            expect(not outcome.stderr, f"{step}: {outcome.stderr}")

    outcome = world.ok("register", image)
    expect(warning.match(outcome.stderr) and outcome.stderr.count(b"\n") == 1, outcome.stderr)
    is_quiet()
    shutil.copy(moved, image)
    outcome = world.ok("show", image.name)
    expect(len(warning.findall(outcome.stderr)) == 1, outcome.stderr)
    is_quiet()
    expect(world.ok("run", image.name).stdout == expected.stdout, "it behaves otherwise")
    expect(b"is opaque" in common.respike_ok("image", "optimize", image, "-o", scratch.file("out")).stderr, "image optimize")


PLUGGED = """
#include <stdio.h>
int one(int), two(int);
int main(void) { return printf("%d\\n", one(1) + two(2)) == 3 ? 0 : 1; }
"""


def check_same_file_names(scratch):
    """Two libraries with one file name are selected and exported together, or one of them by its
    path."""
    world = World(scratch)
    folder = world.folder / "installed"
    compiler = [common.compiler(), "-O2", "-Wl,-q"]
    libraries = []
    for place, name, sum_ in (("a", "one", 3), ("b", "two", 4)):
        source, library = scratch.file(f"{name}.c"), folder / place / "p.so"
        library.parent.mkdir(parents=True)
        source.write_text(f"int {name}(int x) {{ return x + {sum_}; }}\n")
        subprocess.run([*compiler, "-fPIC", "-shared", source, "-o", library], check=True)
        libraries.append(library)
    source, main = scratch.file("plugged.c"), folder / "main"
    source.write_text(PLUGGED)
    # A library without a SONAME is needed by the path that it was linked under.
    subprocess.run([*compiler, source, *libraries, "-o", main], check=True)
    world.ok("register", main, "--name", "app")

    def optimized():
        return {i["path"] for i in world.show("app")["images"] if i["optimized"]}

    world.ok("optimize", "app", "--image", libraries[1])
    expect(optimized() == {str(libraries[1])}, optimized())
    world.ok("optimize", "app", "--image", "p.so")
    expect(optimized() == {str(library) for library in libraries}, optimized())
    world.ok("optimize", "app")
    expect(world.ok("run", "app").stdout == b"10\n", "it runs")

    def exported(*args):
        out = scratch.folder() / "out"
        done = world.json("export", "app", out, *args)
        files = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
        named = {os.path.relpath(i["file"], out): i["path"] for i in done["images"] if "file" in i}
        expect(set(named) == files, f"{named} {files}")
        for name, original in named.items():
            common.respike_ok("image", "verify", original, out / name)
        return named

    both = {"a/p.so": str(libraries[0]), "b/p.so": str(libraries[1])}
    expect(exported() == {"main": str(main), **both}, exported())
    expect(exported("--image", "p.so") == both, "by file name")
    expect(exported("--image", libraries[1]) == {"p.so": str(libraries[1])}, "by path")
    before = {library: common.hash_file(library) for library in libraries}
    outcome = world.respike("export", "app", folder / "b", "--image", libraries[0])
    expect(outcome.status == 1 and b"would be exported over" in outcome.stderr, outcome)
    expect(before == {library: common.hash_file(library) for library in libraries}, "an original was changed")


def build_versioned(folder):
    """Builds a program in bin, in several editions, and in lib its library under its real name,
    with the usual links."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    source = folder / "chain.c"
    source.write_text(CHAIN.replace("twice()", "value()").replace("int twice(void);", "int value(void);"))
    compiler = [common.compiler(), "-O2", "-Wl,-q", source]
    library = folder / "lib" / "libvalue.so.1.2"
    shared = ["-DLAST", "-fPIC", "-shared", "-Wl,-soname,libvalue.so.1"]
    subprocess.run([*compiler, *shared, "-o", library], check=True)
    (folder / "lib" / "libvalue.so.1").symlink_to(library.name)
    (folder / "lib" / "libvalue.so").symlink_to("libvalue.so.1")
    editions = {"by_origin": ["-Wl,-rpath,$ORIGIN/../lib"], "by_path": [f"-Wl,-rpath,{folder}/lib"]}
    editions["by_old_path"] = [*editions["by_path"], "-Wl,--disable-new-dtags"]
    editions["by_variable"] = []
    for name, options in editions.items():
        link = [folder / "lib" / "libvalue.so", *options, "-o", folder / "bin" / name]
        subprocess.run([*compiler, *link], check=True)
    source.unlink()
    return library


def loaded_library(program, library_path=""):
    """The file that the program has mapped for libvalue, as the dynamic linker says; None if there
    is none."""
    return next((os.path.realpath(f) for f in libraries_by_loader(program, library_path) if "libvalue" in f), None)


def check_export_loads(scratch):
    """Exported programs load the exported libraries: by $ORIGIN on their own, else as a note
    says."""
    world = World(scratch)
    folder = world.folder / "installed"
    original = build_versioned(folder)

    def export(name, *place):
        return world.ok("export", name, *place)

    for name in ("by_origin", "by_path", "by_old_path", "by_variable"):
        image, out = folder / "bin" / name, world.folder / f"out {name}"
        world.environment["LD_LIBRARY_PATH"] = str(folder / "lib") if name == "by_variable" else ""
        for step in (["register", image], ["optimize", name]):
            world.ok(*step)
        note = export(name, out).stderr.decode()
        program = out / "bin" / name if name == "by_origin" else out / name
        (exported,) = out.rglob(original.name)
        expect(not exported.is_symlink(), "the file has its real name")
        link = exported.with_name("libvalue.so.1")
        expect(os.readlink(link) == original.name, f"the loader's name: {sorted(out.rglob('*'))}")
        common.respike_ok("image", "verify", original, exported)
        if name == "by_origin":
            expect(not note and program.exists(), note)
            expect(loaded_library(program) == str(exported), loaded_library(program))
            expect(common.run_command([*common.emulator(), program]).stdout == b"7\n", "it runs")
            moved = world.folder / "moved"
            out.rename(moved)
            expect(loaded_library(moved / "bin" / name) == str(moved / "lib" / original.name), "moved as a whole")
            moved.rename(out)
        elif name == "by_old_path":
            expect("whatever LD_LIBRARY_PATH says" in note and "--root" in note, note)
            expect(loaded_library(program, exported.parent) == str(original), "a note for nothing")
        else:
            expect(f"start it with LD_LIBRARY_PATH={shlex.quote(str(out))}" in note and note.count("\n") == 1, note)
            expect(loaded_library(program) in (str(original), None), "a note for nothing")
            expect(loaded_library(program, out) == str(exported), "as the note says")
        before = link.lstat().st_mtime_ns, link.lstat().st_ino, exported.stat().st_ino
        text = export(name, out).stdout.decode()
        expect("exported as" not in text and text.count("up to date") == 2, text)
        expect(before == (link.lstat().st_mtime_ns, link.lstat().st_ino, exported.stat().st_ino), "made again")
    world.environment["LD_LIBRARY_PATH"] = ""
    note = export("by_origin", world.folder / "alone", "--image", "by_origin").stderr.decode()
    expect("does not find libvalue.so.1 from there" in note, note)


def check_export_root(scratch):
    """Below an export root, images have their paths, files their names, and links lead where they
    led."""
    world = World(scratch)
    folder = world.folder / "installed"
    original = build_versioned(folder)
    alias = world.folder / "alias"
    alias.symlink_to("installed/bin/by_origin")
    for step in (["register", alias, "--name", "app"], ["optimize", "app"]):
        world.ok(*step)
    root = world.folder / "destdir"
    done = world.json("export", "app", "--root", root)
    found = {str(p.relative_to(root)): os.readlink(p) if p.is_symlink() else None for p in root.rglob("*") if not p.is_dir()}
    base = str(folder.relative_to("/"))
    expected = {f"{base}/bin/by_origin": None, f"{base}/lib/libvalue.so.1": original.name}
    expected |= {f"{base}/lib/{original.name}": None, str(alias.relative_to("/")): "installed/bin/by_origin"}
    expect(found == expected, found)
    made = {i["file"]: i["links"] for i in done["images"] if "file" in i}
    expect(set(made) == {str(root / p) for p, link in expected.items() if link is None}, made)
    expect(sorted(sum(made.values(), [])) == sorted(str(root / p) for p, link in expected.items() if link), made)
    expect(loaded_library(root / base / "bin" / "by_origin") == str(root / base / "lib" / original.name), "what it loads")
    text = world.ok("export", "app", "--root", root).stdout.decode()
    expect("exported as" not in text and text.count("up to date") == 2, text)
    before = common.hash_file(original)
    for place in (["--root", "/"], [folder / "lib", "--image", "libvalue.so.1"]):
        outcome = world.respike("export", "app", *place)
        expect(outcome.status == 1 and b"would be exported over" in outcome.stderr, outcome)
    expect(common.hash_file(original) == before, "an original was changed")
    other = world.folder / "other"
    other.mkdir()
    (other / "libvalue.so.1").symlink_to(original)
    outcome = world.respike("export", "app", other, "--image", "libvalue.so.1")
    expect(outcome.status == 1 and b"would be exported over" in outcome.stderr, f"a link to the original: {outcome}")
    for place in ([], [root, "--root", root], ["--root", ""]):
        expect(world.respike("export", "app", *place).status == 2, place)


def check_terminal(scratch):
    """On a terminal, each image gets a line when work on it begins; elsewhere nothing is
    printed."""
    world, program = World(scratch), common.first_program("linked.dynamic")
    image, library = world.copy(program.image), world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    world.ok("register", image, "--name", "app")
    expect(not world.ok("instrument", "app").stderr, "no terminal")
    world.respike("run", "app")
    ours, theirs = pty.openpty()
    command = [common.RESPIKE, "optimize", "app"]
    done = subprocess.run(command, env=world.environment, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = os.read(ours, 1 << 16).decode()
    os.close(ours)
    lines = [line for line in text.splitlines() if line.endswith(" ...")]
    expect(done.returncode == 0 and lines == [f"{image} ...", f"{library} ..."], text)


# --- Errors ---------------------------------------------------------------------------------------


def check_problems(scratch):
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    other = world.copy(program.image, "other")
    script, library = scratch.file("script"), common.first_program("linked.dynamic").libraries[0].path
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    world.ok("register", image, "--name", "app")
    cases = [(["show", "none"], "none"), (["instrument", "none"], "none"), (["optimize", "none"], "none")]
    cases += [(["export", "none", "x"], "none"), (["unregister", "none"], "none"), (["mode", "none", "original"], "none")]
    cases += [(["collect", "none"], "none"), (["export", "app", "x"], "optimized")]
    cases += [(["register", "/nowhere/x"], "/nowhere/x: there is no such program")]
    cases += [(["register", script], "a script, not an ELF program: register the program that it starts")]
    cases += [(["register", image, library, "--name", "both"], "a library, not a program: register it by itself")]
    cases += [(["register", world.folder], "not a program"), (["register", other, "--name", "app"], "registered already")]
    for args, text in cases:
        outcome = world.respike(*args)
        expect(outcome.status == 1, f"{args}: status {outcome.status}")
        expect(text in outcome.stderr.decode() and outcome.stderr.count(b"\n") == 1, f"{args}: {outcome.stderr}")
    plain = scratch.file("plain.so")  # without a SONAME
    source = scratch.file("plain.c")
    source.write_text("int plain(void) { return 1; }\n")
    for flags in (["-shared"], ["-static-pie", "-nostdlib", "-Wl,-e,plain"]):
        subprocess.run(["gcc", "-fPIC", *flags, source, "-o", plain], check=True)
        outcome = world.respike("register", plain, "--name", "plain")
        expect(outcome.status == 1 and b"so it is not registered" in outcome.stderr, outcome)
    expect([a["name"] for a in world.json("list")["applications"]] == ["app"], "registered all the same")
    expect(world.ok("prune").stdout == b"nothing to remove\n", "something of it was registered")
    gone = scratch.folder() / "gone"
    command = ["sh", "-c", 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"', "sh", gone, common.RESPIKE]
    for args in (["register", "x"], ["--db", "x.db", "register", image]):
        outcome = common.run_command([*command, *args], env=world.environment)
        expect(outcome.status == 1, outcome)
        expect(outcome.stderr.count(b"\n") == 1 and b"the present folder cannot be found" in outcome.stderr, outcome)
    wrong = [["mode", "app", "fast"], ["register"], ["register", ""], ["prune", "--keep", "0"]]
    for args in (*wrong, ["instrument", "app", "--counters", "x"]):
        expect(world.respike(*args).status == 2, f"{args}")
    image.unlink()
    for command in ("instrument", "optimize"):
        outcome = world.respike(command, "app")
        expect(outcome.status == 1 and str(image).encode() in outcome.stderr, outcome)
    expect("does not exist" in world.ok("show", "app").stdout.decode(), "show tells")
    expect(world.json("list")["applications"][0]["images"][0]["problem"], "list tells")


def check_bad_databases(scratch):
    image = static_program().image
    world = World(scratch)
    text = world.folder / "text.db"
    text.write_text("this is no database, but long enough to be taken for one\n" * 100)
    nowhere = pathlib.Path("/proc/none/x.db")
    for path in (text, world.folder, nowhere):
        for args in (["list"], ["register", image]):
            outcome = world.respike("--db", path, *args)
            expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1, f"{path}: {outcome}")
    expect(text.read_text().startswith("this is no"), "a file that is no database was changed")
    world.ok("register", image, "--name", "app")
    database = sqlite3.connect(world.database)
    database.execute("update schema_version set version = 99")
    database.commit()
    database.close()
    before = world.database.read_bytes()
    outcome = world.respike("list")
    expect(outcome.status == 1 and b"newer" in outcome.stderr, outcome)
    expect(world.database.read_bytes() == before, "a newer database was changed")


def check_absent_databases(scratch):
    """Only `register` makes a database: for other commands the name may be mistyped."""
    image = static_program().image
    world = World(scratch)
    commands = [["list"], ["collect"], ["prune"]]
    commands += [[command, "app"] for command in ("show", "instrument", "run", "optimize", "unregister")]
    commands += [["mode", "app", "original"], ["export", "app", world.folder / "out"]]
    for named in ("--db", "RESPIKE_DB"):
        option = ["--db", world.folder / "none" / "x.db"] if named == "--db" else []
        for command in commands:
            outcome = world.respike(*option, *command)
            expect(outcome.status == (125 if command[0] == "run" else 1), outcome)
            expect(b"there is no database" in outcome.stderr and outcome.stderr.count(b"\n") == 1, outcome)
    expect(not list(world.folder.iterdir()), "something was made")
    del world.environment["RESPIKE_DB"]
    world.environment["XDG_DATA_HOME"] = str(world.folder / "data")
    expect(world.ok("list").stdout == b"no applications\n" and not list(world.folder.iterdir()), "list of none")
    world.ok("register", image, "--name", "app")
    expect((world.folder / "data" / "respike" / "respike.db").exists(), "the default")
    expect(b"--db" in world.ok("register", "--help").stdout, "--help")


def check_foreign_entries(scratch):
    """Files in the spool that are not counter files are set aside with one warning."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"]):
        world.ok(*step)
    (file,) = world.spool()
    (file.parent / "dir.counts" / "below").mkdir(parents=True)
    os.mkfifo(file.parent / "pipe.counts")
    (file.parent / "link.counts").symlink_to(image)
    outcome = world.ok("collect", "--json")
    expect(json.loads(outcome.stdout)["damaged"] == 3 and outcome.stderr.count(b"\n") == 3, outcome)
    expect(not world.ok("collect").stderr and not list(file.parent.iterdir()), "once")
    expect({p.name for p in (file.parent.parent / "damaged").iterdir()} == {"dir.counts", "pipe.counts", "link.counts"}, "where")
    expect(world.images("app")[image.name]["profile"]["runs"] == 1, "the run")


def check_full_disk(scratch):
    """Files that cannot grow: commands say so in a sentence, and nothing is lost."""
    world, source, image = World(scratch), scratch.file("large.c"), scratch.file("large")
    source.write_text("char room[400000] = {1};\nint main(void) { return room[1]; }\n")
    link_alone(source, image)
    world.ok("register", image, "--name", "app")
    outcome = world.respike("instrument", "app", file_size=300_000)
    expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1, outcome)
    shown = world.images("app")[image.name]
    expect(not shown["instrumented"] and shown["optimizable"], shown)
    world.ok("instrument", "app")
    world.ok("run", "app")
    expect(world.images("app")[image.name]["profile"]["runs"] == 1, "it works afterwards")


def check_unregister(scratch):
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        world.ok(*step)
    world.ok("unregister", "app")
    expect(world.json("list")["applications"] == [], "it is still there")
    world.ok("register", image, "--name", "again")
    expect(world.images("again")[image.name]["profile"]["runs"] == 1, "the profile stays")
    world.ok("unregister", "again")
    before = world.state()
    would = world.ok("prune", "--dry-run").stdout.decode()
    expect(f"{image}, build 1\n" in would and f"{image}, which no application uses\n" in would, would)
    images = would.count("which no application uses\n")
    expect(f"\nwould remove 1 build, {images} registered image" in would, would)
    expect(world.ok("prune", "--dry-run").stdout.decode() == would and world.state() == before, "something was removed")
    expect(world.ok("prune").stdout.decode() == would.replace("would remove", "removed"), "it removed something else")
    world.ok("register", image, "--name", "third")
    outcome = world.ok("optimize", "third")
    expect(outcome.stderr.count(b"\n") == 1 and b"respike instrument third, then respike run third" in outcome.stderr, outcome)
    expect(not world.ok("optimize", "third").stderr, "up to date")
    expect(world.images("third")[image.name]["profile"]["runs"] == 0, "pruned")


def check_pruned_meanwhile(scratch):
    """While an application is registered, another process prunes images that no application uses."""
    world = World(scratch)
    image = world.copy(static_program().image)
    world.ok("register", image, "--name", "app")
    pruning = ["sh", "-c", f"while {common.RESPIKE} prune > /dev/null; do :; done"]
    with subprocess.Popen(pruning, env=world.environment, start_new_session=True) as pruner:
        try:
            for _ in range(25):
                world.ok("unregister", "app")
                world.ok("register", image, "--name", "app")
        finally:
            os.killpg(pruner.pid, signal.SIGKILL)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "tour": check_tour,
            "nothing twice": check_nothing_twice,
            "libraries": check_libraries,
            "missing library": check_missing_library,
            "opened libraries": check_opened,
            "opened Itanium libraries": check_opened_itanium,
            "chosen images": check_chosen_images,
            "odd names": check_odd_names,
            "opaque code": check_opaque_code,
            "same file names": check_same_file_names,
            "what exported programs load": check_export_loads,
            "export below a root": check_export_root,
            "terminal": check_terminal,
            "problems": check_problems,
            "bad databases": check_bad_databases,
            "absent databases": check_absent_databases,
            "foreign entries": check_foreign_entries,
            "full disk": check_full_disk,
            "unregister": check_unregister,
            "pruned meanwhile": check_pruned_meanwhile,
        }
        cases = common.named_cases(checks, scratch)
        cases += [
            common.Case(f"origin {option}", lambda o=option: check_origin(scratch, o))
            for option in ("enable-new-dtags", "disable-new-dtags")
        ]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

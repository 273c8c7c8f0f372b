#!/usr/bin/env python3
"""Images of applications whose files change: new builds, files that only look new or only look old,
builds without relocations or for another machine, and images that another Respike made."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

import common
import ia64_programs
from applications import World, rebuilt, rows_of, same_behaviour, static_program
from common import expect


def check_one_machine(scratch):
    """Files of an application are replaced by files for another machine."""
    world, program = World(scratch), common.first_program("linked.dynamic")
    image = world.copy(program.image)
    library = world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    world.ok("register", image, "--name", "app")
    foreign = ia64_programs.assemble(ia64_programs.ASSEMBLER_SOURCES / "kernels.s", scratch.folder())
    kept = library.read_bytes()
    shutil.copy(foreign, library)
    refused = world.respike("instrument", "app")
    message = refused.stderr.decode()
    expect(refused.status == 1 and f"{library}: it is an image for Itanium" in message, message)
    expect(world.images("app")[library.name]["builds"] == 1, "it became a build")
    expect(world.show("app")["mode"] == "original", "the mode changed")
    library.write_bytes(kept)
    world.ok("instrument", "app")
    freestanding = ia64_programs.freestanding("calls", scratch.folder(), "-q")
    shutil.copy(freestanding, image)
    for command in (["register", image, "--name", "app"], ["run", "app"]):
        refused = world.respike(*command)
        message = refused.stderr.decode()
        expect(refused.status in (1, 125) and "one machine, here Itanium: unregister it first" in message, message)
    world.ok("unregister", "app")
    world.ok("register", image, "--name", "app")
    expect([i["machine"] for i in world.show("app")["images"]] == ["ia64"], "its machine")
    expected = common.run_command([pathlib.Path(common.RESPIKE).parent / "respike-ia64", image])
    same_behaviour(expected, world.respike("run", "app"), "an Itanium program")


def check_foreign_for_a_while(scratch):
    """A library for another machine is noticed by whichever command comes first; that command does
    nothing else. No trace is left when the old library is back."""
    world, program = World(scratch), common.first_program("linked.dynamic")
    image = world.copy(program.image)
    library = world.copy(program.libraries[0].path)
    world.environment["LD_LIBRARY_PATH"] = str(library.parent)
    expected = common.run_program(program.image, program.runs[0], library.parent)
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        expect(world.respike(*step).status == (expected.status if step[0] == "run" else 0), step)
    foreign = ia64_programs.assemble(ia64_programs.ASSEMBLER_SOURCES / "kernels.s", scratch.folder())
    expect(common.respike("image", "optimize", foreign, "-o", scratch.file("out")).status == 0, "it could be optimized")
    unknown = scratch.file("unknown")
    data = bytearray(foreign.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    unknown.write_bytes(data)
    kept = library.with_name("kept")
    out = world.folder / "out"
    commands = [["run", "app"], ["optimize", "app"], ["instrument", "app", "--image", image.name], ["export", "app", out]]
    commands.append(["register", image, "--name", "app"])

    def known():
        builds = rows_of(world.database, "select id, image, number, content_hash, matched from build")
        return builds, rows_of(world.database, "select * from image")

    for other, name in ((foreign, "Itanium"), (unknown, "ELF machine 183")):
        for command in commands:
            before = known()
            library.rename(kept)
            shutil.copy(other, library)
            refused = world.respike(*command)
            message = refused.stderr.decode()
            expect(refused.status == (125 if command[0] == "run" else 1), refused)
            expect(message.startswith(f"respike: {library}: it is an image for {name}, but"), message)
            expect(message.endswith("one machine, here Alpha: unregister it first\n") and message.count("\n") == 1, message)
            shown = world.images("app")
            expect(f"an image for {name}" in shown[library.name]["problem"], shown)
            expect(not shown[image.name]["problem"] and shown[library.name]["machine"] != "alpha", shown)
            expect(f"an image for {name}" in world.ok("show", "app").stdout.decode(), "show")
            kept.rename(library)
            outcome = world.respike("run", "app")
            same_behaviour(expected, outcome, "taken back")
            expect(not outcome.stderr, outcome)
            expect(before == known() and not out.exists(), f"{command} left something: {before} {known()}")
    shutil.copy(foreign, library)
    world.ok("mode", "app", "original")
    expect(b"it is an image" not in world.respike("run", "app").stderr, "mode original is the program's own affair")


def check_another_machine(scratch):
    """A program that is replaced, with all its images, by a program for another machine is a new
    build without a profile."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    other = ia64_programs.freestanding("calls", scratch.folder(), "-q", "--build-id")
    expected = common.run_command([pathlib.Path(common.RESPIKE).parent / "respike-ia64", other])
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        world.ok(*step)
    shutil.copy(other, image)
    outcome = world.respike("run", "app")
    same_behaviour(expected, outcome, "at once")
    expect(b"has changed" in outcome.stderr, outcome)
    for command in (["show", "app"], ["optimize", "app"]):
        outcome = world.ok(*command)
        expect(b"found again" not in outcome.stderr and b"nothing of the profile" not in outcome.stderr, outcome)
    expect(b"by static estimates" in outcome.stdout and not outcome.status, outcome)
    expect(f"there is no profile of {image.name}".encode() in outcome.stderr and outcome.stderr.count(b"\n") == 1, outcome)
    shown = world.images("app")[image.name]
    expect((shown["machine"], shown["build"], shown["profile"]["confidence"]) == ("ia64", 2, 0), shown)
    same_behaviour(expected, world.respike("run", "app"), "optimized")
    shutil.copy(program.image, image)
    shown = world.images("app")[image.name]
    expect((shown["machine"], shown["build"], shown["profile"]["runs"]) == ("alpha", 1, 1), shown)


def check_new_build(scratch):
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    expected = common.run_program(image, program.runs[0])
    new = rebuilt(scratch, image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"]):
        world.ok(*step)
    shutil.copy(new, image)
    outcome = world.respike("run", "app")
    same_behaviour(expected, outcome, "the new build")
    expect(b"has changed" in outcome.stderr, outcome.stderr)
    world.ok("mode", "app", "instrumented")
    outcome = world.respike("run", "app")
    same_behaviour(expected, outcome, "the new build")
    expect(b"until it is instrumented again" in outcome.stderr and outcome.stderr.count(b"\n") == 1, outcome)
    expect(not world.spool(), "an image of the older build ran")
    outcome = world.respike("export", "app", world.folder / "out")
    expect(outcome.status == 1 and b"changed" in outcome.stderr, outcome)
    expect(not (world.folder / "out").exists(), "something was exported")
    shown = world.images("app")[image.name]
    expect(shown["builds"] == 2 and shown["build"] == 2, shown)
    expect(shown["profile"]["runs"] == 0 and shown["profile"]["confidence"] > 0.9, shown)
    expect(not shown["optimized"] and not shown["instrumented"], shown)
    text = world.ok("optimize", "app").stdout.decode()
    expect("by the profile of an older build" in text, text)
    same_behaviour(expected, world.respike("run", "app"), "optimized anew")
    world.ok("mode", "app", "instrumented")
    outcome = world.respike("run", "app")
    expect(b"has changed since it was instrumented" in outcome.stderr and outcome.stderr.count(b"\n") == 1, outcome)
    world.ok("instrument", "app")
    world.ok("run", "app")
    text = world.ok("optimize", "app").stdout.decode()
    expect(re.search(r"by a profile of 1 run, and 1 run of older builds, confidence [\d.]+: expected of this image's code: ", text), text)
    profile = world.images("app")[image.name]["profile"]
    expect((profile["runs"], profile["confidence"], profile["carried_runs"]) == (1, 1, 1), profile)
    expect(profile["carried_confidence"] > 0.9, profile)
    text = world.ok("show", "app").stdout.decode()
    expect(re.search(r"1 run, which entered .*, and 1 run of older builds, confidence", text), text)
    text = world.ok("optimize", "app", "--older-weight", "0").stdout.decode()
    expect("by a profile of 1 run: " in text, text)
    text = world.ok("optimize", "app", "--older-weight", "0").stdout.decode()
    expect("up to date" in text, text)
    text = world.ok("optimize", "app", "--older-weight", "0.5", "--half-life", "30").stdout.decode()
    expect("up to date" not in text and "1 run of older builds" in text, text)
    shown = world.images("app")[image.name]
    expect(shown["optimized"] and not shown["profile_grew"], f"other options are no later runs: {shown}")
    for days in ("0", "-1", "nan", "1e999", "x"):
        outcome = world.respike("optimize", "app", "--half-life", days)
        expect(outcome.status == 2 and f'"{days}" is no number above 0' in outcome.stderr.decode(), outcome)
        expect(outcome.stderr.count(b"\n") == 1 and len(outcome.stderr) < 100, outcome)
    expect(world.respike("optimize", "app", "--older-weight", "-1").status == 2, "a negative weight")
    shutil.copy(program.image, image)
    shown = world.images("app")[image.name]
    expect(shown["build"] == 1 and shown["builds"] == 2 and shown["optimized"], f"the old build came back: {shown}")
    same_behaviour(expected, world.respike("run", "app"), "the old build")


def check_touched(scratch):
    """A file with another time and the same contents is still the same build."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    os.utime(image, (1, 1))
    outcome = world.ok("show", "app")
    expect(b"changed" not in outcome.stderr, outcome.stderr)
    world.ok("run", "app")
    expect(len(world.spool()) == 1, "it is the same build")
    os.utime(image, (2, 2))
    outcome = world.ok("run", "app")
    expect(len(world.spool()) == 2 and not outcome.stderr, f"touched, `run` is the first to see it: {outcome}")
    copy = image.with_name("copy")
    shutil.copy(image, copy)
    copy.rename(image)
    outcome = world.ok("run", "app")
    expect(len(world.spool()) == 3 and not outcome.stderr, f"copied: {outcome}")
    seen = rows_of(world.database, "select file_inode, file_modified from build")
    expect(seen == [(image.stat().st_ino, image.stat().st_mtime_ns)], f"it is read every time: {seen}")


def check_hidden_change(scratch):
    """Contents of the same size in the same file, which gets its old time back, are a new build."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    data, before = image.read_bytes(), image.stat()
    place = data.index(b"GCC: (")
    with open(image, "r+b") as file:
        file.write(data.replace(b"GCC: (", b"gcc: ("))
    os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = image.stat()
    expect(image.read_bytes()[place : place + 3] == b"gcc", "it was not changed")
    for field in ("st_size", "st_mtime_ns", "st_ino"):
        expect(getattr(before, field) == getattr(after, field), f"{field} differs")
    outcome = world.respike("run", "app")
    expect(b"has changed" in outcome.stderr and not world.spool(), "an image of the older build ran")
    expect(world.images("app")[image.name]["builds"] == 2, "no new build")


def check_becomes_plain(scratch):
    """An image rebuilt without relocations is left alone. If the application has no other image,
    this is a failure, and the mode stays: the user shall learn that the build forgot its
    relocations."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    for step in (["register", image, "--name", "app"], ["instrument", "app"]):
        world.ok(*step)
    subprocess.run(["strip" if common.is_native() else "alpha-linux-gnu-strip", image], check=True)
    for command, done in (("instrument", b"instrumented"), ("optimize", b"optimized")):
        outcome = world.respike(command, "app")
        expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1, outcome)
        expect(b"stripped" in outcome.stderr and b"nothing of app could be " + done in outcome.stderr, outcome)
    expect(world.show("app")["mode"] == "instrumented", "the mode changed")
    outcome = world.respike("run", "app")
    expect(outcome.status == 0 and not world.spool(), outcome)
    outcome = world.respike("register", image, "--name", "app")
    expect(outcome.status == 1 and world.show("app")["mode"] == "instrumented", f"registered again: {outcome}")
    outcome = world.respike("register", image, "--name", "plain")
    expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1, outcome)
    expect(b"stripped" in outcome.stderr and b"nothing of plain could be optimized" in outcome.stderr, outcome)
    expect(world.respike("show", "plain").status == 1, "it is registered")
    shutil.copy(program.image, image)
    world.ok("register", image, "--name", "plain")


def check_matched_once(scratch):
    """A profile is carried over again only if the older build has counted more since."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    new = rebuilt(scratch, image)
    steps = (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app", *program.runs[0].args])
    for step in steps:
        world.ok(*step)
    kept = scratch.file("kept")  # the counter file of a run that is merged only later
    world.ok("run", "app", *program.runs[0].args)
    (waiting,) = [f for f in world.spool() if f.stat().st_mtime_ns == max(f.stat().st_mtime_ns for f in world.spool())]
    shutil.move(waiting, kept)
    shutil.copy(new, image)

    def matches():
        """The number of carried-over runs, and the rows themselves, which matching creates again."""
        return rows_of(world.database, "select id, runs from count_set where purpose = 'carried'")

    outcome = world.ok("optimize", "app")
    expect(re.search(rb"ran in build 1, \d+ are found again, with [\d.]+% .*confidence", outcome.stderr), outcome.stderr)
    before = matches(), world.state()
    expect(len(before[0]) == 1 and before[0][0][1] == 1, before)
    for _ in range(2):
        outcome = world.ok("optimize", "app")
        expect(b"up to date" in outcome.stdout and not outcome.stderr, outcome)
        expect(before == (matches(), world.state()), "matched or made again")
    shutil.move(kept, waiting)
    outcome = world.ok("optimize", "app")
    expect(b"found again" in outcome.stderr and matches()[0][1] == 2, f"{outcome} {matches()}")


def check_new_respike(scratch):
    """Images that another Respike made are made again; until then they run."""
    world, program = World(scratch), static_program()
    image = world.copy(program.image)
    steps = (["register", image, "--name", "app"], ["instrument", "app"], ["run", "app"], ["optimize", "app"])
    for step in steps:
        world.ok(*step)
    database = sqlite3.connect(world.database)
    made = database.execute("select options from derived_image").fetchall()
    fingerprints = {options.rpartition("; ")[2] for (options,) in made}
    expect(len(made) == 2 and len(fingerprints) == 1 and len(fingerprints.pop()) == 32, made)
    database.execute("update derived_image set options = substr(options, 1, length(options) - 1) || 'x'")
    database.commit()
    database.close()
    outcome = world.respike("run", "app")
    expect(outcome.status == 0 and not outcome.stderr, outcome)
    for command, word in (("optimize", b"optimized"), ("instrument", b"instrumented")):
        expect(word in world.ok(command, "app").stdout, f"{command} trusts another Respike's image")
        expect(b"up to date" in world.ok(command, "app").stdout, f"{command}: not once")


def check_installed(scratch):
    """A file that is installed elsewhere finds the profile that it got in the folder of its build, by its contents; with
    another content, by its name and build-id. Another program with the same build-id does not."""
    world = World(scratch)
    source = scratch.file("work.c")
    source.write_text("int main(int n, char** v) { int s = 0; for (int i = 0; i < 1000; i++) s += i % 3 ? i : -i; return s & n & 0; }\n")
    built = world.folder / "build" / "work"
    built.parent.mkdir()
    subprocess.run([common.compiler(), "-O1", "-Wl,-q,--build-id=0x1234", source, "-o", built], check=True)
    for step in (["register", built], ["instrument", "work"], ["run", "work"], ["run", "work"]):
        world.ok(*step)
    other = scratch.file("other.c")
    other.write_text("int f(int n) { return n > 3 ? n * 2 : n - 1; }\nint main(int n, char** v) { return f(n) & 0; }\n")
    places = {name: world.folder / name / ("other" if name == "stranger" else "work") for name in ("same", "stamped", "stranger")}
    for name, file in places.items():
        file.parent.mkdir()
        if name == "stranger":
            subprocess.run([common.compiler(), "-O1", "-Wl,-q,--build-id=0x1234", other, "-o", file], check=True)
        else:
            shutil.copy2(built, file)
    note = scratch.file("note")
    note.write_text("installed")
    objcopy = "alpha-linux-gnu-objcopy" if not common.is_native() else "objcopy"
    subprocess.run([objcopy, "--add-section", f".comment2={note}", places["stamped"]], check=True)
    for name, file in places.items():
        world.ok("register", file, "--name", name)
        outcome = world.ok("optimize", name)
        carried = b"older build" in outcome.stdout
        expect(carried == (name != "stranger"), f"{name}: {outcome}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "one machine": check_one_machine,
            "foreign for a while": check_foreign_for_a_while,
            "another machine": check_another_machine,
            "new build": check_new_build,
            "touched": check_touched,
            "hidden change": check_hidden_change,
            "matched once": check_matched_once,
            "new respike": check_new_respike,
            "becomes plain": check_becomes_plain,
            "installed": check_installed,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())

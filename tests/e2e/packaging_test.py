#!/usr/bin/env python3
"""What a packager does: profiles go to a file beside the sources and come back on another machine, a staged tree is
registered and gets the optimized images, and what comes out fits into a package.

The program has a library with exported procedures, both for the host."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import common
from applications import World
from common import Skip, expect

LIBRARY = """
#include <stdlib.h>
int fails;
int odd(int i);
__attribute__((noinline)) static int rare(int i) { if (fails) abort(); return i * 7 % 5; }
int step(int i) {
  if (i % 1000 == 999) return rare(i);
  if (i < 0) { fails = i; return rare(-i) + odd(i); }
  return i % 3 == 1 ? -i : i;
}
int odd(int i) { if (i > 1 << 20) return rare(i) + step(i - 1); return i & 1; }
int unused(int i) { return rare(i) + CHANGE; }
"""
PROGRAM = """
#include <stdio.h>
int step(int), odd(int), unused(int);
int main(int count, char** words) {
  long sum = count;
  if (count > 5) sum = unused(count);
  for (int i = 0; i < 50000; i++) sum += step(i) * odd(i + count);
  printf("%ld\\n", sum);
  return 3;
}
"""


def build(folder, change=1, more=()):
    """The program bin/prog and the library lib/libstep.so.1 in a folder; the program finds its library by $ORIGIN."""
    if not shutil.which("gcc") or not common.run_command(["gcc", "-dumpmachine"]).stdout.startswith(b"x86_64"):
        raise Skip("there is no compiler for x86-64 programs")
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    sources = folder.parent / f"{folder.name}.sources"
    sources.mkdir()
    (sources / "step.c").write_text(LIBRARY)
    (sources / "prog.c").write_text(PROGRAM)
    flags = ["gcc", "-O2", "-Wl,-q", "-Wl,--build-id", *more]
    library = folder / "lib/libstep.so.1"
    soname = "-Wl,-soname,libstep.so.1"
    here = [f"-DCHANGE={change}", "step.c", "-o", library]
    subprocess.run([*flags, "-shared", "-fPIC", soname, *here], cwd=sources, check=True)
    origin = "-Wl,-rpath,$ORIGIN/../lib"
    subprocess.run([*flags, "prog.c", library, origin, "-o", folder / "bin/prog"], cwd=sources, check=True)
    return folder / "bin/prog"


def trained(scratch, **options):
    """A world with the program registered as `prog`, and two runs counted."""
    world = World(scratch)
    program = build(world.folder / "built", **options)
    world.ok("register", program)
    world.ok("instrument", "prog")
    for _ in range(2):
        expect(world.respike("run", "prog").status == 3, "the counted program ends otherwise")
    return world, program


def exported_profiles(world, name="prog"):
    file = world.folder / f"{name}.profiles"
    world.ok("profile", "export", name, "-o", file)
    return file


def images_below(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_same_bytes(scratch):
    """The same images and the same profiles make the same files in other folders, by databases that counted nothing
    or something else; and the same as the database does that counted."""
    world, program = trained(scratch)
    file = exported_profiles(world)
    expect(str(world.folder).encode() not in file.read_bytes(), "the file names folders of the machine that counted")
    again = world.folder / "again"
    world.ok("profile", "export", "prog", "-o", again)
    expect(again.read_bytes() == file.read_bytes(), "a second export differs")

    results = []
    for counts in (0, 1):
        other = World(scratch)
        shutil.copytree(program.parent.parent, other.folder / "elsewhere")
        other.ok("register", other.folder / "elsewhere/bin/prog")
        if counts:
            other.ok("instrument", "prog")
            other.respike("run", "prog", "a", "b", "c", "d", "e")
        outcome = other.ok("optimize", "prog", "--profile", file)
        expect(b"by a profile of 2 runs" in outcome.stdout and not outcome.stderr, f"{outcome}")
        expect(b"up to date" in other.ok("optimize", "prog", "--profile", file).stdout, "it is made again")
        other.ok("export", "prog", other.folder / "out")
        results.append(images_below(other.folder / "out"))
        expect(other.respike("run", "prog").behaviour() == common.run_command([program]).behaviour(), "it runs otherwise")
    expect(results[0] == results[1] and len(results[0]) == 2, f"{[r.keys() for r in results]} differ")


def check_shown(scratch):
    """`profile show` shows the contents of a file with the profiles of several images; other commands find the image's
    profile."""
    world, program = trained(scratch)
    file = exported_profiles(world)
    text = world.ok("profile", "show", file).stdout.decode()
    expect(re.search(r"^ +2 .* libstep\.so\.1$", text, re.M) and re.search(r"^ +2 .* prog$", text, re.M), text)
    shown = json.loads(world.ok("profile", "show", file, "--json").stdout)["images"]
    expect([i["image"] for i in shown] == ["libstep.so.1", "prog"], f"{[i['image'] for i in shown]}")
    one = json.loads(world.ok("profile", "show", file, "--image", "libstep.so.1", "--json").stdout)
    expect({k: shown[0][k] for k in one} == one, "an image is shown otherwise than among all")
    outcome = world.respike("profile", "show", file, "--image", "libnone.so")
    expect(outcome.status == 1 and b"no profile of libnone.so, but those of libstep.so.1, prog" in outcome.stderr, f"{outcome}")

    single = world.folder / "single"
    world.ok("profile", "export", "prog", "--image", "libstep.so.1", "-o", single)
    library = program.parent.parent / "lib/libstep.so.1"
    outputs = []
    for profile in (single, file):
        outputs.append(world.folder / f"out{len(outputs)}")
        world.ok("image", "optimize", library, "-o", outputs[-1], "--profile", profile)
    expect(outputs[0].read_bytes() == outputs[1].read_bytes(), "the image's profile is another one in the set")
    outcome = world.respike("profile", "merge", file, "-o", world.folder / "merged")
    expect(outcome.status == 1 and b"it is a set of profiles" in outcome.stderr, f"{outcome}")


def check_other_builds(scratch):
    """Profiles of another build are carried over; of another program, or of no image, they are refused."""
    world, _ = trained(scratch)
    file = exported_profiles(world)
    other = World(scratch)
    other.ok("register", build(other.folder / "newer", change=2))
    outcome = other.ok("optimize", "prog", "--profile", file)
    expect(b"of older builds, confidence 1.00" in outcome.stdout, f"{outcome}")
    calls = other.copy(common.first_program("calls.pie", "calls.dynamic").image, "calls")
    other.ok("register", calls)
    outcome = other.respike("optimize", "calls", "--profile", file)
    expect(outcome.status == 1 and b"it has no profile of an image of calls, but those of libstep.so.1, prog" in outcome.stderr, f"{outcome}")
    other.ok("register", other.copy(calls, "prog"), "--name", "another prog")
    outcome = other.respike("optimize", "another prog", "--profile", file)
    expect(outcome.status == 1 and b"of another program" in outcome.stderr or b"machine" in outcome.stderr or b"no profile" in outcome.stderr, f"{outcome}")
    outcome = other.respike("profile", "export", "prog", "-o", other.folder / "none")
    expect(outcome.status == 1 and b"nothing of prog has been counted" in outcome.stderr, f"{outcome}")
    expect(not (other.folder / "none").exists(), "a file was left behind")
    outcome = other.respike("optimize", "prog", "--profile", file, "--half-life", "3")
    expect(outcome.status == 2, f"{outcome}")


def check_damaged(scratch):
    """Each cut and each changed byte of a set of profiles is refused in one sentence."""
    world, _ = trained(scratch)
    data = exported_profiles(world).read_bytes()
    generator = random.Random(48)
    places = [*range(0, 32), *generator.sample(range(32, len(data)), 8)]
    for place in places:
        for kind in ("cut", "changed"):
            bad = bytearray(data[:place] if kind == "cut" else data)
            if kind == "changed":
                bad[place] ^= 1 << generator.randrange(8)
            if bytes(bad) == data:
                continue
            file = world.folder / "bad"
            file.write_bytes(bad)
            outcome = world.respike("profile", "show", file)
            expect(outcome.status == 1 and outcome.stderr.count(b"\n") == 1 and not outcome.stdout, f"{kind} {place}: {outcome}")


def check_dynamic_symbols(scratch):
    """A library has the dynamic symbols of its original, so a package's list of symbols stays; with --dynamic-fragments
    it also has names for moved code."""
    world, program = trained(scratch)
    library = program.parent.parent / "lib/libstep.so.1"
    names = {}
    for option in ([], ["--dynamic-fragments"]):
        world.ok("optimize", "prog", *option)
        folder = world.folder / f"out{len(option)}"
        world.ok("export", "prog", folder)
        (exported,) = folder.rglob("libstep.so.1")
        names[bool(option)] = common.binutils("nm", "-D", exported)
        expect(common.run_command([next(folder.rglob("prog"))]).status == 3, "the exported program ends otherwise")
    plain = re.sub(r"^\w+", "", common.binutils("nm", "-D", library), flags=re.M)
    expect(re.sub(r"^\w+", "", names[False], flags=re.M) == plain, f"{names[False]}")
    expect(".frag." in names[True], f"there are no fragments: {names[True]}")
    if shutil.which("dpkg-gensymbols"):
        (world.folder / "debian").mkdir()
        (world.folder / "debian/control").write_text("Source: step\n\nPackage: libstep1\nArchitecture: any\n")

        def symbols(file):
            command = ["dpkg-gensymbols", "-v1", "-plibstep1", f"-e{file}", "-O"]
            return subprocess.run(command, cwd=world.folder, check=True, capture_output=True).stdout.split(b"---")[0]

        before, after = symbols(library), symbols(next((world.folder / "out0").rglob("libstep.so.1")))
        expect(before == after and b"step@Base" in after, f"the lists of symbols differ: {before} {after}")


def check_relocations(scratch):
    """Without relocations an image behaves the same, and is as small as `strip` makes it."""
    world, program = trained(scratch)
    world.ok("optimize", "prog")
    with_them, without = world.folder / "with", world.folder / "without"
    world.ok("export", "prog", with_them)
    world.ok("export", "prog", without, "--no-relocations")
    world.ok("export", "prog", without, "--no-relocations")
    expect(common.run_command([without / "bin/prog"]).behaviour() == common.run_command([program]).behaviour(), "it runs otherwise")
    for name in ("bin/prog", "lib/libstep.so.1"):
        expect(b".rela.text" in (with_them / name).read_bytes(), "there were no relocations to begin with")
        sections = common.binutils("readelf", "-S", "-W", without / name)
        expect(".rela.text" not in sections and ".symtab" in sections and ".rela.dyn" in sections, sections)
        sizes = []
        for options in (["--strip-unneeded"], ["--strip-all"]):
            stripped = world.folder / "stripped"
            subprocess.run(["strip", *options, without / name, "-o", stripped], check=True)
            sizes.append(stripped.stat().st_size)
        expect(sizes[0] == sizes[1], f"{name}: strip leaves {sizes}")
        problem = world.respike("image", "optimize", without / name, "-o", world.folder / "again")
        expect(problem.status == 1 and b"emit-relocs" in problem.stderr, f"{problem}")


def check_owner(scratch):
    """A file of another user keeps its owner with the bits that lend his identity, or loses both."""
    if os.geteuid() != 0:
        raise Skip("only root can give files away")
    world, program = trained(scratch)
    world.ok("optimize", "prog")
    tree = world.folder / "tree"
    tree.mkdir()
    shutil.copy(program, tree / "prog")
    os.chown(tree / "prog", 5, 60)
    (tree / "prog").chmod(0o6755)
    capabilities = bytes.fromhex("0100000200200000000000000000000000000000")  # cap_net_raw
    os.setxattr(tree / "prog", "security.capability", capabilities)
    (tree / "loop").symlink_to("loop")
    world.ok("export", "prog", "--image", "prog", "--into", tree)
    expect(os.getxattr(tree / "prog", "security.capability") == capabilities, "capabilities were lost")
    status = (tree / "prog").stat()
    expect((status.st_uid, status.st_gid, status.st_mode & 0o7777) == (5, 60, 0o6755), f"{status}")


def check_staged(scratch):
    """A staged tree: the program is registered as it will be installed, its library is found in the tree, and the optimized
    images take the places of the copies, whose modes stay."""
    world, program = trained(scratch)
    file = exported_profiles(world)
    tree = world.folder / "debian/tmp"
    library = build(world.folder / "linked again").parent.parent / "lib/libstep.so.1"
    for place in ("usr/lib/x86_64-linux-gnu/libstep.so.1", "usr/share/copy"):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, tree / place)
    # The installed program finds its library in the system's folders: it is another build than the trained program.
    (tree / "usr/bin").mkdir()
    command = ["gcc", "-O2", "-Wl,-q", world.folder / "linked again.sources/prog.c", library, "-o", tree / "usr/bin/prog"]
    subprocess.run(command, check=True)
    (tree / "usr/share/copy").chmod(0o2750)
    os.link(tree / "usr/share/copy", tree / "usr/share/same")
    (tree / "usr/lib/libstep.so").symlink_to("x86_64-linux-gnu/libstep.so.1")
    # The name by which the program needs it is an absolute link, which leads to nothing before the tree is installed.
    (tree / "usr/lib/x86_64-linux-gnu/libstep.so.1").rename(tree / "usr/lib/libstep.so.1.0")
    (tree / "usr/lib/x86_64-linux-gnu/libstep.so.1").symlink_to("/usr/lib/libstep.so.1.0")
    packaged = World(scratch)
    (tree / "usr/games").mkdir()
    (tree / "usr/games/game").symlink_to("/usr/bin/prog")
    images = packaged.json("register", "--root", tree, "/usr/games/game", "--name", "prog")["images"]
    found = {pathlib.Path(i["path"]).name: i["path"] for i in images}
    expect(found["libstep.so.1.0"] == str(tree / "usr/lib/libstep.so.1.0"), f"{found}")
    outcome = packaged.ok("optimize", "prog", "--profile", file)
    expect(b"estimated" not in outcome.stderr, f"{outcome}")
    originals = images_below(tree)

    package = packaged.folder / "package"
    shutil.copytree(tree, package, symlinks=True)
    for folder in (package, tree):  # dh_install copies a tree; with a single package there is only one
        for said in (b"exported as", b"up to date"):
            outcome = packaged.ok("export", "prog", "--into", folder)
            expect(outcome.stdout.count(said) == 2, f"{folder}: {outcome}")
        now = images_below(folder)
        expect(now["libstep.so.1.0"] == now["copy"] != originals["copy"] and now["prog"] != originals["prog"], "a copy was left")
        expect((folder / "usr/share/copy").stat().st_mode & 0o7777 == 0o2750, "the mode is another one")
        expect((folder / "usr/share/copy").samefile(folder / "usr/share/same") == (folder == tree), "a file with two names has become two files")
        expect((folder / "usr/lib/libstep.so").is_symlink(), "a link was replaced")
        (folder / "run").mkdir()
        (folder / "run/libstep.so.1").symlink_to("../usr/lib/libstep.so.1.0")
        environment = dict(os.environ, LD_LIBRARY_PATH=str(folder / "run"))
        expect(common.run_command([folder / "usr/bin/prog"], env=environment).behaviour() == common.run_command([program]).behaviour(), "it runs otherwise")
    shutil.rmtree(package)
    package.mkdir()
    outcome = packaged.respike("export", "prog", "--into", package)
    expect(outcome.status == 1 and outcome.stderr.count(b"\n") <= 2, f"{outcome}")


CHECKS = {
    "same bytes": check_same_bytes,
    "shown": check_shown,
    "other builds": check_other_builds,
    "damaged": check_damaged,
    "dynamic symbols": check_dynamic_symbols,
    "relocations": check_relocations,
    "staged tree": check_staged,
    "owner": check_owner,
}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, lambda scratch: common.named_cases(CHECKS, scratch)))

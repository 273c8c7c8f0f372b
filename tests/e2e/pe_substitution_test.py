#!/usr/bin/env python3
"""Programs of Windows NT whose images are optimized run under their own names and paths, with their libraries.

As DEC's Spike did it: tables of imports of optimized images name the optimized libraries, LoadLibrary opens the
optimized version of the requested library, and the program sees names and paths of the originals; originals stay
unchanged."""

import hashlib
import os
import pathlib
import re
import shutil
import sys
import time

import common
import pe_test

import dlls  # tests/pe, which pe_test puts into the path
import images
import link
import reading

SHOWING = r"""
#include "names.h"
#include <stdlib.h>
int twice(int by);
int late_number(int n);
extern char __ImageBase[];

static void show(const char* what, void* handle) {
  char name[400] = "none";
  const unsigned size = GetModuleFileNameA(handle, name, sizeof name);
  printf("%s: %s, %u, %d\n", what, name, size, GetModuleHandleA(strrchr(name, '/') ? strrchr(name, '/') + 1 : name) == handle);
}

/* Which sections an image has: those of Respike show which version it is. */
static void sections(const char* what, const char* image) {
  if (getenv("SHOW_SECTIONS") == 0) return;
  const char* headers = image + *(const int*)(image + 0x3c);
  const int count = *(const unsigned short*)(headers + 6);
  int found = 0;
  for (int i = 0; i < count; ++i) found |= memcmp(headers + 24 + 224 + 40 * i, ".notersp", 8) == 0;
  printf("%s is %s\n", what, found ? "a version" : "an original");
}

int main(int argc, char** argv) {
  printf("argv[0] %s, %d arguments\n", argv[0], argc);
  show("program", GetModuleHandleA(0));
  show("middle", GetModuleHandleA("middle"));
  show("counting", GetModuleHandleA("COUNTING.DLL"));
  printf("%d\n", twice(5));
  void* late = LoadLibraryA(argc > 1 ? argv[1] : "late");
  show("late", late);
  if (late) printf("late_number: %d\n", ((int (*)(int))GetProcAddress(late, "late_number"))(12));
  char name[400], text[30] = "no file";
  GetModuleFileNameA(0, name, sizeof name);
  strcpy(strrchr(name, '/') + 1, "settings.txt");
  FILE* file = fopen(name, "r");
  if (file) fgets(text, sizeof text, file);
  printf("beside the program: %s\n", text);
  sections("showing", GetModuleHandleA(0));
  sections("middle", GetModuleHandleA("middle"));
  sections("counting", GetModuleHandleA("counting"));
  if (late) sections("late", late);
  return 3;
}
"""


class World:
    def __init__(self, scratch):
        self.scratch = scratch
        self.shared = common.Shared()

    def objects(self):
        def make():
            objects = dlls.compile_programs(self.scratch.folder())
            source = self.scratch.file("showing.c")
            source.write_text(SHOWING)
            return objects, [images.compile_source(source, self.scratch.folder(), [f"-I{dlls.PROGRAMS}"])]

        return self.shared("objects", make)

    def images(self, **options):
        def make():
            objects, showing = self.objects()
            folder = dlls.link_programs(objects, self.scratch.folder(), symbols=True, **options)
            own = link.Options(imports=dlls.SYSTEM | {"twice": "Middle.dll"}, symbols=True, **options)
            (folder / "showing.exe").write_bytes(link.link(showing, own))
            return folder

        return self.shared(("images", tuple(options.items())), make)


class Home:
    """A folder with a program, its libraries and a database."""

    def __init__(self, world, names=None, **options):
        self.folder = world.scratch.folder() / "home"
        self.folder.mkdir()
        self.work = world.scratch.folder()
        for image in world.images(**options).iterdir():
            if names is None or image.name in names:
                shutil.copy(image, self.folder)
                (self.folder / image.name).chmod(0o755)
        (self.folder / "settings.txt").write_text("settings of home")
        self.environment = {**os.environ, "RESPIKE_DB": str(self.work / "respike.db")}
        self.contents = self.hashes()

    def hashes(self):
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(self.folder.iterdir())}

    def respike(self, *words, status=0, env=None, cwd=None):
        outcome = common.run_command(
            [common.RESPIKE, *words], env={**self.environment, **(env or {})}, cwd=cwd or self.work, timeout=300)
        if status is not None and outcome.status != status:
            raise common.Failure(f"respike {common.shorten_command(words)}: {outcome.status}: {outcome.stdout.decode()[-500:]}{outcome.stderr.decode()[-900:]}")
        return outcome

    def run_original(self, name, *words, env=None, cwd=None):
        return common.run_command([pe_test.NT, name, *words], env={**self.environment, **(env or {})}, cwd=cwd or self.work)


def expect_same(expected, actual, what):
    if expected.behaviour() != actual.behaviour():
        raise common.Failure(f"{what}: {common.describe_difference(expected, actual)}")


def lines(outcome):
    return outcome.stdout.decode().splitlines()


# The images as the program sees them: which of them run.
ALL = {"SHOW_SECTIONS": "1"}


def versions(outcome):
    return {line.split()[0]: line.endswith("a version") for line in lines(outcome) if re.search("is an? (version|original)$", line)}


def optimized(world, names=None, program="showing.exe"):
    home = Home(world, names)
    home.respike("register", home.folder / program)
    home.respike("optimize", program)
    return home


def check_register(world):
    """Linked libraries are found, also through libraries, with delay, and with names in another case."""
    home = Home(world)
    text = home.respike("register", home.folder / "user.exe").stdout.decode()
    for name in ("user.exe", "middle.dll", "counting.dll", "late.dll"):
        common.expect(re.search(rf"{name} +can be optimized", text), f"no {name}: {text}")
    common.expect("refusing" not in text and "kernel32" not in text.lower(), text)
    text = home.respike("register", home.folder / "showing.exe").stdout.decode()
    common.expect("middle.dll" in text and "counting.dll" in text and "late.dll" not in text, text)
    (home.folder / "counting.dll").unlink()
    warned = home.respike("register", home.folder / "user.exe").stderr.decode()
    common.expect("counting.dll, which it needs, is not found" in warned, warned)


def check_run(world):
    """The program runs with all versions, and sees the same as without."""
    home = optimized(world)
    path = home.folder / "showing.exe"
    for words in ((), (str(home.folder / "late.dll"),), ("absent",)):
        expect_same(home.run_original(path, *words), home.respike("run", "showing.exe", *words, status=None), f"run {words}")
    shown = home.respike("run", "showing.exe", status=3, env=ALL)
    common.expect(versions(shown) == {"showing": True, "middle": True, "counting": True, "late": False}, versions(shown))
    # LoadLibrary opens the version once the library is one of the application's.
    home.respike("register", home.folder / "user.exe")
    home.respike("optimize", "user.exe")
    for words in ((), ("a",), ("a", "b c")):
        expect_same(home.run_original(home.folder / "user.exe", *words), home.respike("run", "user.exe", *words, status=None), f"user {words}")
    common.expect(home.hashes() == home.contents, "an original changed")


def check_opened(world):
    """A library that is only opened by name also gets its version: one application of two programs."""
    home = Home(world)
    home.respike("register", home.folder / "showing.exe", home.folder / "user.exe", "--name", "suite")
    home.respike("optimize", "suite")
    run = lambda *words, **more: home.respike("run", "--program", home.folder / "showing.exe", "suite", *words, status=None, **more)
    for words in ((), ("LATE.dll",), (str(home.folder / "late.dll"),)):
        expect_same(home.run_original(home.folder / "showing.exe", *words), run(*words), f"opened {words}")
        expected = home.run_original(home.folder / "showing.exe", *words, env=ALL)
        actual = run(*words, env=ALL)
        common.expect(not any(versions(expected).values()), "the originals seem to be versions")
        common.expect(len(versions(actual)) == 4 and all(versions(actual).values()), f"{words}: {versions(actual)}")


def check_modes(world):
    """In mode original the originals run; a library that changed runs as the original, and all images that import from
    it find it."""
    home = optimized(world)
    home.respike("mode", "showing.exe", "original")
    common.expect(not any(versions(home.respike("run", "showing.exe", status=3, env=ALL)).values()), "versions in mode original")
    home.respike("mode", "showing.exe", "optimized")
    first = home.respike("run", "showing.exe", status=3, env=ALL)
    # Another build of counting.dll: only this library runs as the original.
    data = bytearray((home.folder / "counting.dll").read_bytes())
    data += b"more"
    (home.folder / "counting.dll").write_bytes(data)
    second = home.respike("run", "showing.exe", status=3, env=ALL)
    common.expect(b"counting.dll has changed" in second.stderr, second.stderr.decode())
    common.expect(versions(second) == {**versions(first), "counting": False}, versions(second))
    strip = lambda o: [line for line in lines(o) if " is a" not in line]
    common.expect(strip(first) == strip(second), "the program sees that a library changed")
    # A library that cannot be optimized, between two that can.
    home = Home(world)
    middle = home.folder / "middle.dll"
    objects = world.shared("middle", lambda: dlls.compile_programs(world.scratch.folder()))
    own = {**dlls.IMAGES["middle.dll"], "base_relocations": False}
    middle.write_bytes(link.link(objects["middle"], link.Options(entry="DllMain", dll_name="middle.dll", base=0x20100000 + 0x1000000, **own)))
    text = home.respike("register", home.folder / "showing.exe").stdout.decode()
    common.expect(re.search(r"middle.dll +left alone: .*FIXED:NO", text), text)
    home.respike("optimize", "showing.exe")
    shown = home.respike("run", "showing.exe", status=3, env=ALL)
    common.expect(versions(shown) == {"showing": True, "middle": False, "counting": True, "late": False}, versions(shown))
    expect_same(home.run_original(home.folder / "showing.exe"), home.respike("run", "showing.exe", status=None), "beside a library without relocations")


def check_exec(world):
    """Below exec, executing the original runs the version."""
    home = optimized(world)
    path = home.folder / "showing.exe"
    script = f"cd {home.folder.parent}; home/showing.exe a; echo $?; cd home; PATH=.:$PATH showing.exe; exec {path} 'b c'"
    probe = home.respike("exec", "showing.exe", "--", "true", status=None)
    if probe.status != 0:
        raise common.Skip(probe.stderr.decode().strip())
    shown = home.respike("exec", "showing.exe", "--", "sh", "-c", script, status=3, env=ALL)
    text = shown.stdout.decode()
    common.expect(text.count("counting is a version") == 3 and text.count("showing is a version") == 3 and "an original" not in text.replace("late is an original", ""), text)
    common.expect(text.count(f"program: {path}, ") == 3 and f"argv[0] home/showing.exe, 2" in text, text)
    common.expect(b"Respike" not in shown.stderr, shown.stderr.decode())
    # Reading the file gives the original.
    read = home.respike("exec", "showing.exe", "--", "sha256sum", path, home.folder / "counting.dll").stdout.decode().split()
    common.expect(read[0] == home.contents["showing.exe"] and read[2] == home.contents["counting.dll"], "exec shows a version to readers")
    # A library that changes meanwhile runs as the original from then on.
    script = f"{path}; echo more >> {home.folder}/counting.dll; {path}; true"
    shown = home.respike("exec", "showing.exe", "--", "sh", "-c", script, env=ALL)
    common.expect(re.findall("counting is an? (version|original)", shown.stdout.decode()) == ["version", "original"], shown.stdout.decode())


def check_long_stubs(world):
    """Headers may come after a long program for DOS."""
    home = Home(world, stub=0x1480)
    home.respike("register", home.folder / "showing.exe")
    home.respike("optimize", "showing.exe")
    shown = home.respike("run", "showing.exe", status=3, env=ALL)
    common.expect(versions(shown) == {"showing": True, "middle": True, "counting": True, "late": False}, versions(shown))
    expect_same(home.run_original(home.folder / "showing.exe"), home.respike("run", "showing.exe", status=None), "behind long stubs")


def check_import_tables(world):
    """The tables of versions name versions; slots stay where code finds them."""
    home = optimized(world)
    home.respike("run", "showing.exe", status=3)
    (folder,) = (home.work / "respike.db.files" / "windows").iterdir()
    table = [line.split("\t") for line in (folder / "table").read_text().splitlines()]
    found = {pathlib.Path(original).name: pathlib.Path(version) for original, _, _, version in table}
    common.expect(found.keys() == {"showing.exe", "middle.dll", "counting.dll"}, f"versions of {found}")
    for name, path in found.items():
        before, after = reading.ImageFile(home.folder / name), reading.ImageFile(path)
        wanted = {n.lower(): str(p) for n, p in found.items()}
        ours = [(wanted.get(library.lower(), library), names, slots) for library, names, slots in before.imports()]
        common.expect(ours == after.imports(), f"{name}: {ours} became {after.imports()}")
        names = [s[0] for s in after.sections]
        common.expect((names[-1] == ".idatrsp") == (name != "counting.dll"), names)
        place, size = after.directories[reading.IMPORTS]
        common.expect(name == "counting.dll" or size == 20 * (len(ours) + 1), "the block of descriptors has another size")
        data = bytearray(after.data)
        sum_there = int.from_bytes(data[after.checksum_at : after.checksum_at + 4], "little")
        data[after.checksum_at : after.checksum_at + 4] = bytes(4)
        common.expect(link.checksum(data) == sum_there, f"{name}: the checksum is wrong")
        common.expect(after.entry and after.memory_size % 0x2000 == 0, "the headers are wrong")
    # The same versions are used again, and are removed when they have been unused for long.
    home.respike("run", "showing.exe", status=3)
    common.expect(len(list(folder.parent.iterdir())) == 1, "versions were made twice")
    old = time.time() - 7300
    os.utime(folder / "table", (old, old))
    home.respike("prune")
    common.expect(not folder.exists(), "old versions stay")
    home.respike("run", "showing.exe", status=3)


def check_errors(world):
    """Impossible requests lead to one sentence."""
    home = Home(world)

    def expect_sentence(words, text, status=1):
        outcome = home.respike(*words, status=None)
        message = outcome.stderr.decode()
        common.expect(outcome.status == status and len(message.strip().splitlines()) == 1 and re.search(text, message), f"{words}: {outcome.status}: {message}")

    other = home.folder / "other.exe"
    data = bytearray((home.folder / "user.exe").read_bytes())
    data[0x84:0x86] = (0x14C).to_bytes(2, "little")
    other.write_bytes(data)
    expect_sentence(("register", other), "it is for x86")
    other.write_bytes(b"MZ" + bytes(100))
    expect_sentence(("register", other), "DOS or 16-bit Windows")
    expect_sentence(("run", "user.exe"), "no application", 125)
    home.respike("register", home.folder / "counting.dll")
    expect_sentence(("run", "counting.dll"), "library", 125)


def check_export(world):
    """Exported images run without Respike."""
    home = optimized(world)
    out = home.work / "out"
    home.respike("export", "showing.exe", out)
    exported = {p.name: p for p in out.rglob("*") if p.suffix in (".exe", ".dll")}
    common.expect({"showing.exe", "middle.dll", "counting.dll"} <= exported.keys(), f"{exported}")
    shown = home.run_original(exported["showing.exe"], env=ALL)
    common.expect(all(versions(shown)[n] for n in ("showing", "middle", "counting")), shown.stdout.decode() + shown.stderr.decode())


def cases(scratch):
    world = World(scratch)
    for name, check in (("register", check_register), ("run", check_run), ("opened", check_opened), ("modes", check_modes), ("exec", check_exec), ("long stubs", check_long_stubs),
                        ("import tables", check_import_tables), ("errors", check_errors), ("export", check_export)):
        yield common.Case(name, lambda c=check: c(world))


def main():
    args = common.argument_parser(__doc__).parse_args()
    if not (pathlib.Path(pe_test.NT).parent / "respike-nt-loader").exists():
        print("respike-nt has no loader: it was built without a compiler for Alpha")
        return 1
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

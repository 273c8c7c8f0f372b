#!/usr/bin/env python3
"""Segments and notes of outputs: tools that packages are made with find nothing to say, and data cannot be executed.

Programs and libraries of several linkers and options are rewritten, counted, rewritten again, and counted again. Each
output behaves like the original, also when stripped; objcopy --only-keep-debug, eu-strip and readelf -l print the same
as for the original, as a rule nothing; and no executable segment holds read-only tables, unless a segment of the
original does, or the input has no room for two more program headers (static programs of glibc, and their
position-independent kin the second time). Debug information that is split off as dh_strip does is found by gdb."""

import os
import platform
import re
import shutil
import struct
import subprocess
import sys

import common
from common import Skip, expect

SOURCE = """#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static int __attribute__((noinline)) half(int x) {
  if (x % 2 != 0) throw std::invalid_argument("odd");  // THROW
  return x / 2;
}
extern "C" int count(int many) {
  int sum = 0;
  for (int i = 0; i < many; ++i) {
    try { sum += half(i); } catch (const std::invalid_argument& e) { sum += static_cast<int>(sizeof *e.what()); }
  }
  return sum;
}
#ifdef MAIN
int main(int argc, char**) { std::printf("%d\\n", count(40 + argc)); return 5; }
#endif
"""
BARE = """int scale = 3;
int __attribute__((noinline)) half(int x) { return x % 2 ? x * scale : x / 2; }
int count(int many) { int sum = 0; for (int i = 0; i < many; ++i) sum += half(i); return sum; }
#ifdef MAIN
int main(int argc, char** argv) { return count(40 + argc) & 127; }
#endif
"""  # the read-only segment of the library holds unwind tables alone
CALLER = """#include <stdio.h>
int count(int many);
int main(int argc, char** argv) { printf("%d\\n", count(40 + argc)); return 5; }
"""
# name: (compiler, options, whether outputs keep tables out of executable segments: all of them, or the first round's)
PROGRAMS = {
    "pie": ("g++", [], True),
    "fixed": ("g++", ["-no-pie"], True),
    "static": ("g++", ["-static"], False),
    "static-pie": ("g++", ["-static-pie"], "once"),
    "together": ("g++", ["-Wl,-z,noseparate-code"], False),
    "gold": ("g++", ["-fuse-ld=gold"], False),
    "lld": ("clang++", ["-fuse-ld=lld"], True),
    "mold": ("clang++", ["-fuse-ld=mold"], True),
    "sysv hash": ("g++", ["-Wl,--hash-style=sysv"], True),
    "bare": ("gcc", ["-xc"], True),
    "relr": ("g++", ["-Wl,-z,pack-relative-relocs"], True),
}
READABLE, WRITABLE, EXECUTABLE = 4, 2, 1


def build(folder, name, library=False):
    """(image, program that runs: the image, or a program that loads it from its folder)."""
    if platform.machine() != "x86_64":
        raise Skip("programs of x86-64 run on such hosts only")
    compiler, options, _ = PROGRAMS[name]
    if shutil.which(compiler) is None:
        raise Skip(f"there is no {compiler}")
    linker = next((option.partition("=")[2] for option in options if option.startswith("-fuse-ld=")), "bfd")
    if not any(shutil.which(prefix + linker) for prefix in ("ld.", "")):
        raise Skip(f"there is no {linker}")
    (folder / "source.cc").write_text(BARE if name == "bare" else SOURCE)
    (folder / "caller.c").write_text(CALLER)
    flags = [compiler, "-O2", "-g", "-w", "-Wl,-q", "-Wl,--build-id", *options, "source.cc"]
    if not library:
        subprocess.run([*flags, "-DMAIN", "-o", "image"], cwd=folder, check=True)
        return folder / "image"
    subprocess.run([*flags, "-shared", "-fPIC", "-o", "libimage.so"], cwd=folder, check=True)
    subprocess.run(["gcc", "caller.c", "./libimage.so", "-o", "caller"], cwd=folder, check=True)
    return folder / "libimage.so"


def run(image):
    """Runs a program, or the caller of a library with the library."""
    folder = image.parent
    if not image.name.endswith(".so"):
        return common.run_command([image]).behaviour()
    with common.Scratch() as own:
        place = own.folder()
        shutil.copy2(image, place / "libimage.so")
        shutil.copy2(folder / "caller", place)
        return common.run_command(["./caller"], cwd=place).behaviour()


def number(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


def tables_in_code(image):
    """Names of the sections without code that lie in executable segments."""
    data = image.read_bytes()
    headers, count = number(data, 0x20, 8), number(data, 0x38, 2)
    executable = []
    for at in range(headers, headers + 56 * count, 56):
        kind, flags, _, address, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", data, at)
        if kind == 1 and flags & EXECUTABLE:
            executable.append((address, address + size))
    start, sections, names = number(data, 0x28, 8), number(data, 0x3C, 2), number(data, 0x3E, 2)
    names_at = number(data, start + 64 * names + 24, 8)
    found = []
    for at in range(start, start + 64 * sections, 64):
        name, kind, flags, address, _, size = struct.unpack_from("<IIQQQQ", data, at)
        allocated, code, template = flags & 2, flags & 4, flags & 0x400 and kind == 8
        if allocated and not code and not template and any(a < address + size and address < b for a, b in executable):
            found.append(data[names_at + name : data.index(b"\0", names_at + name)].decode())
    return found


_said = common.Shared()


def complaints(image):
    """The output of tools about an image, without its name; they are asked once."""
    return _said(image, lambda: _ask_tools(image))


def _ask_tools(image):
    said = {}
    with common.Scratch() as own:
        folder = own.folder()
        for command in (
            ["objcopy", "--only-keep-debug", image, folder / "image.debug"],
            ["strip", "--strip-unneeded", "-o", folder / "stripped", image],
            ["llvm-objcopy", "--only-keep-debug", image, folder / "image.debug"],
            ["eu-strip", "-o", folder / "stripped", "-f", folder / "image.debug", image],
            ["readelf", "-lW", image],
        ):
            if shutil.which(command[0]) is None:
                continue
            done = common.run_command(command)
            text = done.stderr.decode(errors="replace")
            said[command[0]] = done.status, re.sub(r"value \d+", "value N", re.sub(r"\S*(image|stripped)\S*", "FILE", text))
    return said


def expect_good(image, output, expected, separate, what):
    expect(run(output) == expected, f"{what}: it behaves otherwise: {run(output)}")
    for tool in filter(shutil.which, ("strip", "llvm-strip")):
        stripped = output.parent / "stripped" / output.name
        stripped.parent.mkdir(exist_ok=True)
        if output.name.endswith(".so"):
            shutil.copy2(output.parent / "caller", stripped.parent)
        if common.run_command([tool, "--strip-unneeded", image, "-o", stripped]).status != 0:
            continue  # llvm-strip 14 refuses static programs whose relocations were kept
        subprocess.run([tool, "--strip-unneeded", output, "-o", stripped], check=True)
        expect(run(stripped) == expected, f"{what}, {tool}: it behaves otherwise: {run(stripped)}")
        names = [common.run_command(["nm", "-D", file]).stdout.decode() for file in (output, stripped)]
        expect(names[0] == names[1], f"{what}, {tool}: dynamic symbols were {names[0]}, are {names[1]}")
    before, after = complaints(image), complaints(output)
    expect(before == after, f"{what}: tools say {after}, of the original {before}")
    tables = tables_in_code(output)
    expect(not (separate and tables), f"{what}: executable segments hold {tables}")
    common.respike_ok("image", "verify", image, output)


def rewritings(image):
    """Yields (name, input, output): rewritten, counted, and each again."""
    counting = lambda source, output: common.respike_ok("image", "instrument", source, "-o", output, "--spool", output.parent / "spool")
    random = lambda source, output: common.optimize(source, output, "--layout", "random", "--seed", "3")
    usual = lambda source, output: common.optimize(source, output)
    steps = {
        "by estimates": (None, usual),
        "random": (None, random),
        "counted": (None, counting),
        "again": ("random", random),
        "again, counted": ("random", counting),
        "a third time": ("again", usual),
    }
    outputs = {None: image}
    for name, (source, step) in steps.items():
        folder = image.parent / name.replace(", ", " ").replace(" ", "-")
        folder.mkdir()
        outputs[name] = folder / image.name
        if (image.parent / "caller").exists():
            shutil.copy2(image.parent / "caller", folder)
        step(outputs[source], outputs[name])
        yield name, outputs[source], outputs[name]


def check_program(name, library, scratch):
    image = build(scratch.folder(), name, library)
    expected = run(image)
    separate = PROGRAMS[name][2]
    expect(not (separate and tables_in_code(image)), f"the original has {tables_in_code(image)} in executable segments")
    for what, source, output in rewritings(image):
        expect_good(source, output, expected, separate is True or (separate and source == image), what)


def check_size(scratch):
    """The segment of tables costs a page of the file at most; another round costs no more than the first one."""
    image = build(scratch.folder(), "pie")
    sizes = [image.stat().st_size]
    for seed in range(1, 4):
        output = image.with_name(f"output{seed}")
        common.optimize(image, output, "--layout", "original", "--seed", str(seed))
        image = output
        sizes.append(image.stat().st_size)
    grown = [after - before for before, after in zip(sizes, sizes[1:])]
    expect(max(grown[1:]) <= max(grown[0], 4 << 12), f"sizes {sizes}")


def check_split(name, library, scratch):
    """As dh_strip does: the debug information goes to the folder of debug files, by build-id; gdb finds it there."""
    if shutil.which("gdb") is None:
        raise Skip("there is no gdb")
    folder = scratch.folder()
    image = build(folder, name, library)
    output = folder / "output" / image.name
    output.parent.mkdir()
    common.optimize(image, output, "--layout", "random", "--seed", "2")
    identity = re.search(r"Build ID: ([0-9a-f]+)", common.run_command(["readelf", "-n", output]).stdout.decode())[1]
    debug = folder / "debug" / ".build-id" / identity[:2] / f"{identity[2:]}.debug"
    debug.parent.mkdir(parents=True)
    # The commands of debhelper 13, which passes on their output.
    option = "--strip-unneeded" if library else "--strip-all"
    for command in (
        ["objcopy", "--only-keep-debug", "--compress-debug-sections", output, debug],
        ["chmod", "0644", debug],
        ["strip", "--remove-section=.comment", "--remove-section=.note", option, output],
        ["objcopy", f"--add-gnu-debuglink={debug}", output],
    ):
        done = common.run_command(command)
        expect(done.status == 0 and not done.stderr, f"{command[0]} says {done.stderr.decode()}")
    expect(run(output) == run(image) if not library else True, "it behaves otherwise")
    program = output
    if library:
        shutil.copy2(folder / "caller", output.parent)
        program = output.parent / "caller"
    line = 1 + next(at for at, text in enumerate(SOURCE.splitlines()) if "THROW" in text)
    said = common.run_command(
        ["gdb", "-nx", "-batch", "-iex", f"set debug-file-directory {folder / 'debug'}", "-ex", "set breakpoint pending on", "-ex", "set debuginfod enabled off",
         "-ex", f"break source.cc:{line}", "-ex", "run", "-ex", "bt", program],
        cwd=output.parent,
    )  # fmt: skip
    text = said.stdout.decode(errors="replace")
    expect(re.search(r"#1 .* count \(many=.*\) at source.cc:\d+", text), f"gdb says {text[-500:]} {said.stderr.decode()[-300:]}")


ALONE = """int data = 3; int *pointer = &data;
int __attribute__((noinline)) g(int x) { return x * 3 + *pointer; }
int __attribute__((noinline)) f(int x) { return x > 2 ? g(x) * 2 : g(x + 1) - 1; }
void _start(void) { int r = f(data); __asm__ volatile("syscall" :: "a"(60), "D"(r)); }
"""


def check_wide_note(scratch):
    """A damaged program header of notes, which reach up to the code: no block of that size moves."""
    if platform.machine() != "x86_64":
        raise Skip("programs of x86-64 run on such hosts only")
    folder = scratch.folder()
    (folder / "alone.c").write_text(ALONE)
    flags = "-O1 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,-q,-Ttext=0x10000000,--build-id".split()
    subprocess.run(["gcc", *flags, "alone.c", "-o", "image"], cwd=folder, check=True)
    data = bytearray((folder / "image").read_bytes())
    for at in range(number(data, 0x20, 8), number(data, 0x20, 8) + 56 * number(data, 0x38, 2), 56):
        if number(data, at, 4) == 4:
            struct.pack_into("<Q", data, at + 40, 0x10000000 - 8 - number(data, at + 16, 8))
    (folder / "image").write_bytes(data)
    common.optimize(folder / "image", folder / "output", "--layout", "random", "--seed", "1")
    expect(run(folder / "output") == run(folder / "image"), "it behaves otherwise")


def cases(scratch):
    for name in PROGRAMS:
        yield common.Case(f"program {name}", lambda n=name: check_program(n, False, scratch))
        if "static" not in name and name != "fixed":
            yield common.Case(f"library {name}", lambda n=name: check_program(n, True, scratch))
    yield common.Case("wide note", lambda: check_wide_note(scratch))
    yield common.Case("sizes", lambda: check_size(scratch))
    for name in ("pie", "lld", "static"):
        yield common.Case(f"split program {name}", lambda n=name: check_split(n, False, scratch))
    yield common.Case("split library pie", lambda: check_split("pie", True, scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

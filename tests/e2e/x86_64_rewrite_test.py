#!/usr/bin/env python3
"""Rewritten x86-64 programs behave like the originals.

Programs are compiled by the host's gcc, rewritten with --layout original, random, scatter and by estimates, and run on
the host: output and exit status must be the same as for the original. Some outputs are rewritten again, stripped, or
change places with a library. Hosts of other machines skip the test.

RESPIKE_X86_64_REWRITE_SEEDS: number of random layouts (default 3; large programs get one)."""

import functools
import json
import os
import pathlib
import platform
import re
import shutil
import struct
import sys

import common
from common import Skip, expect

SEEDS = int(os.environ.get("RESPIKE_X86_64_REWRITE_SEEDS", "3"))
SOURCES = pathlib.Path(__file__).resolve().parent.parent / "programs"
REAL = pathlib.Path(os.environ.get("RESPIKE_PROGRAMS", "")) / "sources"
FLAGS = ["-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"]
LIBRARIES = ["-lm", "-ldl", "-pthread"]
SYMBOL_TABLE, RELOCATIONS, ALLOCATED = 2, 4, 2  # of ELF
KINDS = {
    "pie": ["-O2"],
    "plain": ["-O0", "-fcf-protection"],
    "fixed": ["-O3", "-no-pie"],
    "sections": ["-O2", "-ffunction-sections", "-Wl,--gc-sections", "-fno-plt"],
}
scratch = common.Scratch()


def Case(name, function, *arguments):
    return common.Case(name, functools.partial(function, *arguments))


def compile_image(output, sources, *flags, link=("-Wl,-q",)):
    sources = [sources] if isinstance(sources, pathlib.Path) else sources
    compiler = "g++" if any(source.suffix == ".cc" for source in sources) else "gcc"
    if shutil.which(compiler) is None:
        raise Skip(f"there is no {compiler}")
    standard = ["-std=c++20"] if compiler == "g++" else []
    command = [compiler, *FLAGS, *standard, *link, "-o", output, *sources, *flags, *LIBRARIES]
    done = common.run_command(command, timeout=common.TOOL_TIMEOUT)
    expect(done.status == 0, f"{output.name}: {done.stderr.decode()[:500]}")
    return output


def run(image, *arguments, stdin=None, env=None):
    """Programs may print their name, so all have the same."""
    with common.Scratch() as own:
        folder = own.folder()
        (folder / "program").symlink_to(image)
        return common.run_command(["./program", *arguments], stdin=stdin, cwd=folder, env=env)


def expect_same(image, expected, what, *arguments, **options):
    actual = run(image, *arguments, **options)
    expect(actual.behaviour() == expected.behaviour(), f"{what}: {common.describe_difference(expected, actual)}")


def layouts(seeds):
    yield ("--layout", "original")
    yield from (("--layout", "random", "--seed", str(seed)) for seed in range(1, seeds + 1))
    yield ("--layout", "scatter", "--seed", "1")
    yield ("--layout", "ext-tsp")


def check(image, seeds, *arguments, **options):
    expected = run(image, *arguments, **options)
    for number, layout in list(enumerate(layouts(seeds)))[common.is_sampled() :]:  # a sample goes without the original order
        output = image.with_name(f"{image.name}.{number}")
        common.optimize(image, output, *layout)
        expect_same(output, expected, " ".join(layout), *arguments, **options)
        output.unlink()


# --- Programs -------------------------------------------------------------------------------------------------------


def own(source, kind):
    check(compile_image(scratch.folder() / source.stem, source, *KINDS[kind]), SEEDS)


def real(name, kind):
    inputs, defined = SOURCES / "inputs", ()
    if not REAL.is_dir():
        raise Skip("the sources of real programs are not there")
    if name == "sqlite3":
        sources = [REAL / "sqlite3-amalgamation" / file for file in ("sqlite3.c", "shell.c")]
        arguments, stdin = (":memory:",), inputs / "file.sql"
        defined = ("-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE")
    elif name == "lua":
        sources = sorted(file for file in (REAL / "lua5.4" / "src").glob("*.c") if file.name != "luac.c")
        arguments, stdin = (inputs / "workload.lua",), None
    else:
        names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib", "bzip2")
        sources = [REAL / "bzip2" / f"{file}.c" for file in names]
        arguments, stdin = ("-c",), inputs / "heavy.sql"
    check(compile_image(scratch.file(name), sources, *KINDS[kind], *defined), 1, *arguments, stdin=stdin)


def second_round():
    """The output of one layout is the input of another, and nothing becomes opaque on the way."""
    first = compile_image(scratch.folder() / "exceptions", SOURCES / "cxx" / "exceptions.cc", "-O2")
    expected, image = run(first), first
    for number, layout in enumerate(layouts(SEEDS)):
        output = first.with_name(f"round.{number}")
        common.optimize(image, output, *layout)
        expect_same(output, expected, f"after round {number}")
        image = output
    expect(opaque(image) == opaque(first), f"opaque: {opaque(first)} before, {opaque(image)} after")


def opaque(image):
    text = common.respike_ok("image", "info", image).stdout.decode()
    return re.findall(r"^ *opaque.*$", text, re.M)


def stripped():
    image = compile_image(scratch.folder() / "exceptions", SOURCES / "cxx" / "exceptions.cc", "-O2")
    output = image.with_name("output")
    common.optimize(image, output, "--layout", "random", "--seed", "1")
    expected = run(image)
    for strip in ("strip", "llvm-strip-14"):
        if shutil.which(strip) is None:
            continue
        result = output.with_name(f"after-{strip}")
        common.run_command([strip, output, "-o", result], timeout=common.TOOL_TIMEOUT)
        expect_same(result, expected, f"after {strip}")


RETURNS_BY_REGISTER = """
    .globl call_or_leave
    .type call_or_leave, @function
call_or_leave:                  # void call_or_leave(int leave, void (*f)(int), int k)
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbx, -16
    testl %edi, %edi
    je 1f
    .cfi_remember_state
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    popq %rdx
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rdx
    jmpq *%rdx
1:  .cfi_restore_state
    movl %edx, %edi
    call *%rsi
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size call_or_leave, .-call_or_leave
    .section .note.GNU-stack, "", @progbits
"""
THROWS = """
#include <cstdio>
extern "C" void call_or_leave(int, void (*)(int), int);
static void fail(int k) { throw k; }
int main() {
  for (int i = 0; i < 4; ++i) try {
      call_or_leave(i % 2, fail, i);
      std::printf("%d returned\\n", i);
    } catch (int k) {
      std::printf("%d caught\\n", k);
    }
}
"""


def return_address_in_register():
    """libgcc's unwinder does not go back to the CIE's rule of the return address."""
    folder = scratch.folder()
    (folder / "leave.S").write_text(RETURNS_BY_REGISTER)
    (folder / "main.cc").write_text(THROWS)
    image = compile_image(folder / "leave", [folder / "leave.S", folder / "main.cc"], "-O2")
    check(image, 30)


RARE = {  # how the C files are built; a first word that is not a flag is the compiler
    "patched_calls": [["-pg", "-mfentry", "-mrecord-mcount", "-no-pie", "-fno-pie"]],
    "split_stack": [["-fsplit-stack"]],
    "checked_calls": [["clang", "-flto", "-fvisibility=hidden", "-fsanitize=cfi-icall", "-fuse-ld=lld"]],
    "absolute_alias": [["-no-pie", "-fno-pie", "-Wl,--defsym=alias=ABSOLUTE(target)"]],
    "distances_from_words": [[], ["-no-pie"]],
    "kinds_of_distances": [[], ["-no-pie"]],
    "trapping_goto": [[], ["-no-pie", "-fno-pie"]],
    "copied": [[], ["-DBY_ARRAY"], ["-DBY_ARRAY", "-no-pie", "-fno-pie"]],
}


def rare(source, flags):
    """Hand-written code that misleads decoders; also instrumented, since probes also move code.

    `rewritten: NAME` in a source names a procedure that must not be left alone."""
    folder = scratch.folder()
    image = folder / source.stem
    if flags and flags[0] == "clang":
        if shutil.which("clang") is None or shutil.which("ld.lld") is None:
            raise Skip("there is no clang with lld")
        done = common.run_command([*flags, *FLAGS, "-O2", "-Wl,-q", "-o", image, source, source.with_name("main.c")])
        expect(done.status == 0, done.stderr.decode()[:500])
    else:
        compile_image(image, [source, source.with_name("main.c")], "-O2", *flags)
    check(image, 2 * SEEDS)
    opaque = {entry["name"]: entry["reason"] for entry in json.loads(common.respike_ok("image", "info", image, "--json").stdout)["opaque"]}
    for name in re.findall(r"^ *rewritten: (\w+)", source.read_text(), re.M):
        expect(name not in opaque, f"{name} should be rewritten, but: {opaque.get(name)}")
    expected = run(image)
    counting = folder / "counting"
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", folder / "spool")
    expect_same(counting, expected, "instrumented")


def relocations():
    """In outputs as well, symbol and addend of each kept relocation make the contents of the word or field."""
    image = compile_image(scratch.folder() / "switches", SOURCES / "c" / "switches.c", "-O2")
    expect(not wrong_relocations(image), f"the input has {wrong_relocations(image)[:3]}")
    for number, layout in enumerate(layouts(SEEDS)):
        output = image.with_name(f"output.{number}")
        common.optimize(image, output, *layout)
        wrong = wrong_relocations(output)
        expect(not wrong, f"{' '.join(layout)}: {len(wrong)} relocations, {wrong[:3]}")


def wrong_relocations(image):
    """Addresses of relocations of the types 64, PC32, PLT32, 32 and 32S against defined symbols."""
    data = image.read_bytes()
    start, count = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * i) for i in range(count)]
    symbols = next(section for section in sections if section[1] == SYMBOL_TABLE)
    wrong = []
    for table in sections:
        if table[1] != RELOCATIONS or table[2] & ALLOCATED:
            continue
        target = sections[table[7]]
        for at in range(table[4], table[4] + table[5], 24):
            address, info, addend = struct.unpack_from("<QQq", data, at)
            symbol = struct.unpack_from("<IBBHQQ", data, symbols[4] + 24 * (info >> 32))
            kind = info & 0xFFFFFFFF
            if kind not in (1, 2, 4, 10, 11) or (symbol[3] == 0 and info >> 32) or not target[2] & ALLOCATED:
                continue
            held = struct.unpack_from("<q" if kind == 1 else "<i", data, target[4] + address - target[3])[0]
            if held != symbol[4] + addend - (address if kind in (2, 4) else 0) and (kind != 1 or held):
                wrong.append(hex(address))
    return wrong


def library():
    """A library is rewritten, the program that is linked with it is not."""
    folder = scratch.folder()
    (folder / "linked.cc").write_text(LIBRARY)
    (folder / "main.cc").write_text(PROGRAM)
    original = compile_image(folder / "liblinked.so", folder / "linked.cc", "-O2", "-shared", "-fPIC")
    program = compile_image(folder / "main", folder / "main.cc", "-O2", f"-L{folder}", "-llinked")
    expected = run(program, env={"LD_LIBRARY_PATH": str(folder)})
    expect(expected.status == 0, f"the original fails: {expected}")
    for number, layout in enumerate(layouts(SEEDS)):
        place = folder / str(number)
        place.mkdir()
        common.optimize(original, place / "liblinked.so", *layout)
        expect_same(program, expected, " ".join(layout), env={"LD_LIBRARY_PATH": str(place)})


LIBRARY = """
#include <stdexcept>
#include <string>
static int calls;
__attribute__((visibility("default"))) int twice(int x) { ++calls; if (x > 3) throw std::out_of_range(std::to_string(x)); return 2 * x; }
int (*table[])(int) = {twice, twice};
int choose(int k, int x) {
  switch (k) { case 0: return x; case 1: return table[0](x); case 2: return x * x; case 3: return calls; case 4: return -x; case 5: return x << 4; default: return 0; }
}
"""

PROGRAM = """
#include <cstdio>
#include <exception>
int twice(int);
int choose(int, int);
int main() {
  for (int i = 0; i < 8; ++i)
    try { std::printf("%d %d\\n", choose(i, i), twice(i)); } catch (const std::exception& e) { std::printf("caught %s\\n", e.what()); }
}
"""


SIGNAL_RETURN = """
        .text
        .globl restore
        .type restore,@function
restore: mov $15,%rax
        syscall
        .size restore,.-restore
        .globl f
        .type f,@function
f:      push %rbx
        mov %edi,%ebx
        call g@PLT
        add %ebx,%eax
        pop %rbx
        ret
        .size f,.-f
        .section .note.GNU-stack,"",@progbits
"""


def signal_return_first():
    """In front of the signal return code there is nothing but the procedure linkage table."""
    folder = scratch.folder()
    (folder / "first.S").write_text(SIGNAL_RETURN)
    image = compile_image(folder / "first", folder / "first.S", "-shared", "-nostdlib", "-nostartfiles")
    for layout in ("random", "original"):
        common.respike_ok("image", "optimize", image, "--layout", layout, "-o", folder / "output")


WITHOUT_LIBRARY = """
static int x = 1;
__attribute__((noinline)) static int step(int n) {
  if (n & 1) x += n;
  else x ^= n;
  return x;
}
void _start(void) {
  int sum = 0;
  for (int i = 0; i < 20; i++) sum += step(i);
  __asm__ volatile("syscall" ::"a"(60), "D"(sum & 127));
}
"""


def code_behind_headers():
    """lld puts code into the file directly after the note that follows the program headers."""
    if shutil.which("ld.lld") is None:
        raise Skip("there is no ld.lld")
    folder = scratch.folder()
    (folder / "start.c").write_text(WITHOUT_LIBRARY)
    image, counting = folder / "start", folder / "counting"
    flags = ["-O2", "-nostdlib", "-static", "-fno-pie", "-fno-asynchronous-unwind-tables", "-fuse-ld=lld"]
    done = common.run_command(["gcc", *flags, "-Wl,-q,--build-id", folder / "start.c", "-o", image])
    expect(done.status == 0, done.stderr.decode()[:500])
    expected = run(image)
    check(image, SEEDS)
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", folder / "spool")
    expect_same(counting, expected, "instrumented")


def refused():
    """Code that cannot be rewritten is left alone, with one sentence."""
    image = compile_image(scratch.folder() / "plain", SOURCES / "c" / "switches.c", "-O2", link=())
    outcome = common.respike("image", "optimize", image, "-o", image.with_name("output"))
    message = outcome.stderr.decode()
    expect(outcome.status == 1 and "relocations" in message, f"status {outcome.status}: {message}")
    expect(not image.with_name("output").exists(), "an output was written")


def main():
    args = common.argument_parser(__doc__).parse_args()
    if platform.machine() != "x86_64":
        print(f"skipped: this host is {platform.machine()}, not x86_64")
        return 0
    cases = []
    programs = sorted((SOURCES / "c").glob("*.c")) + sorted((SOURCES / "cxx").glob("*.cc"))
    for number, source in enumerate(programs):
        if source.stem == "registers":  # in Alpha's assembler
            continue
        kinds = list(KINDS) if SEEDS > 3 else ["pie", list(KINDS)[1 + number % 3]]
        cases += [Case(f"{source.stem}.{kind}", own, source, kind) for kind in kinds]
    for name in ("bzip2", "lua", "sqlite3"):
        kinds = ("pie", "fixed") if SEEDS > 3 or name != "sqlite3" else ("pie",)
        cases += [Case(f"{name}.{kind}", real, name, kind) for kind in kinds]
    for source in sorted((SOURCES / "rare" / "x86_64").glob("*.[cS]")):
        builds = RARE.get(source.stem, [[]]) if source.stem != "main" else []
        for flags in builds:
            name = ".".join([f"rare.{source.stem}", *(flag.strip("-") for flag in flags if len(builds) > 1)])
            cases.append(Case(name, rare, source, flags))
    cases += [Case(check.__name__, check) for check in (second_round, stripped, return_address_in_register, signal_return_first, code_behind_headers, relocations, library, refused)]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Programs written after public bug reports about rewriters, profilers and linkers behave the same when rewritten.

They have in common that no rule of the ELF format is enough: data appended to the image, code that is found by its
section, by its alignment or by a branch out of data, tables that other readers understand differently. Each is
rewritten in the original, random, scattered and default order, by the profile of its own run, and again from an output;
outputs are stripped, and counted; `image verify` has to agree. A sample of the cases has fewer random orders. The
sources are tests/programs/bug_reports."""

import functools
import json
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import common
import profiles
from common import Skip, expect

SOURCES = common.ROOT / "tests" / "programs" / "bug_reports"
SEEDS = (1,) if common.is_sampled() else (1, 2, 3)
LAYOUTS = (
    *([] if common.is_sampled() else [["--layout", "original"]]),
    *(["--layout", "random", "--seed", str(seed)] for seed in SEEDS),
    ["--layout", "scatter", "--seed", "1"],
    [],
)
PAYLOAD = b"PAYLOAD begins here" + bytes(range(256)) * 3 + b"THE ENDS"


def run(image, *prefix):
    """Programs may print their name, so all have the same."""
    with common.Scratch() as own:
        folder = own.folder()
        shutil.copy2(image, folder / "program")
        return common.run_command([*prefix, "./program"], cwd=folder)


def compile_image(folder, compiler, names, *flags):
    """The program of tests/programs/bug_reports of the files `names`, linked with relocations."""
    if shutil.which(compiler) is None:
        raise Skip(f"there is no {compiler}")
    image = folder / "image"
    done = common.run_command([compiler, "-O2", "-w", "-Wl,-q", *(SOURCES / name for name in names), *flags, "-o", image])
    expect(done.status == 0, f"it does not compile: {done.stderr.decode(errors='replace')[-500:]}")
    return image


def check(image, *prefix, look=None, counts=True, strips=True):
    """All ways to rewrite an image; `look(output)` is called for each output that code moved in."""
    folder = image.parent
    expected = run(image, *prefix)
    expect(expected.status == 0, f"the program itself: {common.describe_difference(expected, expected)}")

    def expect_same(output, what):
        actual = run(output, *prefix)
        expect(actual.behaviour() == expected.behaviour(), f"{what}: {common.describe_difference(expected, actual)}")

    def check_output(options, what):
        output = folder / "output"
        common.optimize(image, output, *options)
        expect_same(output, what)
        common.respike_ok("image", "verify", image, output)
        if look is not None:
            look(output)
        return output

    for options in LAYOUTS:
        what = " ".join(options) or "default"
        output = check_output(options, what)
        again = folder / "again"
        common.optimize(output, again, "--layout", "random", "--seed", "7")
        expect_same(again, f"{what}, rewritten again")
        common.respike_ok("image", "verify", output, again)
        if strips:
            tool = "alpha-linux-gnu-strip" if prefix else "strip"
            done = common.run_command([tool, "-o", folder / "stripped", output])
            expect(done.status == 0 and not done.stderr, f"{what}, stripped: {done}")
            expect_same(folder / "stripped", f"{what}, stripped")
    if counts:
        profile = profiles.count_image(image, folder, lambda counting: expect_same(counting, "counted"))
        check_output(["--profile", profile], "by its own profile")


def symbols(image):
    """{name: (address, size)} of the symbol table, as nm reads it."""
    found = {}
    for line in common.run_command(["nm", "-S", image]).stdout.decode().splitlines():
        words = line.split()
        if len(words) >= 3:
            found[words[-1]] = (int(words[0], 16), int(words[1], 16) if len(words) == 4 else 0)
    return found


def file_offset(data, address):
    """Where in an ELF file of 64 bits the byte at `address` is."""
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(headers, headers + size * count, size):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", data, at)
        if kind == 1 and start <= address < start + length:  # PT_LOAD
            return offset + address - start
    raise AssertionError(f"nothing is at {address:#x}")


# --- A: data appended to the image ----------------------------------------------------------------


def appended(machine, place, scratch):
    """At each place within a page; the program itself finds the data by its own headers."""
    compiler, prefix = ("gcc", ()) if machine == "x86_64" else ("alpha-linux-gnu-gcc", common.QEMU)
    if machine == "alpha" and place != 0:
        raise Skip("one place is enough")
    image = compile_image(scratch.folder(), compiler, ["appended.c"])
    data = image.read_bytes()
    image.write_bytes(data + PAYLOAD)

    def look(output):
        expect(output.read_bytes().endswith(PAYLOAD), "the data is not at the end of the output")

    if machine == "alpha":  # the emulator's file is another
        for options in LAYOUTS:
            output = image.with_name("output")
            common.optimize(image, output, *options)
            look(output)
        common.respike_ok("image", "instrument", image, "-o", output, "--spool", image.with_name("spool"))
        return look(output)
    check(image, *prefix, look=look, strips=False)  # strip drops such data itself
    counting = image.with_name("counting")
    look(counting)
    cut = image.with_name("cut")
    output = image.with_name("output")
    cut.write_bytes(output.read_bytes()[: -len(PAYLOAD)])
    verdict = common.respike("image", "verify", image, cut)
    expect(verdict.status == 1 and b"behind" in verdict.stderr + verdict.stdout, f"verify says nothing: {verdict}")


def archive(scratch):
    """A zip archive appended to a program: Python's zipfile finds it by its end."""
    image = compile_image(scratch.folder(), "gcc", ["tagged.c"])
    with zipfile.ZipFile(image, "a") as file:
        file.writestr("inside.txt", "what is inside\n" * 100)

    def look(output):
        with zipfile.ZipFile(output) as file:
            expect(file.read("inside.txt") == b"what is inside\n" * 100, "the archive holds something else")

    check(image, look=look, strips=False)


# --- B, D: code that is found by its section or its alignment --------------------------------------


def between(scratch):
    """Data that no header describes and that does not come after all headers is left out with a warning."""
    image = compile_image(scratch.folder(), "gcc", ["tagged.c"])
    data = bytearray(image.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 40)
    struct.pack_into("<Q", data, 40, headers + 64)
    image.write_bytes(bytes(data[:headers]) + b"hidden" * 10 + bytes(4) + bytes(data[headers:]))
    warning = common.optimize(image, image.with_name("output"), "--layout", "random").stderr.decode()
    expect("which no header describes, is left out" in warning, f"no warning: {warning}")


def sections(name, flags, scratch):
    image = compile_image(scratch.folder(), "gcc", [f"{name}.c"], "-fno-toplevel-reorder", *flags)
    special = {"freed_section": "once", "mapped_text": "map_again"}[name]

    def look(output):
        start, size = symbols(image)[special]
        expect(symbols(output)[special] == (start, size), f"{special} moved")
        others = [n for n, (at, _) in symbols(output).items() if start <= at < start + size and n not in (special, "once_start")]
        expect(not others, f"{others} are in the section of {special}")

    check(image, look=look)


def tagged(compiler, flags, prefix, scratch):
    check(compile_image(scratch.folder(), compiler, ["tagged.c"], *flags), *prefix, counts=not prefix)


# --- C, H: exception tables ------------------------------------------------------------------------


def cleanups(scratch):
    libraries = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/lib/linux/libclang_rt.builtins-x86_64.a"))
    if not libraries:
        raise Skip("compiler-rt's builtins are not here")
    check(compile_image(scratch.folder(), "clang", ["cleanups.c"], "-fexceptions", libraries[0]))


def stub(scratch):
    """A routine that reads no LPStart, and that the frame description names by a stub of the procedure linkage table."""
    folder = scratch.folder()
    assembler = folder / "thrown.s"
    done = common.run_command(["g++", "-O2", "-fno-pic", "-fno-pie", "-S", SOURCES / "thrown.cc", "-o", assembler])
    expect(done.status == 0, f"{done}")
    assembler.write_text(assembler.read_text().replace("__gxx_personality_v0", "_d_eh_personality"))
    (folder / "routine.cc").write_text("""#include <cstdio>
#include <cstdlib>
#include <unwind.h>
extern "C" _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context*);
extern "C" _Unwind_Reason_Code _d_eh_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind, _Unwind_Exception* e, _Unwind_Context* c) {
  if (*static_cast<unsigned char*>(_Unwind_GetLanguageSpecificData(c)) != 0xff) std::abort();
  return __gxx_personality_v0(version, actions, kind, e, c);
}
""")
    library, image = folder / "libroutine.so", folder / "image"
    for command in (["-fPIC", "-shared", folder / "routine.cc", "-o", library],
                    ["-no-pie", "-Wl,-q", assembler, library, f"-Wl,-rpath,{folder}", "-o", image]):
        done = common.run_command(["g++", "-O2", *command])
        expect(done.status == 0, f"{done}")
    check(image)
    report = common.respike_ok("image", "info", image).stdout.decode()
    expect("_d_eh_personality" in report, f"nothing is said of the routine: {report}")


def block_sections(flags, scratch):
    check(compile_image(scratch.folder(), "clang++", ["thrown.cc"], *flags))


def unknown_rule(scratch):
    """The description of `odd` is the same in all outputs, and of nothing else the image is refused."""
    image = compile_image(scratch.folder(), "gcc", ["unknown_rule.c", "unknown_rule.S"])

    def description(file):
        at, size = symbols(file)["odd"]
        text = common.run_command(["readelf", "--debug-dump=frames", file]).stdout.decode(errors="replace")
        found = re.search(rf"pc={at:016x}\.\.{at + size:016x}\n((?:  .*\n)*)", text)
        expect(found, f"{file.name}: nothing is said of the code at {at:#x}")
        return at, found[1]

    expected = description(image)
    check(image, look=lambda output: expect(description(output) == expected, "the description of odd changed"))
    report = common.respike_ok("image", "info", image).stdout.decode()
    expect("odd: its unwind information is not understood" in report, report)


def remembered_states(scratch):
    """Valgrind 3.19 drops the table of a procedure that remembers more than four states at once."""
    image = next(p for p in common.load_programs() if p.name == "lua.pie").image
    deepest = 0
    for seed in SEEDS:
        output = scratch.folder() / "output"
        common.optimize(image, output, "--layout", "random", "--seed", seed)
        depth = 0
        for line in common.run_command(["readelf", "--debug-dump=frames", output]).stdout.decode().splitlines():
            depth = 0 if "pc=" in line else depth + line.count("DW_CFA_remember_state") - line.count("DW_CFA_restore_state")
            deepest = max(deepest, depth)
    expect(0 < deepest <= 4, f"{deepest} states are remembered at once")


# --- E, F, G, I: branches out of data, packed relocations, tables about code, the dynamic linker's words ------


def code_in_object(scratch):
    check(compile_image(scratch.folder(), "gcc", ["code_in_object.c", "code_in_object.S"]))


def packed(scratch):
    check(compile_image(scratch.folder(), "gcc", ["packed.c"], "-Wl,-z,pack-relative-relocs"))


def tables(scratch):
    """Stack traces are emptied, probes and sizes of stacks left out, each with a warning."""
    folder = scratch.folder()
    image = compile_image(folder, "g++", ["thrown.cc"], "-Wa,--gsframe")
    check(image)
    output = folder / "output"
    warning = common.optimize(image, output, "--layout", "random", "--seed", "1").stderr.decode()
    expect(".sframe is emptied" in warning, f"no warning: {warning}")
    text = common.run_command(["objdump", "--sframe=.sframe", output]).stdout.decode()
    expect("Num FDEs: 0" in text and "Num FREs: 0" in text, text)
    other = compile_image(scratch.folder(), "clang", ["tagged.c"], "-fpseudo-probe-for-profiling", "-fstack-size-section")
    names = lambda file: common.run_command(["readelf", "-SW", file]).stdout.decode()
    expect(".stack_sizes" in names(other), "the compiler makes no sizes of stacks")
    check(other, look=lambda output: expect(not re.search(r"stack_sizes|pseudo_probe ", names(output)), "they are still there"))


def unknown_table(scratch):
    """A section of unknown name that is not loaded and holds addresses is left out; others stay."""
    folder = scratch.folder()
    source = folder / "tables.s"
    source.write_text('.section .new_table,"",@progbits\n.quad main\n.section .plain_text,"",@progbits\n.ascii "kept as it is"\n'
                      '.section .note.GNU-stack,"",@progbits\n')
    image = compile_image(folder, "gcc", ["tagged.c"], source)

    def look(output):
        names = common.run_command(["readelf", "-SW", output]).stdout.decode()
        expect(".new_table" not in names and ".plain_text" in names, names)

    check(image, look=look)
    warning = common.optimize(image, folder / "output").stderr.decode()
    expect(".new_table is left out" in warning, warning)


def formed(scratch):
    if shutil.which("ld.lld") is None:
        raise Skip("there is no ld.lld")
    check(compile_image(scratch.folder(), "clang", ["formed.c", "formed.S"], "-fuse-ld=lld", "-Wl,-z,notext", "-fPIE", "-pie"))


# --- Tables of other languages -----------------------------------------------------------------------


def left_of_ocaml(image):
    """{name: reason} of the procedures of OCaml that stay, except the procedures of its runtime."""
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    left = {entry["name"]: entry["reason"] for kind in ("opaque", "pinned") for entry in info[kind]}
    expect("caml_call_gc" in left and "caml_raise_exn" in left, f"the runtime in assembly moves: {left}")
    return {name: reason for name, reason in left.items() if re.match("caml[A-Z]", name)}


def ocaml(flags, scratch):
    """OCaml's code moves as a whole; return addresses in its tables follow their calls, and handlers are entries."""
    image = compile_image(scratch.folder(), "gcc", ["ocaml.c", "ocaml.S"], *flags)
    expect(not left_of_ocaml(image), f"{left_of_ocaml(image)}")

    def look(output):
        expect(not left_of_ocaml(output), f"of an output: {left_of_ocaml(output)}")

    check(image, look=look)
    expected, output = run(image), image.with_name("output")
    for seed in range(SEEDS[-1] + 1, 6 if common.is_sampled() else 21):
        common.optimize(image, output, "--layout", "random", "--seed", str(seed))
        expect(run(output).behaviour() == expected.behaviour(), f"random {seed}")
    for how in ("atomic", "threads"):
        counting = image.with_name("counting")
        spool = image.with_name("spool")
        common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool, "--counters", how)
        expect(run(counting).behaviour() == expected.behaviour(), f"counted, {how}")
        common.respike_ok("image", "verify", image, counting)


def ocaml_in_parts(scratch):
    """Where one procedure of OCaml's stays, or other code is between its units, all of it stays."""
    folder = scratch.folder()
    image = compile_image(folder, "gcc", ["ocaml.c", "ocaml.S"])
    expected, output = run(image), folder / "output"
    for option in ("--skip", "--only"):
        common.optimize(image, output, "--layout", "random", "--seed", "1", option, "camlU__apply")
        before, after = (symbols(each) for each in (image, output))
        for name in ("camlT__leaf", "camlU__apply", "camlU__guarded"):
            expect(before[name] == after[name], f"{option}: {name} moves")
        expect(run(output).behaviour() == expected.behaviour(), option)
    image = compile_image(folder, "gcc", ["ocaml.c", "ocaml.S"], "-DBETWEEN")
    expect(len(left_of_ocaml(image)) == 7, f"{left_of_ocaml(image)}")
    check(image)
    # Then the words with the ends of units stay, too.
    image = compile_image(folder, "gcc", ["ocaml.c", "ocaml.S"], "-no-pie", "-fno-pie")
    common.optimize(image, output, "--layout", "random", "--seed", "1", "--skip", "camlU__apply")
    before, after = (common.run_command(["objdump", "-s", "-j", ".data", each]).stdout.partition(b"Contents")[2] for each in (image, output))
    expect(before == after, "words of data differ, although what they refer to stays")


def ocaml_stored(scratch):
    """A label whose address is stored is no handler, even in OCaml's code."""
    check(compile_image(scratch.folder(), "gcc", ["ocaml.c", "ocaml.S"], "-DSTORED"))


def ocaml_twice(scratch):
    """Two programs of OCaml in one image: each has ends of its own, and all of their code stays."""
    folder = scratch.folder()
    sources = common.ROOT / "tests/programs/bug_reports"
    objects = []
    for name in ("first", "second"):
        made = folder / f"{name}.o"
        parts = [folder / f"{name}.{part}.o" for part in ("c", "S")]
        for part in parts:
            source = sources / f"ocaml.{part.name.split('.')[1]}"
            subprocess.run(["gcc", "-O2", "-fPIE", "-c", f"-Dmain={name}", source, "-o", part], check=True)
        subprocess.run(["ld", "-r", *parts, "-o", made], check=True)
        subprocess.run(["objcopy", f"--keep-global-symbol={name}", made], check=True)
        objects.append(made)
    (folder / "main.c").write_text("int first(void), second(void);\nint main(void) { return first() + second(); }\n")
    image = folder / "image"
    subprocess.run(["gcc", "-O2", "-Wl,-q", folder / "main.c", *objects, "-o", image], check=True)
    expect(len(left_of_ocaml(image)) == 7, f"{left_of_ocaml(image)}")
    check(image)


def ocaml_judged(scratch):
    """A frame table with another return address, and ends that do not hold all code, are found."""
    folder = scratch.folder()
    image = compile_image(folder, "gcc", ["ocaml.c", "ocaml.S"], "-no-pie", "-fno-pie")
    output, broken = folder / "output", folder / "broken"
    common.optimize(image, output, "--layout", "random", "--seed", "1")
    places = symbols(output)
    for name, offset, words in (("camlT__frametable", 8, 2), ("caml_code_segments", 0, 1)):
        data = bytearray(output.read_bytes())
        place = file_offset(data, places[name][0] + offset)
        if words == 2:  # the first two frames change places
            data[place : place + 8], data[place + 16 : place + 24] = data[place + 16 : place + 24], data[place : place + 8]
        else:  # for all units, since the lowest start counts
            for unit in range(2):
                start = struct.unpack_from("<Q", data, place + 16 * unit)[0]
                struct.pack_into("<Q", data, place + 16 * unit, start + 16)
        broken.write_bytes(data)
        done = common.respike("image", "verify", image, broken)
        expect(done.status == 1, f"{name}: {done}")


def resumed(scratch):
    """Code after a call that never returns does not add to the possible values of registers at the call."""
    image = compile_image(scratch.folder(), "gcc", ["resumed.c", "resumed.S"], "-shared-libgcc", "-lgcc_s")
    left = json.loads(common.respike_ok("image", "info", image, "--json").stdout)["opaque"]
    expect(not left, f"{left}")
    check(image)


def cases(scratch):
    def case(name, function, *arguments):
        return common.Case(name, functools.partial(function, *arguments, scratch))

    alpha = ("alpha-linux-gnu-gcc", (), common.QEMU)
    yield case("appended alpha", appended, "alpha", 0)
    yield case("aligned alpha", tagged, *alpha)
    if platform.machine() != "x86_64":
        return
    yield case("appended x86_64", appended, "x86_64", 0)
    yield case("archive", archive)
    yield case("hidden between", between)
    yield case("section freed", sections, "freed_section", ())
    yield case("section freed init.text", sections, "freed_section", ('-DSECTION=".init.text"',))
    yield case("section freed text.init", sections, "freed_section", ('-DSECTION=".text_init"',))
    yield case("section text mapped", sections, "mapped_text", ())
    yield case("exceptions personality behind a stub", stub)
    yield case("aligned", tagged, "gcc", (), ())
    yield case("aligned no-pie", tagged, "gcc", ("-no-pie",), ())
    yield case("exceptions cleanups compiler-rt", cleanups)
    yield case("exceptions block sections", block_sections, ("-fbasic-block-sections=all",))
    yield case("exceptions block sections lld", block_sections, ("-fbasic-block-sections=all", "-fuse-ld=lld"))
    yield case("unwinding unknown operation", unknown_rule)
    yield case("unwinding remembered states", remembered_states)
    yield case("branch out of data", code_in_object)
    yield case("packed relocations", packed)
    yield case("tables of code", tables)
    yield case("tables of code unknown", unknown_table)
    yield case("formed by the dynamic linker", formed)
    yield case("sum behind a call that never returns", resumed)
    yield case("OCaml", ocaml, ())
    yield case("OCaml no-pie", ocaml, ("-no-pie", "-fno-pie"))
    yield case("OCaml in parts", ocaml_in_parts)
    yield case("OCaml judged", ocaml_judged)
    yield case("OCaml stored", ocaml_stored)
    yield case("OCaml twice", ocaml_twice)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

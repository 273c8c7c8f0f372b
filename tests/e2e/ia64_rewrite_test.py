#!/usr/bin/env python3
"""Rewritten Itanium programs behave like the originals.

Programs are rewritten with --layout original, random, scatter and by estimates, and run under respike-ia64: output and
exit status must be the same as for the original. Programs in assembler from the repository are always tested; the real
programs (sqlite3, lua, C++ with exceptions) and shared libraries if the toolchain is there (ia64_programs.py). GNU as
checks the packing of bundles, since it knows which instructions may not be in one group: its messages about the output
must be the same as about the input.

RESPIKE_IA64_REWRITE_SEEDS: number of random layouts (default 2; large programs get one)."""

import collections
import functools
import json
import os
import pathlib
import re
import sys

import common
import ia64_programs
from common import Skip, expect
from ia64_run_test import COMMON_FLAGS, FREESTANDING, SOURCES, Outcome, compiler, emulate, real_image, scratch

SEEDS = int(os.environ.get("RESPIKE_IA64_REWRITE_SEEDS", "2"))
LARGE = ("sqlite3", "lua", "cxx")


def Case(name, function, *arguments):
    return common.Case(name, functools.partial(function, *arguments))


def layouts(seeds):
    yield ("--layout", "original")
    yield from (("--layout", "random", "--seed", str(seed)) for seed in range(1, seeds + 1))
    yield ("--layout", "scatter", "--seed", "1")
    yield ("--layout", "ext-tsp")


def rewrite(image, output, options):
    common.optimize(image, output, *options)
    return output


def check(image, folder, seeds, arguments=(), stdin=None):
    expected = emulate(image, *arguments, stdin=stdin)
    for number, options in enumerate(layouts(seeds)):
        output = rewrite(image, folder / f"{image.name}.{number}", options)
        emulate(output, *arguments, stdin=stdin).same_as(expected, f"{image.name} {' '.join(options)}")
        output.unlink()


# --- Programs ---------------------------------------------------------------------------------------


def link_freestanding(name):
    """Links with relocations and a note, whose program header the added segment can take."""
    return ia64_programs.freestanding(name, scratch.folder(), "-q", "--build-id")


def freestanding(name):
    check(link_freestanding(name), scratch.folder(), SEEDS)


def real(name):
    asm = ia64_programs.SHARED / "asm"
    arguments = (asm / "t.lua",) if name == "lua" else ()
    check(real_image(name), scratch.folder(), 1 if name in LARGE else SEEDS, arguments, asm / "t.sql" if name == "sqlite3" else None)


def compile_image(source, output, *flags):
    done = Outcome([compiler(source.suffix), *COMMON_FLAGS, "-Wl,-q", *flags, "-o", output, source, "-lm", "-ldl", "-pthread"])
    expect(done.status == 0, f"{source}: {done.stderr[:500]}")
    return output


def own(name, level):
    folder = scratch.folder()
    source = next(SOURCES.glob(f"{name}.c*"))
    check(compile_image(source, folder / name, level, "-static"), folder, 1, ("an argument",))


def dynamic(*flags):
    """A program, a linked library and an opened library; each of the three is rewritten."""
    folder = scratch.folder()
    for library in ("linked", "opened"):
        compile_image(SOURCES / f"dynamic_{library}.c", folder / f"lib{library}.so", "-O2", "-shared", "-fPIC")
        info = json.loads(common.respike_ok("image", "info", folder / f"lib{library}.so", "--json").stdout)
        expect(not info["opaque"], f"opaque: {info['opaque']}")
    compile_image(SOURCES / "dynamic_main.c", folder / "main", "-O2", "-rdynamic", *flags, f"-L{folder}", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-llinked")
    options = ["--sysroot", ia64_programs.toolchain() / "sysroot"]
    expected = emulate(folder / "main", "./libopened.so", options=options, cwd=folder)
    for number, words in enumerate(layouts(2)):
        place = folder / str(number)
        place.mkdir()
        for name in ("main", "liblinked.so", "libopened.so"):
            rewrite(folder / name, place / name, words)
        emulate(place / "main", "./libopened.so", options=options, cwd=place).same_as(expected, " ".join(words))


def again(name):
    """Outputs are also inputs."""
    image, folder = real_image(name), scratch.folder()
    expected = emulate(image)
    for number, options in enumerate([("--layout", "random", "--seed", "1"), ("--layout", "scatter", "--seed", "2"), ("--layout", "original")]):
        image = rewrite(image, folder / str(number), options)
        emulate(image).same_as(expected, f"{name}, rewritten {number + 1} times")


FAR_PROCEDURES, FAR_BUNDLES = 100, 14000


def far_source():
    """Procedures that call one another and count; each has a long stretch that is branched around:
    22 MB of code in few instructions."""
    yield "\t.text\n\t.explicit\n\t.global _start\n\t.proc _start\n_start:"
    yield "{ .mmi\n alloc r33=ar.pfs,2,2,1,0\n mov r8=r0\n nop.i 0 ;;\n}"
    yield "{ .mib\n nop.m 0\n nop.i 0\n br.call.sptk.many b0=proc0 ;;\n}"
    yield f"{{ .mmi\n cmp.eq p6,p7={FAR_PROCEDURES},r8 ;;\n (p6) mov r36=7\n nop.i 0\n}}"
    yield "{ .mlx\n (p7) mov r36=1\n movl r15=1025 ;;\n}\n{ .mii\n break.m 0x100000\n nop.i 0\n nop.i 0 ;;\n}\n\t.endp _start"
    for number in range(FAR_PROCEDURES):
        name, last = f"proc{number}", number + 1 == FAR_PROCEDURES
        yield f"\t.global {name}\n\t.type {name},@function\n\t.proc {name}\n{name}:"
        yield "{ .mmi\n alloc r32=ar.pfs,0,2,0,0\n nop.m 0\n mov r33=b0\n}"
        yield "{ .mmi\n cmp.eq p6,p7=-1,r8 ;;\n adds r8=1,r8\n nop.i 0 ;;\n}"
        if not last:
            yield f"{{ .mib\n nop.m 0\n nop.i 0\n br.call.sptk.many b0=proc{number + 1} ;;\n}}"
        target = min(number + 3, FAR_PROCEDURES - 1)
        yield f"{{ .mbb\n nop.m 0\n (p6) br.cond.spnt.few proc{target}\n br.cond.sptk.few .L{number} ;;\n}}"
        yield f"\t.rept {FAR_BUNDLES}\n{{ .mlx\n adds r9=1,r9\n movl r10=0x123456789 ;;\n}}\n\t.endr"
        yield f".L{number}:\n{{ .mii\n nop.m 0\n mov b0=r33\n mov.i ar.pfs=r32 ;;\n}}"
        yield "{ .mib\n nop.m 0\n nop.i 0\n br.ret.sptk.many b0 ;;\n}\n\t.endp " + name


def far():
    """Branches that do not reach go through stubs."""
    folder = scratch.folder()
    (folder / "far.s").write_text("\n".join(far_source()) + "\n")
    ia64_programs.tool("as", "-o", folder / "far.o", folder / "far.s", timeout=300)
    image = folder / "far"
    ia64_programs.tool("ld", "-q", "--build-id", "-o", image, folder / "far.o", timeout=300)
    expect(emulate(image).status == 7, "the program itself is wrong")
    for number, options in enumerate([("--layout", "random", "--seed", "1"), ("--layout", "scatter", "--seed", "1")]):
        output = folder / f"far.{number}"
        report = report_of(image, output, *options)
        expect(report["far_stubs"] > 0, "no branch is far")
        expect(emulate(output).status == 7, f"{' '.join(options)}: status {emulate(output).status}")
        again = folder / f"far.{number}.again"
        common.optimize(output, again, "--layout", "original")
        expect(emulate(again).status == 7, "rewritten again")


# --- Outputs ------------------------------------------------------------------------------------------


def report_of(image, output, *options):
    report = output.with_suffix(".json")
    common.optimize(image, output, *options, "--report", report)
    return json.loads(report.read_text())


def sizes(name):
    """In the original order no program grows, and nearly nothing is opaque."""
    image, folder = real_image(name), scratch.folder()
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    report = report_of(image, folder / "output", "--layout", "original")
    expect(report["added_text_bytes"] == 0, "code was added")
    expect(report["text_bytes"] < info["text_bytes"], f"{report['text_bytes']} of {info['text_bytes']} bytes")
    opaque = {entry["name"] for entry in report["opaque"]}
    # Hand-written procedures: jumps to computed addresses, and gp from the address of an
    # instruction.
    known = {"memcpy", "memmove", "_start"}
    expect(len(opaque - known) <= report["procedures"] / 100, f"opaque: {opaque}")
    expect(all(entry["reason"] for entry in report["opaque"]), "no reason")


def assembler_text(image):
    """objdump's output as input for GNU as, with explicit stops; every procedure starts with a new
    group."""
    lines, bundle = [".explicit"], None
    listing = ia64_programs.tool("objdump", "-d", "--no-show-raw-insn", image)
    for line in listing.splitlines():
        match = re.match(r"\s*[0-9a-f]+:\s+(?:\[(\w+)\])?\s*(.*)$", line)
        if not match or match[1]:
            lines += ["}"] * (bundle is not None)
            bundle = None
        if not match:
            lines += [f"entry{len(lines)}:"] * line.endswith(">:")
            continue
        if match[1]:
            bundle = match[1]
            lines.append("{ ." + bundle.lower())
        text = re.sub(r"([ =,])[0-9a-f]{16} <[^>]*>", r"\1target", match[2])
        text = re.sub(r"\(p0(\d)\)", r"(p\1)", text)
        lines.append(re.sub(r"alloc (r\d+)=ar.pfs,(\d+),(\d+),(\d+)", lambda m: f"alloc {m[1]}=ar.pfs,0,{m[3]},{int(m[2]) - int(m[3])},{m[4]}", text))
    return "\n".join(lines + ["}"] * (bundle is not None) + ["target:", ""])


def violations(image, folder):
    """GNU as's messages about dependences within groups: {message without places: how often}."""
    source = folder / f"{image.name}.s"
    source.write_text(assembler_text(image))
    done = common.run_command(["ia64-linux-gnu-as", "-xexplicit", "-o", "/dev/null", source], timeout=300)
    messages = re.findall(r":\d+: (.*)", done.stderr.decode())
    errors = [m for m in messages if m.startswith("Error")]
    expect(not errors, f"{len(errors)} errors, the first {errors[:1]}")
    return collections.Counter(m for m in messages if "violate" in m)


def groups(name):
    image, folder = real_image(name) if name not in FREESTANDING_NAMES else link_freestanding(name), scratch.folder()
    expected = violations(image, folder)
    for options in list(layouts(1))[1 :: 2 if common.is_sampled() else 1]:
        output = rewrite(image, folder / "output", options)
        more = violations(output, folder) - expected
        expect(not more, f"{' '.join(options)}: {more}")


def groups_are_seen():
    """The check can fail: a group without its stop reads a register that it wrote."""
    folder = scratch.folder()
    source = folder / "bad.s"
    source.write_text(".text\n.explicit\n.global f\n.proc f\nf:\n{ .mii\n add r8=r32,r33\n add r9=r8,r8\n nop.i 0;;\n}\n.endp\n")
    ia64_programs.tool("as", "-o", folder / "bad.o", source)
    expect(violations(folder / "bad.o", folder), "GNU as sees no violation")


def verify():
    """`image verify` accepts an output, and refuses an output with another instruction at any
    place."""
    image, folder = link_freestanding("calls"), scratch.folder()
    output = rewrite(image, folder / "output", ("--layout", "random", "--seed", "5"))
    common.respike_ok("image", "verify", image, output)
    section = re.search(r" \.text +PROGBITS +\w+ +(\w+) +(\w+)", ia64_programs.tool("readelf", "-SW", output))
    start, size = int(section[1], 16), int(section[2], 16)
    data = output.read_bytes()
    refused = 0
    for place in range(start, start + size, 16):
        changed = bytearray(data)
        changed[place + 1] ^= 0x40  # of the first slot: a bit of its first register or number
        bad = folder / "bad"
        bad.write_bytes(changed)
        outcome = common.respike("image", "verify", image, bad)
        expect(outcome.status in (0, 1), f"status {outcome.status}: {outcome.stderr[:300]}")
        refused += outcome.status != 0
    expect(refused > size / 16 / 4, f"only {refused} of {size // 16} changes are seen")


FREESTANDING_NAMES = sorted(p.stem for p in FREESTANDING.glob("*.s") if p.stem not in ("start", "runtime") and not p.stem.startswith("fault_"))


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [Case("far", far)]  # the case that takes longest
    cases += [Case(f"freestanding.{name}", freestanding, name) for name in FREESTANDING_NAMES]
    cases += [Case(f"real.{name}", real, name) for name in ("hello", "mix", "loops", "sw", *LARGE)]
    cases += [Case(f"own.{name}{level}", own, name, level) for name in ("arithmetic", "calls", "exceptions", "signals", "threads") for level in ("-O0", "-O2")]
    cases += [Case("dynamic", dynamic), Case("dynamic.pie", dynamic, "-pie", "-fPIE")]
    cases += [Case(f"again.{name}", again, name) for name in ("hello", "cxx")]
    cases += [Case(f"sizes.{name}", sizes, name) for name in ("hello", "mix", "loops", "sw", *LARGE)]
    cases += [Case(f"groups.{name}", groups, name) for name in ("calls", "floats", "mix", "cxx")]
    cases += [Case("groups_are_seen", groups_are_seen), Case("verify", verify)]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

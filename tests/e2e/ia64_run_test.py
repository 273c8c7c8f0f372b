#!/usr/bin/env python3
"""respike-ia64 runs Itanium programs as the machine would.

Programs of tests/programs/ia64/c, and random programs, are compiled for IA-64 and for the host, at several levels: both
versions have to print the same and end with the same status. Real programs have to print the expected output. These
tests need the toolchain beside the checkout (ia64_programs.py). Freestanding programs, whose assembler files are in the
repository, are always run, and so are damaged and foreign files.

RESPIKE_IA64_SEEDS: number of random programs (default 6)."""

import functools
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys

import common
import ia64_programs
from common import Skip, expect

EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
SOURCES = ia64_programs.ASSEMBLER_SOURCES / "c"
FREESTANDING = ia64_programs.ASSEMBLER_SOURCES / "freestanding"
EXPECTED = ia64_programs.ASSEMBLER_SOURCES / "expected"
SEEDS = int(os.environ.get("RESPIKE_IA64_SEEDS", "6"))
TIMEOUT = 120
COMMON_FLAGS = ["-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing"]
scratch = common.Scratch()


def Case(name, function, *arguments):
    return common.Case(name, functools.partial(function, *arguments))


class Outcome:
    def __init__(self, command, stdin=None, cwd=None, environment=None):
        done = subprocess.run(
            ["timeout", "-s", "KILL", str(TIMEOUT), *map(str, command)],
            stdin=open(stdin) if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=environment,
        )
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def same_as(self, other, what):
        expect(
            (self.status, self.stdout) == (other.status, other.stdout),
            f"{what}: status {self.status}, not {other.status}; {first_difference(self.stdout, other.stdout)}; {self.stderr[:300]}",
        )


def first_difference(got, expected):
    for number, (a, b) in enumerate(zip(got.splitlines() + [b"(end)"], expected.splitlines() + [b"(end)"]), 1):
        if a != b:
            return f"line {number}: {a[:100]!r}, not {b[:100]!r}"
    return "same output"


def emulate(program, *arguments, options=(), **kwargs):
    return Outcome([EMULATOR, *options, program, *arguments], **kwargs)


def compiler(language):
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise Skip(ia64_programs.MISSING)
    return toolchain / "bin" / ("ia64-linux-gnu-g++" if language == ".cc" else "ia64-linux-gnu-gcc")


def compile_program(command, source, output, *flags):
    done = Outcome([command, *COMMON_FLAGS, *flags, "-o", output, source, "-lm", "-pthread"])
    expect(done.status == 0, f"{command} fails on {source}: {done.stderr[:500]}")
    return output


def host_compiler(source):
    return "g++" if source.suffix == ".cc" else "gcc"


# --- Own programs -----------------------------------------------------------------------------------


def own_program(name, level, options):
    source = next(SOURCES.glob(f"{name}.c*"))
    folder = scratch.folder()
    cross = compile_program(compiler(source.suffix), source, folder / "guest", level, "-static")
    host = compile_program(host_compiler(source), source, folder / "host", "-O2")
    emulate(cross, "an argument", options=options).same_as(Outcome([host, "an argument"]), f"{name} {level}")


def processes():
    """A program that starts itself: it does so if it gets no arguments."""
    folder = scratch.folder()
    source = SOURCES / "processes.c"
    cross = compile_program(compiler(".c"), source, folder / "guest", "-O2", "-static")
    host = compile_program("gcc", source, folder / "host", "-O2")
    emulate(cross).same_as(Outcome([host]), "processes")
    counts = folder / "counts"
    emulate(cross, options=["--counts", counts]).same_as(Outcome([host]), "processes with counts")
    parts = read_counts(counts)
    expect(len(parts) >= 14, f"{len(parts)} processes have counts")


def dynamic(program_flags):
    folder = scratch.folder()
    outcomes = []
    for command, name in (("gcc", "host"), (compiler(".c"), "guest")):
        place = folder / name
        place.mkdir()
        for library in ("linked", "opened"):
            compile_program(command, SOURCES / f"dynamic_{library}.c", place / f"lib{library}.so", "-O2", "-shared", "-fPIC")
        done = Outcome([command, *COMMON_FLAGS, *program_flags, "-O2", "-rdynamic", "-o", place / "main", SOURCES / "dynamic_main.c",
                        f"-L{place}", "-llinked", "-Wl,-rpath,$ORIGIN", "-lm", "-ldl", "-pthread"])
        expect(done.status == 0, done.stderr[:500])
        sysroot = ia64_programs.toolchain() / "sysroot"
        start = [EMULATOR, "--sysroot", sysroot] if name == "guest" else []
        outcomes.append(Outcome([*start, place / "main", "./libopened.so"], cwd=place))
    outcomes[1].same_as(outcomes[0], "dynamic")
    linker = sysroot / "lib" / "ld-linux-ia64.so.2"
    named = Outcome([*start, linker, "./main", "./libopened.so"], cwd=place)
    named.same_as(outcomes[0], "by the dynamic linker's name")
    without = emulate(folder / "guest" / "main")
    expect(without.status == 127 and "--sysroot" in without.stderr, f"without sysroot: {without.status} {without.stderr}")


def dynamic_signals():
    folder = scratch.folder()
    cross = compile_program(compiler(".c"), SOURCES / "signals.c", folder / "guest", "-O2")
    host = compile_program("gcc", SOURCES / "signals.c", folder / "host", "-O2")
    options = ["--sysroot", ia64_programs.toolchain() / "sysroot"]
    emulate(cross, options=options).same_as(Outcome([host]), "signals, dynamic")


def random_program(seed):
    folder = scratch.folder()
    source = folder / "program.c"
    source.write_bytes(Outcome([sys.executable, ia64_programs.RANDOM / "arithmetic.py", seed]).stdout)
    expected = Outcome([compile_program("gcc", source, folder / "host", "-O1")])
    for level in ("-O0", "-O2", "-O3"):
        cross = compile_program(compiler(".c"), source, folder / "guest", level, "-static")
        emulate(cross).same_as(expected, f"seed {seed} {level}")


# --- Real programs ----------------------------------------------------------------------------------


def real_image(name):
    for path in ia64_programs.programs():
        if path.name == f"{name}.ia64":
            return path
    raise Skip(ia64_programs.MISSING)


def real_program(name):
    image = real_image(name)
    source = next((ia64_programs.SHARED / "asm").glob(f"{name}.c*"), None)
    if source is None:
        raise Skip(ia64_programs.MISSING)
    host = compile_program(host_compiler(source), source, scratch.folder() / "host", "-O1")
    emulate(image).same_as(Outcome([host]), name)


def hello():
    outcome = emulate(real_image("hello"))
    expect(outcome.status == 7 and outcome.stdout.startswith(b"hello ia64"), f"{outcome.status} {outcome.stdout}")


def real_with_input(name, arguments, stdin, options=()):
    image = real_image(name)
    outcome = emulate(image, *arguments, stdin=stdin, options=options)
    expected = (EXPECTED / f"{name}.txt").read_bytes()
    expect(
        (outcome.status, outcome.stdout) == (0, expected),
        f"{name}: {outcome.status} {first_difference(outcome.stdout, expected)} {outcome.stderr[:300]}",
    )


def expected_output(name, command, version, arguments, stdin):
    """The output of the program of the same version, built for this machine, is the expected
    file."""
    if shutil.which(command[0]) is None:
        raise Skip(f"{command[0]} is not installed")
    told = Outcome([*command, "-version" if name == "sqlite3" else "-v"])
    if version not in told.stdout + told.stderr.encode():
        raise Skip(f"{command[0]} is not {version.decode()}")
    for path in (*arguments, *filter(None, [stdin])):
        if not path.exists():
            raise Skip(ia64_programs.MISSING)
    outcome = Outcome([*command, *arguments], stdin=stdin)
    expect(outcome.status == 0 and outcome.stdout == (EXPECTED / f"{name}.txt").read_bytes(), f"{name}.txt is not what {command[0]} prints")


# --- Counts -------------------------------------------------------------------------------------------


def read_counts(path):
    """{(address, slot): count} for each process; checks the sum that the file gives."""
    parts, current = [], None
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "respike-ia64":
            current = {}
        elif words[0] == "slots":
            total = int(words[1])
        elif words[0] == "end":
            expect(sum(current.values()) == total, "the sum is wrong")
            parts.append(current)
            current = None
        elif words[0] not in ("process", "map"):
            current[int(words[0], 16), int(words[1])] = int(words[2])
    expect(current is None, "the last part has no end")
    return parts


def counts_of(program, *arguments, options=(), stdin=None):
    path = scratch.folder() / "counts"
    outcome = emulate(program, *arguments, options=["--counts", path, *options], stdin=stdin)
    return outcome, read_counts(path)


def counts_agree(name):
    """Traces with specialised handlers have the same counts as execution instruction by
    instruction."""
    image = real_image(name)
    _, fast = counts_of(image)
    _, slow = counts_of(image, options=["--general-only"])
    different = [key for key in fast[0].keys() | slow[0].keys() if fast[0].get(key) != slow[0].get(key)]
    # The number of steps of the C library's start depends on addresses and the environment, not on
    # handlers.
    expect(not different, f"{len(different)} slots differ, the first {different[:3]}")


def counted_loop():
    """Counts of freestanding/counted.s, whose comments say how often each slot runs."""
    image = link_freestanding("counted")
    _, parts = counts_of(image)
    symbols = ia64_programs.tool("nm", image)
    base = int(re.search(r"^([0-9a-f]+) . counted$", symbols, re.MULTILINE)[1], 16)
    wanted = {}
    for line in (FREESTANDING / "counted.s").read_text().splitlines():
        match = re.search(r"// count (\d+) (\d) (\d+)$", line)
        if match:
            wanted[base + 16 * int(match[1]), int(match[2])] = int(match[3])
    expect(len(wanted) > 10, "no counts are known")
    got = {key: parts[0].get(key, 0) for key in wanted}
    expect(got == wanted, f"{ {hex(k[0] - base) + '.' + str(k[1]): (got[k], wanted[k]) for k in wanted if got[k] != wanted[k]} }")


# --- Freestanding ---------------------------------------------------------------------------------------


def link_freestanding(name):
    return ia64_programs.freestanding(name, scratch.folder())


def freestanding(name, options):
    """A C source prints the same as on the host; a test in assembler reports its fault by its status."""
    outcome = emulate(link_freestanding(name), options=options)
    source = FREESTANDING / f"{name}.c"
    if not source.exists():
        expect(outcome.status == 0 and outcome.stdout == b"", f"{name}: test {outcome.status} fails; {outcome.stdout} {outcome.stderr}")
        return
    host = scratch.folder() / "host"
    done = Outcome(["gcc", *COMMON_FLAGS, "-O1", "-o", host, source, FREESTANDING / "runtime.c", FREESTANDING / "host.c"])
    expect(done.status == 0, done.stderr[:500])
    outcome.same_as(Outcome([host]), name)


# --- Ends ---------------------------------------------------------------------------------------------


def faults():
    """A fault without a handler: a message with address and cause, the registers, and the program's
    signal."""
    expected = {
        "fault_load": (signal.SIGSEGV, "address 0x2345678"),
        "fault_prefetch": (signal.SIGSEGV, "lfetch.fault.excl [r14], address 0x2345678"),
        "fault_break": (signal.SIGILL, "break.m 0x0"),
        "fault_jump": (signal.SIGSEGV, "no code there"),
        "fault_privileged": (signal.SIGILL, "rfi"),
        "fault_compare": (signal.SIGILL, "cmp.eq.unc p8,p8=r0,r0"),
        "fault_floating_compare": (signal.SIGILL, "fcmp.eq.unc.s0 p8,p8=f0,f0"),
        "fault_loop": (signal.SIGILL, "slot 1 in"),
        "fault_loop_predicate": (signal.SIGILL, "br.wexit"),
        "fault_pair": (signal.SIGBUS, "ld16 r15,ar.csd=[r14], address"),
        "fault_big_endian": (signal.SIGILL, "mov.m ar.rsc=19"),
    }
    expect({p.stem for p in FREESTANDING.glob("fault_*.s")} == expected.keys(), "each file has an expectation")
    for name, (number, text) in expected.items():
        image = link_freestanding(name)
        outcome = emulate(image)
        expect(outcome.status == -number, f"{name}: status {outcome.status} {outcome.stderr[:300]}")
        first = outcome.stderr.splitlines()[0]
        expect(first.startswith("respike-ia64: ") and text in first, f"{name}: {first}")
        expect("r12 0x" in outcome.stderr, f"{name}: no registers")
        brief = emulate(image, options=["--brief"])
        expect(brief.status == -number and brief.stderr == first + "\n", f"{name}: {brief.stderr}")
        quiet = emulate(image, options=["--brief", "--quiet"])
        expect(quiet.status == -number and not quiet.stderr, f"{name}: {quiet.stderr}")


SIGNAL_LINE = re.compile(r"respike-ia64: .*: (SIG[A-Z]+) at 0x[0-9a-f]+ slot [012]")


def expect_no_crash(outcome, what):
    """The emulator itself did not fail: if a fault of the guest ends it, its last words have the
    signal's name; a fault of the emulator itself comes without them. Nor was it killed for taking
    too long."""
    if outcome.status >= 0:
        expect(outcome.status < 126 or outcome.stderr.startswith("respike-ia64: "), f"{what}: status {outcome.status}, {outcome.stderr[:300]}")
        return
    said = SIGNAL_LINE.match(outcome.stderr)
    name = signal.Signals(-outcome.status).name
    expect(said and said[1] == name, f"{what}: the emulator itself died by {name}: {outcome.stderr[:300]!r}")


def code_range(image):
    """Begin and end, in the file, of the code of a freestanding program, without the start and its
    system calls."""
    symbols = dict(reversed(line.split()[::2]) for line in ia64_programs.tool("nm", image).splitlines() if len(line.split()) == 3)
    segment = re.search(r"^ +LOAD +(\S+) (\S+) \S+ (\S+) .*R E", ia64_programs.tool("readelf", "-lW", image), re.MULTILINE)
    offset, address, size = (int(segment[i], 16) for i in (1, 2, 3))
    first = min(int(symbols[name], 16) for name in symbols if name not in ("_start", "write_out") and address <= int(symbols[name], 16) < address + size)
    sections = ia64_programs.tool("readelf", "-SW", image)
    text = re.search(r"\.text +PROGBITS +(\S+) (\S+) (\S+)", sections)
    return first - address + offset, int(text[2], 16) + int(text[3], 16)


def damaged_code(name, count):
    """Damaged code runs until it faults, ends or is stopped; specialised and general handlers
    agree."""
    folder = scratch.folder()
    image = link_freestanding(name)
    start, end = code_range(image)
    original = image.read_bytes()
    expect(end - start > 300, f"{name} has {end - start} bytes of code")
    chance = random.Random(2)
    different = faults = 0
    plain = emulate(image, options=["--brief"])
    for number in range(count):
        data = bytearray(original)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(start, end)
            data[at] = chance.choice([data[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
        one = folder / "image"
        one.write_bytes(data)
        one.chmod(0o755)
        outcomes = []
        for option in ("--brief", "--general-only"):
            # With counts, a signal is taken at the next branch: if the guest loops, SIGTERM ends
            # the guest, else SIGKILL.
            counts = folder / "counts"
            outcome = Outcome(["timeout", "-k", "10", "2", EMULATOR, "--counts", counts, option, one])
            what = f"{name} {number}{option}"
            if outcome.status == 124:
                expect(len(read_counts(counts)) > 0, f"{what}: stopped, but no counts")
                break
            expect_no_crash(outcome, what)
            outcomes.append((outcome.status, outcome.stdout, outcome.stderr.splitlines()[:1]))
        if len(outcomes) == 2:
            expect(outcomes[0] == outcomes[1], f"{name} {number}: {outcomes[0]}, by general handlers {outcomes[1]}")
            different += outcomes[0][:2] != (plain.status, plain.stdout)
            faults += outcomes[0][0] < 0
    expect(different >= count // 4 and faults >= count // 10, f"{name}: {different} of {count} did something else, {faults} faulted")


def bad_inputs():
    folder = scratch.folder()
    image = link_freestanding("counted").read_bytes()
    one = folder / "image"

    def run(data, *statuses):
        one.write_bytes(data)
        one.chmod(0o755)
        outcome = emulate(one)
        expect(outcome.status in statuses, f"status {outcome.status} {outcome.stderr[:200]}")
        expect_no_crash(outcome, "an image")
        if outcome.status in (126, 127):
            expect(outcome.stderr.count("\n") == 1 and outcome.stderr.startswith("respike-ia64: "), outcome.stderr)

    for size in (0, 1, 15, 63, 64, 65, 100, len(image) // 2):
        run(image[:size], 126, -signal.SIGSEGV, -signal.SIGILL)
    run(pathlib.Path("/bin/true").read_bytes(), 126)
    run(b"#!/bin/sh\nexit 3\n", 126)
    run(b"text" * 1000, 126)
    chance = random.Random(1)
    for _ in range(150):
        data = bytearray(image)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(64 + 56 * 3)] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        one.write_bytes(data)
        outcome = emulate(one)
        expect_no_crash(outcome, "a damaged header")
    library = emulate(ia64_programs.assemble(ia64_programs.ASSEMBLER_SOURCES / "kernels.s", folder))
    expect(library.status == 126 and "not an executable program" in library.stderr and library.stderr.count("\n") == 1, library.stderr)
    expect(emulate(folder / "missing").status == 127, "a missing program")
    expect(emulate(folder).status == 126, "a folder")
    expect(Outcome([EMULATOR]).status == 2 and Outcome([EMULATOR, "--unknown", one]).status == 2, "usage")
    unknown = Outcome([EMULATOR, "--unknown", one])
    expect("--unknown is no option" in unknown.stderr, unknown.stderr)
    sysroot = Outcome([EMULATOR, "--sysroot", "/no/such/folder", one])
    expect(sysroot.status == 127 and "/no/such/folder: not a folder" in sysroot.stderr, sysroot.stderr)
    expect(Outcome([EMULATOR, ""]).status == 127, "a program without a name")
    expect(emulate(one, options=["--counts", folder / "no" / "file"]).status == 127, "counts that cannot be written")


def limited_address_space():
    one = link_freestanding("counted")
    outcome = Outcome(["sh", "-c", f"ulimit -v 4000000; exec {EMULATOR} {one}"])
    if "Sanitizer" in outcome.stderr:
        raise Skip("sanitizers need more address space themselves")
    expect(outcome.status == 127 and outcome.stderr.count("\n") == 1, f"{outcome.status} {outcome.stderr}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [Case("real.hello", hello)]
    cases += [Case(f"real.{name}", real_program, name) for name in ("mix", "loops", "sw", "cxx")]
    asm = ia64_programs.SHARED / "asm"
    cases += [
        Case("real.sqlite3", real_with_input, "sqlite3", (), asm / "t.sql"),
        Case("real.sqlite3.general", real_with_input, "sqlite3", (), asm / "t.sql", ["--general-only"]),
        Case("real.lua", real_with_input, "lua", (asm / "t.lua",), None),
        Case("expected.sqlite3", expected_output, "sqlite3", ["sqlite3"], b"3.40.1", (), asm / "t.sql"),
        Case("expected.lua", expected_output, "lua", ["lua5.4"], b"5.4.4", (asm / "t.lua",), None),
        Case("processes", processes),
        Case("dynamic", dynamic, ()),
        Case("dynamic.pie", dynamic, ("-pie", "-fPIE")),
        Case("dynamic.signals", dynamic_signals),
        Case("faults", faults),
        Case("bad_inputs", bad_inputs),
        Case("bad_inputs.code.architecture", damaged_code, "architecture", 60 if common.is_sampled() else 200),
        Case("bad_inputs.code.integers", damaged_code, "integers", 40 if common.is_sampled() else 100),
        Case("limited_address_space", limited_address_space),
        Case("counts.loop", counted_loop),
    ]
    cases += [Case(f"counts.{name}", counts_agree, name) for name in ("hello", "mix", "loops")]
    for name in ("arithmetic", "calls", "jumps", "signals", "exceptions", "threads", "files"):
        levels = ("-O2",) if name in ("signals", "files", "threads") else ("-O0", "-O2", "-O3")
        cases += [Case(f"own.{name}{level}", own_program, name, level, ()) for level in levels]
        cases.append(Case(f"own.{name}.general", own_program, name, "-O2", ("--general-only",)))
    names = {p.stem for p in FREESTANDING.glob("*.s")} - {"start", "runtime", "counted"}
    for name in sorted(n for n in names if not n.startswith("fault_")):
        cases.append(Case(f"freestanding.{name}", freestanding, name, ()))
        cases.append(Case(f"freestanding.{name}.general", freestanding, name, ("--general-only",)))
    cases += [Case(f"random.{seed}", random_program, seed) for seed in range(SEEDS)]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

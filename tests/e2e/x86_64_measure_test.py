#!/usr/bin/env python3
"""measure, compare and check of x86-64 programs, on the models and natively.

Oracles: Valgrind's cachegrind for instructions and for misses of the first level without a prefetcher; the counting
plugin in the same run for instructions; programs that can be followed by hand. The unit tests of the models
(tests/unit/x86_64_model_test.cc) test the other parts. RESPIKE_SLOWDOWN is how many times the processor time of plain
QEMU a measured run may take (default 12: other work on the machine costs the models more than QEMU)."""

import functools
import json
import os
import pathlib
import re
import struct
import sys

import common
import oracle
from common import expect

MAX_SLOWDOWN = float(os.environ.get("RESPIKE_SLOWDOWN", 12))
if common.PROGRAMS.name != "x86_64":
    common.PROGRAMS = common.PROGRAMS / "x86_64"
IMAGES = common.PROGRAMS / "images"
BUILD = pathlib.Path(common.RESPIKE).parent
EVENTS = 37 * 8  # bytes of measure::Events
MODELS = {"zen3": (13, 6), "goldencove": (17, 6)}  # cycles of a misprediction, micro-ops a cycle

# glibc's variants for the oldest processors: emulators differ in the features of newer processors.
PLAIN = dict(
    os.environ,
    GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX,-AVX_Usable,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,"
    "-SSE4_1,-SSE4_2,-SSSE3,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-BMI1,-BMI2,-LZCNT,-MOVBE,-RTM",
)

# A thousand calls and returns; exit status 7.
CALLS = """
        .globl  _start
_start: mov     $1000, %ecx
1:      call    twice
        dec     %ecx
        jne     1b
        mov     $7, %edi
        mov     $60, %eax
        syscall
twice:  lea     (%rcx,%rcx), %eax
        ret
"""

# 600 functions of 20 to 45 instructions, each in 192 bytes, three times the size of the first level, are called in an
# order without pattern.
FUNCTIONS, SIZE = 600, 192


def large():
    functions = "".join(
        f"        .rept {20 + 17 * i % 26}\n        add $1, %r8d\n        .endr\n        ret\n"
        f"        .org functions + {SIZE * (i + 1)}, 0x90\n"
        for i in range(FUNCTIONS)
    )
    return f"""
        .globl  _start
_start: mov     $20000, %ebp
        mov     $12345, %ebx
        xor     %r8d, %r8d
1:      imul    $1103515245, %ebx, %ebx
        add     $12345, %ebx
        mov     %ebx, %eax
        shr     $16, %eax
        xor     %edx, %edx
        mov     ${FUNCTIONS}, %ecx
        div     %ecx
        imul    ${SIZE}, %edx, %edx
        lea     functions(%rip), %rax
        add     %rdx, %rax
        call    *%rax
        dec     %ebp
        jne     1b
        mov     $7, %edi
        mov     $60, %eax
        syscall
        .p2align 6
functions:
{functions}"""


def assemble(scratch, source):
    folder = scratch.folder()
    (folder / "source.s").write_text(source)
    command = ["gcc", "-nostdlib", "-static", "-Wl,-q", "source.s", "-o", "program"]
    outcome = common.run_command(command, cwd=folder)
    expect(outcome.status == 0, outcome.stderr.decode())
    return folder / "program"


def compile_c(scratch, source, *options):
    folder = scratch.folder()
    (folder / "source.c").write_text(source)
    outcome = common.run_command(["gcc", "-O1", "-Wl,-q", "source.c", *options, "-o", "program"], cwd=folder)
    expect(outcome.status == 0, outcome.stderr.decode())
    return folder / "program"


def measure(program, *args, options=(), **how):
    return json.loads(common.respike_ok("measure", "--json", *options, "--", program, *args, **how).stdout)


# --- Figures --------------------------------------------------------------------------------------


def check_sums(m):
    penalty, width = MODELS[m["model"]]
    expect(sum(m["breakdown"].values()) == m["cycles"], "the breakdown is not the cycles")
    kinds = [m[f"{kind}_mispredicts"] for kind in ("direction", "target", "return")]
    expect(sum(kinds) == m["mispredicts"], m)
    expect(sum(v for k, v in m["breakdown"].items() if k.startswith("mispredicts")) == penalty * m["mispredicts"], m)
    expect(m["breakdown"]["issue"] == m["micro_ops"] // width or m["processes"] > 1, m)
    expect(m["icache_misses"] <= m["plain_icache_misses"] + m["prefetch_hits"], m)
    expect(m["micro_op_misses"] <= m["micro_op_fetches"] and m["l2_itb_misses"] <= m["itb_misses"], m)
    expect(m["taken_jumps"] <= m["taken_branches"] <= m["instructions"], m)


def check_calls(scratch):
    program = assemble(scratch, CALLS)
    for model in MODELS:
        m = measure(program, options=["--model", model])
        check_sums(m)
        for field, value in {
            "model": model,
            "instructions": 1 + 5 * 1000 + 3,
            "repetitions": 0,
            "micro_ops": 1 + 4 * 1000 + 3,
            "taken_branches": 1000 + 1000 + 999,
            "taken_jumps": 999,
            "conditional_branches": 1000,
            "mispredicts": 2,
            "exit_status": 7,
            "processes": 1,
            "itb_misses": 1,
        }.items():
            expect(m[field] == value, f"{field}: {m[field]} instead of {value}")
    expect(measure(program)["model"] == "zen3", "the default")
    outcome = common.respike_ok("measure", "--", program)
    for label in (b"zen3", b"unknown branches", b"micro-op cache misses", b"without prefetches", b"itlb walks"):
        expect(label in outcome.stdout, f"no {label} in {outcome.stdout}")


def cachegrind(program, *args, stdin=None):
    """Instructions and misses of the first level."""
    outcome = common.run_command(
        ["setarch", "-R", "valgrind", "--tool=cachegrind", "--I1=32768,8,64", "--cache-sim=yes",
         "--cachegrind-out-file=/dev/null", program, *args],
        stdin=stdin,
        env=PLAIN,
    )  # fmt: skip
    text = outcome.stderr.decode()
    read = lambda label: int(re.search(label + r": +([\d,]+)", text)[1].replace(",", ""))
    return read("I +refs"), read("I1 +misses")


def check_cachegrind(program, allowed=0, start=0, stdin=None):
    """`allowed`: how many instructions the two may differ by; `start`: and how many lines of start-up code."""
    instructions, misses = cachegrind(program, stdin=stdin)
    m = measure(program, stdin=stdin, env=PLAIN)
    print(f"{program.name}: {m['instructions']} instructions, cachegrind {instructions}; "
          f"{m['plain_icache_misses']} misses, cachegrind {misses}", flush=True)  # fmt: skip
    expect(abs(m["instructions"] - instructions) <= allowed, "instructions")
    expect(abs(m["plain_icache_misses"] - misses) <= 0.01 * misses + start, "misses")
    return m


def check_cachegrind_large(scratch):
    m = check_cachegrind(assemble(scratch, large()))
    expect(m["plain_icache_misses"] > 10000 and m["icache_misses"] < m["plain_icache_misses"], m)


# Copies of 0 to 100 bytes by a string instruction that repeats itself.
COPIES = """
        .globl  _start
_start: xor     %ebx, %ebx
1:      mov     %ebx, %ecx
        lea     to(%rip), %rdi
        lea     from(%rip), %rsi
        rep movsb
        inc     %ebx
        cmp     $101, %ebx
        jne     1b
        mov     $7, %edi
        mov     $60, %eax
        syscall
        .bss
to:     .skip   128
from:   .skip   128
"""


def check_repetitions(scratch):
    """A string instruction counts each time it repeats, and once more in the end, as in cachegrind."""
    program = assemble(scratch, COPIES)
    m = measure(program)
    expect(m["repetitions"] == sum(range(101)), m)
    expect(m["instructions"] == 1 + 101 * 7 + sum(range(101)) + 3, m)
    expect(m["micro_ops"] == 1 + 101 * 6 + 3, m)
    expect(cachegrind(program)[0] == m["instructions"], f"{cachegrind(program)}: {m}")


# --- The same run, counted twice ------------------------------------------------------------------


# A thousand faults in the middle of straight code, each left by a jump out of the handler.
FAULTS = r"""
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf place;
static void handle(int signal) { siglongjmp(place, signal); }
int main(void) {
  volatile int sum = 0;
  signal(SIGSEGV, handle);
  for (volatile int i = 0; i < 1000; i++)
    if (!sigsetjmp(place, 1)) sum += 3, sum ^= *(volatile int*)16 * 5, sum -= 7;
  return sum & 1;
}
"""


def check_faults(scratch):
    check_oracle(compile_c(scratch, FAULTS, "-static"), ())


def check_oracle_of(name):
    program = common.find_program(name)
    check_oracle(program.image, program.runs[0].args, program.runs[0].stdin)


def check_oracle(image, args, stdin=None):
    """Both plugins count the same instructions of the same run."""
    with common.Scratch() as scratch:
        results = scratch.folder()
        plugin = f"{BUILD}/respike-measure.so,out={results}/r,model=zen3"
        counts = oracle.count(
            image, args, images=[], stdin=stdin, native=True, options=["-plugin", plugin]
        )
        total = sum(map(measured_instructions, results.iterdir()))
    expect(total == counts.total > 0, f"{total} instructions instead of {counts.total}")


def measured_instructions(path):
    """The instructions of all threads of a process: measure/plugins/measurement_file.h."""
    data = path.read_bytes()
    magic, _, threads = struct.unpack_from("<8sII", data)
    expect(magic == b"RSPKMSR3", magic)
    return sum(struct.unpack_from("<Q", data, 16 + EVENTS * i)[0] for i in range(threads))


# --- Where cycles go, two versions, natively -------------------------------------------------------


def check_by(scratch):
    program = assemble(scratch, CALLS)
    m = measure(program, options=["--by", "procedure"])
    images = {row["image"]: row for row in m["images"]}
    expect(sum(r["cycles"] for r in m["images"]) == m["cycles"], m)
    expect(sum(r["instructions"] for r in m["procedures"]) == m["instructions"], m)
    expect(images[str(program)]["instructions"] == m["instructions"], images)


def check_compare(scratch):
    """A layout at random costs more on both models, and prints the same."""
    program = common.find_program("interpreter.pie")
    image = program.image
    shuffled = scratch.file("shuffled")
    common.optimize(image, shuffled, "--layout", "random", "--seed", "1")
    for model in MODELS:
        command = ["compare", image, shuffled, "--model", model, "--json", "--", *program.runs[0].args]
        c = json.loads(common.respike_ok(*command, stdin=program.runs[0].stdin, cwd=scratch.folder()).stdout)
        expect(c["same_output"] and c["before"]["model"] == model, c)
        check_sums(c["before"])
        check_sums(c["after"])
        for field in ("cycles", "taken_jumps"):
            expect(c["after"][field] > c["before"][field], f"{field}: {c}")


LIBRARY = "int five(void) { return 5; }"
USER = '#include <stdio.h>\n#include <stdlib.h>\nint five(void); int main(void) { puts(getenv("LD_LIBRARY_PATH")); return five(); }'


def check_library_path(scratch):
    """The program's dynamic linker gets LD_LIBRARY_PATH, the emulator's does not: a library there that the emulator
    also has would stop the emulator."""
    libraries = scratch.folder()
    common.run_command(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", libraries / "libglib-2.0.so.0"])
    source = scratch.file("five.c")
    source.write_text(LIBRARY)
    common.run_command(["gcc", "-shared", "-fPIC", source, "-o", libraries / "libfive.so"])
    program = compile_c(scratch, USER, f"-L{libraries}", "-lfive")
    environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries))
    outcome = common.respike_ok("measure", "--json", "--", program, env=environment)
    expect(json.loads(outcome.stdout)["exit_status"] == 5, outcome)
    expect(str(libraries).encode() in outcome.stderr, outcome.stderr)


def check_native(scratch):
    program, folder = assemble(scratch, CALLS), scratch.folder()
    outcome = common.respike_ok("measure", "--native", "--json", "--", program, cwd=folder)
    m = json.loads(outcome.stdout)
    expect(15 <= m["runs"] <= 25 and "model" not in m and m["exit_status"] == 7, m)
    note = b"respike: note: the cycles of the processor cannot be counted here ("
    expect(outcome.stderr.startswith(note) != ("counted" in m and "cycles" in m["counted"]), outcome)
    expect(outcome.stderr.count(b"\n") <= 1, outcome.stderr)
    c = json.loads(common.respike_ok("compare", "--native", "--json", program, program, cwd=folder).stdout)
    expect(c["speedup_low"] <= c["speedup"] <= c["speedup_high"] and 15 <= c["pairs"] <= 25, c)
    expect(c["cost"] in ("cycles", "microseconds"), c)
    for command, text in (
        (["measure", "--native", "--model", "zen3", "--", program], b"exclude each other"),
        (["measure", "--model", "alpha21164", "--", program], b"not a program for Alpha"),
    ):
        outcome = common.respike(*command, cwd=folder)
        expect(outcome.status in (1, 2) and text in outcome.stderr, outcome)
    outcome = common.respike("measure", "--native", "--by", "image", "--", program)
    expect(outcome.status == 1 and b"--native leaves out the model" in outcome.stderr, outcome)


def check_no_emulator(scratch):
    """Where QEMU is not installed, programs are timed, unless a model was asked for."""
    program, nowhere = assemble(scratch, CALLS), {"PATH": "/nowhere"}
    outcome = common.respike_ok("measure", "--json", "--", program, env=nowhere)
    expect(json.loads(outcome.stdout)["runs"] >= 15, outcome)
    note = b"note: qemu-x86_64 is not installed, under which programs are measured on a model"
    expect(note in outcome.stderr and outcome.stderr.count(b"\n") == 1, outcome.stderr)
    outcome = common.respike("measure", "--model", "zen3", "--", program, env=nowhere)
    expect(outcome.status == 1 and b"qemu-x86_64 is not installed" in outcome.stderr, outcome)


def check_slowdown():
    program = common.find_program("sqlite3.pie")
    run = program.runs[0]
    plain = ["qemu-x86_64", program.image, *run.args]
    measured = [common.RESPIKE, "measure", "--", program.image, *run.args]
    commands = [lambda c=command: common.processor_seconds(lambda: common.run_command(c, stdin=run.stdin)) for command in (plain, measured)]
    once, model = common.least_times(commands, lambda once, model: model <= MAX_SLOWDOWN * once, times=2)
    times = model / once
    print(f"{program.name}: {times:.2f} times the {once:.2f} s of plain QEMU", flush=True)
    expect(times <= MAX_SLOWDOWN, f"{times:.1f} times as slow")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "calls": check_calls,
            "cachegrind large": check_cachegrind_large,
            "repetitions": check_repetitions,
            "oracle faults": check_faults,
            "by": check_by,
            "compare": check_compare,
            "library path": check_library_path,
            "native": check_native,
            "no emulator": check_no_emulator,
        }
        cases = common.named_cases(checks, scratch)
        # musl and the kernel's gifts at the start differ by a few instructions. glibc asks the processor for
    # its features when it starts, and chooses functions by them; the two emulators answer differently.
        for name, allowed, start in (("switches.musl.static", 100, 0), ("exceptions.static", 15000, 60)):
            run = functools.partial(check_cachegrind, IMAGES / name, allowed, start)
            cases.append(common.Case(f"cachegrind {name}", run))
        for name in ("threads.static", "processes.pie", "switches.pie"):
            cases.append(common.Case(f"oracle {name}", lambda n=name: check_oracle_of(n)))
        cases.append(common.Case("slowdown", check_slowdown))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

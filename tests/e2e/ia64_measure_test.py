#!/usr/bin/env python3
"""respike measure and compare on Itanium programs, and the emulator that drives the model.

The oracle of instructions, no-ops and groups: the emulator's own counts say how often each slot ran, and objdump says
which instruction each slot has. tests/unit/itanium2_*_test.cc test the model itself. Freestanding programs are always
measured, real programs if they are there (ia64_programs.py)."""

import functools
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

import common
import ia64_programs
from common import Skip, expect

EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
SOURCES = ia64_programs.ASSEMBLER_SOURCES / "c"
TIMEOUT = 200
scratch = common.Scratch()

FIELDS = """model instructions nops cycles groups bubbles conditional_branches taken_branches taken_jumps mispredicts
icache_misses l2_icache_misses itb_misses l2_itb_misses breakdown processes exit_status""".split()
# Of models/machine_model.h, in its order.
EVENTS = """instructions issue_cycles conditional_branches taken_branches taken_jumps predicted_taken mispredicts
icache_misses refill_hits l2_icache_misses itb_misses nops groups""".split()


def Case(name, function, *arguments):
    return common.Case(name, functools.partial(function, *arguments))


def run(command, **options):
    return subprocess.run(
        ["timeout", "-s", "KILL", str(TIMEOUT), *map(str, command)],
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def respike(*arguments, **options):
    return run([common.RESPIKE, *arguments], **options)


def measure(program, *arguments, **options):
    done = respike("measure", "--json", "--", program, *arguments, **options)
    expect(done.returncode == 0, done.stderr.decode(errors="replace")[-500:])
    return json.loads(done.stdout), done.stderr


@functools.cache
def freestanding(name):
    return ia64_programs.freestanding(name, scratch.folder())


def real(name):
    for path in ia64_programs.programs():
        if path.name == f"{name}.ia64":
            return path
    raise Skip(ia64_programs.MISSING)


def read_events(prefix):
    """The events of all processes of one run, added up."""
    total = dict.fromkeys(EVENTS, 0)
    files = list(prefix.parent.glob(f"{prefix.name}.*"))
    for path in files:
        with open(path, "rb") as file:
            magic, _, threads = struct.unpack("<8sII", file.read(16))
            expect(magic == b"RSPKMSR3", magic)
            size = (path.stat().st_size - 16) // 16384
            for _ in range(threads):
                for name, value in zip(EVENTS, struct.unpack_from(f"<{len(EVENTS)}Q", file.read(size))):
                    total[name] += value
    return total, len(files)


def read_counts(path):
    """{(address, slot): count}, over all parts of the file."""
    counts = {}
    for line in path.read_text().splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([012]) (\d+)", line)
        if match:
            key = int(match[1], 16), int(match[2])
            counts[key] = counts.get(key, 0) + int(match[3])
    return counts


def listed(program):
    """{(address, slot): (text, whether a stop follows)} by objdump; the slot of a long instruction
    is 1."""
    result, address, slot, long = {}, 0, 0, False
    for line in ia64_programs.tool("objdump", "-d", "--no-show-raw-insn", program, timeout=300).splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(?:\[([A-Z]{3})\]\s+)?(.*)$", line)
        if not match:
            continue
        if match[2]:
            address, slot, long = int(match[1], 16) & ~15, 0, match[2] == "MLX"
        text = match[3].strip()
        if not text:
            continue
        result[address, slot] = text.rstrip(";"), text.endswith(";;")
        slot += 1
    return result


def check_figures(m):
    expect(list(m) == FIELDS, list(m))
    expect(m["model"] == "itanium2", m["model"])
    expect(sum(m["breakdown"].values()) == m["cycles"], "the breakdown")
    expect(m["groups"] + m["bubbles"] == m["cycles"], "bubbles")
    expect(m["breakdown"]["instruction groups"] == m["groups"], "groups")
    expect(0 < m["nops"] < m["instructions"], "no-ops")
    expect(m["groups"] < m["instructions"] <= 6 * m["cycles"], "six instructions a cycle at most")
    expect(m["taken_jumps"] <= m["taken_branches"] <= m["groups"], "branches")
    expect(m["l2_icache_misses"] <= m["icache_misses"], "misses")
    expect(m["l2_itb_misses"] <= m["itb_misses"], "misses of the translation buffer")


# --- Cases -------------------------------------------------------------------------------------------


def oracle(program, *arguments, faults=False):
    """One run with counts and model. `faults`: the program handles faults, which leave pieces that
    the model has counted whole."""
    folder = scratch.folder()
    command = [EMULATOR, "--counts", folder / "counts", "--model", folder / "model", program, *arguments]
    done = run(command, cwd=folder)
    plain = run([EMULATOR, program, *arguments], cwd=folder)
    expect((done.returncode, done.stdout) == (plain.returncode, plain.stdout), "it behaves otherwise when it is measured")
    events, files = read_events(folder / "model")
    counts, text = read_counts(folder / "counts"), listed(program)
    expect(files == 1, f"{files} files")
    instructions = nops = stops = 0
    for place, count in counts.items():
        if place not in text:
            continue  # the second half of a long instruction
        name, stop = text[place]
        instructions += count
        nops += count * bool(re.match(r"(\(p\d+\) )?\s*(nop|hint)\.", name))
        stops += count * stop
    expect(events["instructions"] == instructions, f"{events['instructions']} instructions, not {instructions}")
    most = nops + (3 if faults else 0)
    expect(nops <= events["nops"] <= most, f"{events['nops']} no-ops, not {nops}")
    # Groups end at stops and taken branches; often a taken branch also has a stop.
    most = stops + events["taken_branches"] + 1000
    expect(stops <= events["groups"] + 1 <= most, f"{events['groups']} groups, {stops} stops")


def measured(program):
    """Measuring twice gives the same numbers, and shows the output of the program."""
    first, said = measure(program)
    check_figures(first)
    expect(measure(program)[0] == first, "another measurement gives other numbers")
    plain = run([EMULATOR, program])
    expect(plain.stdout in said, "the program's output is missing")


def table():
    done = respike("measure", "--", freestanding("calls"))
    text = done.stdout.decode()
    expect(done.returncode == 0, done.stderr)
    for label in ("model                   itanium2", "cycles", "instruction groups", "bubbles", "split issue", "mispredicts"):
        expect(re.search(rf"^{label}", text, re.MULTILINE), f"no {label} in {text}")
    expect("model C" not in text, "a formula of another processor")


def comparison():
    one, other = freestanding("calls"), freestanding("integers")
    done = respike("compare", one, one)
    expect(done.returncode == 0 and b"same output             yes" in done.stdout, done.stderr)
    expect(b"speedup                 1.000\n" in done.stdout, done.stdout)
    done = respike("compare", "--json", one, other)
    result = json.loads(done.stdout)
    expect(done.returncode == 1 and not result["same_output"], done.stderr)
    for part in ("before", "after"):
        check_figures(result[part])


def processes():
    """Children of fork and vfork, and executed programs, have files of their own; threads do
    not."""
    compiler = ia64_programs.toolchain()
    if compiler is None:
        raise Skip(ia64_programs.MISSING)
    compiler = compiler / "bin" / "ia64-linux-gnu-gcc"
    for name, least in (("processes", 8), ("threads", 1)):
        folder = scratch.folder()
        command = [compiler, "-w", "-O2", "-static", "-o", folder / name, SOURCES / f"{name}.c", "-lm", "-pthread"]
        expect(run(command).returncode == 0, "the compiler fails")
        counts, model = folder / "counts", folder / "model"
        done = run([EMULATOR, "--counts", counts, "--model", model, folder / name], cwd=folder)
        plain = run([EMULATOR, folder / name], cwd=folder)
        expect((done.returncode, done.stdout) == (plain.returncode, plain.stdout), name)
        events, files = read_events(model)
        expect(files >= least, f"{files} processes of {name}")
        text = listed(folder / name)
        executed = sum(count for place, count in read_counts(counts).items() if place in text)
        expect(events["instructions"] == executed, f"{name}: {events['instructions']} instructions, not {executed}")
        m, _ = measure(folder / name, cwd=folder)
        check_figures(m)
        expect(m["processes"] == files, f"{m['processes']} processes, not {files}")


def dynamic():
    """QEMU_LD_PREFIX also names the sysroot for Itanium programs."""
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise Skip(ia64_programs.MISSING)
    program = scratch.folder() / "program"
    source = program.parent / "source.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    expect(run([toolchain / "bin" / "ia64-linux-gnu-gcc", "-o", program, source]).returncode == 0, "the compiler fails")
    environment = dict(os.environ, QEMU_LD_PREFIX=str(toolchain / "sysroot"))
    m, said = measure(program, env=environment)
    check_figures(m)
    expect(b"hello" in said, said)


def documented():
    """docs/commands.md lists the fields of both models, in their order."""
    rows = re.findall(r"^\| `(\w+)` \| (yes|) ?\| (yes|) ?\|", (common.ROOT / "docs" / "commands.md").read_text(), re.MULTILINE)
    alpha = json.loads(common.respike_ok("measure", "--json", "--", common.first_program("calls.static").image).stdout)
    expect([name for name, has, _ in rows if has] == list(alpha), f"{rows} {list(alpha)}")
    itanium, _ = measure(freestanding("calls"))
    expect([name for name, _, has in rows if has] == list(itanium), f"{rows} {list(itanium)}")


CRASHES = """
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int status = 0;
  if (fork() == 0) *(volatile int*)8 = 1;
  wait(&status);
  return printf("%d\\n", status) == 0;
}
"""


def crash():
    """A child that a signal kills at another address makes no difference that compare reports."""
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise Skip(ia64_programs.MISSING)
    program = scratch.folder() / "program"
    source, moved = program.parent / "source.c", program.parent / "moved"
    source.write_text(CRASHES)
    compiler = toolchain / "bin" / "ia64-linux-gnu-gcc"
    expect(run([compiler, "-O2", "-static", "-Wl,-q", "-o", program, source]).returncode == 0, "the compiler fails")
    common.optimize(program, moved, "--layout", "random", "--seed", "1")
    done = respike("compare", program, moved, "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["same_output"] and not done.stderr, f"{done.returncode} {done.stderr}")
    m, said = measure(program)
    expect((m["processes"], said) == (2, b"11\n"), f"{m} {said}")


def problems():
    program = freestanding("calls")
    alpha = common.first_program("calls.static").image
    for arguments, text in (
        (["measure", "--model", "alpha21164", "--", program], "it is not a program for Alpha"),
        (["compare", program, alpha], "it is not a program for Itanium"),
        (["compare", alpha, program], "it is not a program for Alpha"),
        (["measure", "--", freestanding("fault_load")], "killed by signal 11"),
        (["compare", freestanding("fault_load"), freestanding("fault_load")], "killed by signal 11"),
    ):
        done = respike(*arguments)
        said = done.stderr.decode()
        expect(done.returncode == 1 and said.startswith("respike: ") and text in said, f"{done.returncode} {said}")
        expect(said.count("\n") == 1, f"more than a sentence: {said}")
    done = run([EMULATOR, "--model", "/nowhere/x", program])
    expect(done.returncode == 125 and b"/nowhere/x" in done.stderr, f"{done.returncode} {done.stderr}")


def slowdown():
    """The slowdown by measuring in processor time, for sqlite3 with its reference input: 2.3 when
    this was written."""
    if os.environ.get("RESPIKE_SANITIZED"):
        raise Skip("sanitizers slow it down")
    program, script = real("sqlite3"), ia64_programs.SHARED / "asm" / "t.sql"
    if not script.exists():
        raise Skip(ia64_programs.MISSING)
    model = scratch.folder() / "model"

    def execute(*options):
        with open(script) as stdin:
            expect(run([EMULATOR, *options, program], stdin=stdin).returncode == 0, "it fails")

    measurements = [lambda o=options: common.processor_seconds(lambda: execute(*o)) for options in ((), ("--model", model))]
    plain, measured = common.least_times(measurements, lambda plain, measured: measured < 5 * plain)
    expect(measured < 5 * plain, f"{measured / plain:.1f} times slower")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with scratch:
        cases = [Case(f"freestanding.{n}", lambda n=n: oracle(freestanding(n), faults=n == "architecture")) for n in ("calls", "integers", "floats", "architecture")]
        cases += [Case(f"real.{n}", lambda n=n: oracle(real(n))) for n in ("hello", "mix", "loops", "sw", "cxx")]
        cases += [
            Case("measured", lambda: measured(freestanding("integers"))),
            Case("measured.real", lambda: measured(real("mix"))),
            Case("table", table),
            Case("comparison", comparison),
            Case("processes", processes),
            Case("dynamic", dynamic),
            Case("documented", documented),
            Case("crash", crash),
            Case("problems", problems),
        ]
        status = common.run_cases(cases, args)
        return status | (common.run_cases([Case("slowdown", slowdown)], args) if args.filter in "slowdown" else 0)


if __name__ == "__main__":
    sys.exit(main())

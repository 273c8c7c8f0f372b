#!/usr/bin/env python3
"""How many instructions does the IA-64 emulator execute in a second?
Status 1 if there are fewer than --least, 77 if there is no program to measure.

The program is sqlite3 with t.sql of ../shared/ia64 (tests/e2e/ia64_programs.py says where it looks for them). The
program's counts (--counts) and its disassembly show how many of its slots are no-ops. Emulation of no-ops costs
nothing, so they do not count; a long instruction, which takes two slots, counts once. Time is processor time, the best
of several runs, so that other work on the machine matters little. The output of the program must be right."""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))
import ia64_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLOTS = {"0": 0, "6": 1, "c": 2}


def executed(emulator, program, script):
    """Slots and instructions without no-ops of one run, in millions."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counts"
        with open(script) as stdin:
            subprocess.run([emulator, "--counts", file, program], stdin=stdin, stdout=subprocess.DEVNULL, check=True)
        rows = re.findall(r"^([0-9a-f]+) ([012]) (\d+)$", file.read_text(), re.MULTILINE)
    counts = {(int(address, 16), int(slot)): int(count) for address, slot, count in rows}
    listing = ["ia64-linux-gnu-objdump", "-d", "--no-show-raw-insn", program]
    text = subprocess.run(listing, stdout=subprocess.PIPE, check=True, text=True).stdout
    instructions = 0
    for address, slot, name in re.findall(r"^ *([0-9a-f]+)([06c]):\s+(?:\[\w+\]\s+)?(?:\(p\d+\) +)?([a-z]\S*)", text, re.MULTILINE):
        if not name.startswith("nop."):
            instructions += counts.get((int(address, 16) * 16, SLOTS[slot]), 0)
    return sum(counts.values()) / 1e6, instructions / 1e6


def seconds(emulator, program, script, expected):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(script) as stdin:
        done = subprocess.run([emulator, program], stdin=stdin, stdout=subprocess.PIPE, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0 or done.stdout != expected:
        sys.exit(f"ia64_speed.py: {program} does not print what it should; status {done.returncode}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--least", type=float, default=100, help="million instructions a second, no-ops left out (100)")
    parser.add_argument("--runs", type=int, default=7, help="runs, the best of which counts (7)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of the build")
    args = parser.parse_args()
    emulator = os.environ.get("RESPIKE_IA64_EMULATOR", args.build / "respike-ia64")
    program = next((path for path in ia64_programs.programs() if path.name == "sqlite3.ia64"), None)
    script = ia64_programs.SHARED / "asm" / "t.sql"
    if program is None or not script.exists():
        print(f"ia64_speed.py: not measured: {ia64_programs.MISSING}")
        return 77
    expected = (ia64_programs.ASSEMBLER_SOURCES / "expected" / "sqlite3.txt").read_bytes()
    slots, instructions = executed(emulator, program, script)
    best = min(seconds(emulator, program, script, expected) for _ in range(args.runs))
    speed = instructions / best
    print(f"sqlite3: {slots:.1f} M slots, {instructions:.1f} M instructions without no-ops, {best:.3f} s: "
          f"{slots / best:.0f} M slots/s, {speed:.0f} M instructions/s")
    if speed < args.least:
        print(f"ia64_speed.py: fewer than {args.least:g} M instructions a second")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

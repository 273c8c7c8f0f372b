#!/usr/bin/env python3
"""gdb unwinds rewritten x86-64 programs as it unwinds the originals: images shuffled, scattered, laid out by the
profile of their own run, and instrumented.

gdb stops at the first entries of some procedures, drawn at random, and goes some instructions further, into callees,
prologues and epilogues (backtrace_native_gdb.py). When these procedures run too seldom, gdb stops at the first entries
of all procedures, and at last at more than two entries of each. Both images come to the same stops in the same order,
since a layout keeps the executed instructions, except for unconditional jumps and no-ops. At each stop the call stack
by names has to be the same: fragments, NAME.frag.N and NAME.cold, count as NAME, aliases as one procedure, and code
without a procedure of the image (libraries, linkage tables) as "outside". Instrumented images execute more, so they
stop at entries only.

RESPIKE_STOPS: stops wanted per program and layout (default 12)."""

import bisect
import json
import os
import pathlib
import random
import re
import shutil
import sys
import threading

import backtrace_test
import common
import profiles

STOPS = int(os.environ.get("RESPIKE_STOPS", 12))
GDB_TIMEOUT = 300.0
LAYOUTS = ("random", "scatter", "profile", "instrumented")
STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 25, 60)
PROGRAMS = re.compile(
    r"^(calls\.pie|containers\.pie|strings\.pie|modern\.pie|lua\.(dynamic|pie)|sqlite3\.pie|minigzip\.pie"
    r"|exceptions\.(dynamic|O0\.pie|O3\.pie|clang\.pie|clang-lld\.pie|sections\.pie|cet\.pie)"
    r"|switches\.(pie|frames\.pie)|interpreter\.(pie|clang\.dynamic))$"
)


class Image(backtrace_test.ImageMap):
    def name(self, address):
        """The procedure whose symbol has the address."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.ranges[at][0]:
            return "outside"
        return common.procedure_of_piece(self.ranges[at][1])


def rewritten(program, layout, folder):
    output = folder / "rewritten"
    if layout == "instrumented":
        common.respike_ok("image", "instrument", program.image, "-o", output, "--spool", folder / "spool")
    elif layout == "profile":
        counts = profiles.count(program, folder)
        common.optimize(program.image, output, "--profile", counts["main"])
    else:
        common.optimize(program.image, output, "--layout", layout)
    return Image(output)


def walk(program, image, names, passes, steps, folder):
    """The stops of a run, see backtrace_native_gdb.py: [[name of the entry, stack]]."""
    folder.mkdir()
    copy = folder / "image"  # paths of one length, since the program sees its path
    shutil.copy(image.path, copy)
    run = program.runs[0]
    entries = {s.value: s.name for s in image.symbols if s.name in names}
    job = {
        "result": str(folder / "result"),
        "entry": image.entry,
        "entries": sorted(entries),
        "passes": passes,
        "steps": steps,
        "arguments": run.args,
        "stdin": str(run.stdin or "/dev/null"),
    }
    (folder / "job").write_text(json.dumps(job))
    gdb = common.run_command(
        ["gdb-multiarch", "-nx", "-batch", "-x", pathlib.Path(__file__).with_name("backtrace_native_gdb.py"), copy],
        timeout=GDB_TIMEOUT,
        cwd=folder,
        env={**os.environ, "BACKTRACE_JOB": str(folder / "job"), "PYTHONNOUSERSITE": "1", "LD_BIND_NOW": "1"},
    )
    common.expect((folder / "result").exists(), f"gdb: {gdb.stderr.decode(errors='replace')[-500:]}")
    stops = json.loads((folder / "result").read_text())
    return [(entries[at], stack) for at, stack in stops]


def name_stack(image, stack, canonical):
    """The call stack by names. A return address belongs to the call before it."""
    names = (image.name(address - (level > 0)) for level, address in enumerate(stack))
    return [canonical.get(name, name) for name in names]


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.compared = self.deepest = 0
        self.procedures = set()

    def add(self, name, stack):
        with self.lock:
            self.compared += 1
            self.deepest = max(self.deepest, len(stack))
            self.procedures.add(name)


def check(program, layout, scratch, tally):
    folder = scratch.folder()
    before, after = Image(program.image), rewritten(program, layout, folder)
    generator = random.Random(f"{program.name} {layout}")
    known = set(backtrace_test.unique_procedures(before)) & set(backtrace_test.unique_procedures(after))
    drawn = generator.sample(sorted(known), len(known))
    steps = [0 if layout == "instrumented" else generator.choice(STEPS) for _ in range(STOPS)]
    for attempt, (number, passes) in enumerate(((8 * STOPS, 2), (len(drawn), 2), (len(drawn), STOPS))):
        names = set(drawn[:number])
        expected = walk(program, before, names, passes, steps, folder / f"walk{attempt}")
        if len(expected) == STOPS:
            break
    actual = walk(program, after, names, passes, steps, folder / "walk9")
    canonical = backtrace_test.aliases(before)
    common.expect(expected, "no stop was reached in the original")
    for number, ((name, old), (other, new)) in enumerate(zip(expected, actual)):
        old_stack, new_stack = name_stack(before, old, canonical), name_stack(after, new, canonical)
        common.expect(
            (name, old_stack) == (other, new_stack),
            f"stop {number}, {steps[number]} instructions from {name} or {other}, at {old[0]:#x} and {new[0]:#x}: "
            f"{old_stack} became {new_stack}",
        )
        tally.add(name, old_stack)
    common.expect(len(actual) == len(expected), f"{len(expected)} stops in the original, {len(actual)} in the output")


def main():
    args = common.argument_parser(__doc__).parse_args()
    tally = Tally()
    with common.Scratch() as scratch:
        cases = [
            common.Case(f"{program.name} {layout}", lambda p=program, l=layout: check(p, l, scratch, tally))
            for program in common.load_programs()
            if PROGRAMS.match(program.name)
            for layout in LAYOUTS
        ]
        status = common.run_cases(cases, args)
        wanted = len(common.selected(cases, args)) * STOPS // 2
    print(f"{tally.compared} stops compared, at {len(tally.procedures)} procedures, stacks of up to {tally.deepest} frames")
    if not args.filter and tally.compared < wanted:
        print("FAILED: at least half of the stops are wanted")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

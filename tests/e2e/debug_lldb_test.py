#!/usr/bin/env python3
"""At random stops LLDB shows the same frames and variables in rewritten programs as in the originals.

Stops are those of debug_stops_test.py: the K-th time that the program comes to an instruction with an origin. LLDB
finds values that callers know by its own reading of calls (DW_TAG_call_site), so what one debugger shows says nothing
about the other. At each stop the functions, the lines and the variables of the stack are compared. For a value that is
an address, only its presence is compared; the same holds for numbers that may be addresses, as in variables that are
not initialized yet.

LLDB joins ranges of a function that touch, and reads the first FDE of each. So fragments of a procedure, which have
FDEs of their own, must not touch.

RESPIKE_STOPS: stops per program and layout (default 40)."""

import collections
import functools
import json
import math
import os
import pathlib
import random
import re
import shutil
import sys

import common
import debug_images
from debug_stops_test import CANDIDATES, MOST_PASSES, STOPS, Tally, frames_of_input, own_instructions

LLDB = next(filter(None, map(shutil.which, ("lldb-22", "lldb"))), None)
LLDB_TIMEOUT = 600.0
FRAMES = 24
PROGRAMS = {"": "variables exceptions calls switches strings", "dwarf4": "variables", "O3": "variables", "clang": "variables strings"}
LAYOUTS = ("original", "random", "profiled")
LEAST_ADDRESS = 1 << 20  # larger numbers may be addresses


def run(work, image, stops, folder, frames=FRAMES):
    """[[key, [[function, is inlined, FILE:LINE, {variable: value}]]]], the result of debug_stops_lldb.py for a copy of
    the image in the folder."""
    copy, result, source = folder / "image", folder / "result", work.build.source
    shutil.copy(image, copy)
    result.unlink(missing_ok=True)
    job = {
        **{"stops": stops, "frames": frames, "result": str(result), "image": str(copy)},
        **{"arguments": list(map(str, source.arguments)), "stdin": str(source.stdin or "/dev/null")},
    }
    (folder / "job").write_text(json.dumps(job))
    script = pathlib.Path(__file__).with_name("debug_stops_lldb.py")
    done = common.run_command(
        [LLDB, "--no-lldbinit", "--batch", "-o", f"command script import {script}"],
        timeout=LLDB_TIMEOUT, cwd=folder, env={**os.environ, "DEBUG_JOB": str(folder / "job"), "LD_BIND_NOW": "1"},
    )  # fmt: skip
    common.expect(result.exists(), f"LLDB: {(done.stderr + done.stdout).decode(errors='replace')[-600:]}")
    return json.loads(result.read_text())


def plan(work):
    """[(OLD, K)] drawn at random from the instructions that the program reaches."""
    generator = random.Random(work.build.name)
    olds = sorted(own_instructions(work))
    drawn = sorted(generator.sample(olds, min(len(olds), CANDIDATES * STOPS)))
    passes = {old: generator.randint(1, MOST_PASSES) for old in drawn}
    reached = [key for key, _ in run(work, work.image, [[old, [old], passes[old]] for old in drawn], work.scratch.folder(), frames=0)]
    return [(old, passes[old]) for old in sorted(generator.sample(reached, min(len(reached), STOPS)))]


def pair_frames(before, after):
    """Pairs of frames of two stacks; None if they differ. Where a stop is at the first instruction of an inlined
    function, LLDB may forget functions around it, up to the function that is not inlined, in either program. Among the
    ways to pair frames, the result has the fewest other lines and forgotten frames."""

    @functools.cache
    def best(i, j):
        """(cost, pairs) of the frames from here on."""
        if i == len(before) and j == len(after):
            return 0, ()
        if FRAMES in (len(before), len(after)) and (i == len(before) or j == len(after)):
            return 0, ()  # no more were asked for
        ways = [(math.inf, ())]
        if i < len(before) and j < len(after) and common.procedure_of_piece(before[i][0]) == common.procedure_of_piece(after[j][0]):
            cost, pairs = best(i + 1, j + 1)
            ways.append((cost + (before[i][2] != after[j][2]), ((before[i], after[j]), *pairs)))
        for stack, at, next_places in ((before, i, (i + 1, j)), (after, j, (i, j + 1))):
            if at < len(stack) and at > 0 and stack[at - 1][1]:
                cost, pairs = best(*next_places)
                ways.append((cost + 2, pairs))
        return min(ways, key=lambda way: way[0])

    cost, pairs = best(0, 0)
    return pairs if cost < math.inf else None


def is_leftover(before, after):
    """Whether two values may be addresses, which differ."""
    numbers = [re.findall(r"-?\d{7,}", value) for value in (before, after)]
    return all(any(abs(int(number)) >= LEAST_ADDRESS for number in found) for found in numbers)


def compare_stacks(before, after, lines, where, problems):
    """Compares two stacks; returns how many values there are, and how many are in one of them only. LLDB's line of the
    innermost frame may also be one of `lines`, the lines of llvm-symbolizer."""
    counts, pairs = collections.Counter(), pair_frames(before, after)
    if pairs is None:
        names = [[common.procedure_of_piece(frame[0]) for frame in stack] for stack in (before, after)]
        problems.add("stack", f"{where}: {names[0]} became {names[1]}")
        return counts
    counts.update(forgotten=len(before) - len(pairs), forgotten_now=len(after) - len(pairs), frames=len(pairs))
    for level, ((function, _, line, given), (_, _, new_line, taken)) in enumerate(pairs):
        here = f"{where}, frame {level} {function}"
        if line != new_line and not (level == 0 and new_line in lines):
            problems.add("line", f"{here}: {line} became {new_line}")
        if given.keys() != taken.keys():
            problems.add("variables", f"{here}: {sorted(given)} became {sorted(taken)}")
            continue
        for name, value in given.items():
            counts["values"] += value is not None
            counts["without"] += value is not None and taken[name] is None
            counts["gained"] += value is None and taken[name] is not None
            if None not in (value, taken[name]) and value != taken[name] and not is_leftover(value, taken[name]):
                problems.add("variable", f"{here}: {name} = {value} became {taken[name]}")
    return counts


def check(work, layout, tally):
    if LLDB is None:
        raise common.Skip("there is no LLDB")
    rewriting = work.rewritten(layout)
    drawn = [(old, passes) for old, passes in work.shared("plan", lambda: plan(work)) if old in rewriting.news]
    folder = work.scratch.folder()  # the same for both, since the program sees its path
    first = run(work, work.image, [[old, [old], passes] for old, passes in drawn], folder)
    second = run(work, rewriting.output, [[old, rewriting.news[old], passes] for old, passes in drawn], folder)
    common.expect(first, "no stop was reached in the original")
    problems, counts = debug_images.Problems(), collections.Counter()
    reached = [[key for key, _ in each] for each in (first, second)]
    if reached[0] != reached[1]:
        problems.add("order of stops", f"{list(map(hex, reached[0]))} became {list(map(hex, reached[1]))}")
    now = dict(second)
    for key, stack in first:
        if key in now:
            lines = {f"{os.path.basename(frame[1])}:{frame[2]}" for frame in frames_of_input(work).get(key, ())}
            counts += compare_stacks(stack, now[key], lines, f"at {key:#x}, now {' '.join(map(hex, rewriting.news[key]))}", problems)
    tally.add(stops=len(first), **counts)
    common.expect(not problems, f"{len(first)} stops\n    {debug_images.describe(problems)}")
    common.expect(counts["without"] == 0, f"{counts['without']} of {counts['values']} values are in the input only")


def check_apart(work, layout):
    """No FDE ends where another one of the same procedure starts."""
    output = work.rewritten(layout).output
    names = {symbol.value: common.procedure_of_piece(symbol.name) for symbol in common.read_symbols(output) if symbol.kind == "FUNC"}
    text = common.binutils("readelf", "--debug-dump=frames", output)
    ranges = sorted((int(start, 16), int(end, 16)) for start, end in re.findall(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)$", text, re.M))
    common.expect(len(ranges) > 3, f"{len(ranges)} FDEs")
    touching = [
        f"{names[after[0]]} at {after[0]:#x}"
        for before, after in zip(ranges, ranges[1:])
        if before[1] == after[0] and after[0] in names and names.get(before[0]) == names[after[0]]
    ]
    common.expect(not touching, f"pieces touch: {', '.join(touching[:5])}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    tally, cases = Tally(), []
    builds = {build.name: build for build in debug_images.builds()}
    with common.Scratch() as scratch:
        for shape, programs in PROGRAMS.items():
            for program in programs.split():
                build = builds.get(".".join(part for part in (program, "x86_64", shape) if part))
                if build is None:
                    continue
                work = debug_images.Work(build, scratch)
                for layout in LAYOUTS:
                    cases.append(common.Case(f"stops {build.name} {layout}", lambda w=work, l=layout: check(w, l, tally)))
                for layout in debug_images.LAYOUTS if not shape else ():
                    cases.append(common.Case(f"apart {build.name} {layout}", lambda w=work, l=layout: check_apart(w, l)))
        status = common.run_cases(cases, args)
    numbers = tally.numbers
    print(
        f"{numbers['stops']} stops, {numbers['frames']} frames; {numbers['values']} values, {numbers['without']} of them not "
        f"available in outputs only; {numbers['gained']} values in outputs only; functions around inlined ones that LLDB forgets: "
        f"{numbers['forgotten_now']} in originals, {numbers['forgotten']} in outputs"
    )
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""At random stops gdb shows the same frames, arguments and variables in rewritten programs as in the originals, and
breakpoints by line are hit as often.

A stop is the K-th time that the program comes to an instruction; the instructions are drawn from instructions with an
origin (debug_images.py), so both programs stop at the same point of the execution. They have to come to their stops in
the same order. At each stop the text of `bt -full` is compared, frame by frame: the function, the line, the arguments
with their values at entry (`x=x@entry`), and all variables of all blocks. Addresses of code in the text become
addresses of the input. The heap is moved to one place, since images are of different sizes.

For breakpoints, gdb gets FILE:LINE of lines of the program's own sources, and counts hits until the program ends, up to
MOST_HITS. All statements of a line have to be hit as often as in the original, and so has the breakpoint in the
original layout. In other layouts gdb may choose another place than in the input. If a block has several statements of a
line, as the loop in `for (i = 0; i < n; i++)`, gdb takes the statement with the lowest address. And gdb takes code
below the entry of its procedure for a prologue, and puts the breakpoint at the entry. The test counts such lines, and
lines with only a jump that a layout removes.

Programs of this host run natively, Alpha's under qemu-alpha.

RESPIKE_STOPS: stops per program and layout (default 40); RESPIKE_LINES: lines (default 200)."""

import bisect
import collections
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import backtrace_test
import common
import debug_images
import debug_readers

STOPS = int(os.environ.get("RESPIKE_STOPS", 40))
LINES = int(os.environ.get("RESPIKE_LINES", 200))
FRAMES = 8
MOST_HITS = 20
MOST_PASSES = 6
CANDIDATES = 8  # instructions drawn for each stop, since many are not executed
GDB_TIMEOUT = 600.0
CLOCKS = ("setseed", "randseed")  # procedures with variables that hold the time: Lua's
LAYOUTS = debug_images.LAYOUTS | debug_images.NO_HOT_COLD
# The share of values that may be missing in the output only, and of stops that may be missed there, with hot-cold
# optimization of Alpha's code.
MOST_WITHOUT = 0.01
MISSING = "<optimized out>"
INSIDE, NEW_CODE = "code inside of an instruction", "code that is new"
PROGRAMS = {
    "x86_64": {
        "": "variables exceptions calls switches strings containers lua",
        "dwarf4": "variables exceptions",
        "O3": "variables exceptions",
        "types": "exceptions",
        "clang": "variables exceptions strings lua",
        "clang4": "variables",
        "lto": "variables",
    },
    "alpha": {"": "variables exceptions calls strings", "dwarf4": "variables", "static": "variables"},
}


class Image:
    """An image of a rewriting, and the addresses of the input for its addresses."""

    def __init__(self, rewriting, is_output):
        self.rewriting, self.is_output = rewriting, is_output
        self.path = rewriting.output if is_output else rewriting.image
        data = self.path.read_bytes()
        self.entry = int.from_bytes(data[24:32], "little")
        instructions = rewriting.instructions if is_output else rewriting.before
        self.instructions, self.starts = instructions, sorted(instructions)
        self.returns = {
            at + i.size: at for at, i in instructions.items() if i.mnemonic.startswith(("call", "jsr", "bsr")) and i.size
        }

    def is_code(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if address in self.returns:
            return True
        return at >= 0 and address < self.starts[at] + max(self.instructions[self.starts[at]].size, 1)

    def origin(self, address):
        """The address in the input of a code address. There is none inside an instruction; such numbers come from
        registers that do not hold the variable that gdb shows there."""
        if address not in self.instructions and address not in self.returns:
            return INSIDE
        if not self.is_output:
            return f"code {address:#x}"
        if address in self.rewriting.synthesized:
            return NEW_CODE
        call = self.returns.get(address)
        if call is not None and call in self.rewriting.origins:
            old = self.rewriting.origins[call]
            return f"code {old + self.rewriting.before[old].size:#x}"
        return f"code {self.rewriting.origins.get(address, address):#x}"

    def normal(self, text, bias):
        """A stack's text without the parts that layouts change."""

        def address(match):
            value = int(match[0], 16)
            if self.is_code(value - bias):
                return self.origin(value - bias)
            return match[0]

        def number(match):
            value = int(match[0])
            return self.origin(value - bias) if self.is_code(value - bias) else match[0]

        text = re.sub(r"^(#\d+ +)0x[0-9a-f]+ in ", r"\1", text, flags=re.M)
        text = re.sub(r"(\.cold)?\.frag\.\d+\b", "", text)
        text = re.sub(r" <[^<>()]*\+\d+>", "", text)
        text = re.sub(r"(?<![\w.])[1-9]\d{9,}(?![\w.])", number, text)  # an address in an integer
        return re.sub(r"\b0x[0-9a-f]+\b", address, text)


def run(work, image, **wanted):
    """Runs gdb on a copy of the image; returns the result of debug_stops_gdb.py."""
    build, folder = work.build, pathlib.Path(tempfile.mkdtemp(dir=work.scratch.path))  # of one length, since the program sees its path
    copy, result = folder / "image", folder / "result"
    shutil.copy(image.path, copy)
    source, remote = build.source, build.machine != "x86_64"
    job = {
        **{"stops": [], "lines": [], "most_hits": MOST_HITS, "frames": FRAMES},
        **wanted,
        **{"result": str(result), "entry": image.entry, "arguments": list(map(str, source.arguments))},
        **{"stdin": str(source.stdin or "/dev/null"), "socket": str(folder / "gdb") if remote else "", "sysroot": common.SYSROOT},
    }
    (folder / "job").write_text(json.dumps(job))
    command = ["gdb-multiarch", "-nx", "-batch", "-x", pathlib.Path(__file__).with_name("debug_stops_gdb.py"), copy]
    environment = {**os.environ, "DEBUG_JOB": str(folder / "job"), "PYTHONNOUSERSITE": "1", "LD_BIND_NOW": "1"}
    emulator = None
    try:
        if remote:
            emulator = start_emulator(folder, copy, job)
        gdb = common.run_command(command, timeout=GDB_TIMEOUT, cwd=folder, env=environment)
    finally:
        if emulator:
            emulator.kill()
            emulator.wait()
    common.expect(result.exists(), f"gdb: {debug_readers.why_gdb_ended(gdb.stderr.decode(errors='replace'))}")
    return json.loads(result.read_text())


def start_emulator(folder, image, job):
    with open(job["stdin"], "rb") as stdin:
        process = subprocess.Popen(
            [*common.QEMU, "-seed", "1", "-g", job["socket"], "-0", "program", image, *job["arguments"]],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.environ["PATH"]},
        )
    backtrace_test.wait_for(pathlib.Path(job["socket"]), process)
    return process


# --- Stops ----------------------------------------------------------------------------------------------------------


def frames_of_input(work):
    """{OLD: frames by llvm-symbolizer}"""
    return work.shared("frames", lambda: dict(zip(work.addresses, debug_readers.symbolize(work.image, work.addresses))))


def own_instructions(work):
    """{OLD: (file, line) of the innermost frame} of instructions of the program's own sources, where runs repeat."""
    folders = {str(file.parent) for file in work.build.source.files}
    return {
        old: frames[0][1:3]
        for old, frames in frames_of_input(work).items()
        if frames
        and frames[-1][1]
        and os.path.dirname(frames[-1][1]) in folders
        and frames[0][2]
        and not any(frame[0] in CLOCKS for frame in frames)
    }


def plan(work, image):
    """[(OLD, K)] drawn at random from the instructions that the program reaches."""
    generator = random.Random(work.build.name)
    olds = sorted(own_instructions(work))
    drawn = sorted(generator.sample(olds, min(len(olds), CANDIDATES * STOPS)))
    passes = {old: generator.randint(1, MOST_PASSES) for old in drawn}
    trial = run(work, image, stops=[[old, [old], passes[old]] for old in drawn], frames=0)
    reached = [key for key, *_ in trial["stops"]]
    return [(old, passes[old]) for old in sorted(generator.sample(reached, min(len(reached), STOPS)))]


def split_frames(text):
    """The frames of a stack: [text of the frame with its variables]."""
    text = text.removesuffix("(More stack frames follow...)\n")
    return [part for part in re.split(r"^(?=#\d)", text, flags=re.M) if part.startswith("#")]


def lines_of_frames(work, key, text, bias):
    """For each frame of a stack of the input the FILE:LINE that llvm-symbolizer finds there, of all inlined frames."""
    found, at = [], key
    for frame in split_frames(text):
        address = re.match(r"#\d+ +0x([0-9a-f]+) in ", frame)
        if address and found:
            after = bisect.bisect_left(work.addresses, int(address[1], 16) - bias)  # a return address
            at = work.addresses[after - 1] if after else 0
        found.append({f"{frame[1]}:{frame[2]}" for frame in frames_of_input(work).get(at, ())})
    return found


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = collections.Counter()

    def add(self, **numbers):
        with self.lock:
            self.numbers.update(numbers)


def pair_frames(before, after, tail_calls):
    """Pairs of frames: [(level in the original, level in the output)]. The output may have frames of its own that end in a
    tail call (`tail_calls`): where gcc cut a procedure in two, gdb cannot follow tail calls of it in the original. Returns
    None when other frames differ in number."""
    name = lambda frame: re.match(r"#\d+ +(.*?)(?: \(|$)", frame)[1]
    pairs, level = [], 0
    for at, frame in enumerate(before):
        while level in tail_calls and name(after[level]) != name(frame):
            level += 1
        if level == len(after):
            return pairs if level == FRAMES else None
        pairs.append((at, level))
        level += 1
    return pairs if level == len(after) or len(before) == FRAMES else None


def same_places(before, after, pairs):
    """{frame of the original: names of variables that are at the same place in memory in both programs}"""
    levels = {level: at for at, level in pairs}
    moved = {(levels[level], name, address) for level, name, address in after if level in levels}
    found = collections.defaultdict(set)
    for level, name, _ in set(map(tuple, before)) & moved:
        found[level].add(name)
    return found


def without_contents(frame):
    """A frame's line without the contents of structures to which its arguments refer."""
    while (shorter := re.sub(r"\{[^{}]*\}", "", frame)) != frame:
        frame = shorter
    return frame


def split_arguments(line):
    """(a frame's line without its arguments, {argument: value}). In `x=x@entry=1` are two: x and x@entry."""
    start = re.search(r" \((?=\w+(@entry)?=)", line)
    if not start:
        return line, {}
    at, begin, depth, quote, found = start.end(), start.end(), 0, "", []
    while at < len(line) and depth >= 0:
        letter = line[at]
        if letter == "\\":
            at += 1
        elif quote or letter in "\"'":
            quote = "" if quote == letter else quote or letter
        elif depth == 0 and letter in ",)":
            found.append(line[begin:at])
            begin = at + 2
            depth -= letter == ")"
        else:
            depth += (letter in "([{") - (letter in ")]}")
        at += 1
    arguments = {}
    for argument in found:
        name, _, value = argument.partition("=")
        if value.startswith(f"{name}@entry="):
            value = value.partition("=")[2]
            arguments[f"{name}@entry"] = value
        arguments[name] = value
    return line[: start.end()] + line[at - 1 :], arguments


def is_leftover(before, after):
    """Whether two values of a variable differ as registers do that hold something else than the variable (which gdb shows
    where Clang says so): no instruction, code that is new in the output, or a jump table, which gdb shows as a text."""
    if before.startswith("code ") and after.startswith("code ") and (before == INSIDE or after == NEW_CODE):
        return True
    texts = [re.match(r'(0x[0-9a-f]+) "(?:[^"\\]*\\[0-7]{3}){8}', value) for value in (before, after)]
    return None not in texts and texts[0][1] == texts[1][1]


def compare_values(before, after, in_place, where, problems):
    """Compares {name: value} of one frame; returns how many there are, by kinds. Variables `in_place` may have other
    contents: addresses that earlier calls left in variables that are not initialized yet."""
    counts = collections.Counter()
    for name, value in before.items():
        now = after.get(name, MISSING)
        kind = "at_entry" if name.endswith("@entry") else "values"
        if value == MISSING:
            counts["gained"] += now != MISSING
            continue
        counts[kind] += 1
        if now == MISSING:
            counts[f"{kind}_without"] += 1
        elif now != value and name not in in_place and not is_leftover(value, now):
            problems.add("variable", f"{where}: {name} = {value} became {now}")
    counts["gained"] += sum(value != MISSING for name, value in after.items() if name not in before)
    return counts


def compare_frame(before, after, lines, in_place, where, problems):
    """Compares a frame's lines; returns how many values there are, by kinds. gdb prefers statements among the rows of an
    address, and takes a line before for the line 0, so the output may also have one of the `lines` that llvm-symbolizer
    finds at the frame's address."""
    left, right = (re.sub(r"^#\d+ +", "", frame).splitlines() for frame in (before, after))
    (left[0], given), (right[0], taken) = (split_arguments(without_contents(frame[0])) for frame in (left, right))
    is_line_0 = any(line.endswith(":0") for line in lines)
    if left[0] != right[0] and (left[0].rpartition(" at ")[0] != right[0].rpartition(" at ")[0] or right[0].rpartition(" at ")[2] not in lines and not is_line_0):
        problems.add("frame", f"{where}: {left[0]} became {right[0]}")
    names = [[line.partition(" = ")[0] for line in frame[1:]] for frame in (left, right)]
    if names[0] != names[1]:
        problems.add("variables", f"{where}: {left} became {right}")
        return {}
    where = f"{where} {left[0][:80]}"
    counts = compare_values(given, taken, in_place, where, problems)
    for one, other in zip(left[1:], right[1:]):
        name, _, value = one.partition(" = ")
        if value:
            counts += compare_values({name.strip(): value}, {name.strip(): other.partition(" = ")[2]}, in_place, where, problems)
    return counts


def most_of(number):
    """How many of so many there may be when each is one with the probability MOST_WITHOUT: more come in one of a million
    draws."""
    most, above = number, 0.0
    while most > 0:
        ways = math.lgamma(number + 1) - math.lgamma(most + 1) - math.lgamma(number - most + 1)
        above += math.exp(ways + most * math.log(MOST_WITHOUT) + (number - most) * math.log(1 - MOST_WITHOUT))
        if above > 1e-6:
            break
        most -= 1
    return most


def check_stops(work, layout, tally):
    rewriting = work.rewritten(layout)
    before, after = Image(rewriting, False), Image(rewriting, True)
    hot_cold = layout == "profiled" and work.build.machine == "alpha"
    drawn = work.shared("plan", lambda: plan(work, before))
    drawn = [(old, passes) for old, passes in drawn if old in rewriting.news]
    old_stops = [[old, [old], passes] for old, passes in drawn]
    new_stops = [[old, rewriting.news[old], passes] for old, passes in drawn]
    first = work.shared(("stops", str(old_stops)), lambda: run(work, before, stops=old_stops))
    second = run(work, after, stops=new_stops)
    common.expect(first["stops"], "no stop was reached in the original")
    problems = debug_images.Problems()
    reached = [[stop[0] for stop in each["stops"]] for each in (first, second)]
    if hot_cold:
        # Code that moved to the way into the cold part is executed there only.
        moved = set(reached[0]) - set(reached[1])
        common.expect(len(moved) <= most_of(len(reached[0])), f"{len(moved)} of {len(reached[0])} stops were not reached in the output")
        tally.add(moved=len(moved))
        reached[0] = [key for key in reached[0] if key not in moved]
    if reached[0] != reached[1]:
        orders = [[hex(key) for key in each] for each in reached]
        at = next((i for i, (a, b) in enumerate(zip(*orders)) if a != b), min(map(len, orders)))
        problems.add("order of stops", f"stop {at}: {orders[0][at:at + 3]} became {orders[1][at:at + 3]}")
    by_key = {key: stop for key, *stop in second["stops"]}
    counts = collections.Counter()
    for key, text, places, _ in first["stops"]:
        if key not in by_key:
            continue
        new_text, new_places, tail_calls = by_key[key]
        one = split_frames(before.normal(text, first["bias"]))
        other = split_frames(after.normal(new_text, second["bias"]))
        where = f"at {key:#x}, now {' '.join(map(hex, rewriting.news[key]))}"
        pairs = pair_frames(one, other, tail_calls)
        if pairs is None:
            problems.add("number of frames", f"{where}: {len(one)} became {len(other)}")
            continue
        lines, in_place = lines_of_frames(work, key, text, first["bias"]), same_places(places, new_places, pairs)
        for at, level in pairs:
            counts.update(compare_frame(one[at], other[level], lines[at], in_place[at], where, problems), frames=1)
    tally.add(stops=len(first["stops"]), **counts)
    common.expect(not problems, f"{len(first['stops'])} stops\n    {debug_images.describe(problems)}")
    for kind, what in (("values", "values are optimized out in the output only"), ("at_entry", "values at entry are in the input only")):
        lost, number = counts[f"{kind}_without"], counts[kind]
        common.expect(lost <= (most_of(number) if hot_cold else 0), f"{lost} of {number} {what}")


# --- Lines ----------------------------------------------------------------------------------------------------------


def is_there(hits):
    """Whether gdb has put the breakpoint at statements of its line."""
    return set(hits["places"]) <= {address for address, _ in hits["statements"]}


def check_lines(work, layout, tally):
    rewriting = work.rewritten(layout)
    own = {str(file) for file in work.build.source.files}
    places = sorted({place for place in own_instructions(work).values() if place[0] in own})
    chosen = random.Random(work.build.name).sample(places, min(len(places), LINES))
    lines = [f"{file}:{line}" for file, line in sorted(chosen)]
    before, after = Image(rewriting, False), Image(rewriting, True)
    first = work.shared("hits", lambda: run(work, before, lines=lines))
    second = run(work, after, lines=lines)
    problems = debug_images.Problems()
    hits, kept = 0, set(rewriting.kept)
    for line, one, other in zip(lines, first["lines"], second["lines"]):
        shown = f"{os.path.basename(line)}: {one} became {other}"
        if one is None:
            continue
        hits += one["hits"]
        other = other or {"hits": 0, "statements": [], "places": []}
        expected = dict(one["statements"])
        if not all(old in rewriting.news or old in kept for old in expected):
            tally.add(removed=1)
            continue
        actual = collections.Counter()
        for new, number in other["statements"]:
            actual[rewriting.origins.get(new, new)] += number
        for kind, olds in (("statement is lost", expected.keys() - actual.keys()), ("statement is new", actual.keys() - expected.keys())):
            if olds:
                problems.add(kind, f"{os.path.basename(line)} at {' '.join(map(hex, sorted(olds)))}, hits {expected} became {dict(actual)}")
        if any(min(actual[old], MOST_HITS) != expected[old] for old in actual.keys() & expected.keys()):
            problems.add("hits of a statement", shown)
        if one["hits"] != other["hits"] and actual.keys() == expected.keys():
            # Of the copies of a statement gdb takes only the first in each block of the source.
            is_single = len(expected) == len(other["statements"]) == 1
            if layout == "original" or (is_single and is_there(one) and is_there(other)):
                problems.add("hits of a breakpoint", shown)
            else:
                tally.add(elsewhere=1)
    tally.add(lines=len(lines), hits=hits)
    common.expect(not problems, f"{len(lines)} lines\n    {debug_images.describe(problems, 6)}")


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--layout", choices=LAYOUTS)
    args = parser.parse_args()
    tally, cases = Tally(), []
    builds = {build.name: build for build in debug_images.builds()}
    with common.Scratch() as scratch:
        for machine, shapes in PROGRAMS.items():
            for shape, programs in shapes.items():
                for program in programs.split():
                    build = builds.get(".".join(part for part in (program, machine, shape) if part))
                    if build is None:
                        continue
                    work = debug_images.Work(build, scratch)
                    for layout in LAYOUTS:
                        if args.layout not in (None, layout):
                            continue
                        for what, function in (("stops", check_stops), ("lines", check_lines)):
                            if what == "lines" and layout in debug_images.NO_HOT_COLD:
                                continue
                            cases.append(
                                common.Case(f"{what} {build.name} {layout}", lambda f=function, w=work, l=layout: f(w, l, tally))
                            )
        status = common.run_cases(cases, args)
    numbers = tally.numbers
    print(
        f"{numbers['stops']} stops, {numbers['frames']} frames; {numbers['values']} values, {numbers['values_without']} of them "
        f"optimized out in outputs only; {numbers['at_entry']} values at entry, {numbers['at_entry_without']} of them in inputs only; "
        f"{numbers['gained']} values in outputs only; {numbers['moved']} stops at what moved to the way into cold parts\n"
        f"{numbers['lines']} lines, {numbers['hits']} hits, {numbers['elsewhere']} lines where gdb chose another place, "
        f"{numbers['removed']} whose instructions were removed"
    )
    return status


if __name__ == "__main__":
    sys.exit(main())

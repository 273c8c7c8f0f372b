#!/usr/bin/env python3
"""Debuggers unwind shuffled images as they unwind the originals: at 200 random stops the stacks are equal.

A stop has to be the same point of the execution in both images, though addresses and instruction counts
differ. It is: the N-th pass through the body of a procedure, then K substantial instructions further, where
unconditional branches and no-ops do not count, because layouts add and remove them. Everything else runs in
the same order in both images. The digest of the instructions stepped over (without branch senses, targets
and formed addresses) must agree, which proves that both really are at the same point.

The plan comes from the original: qemu logs the procedures as they are entered, and stops are drawn from this
log at random, so that they are spread over the whole execution; K reaches into callees, prologues and
epilogues. Then gdb-multiarch, attached to qemu's stub, walks both images (backtrace_gdb.py) and unwinds by
.eh_frame; the frames' addresses are named by the symbols of the image they belong to. Fragments, NAME.frag.N,
count as NAME, aliases as one procedure, and code outside the image (libc) as "outside".
"""

import bisect
import collections
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import time

import common

STOPS_WANTED = 200
GDB_TIMEOUT = 300.0
LOG_LIMIT = 150_000
CANDIDATES = 250
MOST_PASSES = 60
STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 25, 60, 150)
PROGRAMS = ["calls.static", "exceptions.static", "switches.static", "containers.static", "strings.static", "sqlite3.static",
            "lua.static", "modern.static", "calls.dynamic", "exceptions.dynamic", "containers.pie", "lua.pie"]
TEXT_SECTIONS = re.compile(r"\s*\[\s*\d+\]\s+(\S+)\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+\S+\s+\S*X")


class ImageMap:
    """The code and the procedures of one image."""

    def __init__(self, path):
        self.path = path
        data = path.read_bytes()
        self.entry = int.from_bytes(data[24:32], "little")
        self.is_pie = data[16] == 3
        self.code = []
        for line in common.binutils("readelf", "-SW", path).splitlines():
            match = TEXT_SECTIONS.match(line)
            if match:
                address, offset, size = (int(f, 16) for f in match.groups()[1:])
                self.code.append((address, data[offset:offset + size]))
        self.symbols = [s for s in common.read_symbols(path) if s.kind == "FUNC" and s.section != "UND"]
        ranges = sorted({(s.value, s.value + s.size): s for s in self.symbols if s.size}.items())
        self.starts = [start for (start, _), _ in ranges]
        self.ranges = [(end, symbol.name) for (_, end), symbol in ranges]

    def word(self, address):
        for start, data in self.code:
            if start <= address < start + len(data):
                return int.from_bytes(data[address - start:address - start + 4], "little")
        return None

    def name(self, address):
        if self.word(address) is None:
            return "outside"
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0 and address < self.ranges[at][0]:
            return re.sub(r"\.frag\.\d+$", "", self.ranges[at][1])
        return "unnamed"

    def body(self, address, has_gp_load):
        """The first substantial instruction after the load of gp, following unconditional branches."""
        address += 8 if has_gp_load else 0
        for _ in range(16):
            word = self.word(address)
            if word is None:
                return None
            if word >> 26 == 0x30 and (word >> 21 & 31) == 31:
                displacement = word & 0x1fffff
                address += 4 + 4 * (displacement - ((displacement & 0x100000) << 1))
            elif word in (0x47ff041f, 0x2ffe0000, 0x5fff041f):
                address += 4
            else:
                return address
        return None


def unique_procedures(image):
    """{name: symbol} of sized procedures whose name and address are unambiguous in the image."""
    names = collections.Counter(s.name for s in image.symbols)
    return {s.name: s for s in image.symbols if names[s.name] == 1 and s.size >= 8}


def aliases(image):
    """{name: the first name in alphabetical order at the same address}."""
    groups = collections.defaultdict(set)
    for symbol in image.symbols:
        groups[symbol.value].add(symbol.name)
    return {name: min(group) for group in groups.values() for name in group}


# --- The plan ---------------------------------------------------------------------------------------------


def load_bias(program, image, folder):
    """Where qemu puts a position-independent image; it always takes the same place."""
    if not image.is_pie:
        return 0
    log = folder / "pages"
    common.run_command([*common.QEMU, "-d", "page", "-D", log, program.image, *program.runs[0].args],
                       stdin=program.runs[0].stdin, cwd=folder)
    match = re.search(r"^entry\s+0x([0-9a-f]+)", log.read_text(), re.M)
    common.expect(match, "qemu does not tell the entry point")
    return int(match[1], 16) - image.entry


def entry_log(program, image, procedures, folder):
    """The procedures in the order in which they are entered, as far as LOG_LIMIT entries."""
    bias = load_bias(program, image, folder)
    ranges = ",".join(f"{s.value + bias:#x}+12" for s in procedures.values())
    log = folder / "entries"
    os.mkfifo(log)
    run = program.runs[0]
    stdin = open(run.stdin, "rb") if run.stdin else subprocess.DEVNULL
    qemu = subprocess.Popen([*common.QEMU, "-d", "exec,nochain", "-dfilter", ranges, "-D", log, program.image, *run.args],
                            stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    by_address = {}
    for name, symbol in procedures.items():
        by_address[symbol.value + bias] = by_address[symbol.value + 8 + bias] = name
    try:
        with open(log) as lines:
            found = (by_address.get(int(line.split("/")[1], 16)) for line in lines if line.startswith("Trace"))
            return list(itertools.islice(filter(None, found), LOG_LIMIT))
    finally:
        qemu.kill()
        qemu.wait()
        if run.stdin:
            stdin.close()


def draw_stops(log, generator, count):
    """[(procedure, passes to ignore, steps)] in the order of the log, many different procedures among them.

    The passes are counted from the stop before; each costs a round trip to gdb, so they are limited, and a stop
    may come earlier in the execution than it was drawn.
    """
    places = collections.defaultdict(list)
    for index, name in enumerate(log):
        if len(places[name]) < 400:
            places[name].append(index)
    chosen = sorted(generator.choice(places[generator.choice(sorted(places))]) for _ in range(count))
    stops, at = [], 0
    for index in chosen:
        name = log[index]
        passes = sum(1 for place in places[name] if at < place < index)
        stops.append((name, min(passes, MOST_PASSES), generator.choice(STEPS)))
        at = index
    return stops


# --- Walking ----------------------------------------------------------------------------------------------


def walk(program, image, stops, symbols, gp_load, folder):
    """Runs the image under gdb through the stops; returns a list of results."""
    folder.mkdir()
    job = {
        "socket": str(folder / "gdb"), "result": str(folder / "result"), "bias_entry": image.entry if image.is_pie else None,
        "stops": [[image.body(symbols[name].value, gp_load[name]), ignore, steps] for name, ignore, steps in stops],
        "code": [[start, data.hex()] for start, data in image.code],
    }
    (folder / "job").write_text(json.dumps(job))
    run = program.runs[0]
    stdin = open(run.stdin, "rb") if run.stdin else subprocess.DEVNULL
    qemu = subprocess.Popen([*common.QEMU, "-g", job["socket"], "-0", "program", str(image.path), *run.args], stdin=stdin,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env={"PATH": os.environ["PATH"]})
    try:
        wait_for(pathlib.Path(job["socket"]), qemu)
        script = pathlib.Path(__file__).with_name("backtrace_gdb.py")
        gdb = common.run_command(["gdb-multiarch", "-nx", "-batch", "-x", script, image.path], timeout=GDB_TIMEOUT,
                                 env={**os.environ, "BACKTRACE_JOB": str(folder / "job"), "PYTHONNOUSERSITE": "1"})
        if not (folder / "result").exists():
            raise common.Failure(f"gdb: {gdb.stderr.decode(errors='replace')[-500:]}")
        return json.loads((folder / "result").read_text())
    finally:
        qemu.kill()
        qemu.wait()
        if run.stdin:
            stdin.close()


def wait_for(path, process):
    for _ in range(500):
        if path.exists():
            return
        if process.poll() is not None:
            raise common.Failure("qemu ended before gdb could attach")
        time.sleep(0.01)
    raise common.Failure("qemu's stub does not listen")


def name_stack(image, result, canonical):
    """The call stack by names. A return address belongs to the call before it."""
    names = []
    for level, address in enumerate(result["stack"]):
        name = image.name(address if level == 0 else address - 4)
        names.append(canonical.get(name, name))
    return names


class Tally:
    """How many stops were compared, over all cases."""

    def __init__(self):
        self.lock = threading.Lock()
        self.compared = self.complete = 0
        self.procedures = set()

    def add(self, name, complete):
        with self.lock:
            self.compared += 1
            self.complete += complete
            self.procedures.add(name)


def check_program(program, options, count, scratch, tally):
    folder = scratch.folder()
    output = folder / "rewritten"
    common.optimize(program.image, output, *options)
    before, after = ImageMap(program.image), ImageMap(output)
    old, new = unique_procedures(before), unique_procedures(after)
    shared = {n: s for n, s in old.items() if n in new}
    gp_load = {n: "GPLOAD" in s.other for n, s in shared.items()}
    shared = {n: s for n, s in shared.items() if before.body(s.value, gp_load[n]) and after.body(new[n].value, gp_load[n])}
    generator = random.Random(f"{program.name} {options}")
    shared = dict(generator.sample(sorted(shared.items()), min(CANDIDATES, len(shared))))
    stops = draw_stops(entry_log(program, before, shared, folder), generator, count)
    common.expect(stops, "no procedure was entered")

    expected = walk(program, before, stops, old, gp_load, folder / "before")
    actual = walk(program, after, stops[:len(expected)], new, gp_load, folder / "after")
    canonical = aliases(before)
    common.expect(expected, "no stop was reached in the original")
    for number, (stop, old_result, new_result) in enumerate(zip(stops, expected, actual)):
        where = f"stop {number} ({stop[0]}, pass {stop[1]}, {stop[2]} steps on)"
        old_stack, new_stack = (name_stack(i, r, canonical) for i, r in ((before, old_result), (after, new_result)))
        common.expect(old_result["digest"] == new_result["digest"],
                      f"{where}: other instructions were executed; {old_result['pc']:#x} in {old_stack[0]}, {new_result['pc']:#x} in {new_stack[0]}")
        common.expect(old_stack == new_stack, f"{where} at {old_result['pc']:#x} and {new_result['pc']:#x}: {old_stack} became {new_stack}")
        tally.add(stop[0], bool({"_start", "__start"} & set(old_stack)) or "main" in old_stack)
    common.expect(len(actual) == len(expected), f"{len(expected)} stops are reached in the original, {len(actual)} in the output")


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--stops", type=int, default=30, help="stops per program and layout")
    args = parser.parse_args()
    tally = Tally()
    with common.Scratch() as scratch:
        cases = []
        for number, program in enumerate(filter(None, map(common.find_program, PROGRAMS))):
            layout = ["scatter", "random", "random"][number % 3]
            options = ["--layout", layout, "--seed", str(number + 1)]
            cases.append(common.Case(f"{program.name} {layout} {number + 1}", lambda p=program, o=options:
                                     check_program(p, o, args.stops, scratch, tally)))
        status = common.run_cases(cases, args)
    print(f"{tally.compared} stops compared in {len(tally.procedures)} procedures; {tally.complete} stacks reach main or the entry")
    if not args.filter and (tally.compared < STOPS_WANTED or tally.complete < tally.compared * 0.8):
        print(f"FAILED: {STOPS_WANTED} stops are wanted, four fifths of them with a complete stack")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

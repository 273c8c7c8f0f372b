#!/usr/bin/env python3
"""Debuggers unwind rewritten images as they unwind the originals: at 200 random stops the stacks
are equal, in shuffled images and in images that are laid out by the profile of their own run.

Hot-cold optimization removes instructions, so its images stop at the bodies of procedures only.
From each stop, where the stack equals the original's, up to FOLLOWED instructions are executed one
by one in the optimized image. After each of these instructions, the stack must be what calls and
returns have made of it. The profile of the own run puts stops into hot procedures; an inverted
profile, and a profile by which control soon leaves hot procedures, put stops into stubs, clones and
cold parts.

A stop has to be the same point of the execution in both images, though addresses and instruction counts differ. So a
stop is the N-th pass through the body of a procedure, and then K substantial instructions further. Unconditional
branches, no-ops and loads of gp after calls are not substantial, since layouts add and remove them. All other
instructions run in the same order in both images, with one exception: code that reads descriptions of the image, namely
start-up code and the C++ unwinder, which walk program headers and frame descriptions.

The plan comes from logs in which qemu names the procedures of both images as they are entered, from main on. Procedures
whose entries make the two logs differ belong to the exception and are dropped. The rest is the same sequence in both
logs, from which stops are drawn at random, spread over the execution and over procedures; K reaches into callees,
prologues and epilogues. Then gdb-multiarch, attached to qemu's stub, walks both images (backtrace_gdb.py) and unwinds
by .eh_frame. The symbols of each image name the addresses of its frames. Fragments, NAME.frag.N and NAME.cold.frag.N,
count as NAME, aliases as one procedure, and code outside the image (libc) as "outside". The digests of the executed
instructions (without branch senses, targets and formed addresses) are also compared at each stop. If they differ, the
steps led through the exception and the walk is given up; few walks may end in this way.

Not all drawn stops are reached. So further stops are drawn, in further layouts, until enough stops are compared and few
of the walks were given up."""

import array
import bisect
import collections
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time

import common
import profiles

STOPS_WANTED = 200
COMPLETE_WANTED = 180  # of them, stacks that reach the start of the program
MOST_ROUNDS = 3  # of further layouts for all programs
GDB_TIMEOUT = 300.0
LOG_LIMIT = 120_000
DROPPED_LIMIT = 60
MOST_PASSES = 60
LAYOUTS = ("random", "scatter", "default", "hot-cold", "hot-cold inverted", "hot-cold cold")
FOLLOWED = 40
FOLLOWED_WANTED = 1500  # instructions of procedures with a hot copy
STEPS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 15, 25, 60, 150)
PROGRAMS = [
    "calls.static",
    "exceptions.static",
    "switches.static",
    "containers.static",
    "strings.static",
    "sqlite3.static",
    "lua.static",
    "modern.static",
    "calls.dynamic",
    "exceptions.dynamic",
    "containers.pie",
    "lua.pie",
]
# glibc's frame descriptions of these are wrong for an instruction or two of the epilog.
IMPRECISE = re.compile(r"(__(div|rem)[lq]u?|__sigsetjmp)(\.frag\.\d+)?")
TEXT_SECTIONS = re.compile(
    r"\s*\[\s*\d+\]\s+(\S+)\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+\S+\s+\S*X"
)


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
                self.code.append((address, data[offset : offset + size]))
        labels = [
            s
            for s in common.read_symbols(path)
            if s.kind in ("FUNC", "NOTYPE") and self.word(s.value) is not None
        ]
        self.sized = [s for s in labels if s.size]
        self.labels = sorted((s.value, s.name) for s in labels if s.section not in ("UND", "ABS"))
        self.symbols = [s for s in labels if s.kind == "FUNC" and s.section != "UND"]
        ranges = sorted({(s.value, s.value + s.size): s for s in self.symbols if s.size}.items())
        self.starts = [start for (start, _), _ in ranges]
        self.ranges = [(end, symbol.name) for (_, end), symbol in ranges]

    def word(self, address):
        for start, data in self.code:
            if start <= address < start + len(data):
                return int.from_bytes(data[address - start : address - start + 4], "little")
        return None

    def name(self, address):
        """The procedure around the address; if there is none, the label before the address, as in
        debuggers."""
        if self.word(address) is None:
            return "outside"
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0 and address < self.ranges[at][0]:
            name = self.ranges[at][1]
        else:
            at = bisect.bisect_right(self.labels, (address, "\uffff")) - 1
            name = self.labels[at][1] if at >= 0 else "unnamed"
        return common.procedure_of_piece(name)

    def places(self, names):
        """[[start, end]] of the code of the symbols that match."""
        return [[s.value, s.value + s.size] for s in self.sized if names.fullmatch(s.name)]

    def entry_path(self, address, has_gp_load):
        """The way from a procedure's start to its body: [(address, number of branches passed)].

        The body, its last element, is the first substantial instruction after the load of gp.
        """
        path, branches = [(address, 0)], 0
        if has_gp_load:
            address += 8
            path.append((address, 0))
        for _ in range(16):
            word = self.word(address)
            if word is None:
                return None
            if word >> 26 == 0x30 and (word >> 21 & 31) == 31:
                displacement = word & 0x1FFFFF
                address += 4 + 4 * (displacement - ((displacement & 0x100000) << 1))
                branches += 1
            elif word in (0x47FF041F, 0x2FFE0000, 0x5FFF041F):
                address += 4
            else:
                return path
            path.append((address, branches))
        return None


def unique_procedures(image):
    """{name: symbol} of sized procedures whose name and address are unambiguous in the image."""
    names = collections.Counter(s.name for s in image.symbols)
    return {s.name: s for s in image.symbols if names[s.name] == 1 and s.size >= 8}


def aliases(image):
    """{name: the first name in alphabetical order at the same address}."""
    groups = collections.defaultdict(set)
    for value, name in image.labels:
        groups[value].add(name)
    return {name: min(group) for group in groups.values() for name in group}


# --- The plan -------------------------------------------------------------------------------------


def load_bias(program, image, folder):
    """The address where qemu puts a position-independent image, always the same."""
    if not image.is_pie:
        return 0
    log = folder / "pages"
    common.run_command(
        [*common.QEMU, "-d", "page", "-D", log, image.path, *program.runs[0].args],
        stdin=program.runs[0].stdin,
        cwd=folder,
    )
    match = re.search(r"^start_code\s+0x([0-9a-f]+)", log.read_text(), re.M)
    common.expect(match, "qemu does not tell where the code starts")
    return int(match[1], 16)  # the first segment of such an image is linked at 0


def logged(program, image, options, folder):
    """The addresses of translated blocks in the order in which qemu enters them, at most
    LOG_LIMIT."""
    log = logged_addresses(program, image, options, folder)
    addresses = array.array("Q", itertools.islice(log, LOG_LIMIT))
    log.close()
    return addresses


def logged_addresses(program, image, options, folder):
    """As logged(), without a limit."""
    log = folder / "log"
    os.mkfifo(log)
    run = program.runs[0]
    stdin = open(run.stdin, "rb") if run.stdin else subprocess.DEVNULL
    qemu = subprocess.Popen(
        [*common.QEMU, *options, "-D", log, image.path, *run.args],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        with open(log) as lines:
            for line in lines:
                if line.startswith("Trace"):
                    yield int(line.split("/")[1], 16)
    finally:
        qemu.kill()
        qemu.wait()
        log.unlink()
        if run.stdin:
            stdin.close()


_of_originals = common.Shared()


def entry_log(program, image, paths, folder):
    """The procedures in the order in which they are entered, from main on, at most LOG_LIMIT."""

    def shared(key, make):
        """make(), called once for an original, whose logs are the same for all layouts."""
        return _of_originals((program, key), make) if image.path == program.image else make()

    bias = shared("bias", lambda: load_bias(program, image, folder))
    places = {
        address + bias: (name, branches)
        for name, path in paths.items()
        for address, branches in path
    }
    # A first run logs each block at least once; a second run logs each entry of the procedures
    # found.
    executed = shared("executed", lambda: {*logged(program, image, ["-d", "exec"], folder)})
    entered = {place[0] for address, place in places.items() if address in executed}
    ranges = ",".join(
        f"{address + bias:#x}+4" for name in sorted(entered) for address, _ in paths[name]
    )
    expect_argument_fits(ranges)
    options = ["-d", "exec,nochain", "-dfilter", ranges]
    log = shared(ranges, lambda: logged(program, image, options, folder))
    found, before = [], (None, 0)
    for address in log:
        place = places.get(address, (None, 0))
        # Blocks on both sides of a branch on the way to the body count as a single entry.
        if place[0] and not (place[0] == before[0] and place[1] > before[1]):
            found.append(place[0])
        before = place
    return found[found.index("main") :] if "main" in found else []


def expect_argument_fits(text):
    common.expect(len(text) < 131_000, "too many procedures for one argument of qemu")


def common_log(old, new):
    """The common beginning of both runs, without the procedures that make the runs differ."""
    # A long start may keep procedures out of one log; each such procedure would cost another log,
    # see below.
    both = {*old} & {*new}
    old, new = ([name for name in log if name in both] for log in (old, new))
    for _ in range(DROPPED_LIMIT):
        pairs = enumerate(zip(old, new))
        at = next((index for index, (a, b) in pairs if a != b), None)
        if at is None:
            break
        dropped = {old[at], new[at]}
        old, new = ([name for name in log if name not in dropped] for log in (old, new))
    return [a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new))]


def draw_stops(log, generator, count, steps_wanted=STEPS, followed=0, preferred=()):
    """[(procedure, passes to ignore, steps)] in the order of the log, with many different procedures.

    Passes are counted from the previous stop, without passes that the steps of that stop may go through, to reach every
    stop. Each pass costs a round trip to gdb, so the number of passes is limited, and a stop may come earlier in the
    execution than it was drawn. If only one of two images executes `followed` more instructions from each stop, these
    instructions must not lead to the next stop. Half of the stops are in `preferred` procedures, if these ran."""
    places = collections.defaultdict(list)
    for index, name in enumerate(log):
        if len(places[name]) < 400:
            places[name].append(index)
    names = sorted(places)
    better = [name for name in names if name in preferred] or names
    drawn = (
        {generator.choice(places[generator.choice((names, better)[n % 2])]) for n in range(count)}
        if names
        else set()
    )
    stops, reached = [("main", 0, 0)], 0
    for index in sorted(drawn):
        name, steps = log[index], generator.choice(steps_wanted)
        if index <= reached or name in log[reached + 1 : reached + 1 + followed // 2]:
            continue
        passes = [place for place in places[name] if reached < place <= index][: MOST_PASSES + 1]
        stops.append((name, len(passes) - 1, steps))
        reached = passes[-1] + steps // 2  # no procedure is shorter than two instructions
    return stops


# --- Walking --------------------------------------------------------------------------------------


def walk(program, image, stops, paths, folder, followed=0):
    """Runs the image under gdb through the stops; returns a list of results, see backtrace_gdb.py."""
    folder.mkdir()
    copy = folder / "image"  # paths of one length, since the program sees its path
    shutil.copy(image.path, copy)
    job = {
        "socket": str(folder / "gdb"),
        "result": str(folder / "result"),
        "bias_entry": image.entry if image.is_pie else None,
        "stops": [[paths[name][-1][0], ignore, steps] for name, ignore, steps in stops],
        "code": [[start, data.hex()] for start, data in image.code],
        "follow": followed,
        "imprecise": image.places(IMPRECISE),
    }
    (folder / "job").write_text(json.dumps(job))
    run = program.runs[0]
    stdin = open(run.stdin, "rb") if run.stdin else subprocess.DEVNULL
    qemu = subprocess.Popen(
        [*common.QEMU, "-g", job["socket"], "-0", "program", str(copy), *run.args],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        wait_for(pathlib.Path(job["socket"]), qemu)
        script = pathlib.Path(__file__).with_name("backtrace_gdb.py")
        gdb = common.run_command(
            ["gdb-multiarch", "-nx", "-batch", "-x", script, copy],
            timeout=GDB_TIMEOUT,
            env={**os.environ, "BACKTRACE_JOB": str(folder / "job"), "PYTHONNOUSERSITE": "1"},
        )
        if not (folder / "result").exists():
            raise common.Failure(f"gdb: {gdb.stderr.decode(errors='replace')[-500:]}")
        return json.loads((folder / "result").read_text())
    finally:
        qemu.kill()
        qemu.wait()
        if run.stdin:
            stdin.close()


def wait_for(path, process):
    end = time.monotonic() + common.TOOL_TIMEOUT
    while not path.exists():
        if process.poll() is not None:
            raise common.Failure("qemu ended before gdb could attach")
        common.expect(time.monotonic() < end, "qemu's stub does not listen")
        time.sleep(0.01)


def name_stack(image, result, canonical):
    """The call stack by names. A return address belongs to the call before it."""
    names = []
    for level, address in enumerate(result["stack"]):
        name = image.name(address if level == 0 else address - 4)
        names.append(canonical.get(name, name))
    return names


class Tally:
    """The comparisons of all cases."""

    def __init__(self):
        self.lock = threading.Lock()
        self.compared = self.complete = self.given_up = self.walks = 0
        self.procedures = set()
        self.followed = self.hot = 0

    def add_followed(self, names, hot):
        with self.lock:
            self.followed += len(names)
            self.hot += sum(name in hot for name in names)

    def add(self, name, complete):
        with self.lock:
            self.compared += 1
            self.complete += complete
            self.procedures.add(name)

    def add_walk(self, given_up):
        with self.lock:
            self.walks += 1
            self.given_up += given_up

    def lacks(self):
        """Sentences about conditions that do not hold yet."""
        few = common.is_sampled()
        stops_wanted = STOPS_WANTED // (4 if few else 1)
        complete_wanted = COMPLETE_WANTED // (4 if few else 1)
        followed_wanted = FOLLOWED_WANTED // (15 if few else 1)
        wrong = {
            f"{stops_wanted} stops are wanted": self.compared < stops_wanted,
            f"{complete_wanted} stops with a complete stack are wanted": self.complete < complete_wanted,
            f"{followed_wanted} stacks in procedures with a hot copy are wanted": self.hot < followed_wanted,
            "too many walks were given up": self.given_up > max(1, self.walks // 5),
        }
        return [sentence for sentence, is_wrong in wrong.items() if is_wrong]


def plan(program, images, generator, folder, **drawing):
    """The stops, and for each image the procedures' entry paths."""
    old, new = (unique_procedures(image) for image in images)
    gp_load = {name: "GPLOAD" in old[name].other for name in old if name in new}
    paths = [
        {name: image.entry_path(symbols[name].value, loads) for name, loads in gp_load.items()}
        for image, symbols in zip(images, (old, new))
    ]
    usable = [name for name in gp_load if all(p[name] for p in paths)]
    paths = [{name: p[name] for name in usable} for p in paths]
    logs = [entry_log(program, image, p, folder) for image, p in zip(images, paths)]
    log = common_log(*logs)
    common.expect(len(log) >= 20, f"the runs differ after {len(log)} entries: {log[-3:]}")
    return draw_stops(log, generator, **drawing), paths


def check_followed(image, results, hot, tally):
    """Checks the stacks on the way from the stops; `hot`: the procedures with a hot copy."""
    for number, result in enumerate(results):
        if result["wrong"]:
            counter, unwound, expected = result["wrong"]
            names = ([image.name(a - 4) for a in stack] for stack in (unwound, expected))
            raise common.Failure(
                f"{len(result['followed'])} instructions from stop {number}, at {counter:#x} in {image.name(counter)}: "
                f"callers {' '.join(map(hex, unwound))} ({next(names)}), "
                f"not {' '.join(map(hex, expected))} ({next(names)})"
            )
        tally.add_followed([image.name(address) for address in result["followed"]], hot)


def check_program(program, layout, seed, count, scratch, tally):
    folder = scratch.folder()
    output = folder / "rewritten"
    options = ["--layout", layout, "--seed", seed]
    if layout != "random" and layout != "scatter":
        counts = profiles.count(program, folder)
        if layout == "hot-cold inverted":
            counts = profiles.invert(counts, folder)
        elif layout == "hot-cold cold":
            counts = profiles.make_all("cold", program, folder, seed)
        hot_cold = "on" if layout.startswith("hot-cold") else "off"
        options = ["--profile", counts["main"], "--hot-cold", hot_cold]
    report, drawing = folder / "report", {"count": count}
    if layout.startswith("hot-cold"):
        drawing.update(steps_wanted=(0,), followed=FOLLOWED)
    common.optimize(program.image, output, *options, "--report", report)
    found = json.loads(report.read_text())["hot_cold"]["procedures"]
    hot = drawing["preferred"] = {p["name"] for p in found if p["category"] == "optimized"}
    before = _of_originals((program, "map"), lambda: ImageMap(program.image))
    after = ImageMap(output)
    images = before, after
    generator = random.Random(f"{program.name} {layout} {seed}")
    stops, paths = plan(program, images, generator, folder, **drawing)
    followed = drawing.get("followed", 0)
    # The original also has to leave each stop; otherwise the stop would count as a pass of the next stop.
    expected = walk(program, before, stops, paths[0], folder / "walk1", min(followed, 1))
    actual = walk(program, after, stops[: len(expected)], paths[1], folder / "walk2", followed)
    canonical = aliases(before)
    common.expect(expected, "no stop was reached in the original")
    for number, (stop, old_result, new_result) in enumerate(zip(stops, expected, actual)):
        if old_result["digest"] != new_result["digest"]:
            tally.add_walk(given_up=True)
            return
        old_stack, new_stack = (
            name_stack(i, r, canonical) for i, r in ((before, old_result), (after, new_result))
        )
        common.expect(
            old_stack == new_stack,
            f"stop {number} ({stop[0]}, pass {stop[1]}, {stop[2]} steps on) at "
            f"{old_result['pc']:#x} and {new_result['pc']:#x}: {old_stack} became {new_stack}",
        )
        tally.add(stop[0], bool({"_start", "__start", "main"} & set(old_stack)))
    common.expect(
        len(actual) == len(expected),
        f"{len(expected)} stops are reached in the original, {len(actual)} in the output",
    )
    check_followed(after, actual, hot, tally)
    tally.add_walk(given_up=False)


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--stops", type=int, default=30, help="stops per program and layout")
    args = parser.parse_args()
    tally = Tally()
    programs = list(filter(None, map(common.find_program, PROGRAMS)))
    with common.Scratch() as scratch:

        def cases(first_seed):
            for seed, program in enumerate(programs, first_seed):
                for layout in LAYOUTS:
                    yield common.Case(
                        f"{program.name} {layout} {seed}",
                        lambda p=program, l=layout, s=str(seed): check_program(
                            p, l, s, args.stops, scratch, tally
                        ),
                    )

        status = common.run_cases(list(cases(1)), args)
        further = (case for n in range(1, MOST_ROUNDS + 1) for case in cases(1 + n * len(programs)))
        while status == 0 and not args.filter and tally.lacks():
            batch = list(itertools.islice(further, common.jobs() * common.slices()))
            if not batch:
                break
            print("; ".join(tally.lacks()), flush=True)
            status = common.run_cases(batch, args)
    print(
        f"{tally.compared} stops compared in {len(tally.procedures)} procedures; {tally.complete} stacks reach main; "
        f"{tally.given_up} of {tally.walks} walks were given up; {tally.followed} stacks compared on the way from stops, "
        f"{tally.hot} of them in procedures with a hot copy"
    )
    if not args.filter and tally.lacks():
        print(f"FAILED: {'; '.join(tally.lacks())}")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

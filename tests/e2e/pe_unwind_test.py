#!/usr/bin/env python3
"""Images of Windows NT for Alpha: unwinders find the callers from every instruction, in rewritten images, too.

Windows NT has no description of frames: unwinders read the code of prologs. The loader of the test world has such an
unwinder (emulators/nt/unwind.c), and stops a program at each instruction that it executes for the first time to compare
what the unwinder finds with the calls that really happened: return addresses, stack pointers, and the registers that
callees keep (emulators/nt/stops.c). The stops must not change the program's behaviour.

Libraries are stopped in the same way, including libraries that are opened later (tests/pe/programs/opening.c, and with
delay).

Wrong tables have to be found wrong, which shows that the comparison compares something.

tests/pe/programs/exceptions.* raises and handles exceptions: in frames below, by faults of its own, with code that runs
finally, with filters that let a fault happen again. It must behave the same in rewritten images, at two bases."""

import json
import os
import pathlib
import shutil
import struct
import sys

import common
import pe_dll_test
import pe_test

sys.path.insert(0, str(common.ROOT / "tests" / "pe"))
import dlls  # noqa: E402
import images  # noqa: E402
import link  # noqa: E402

# signals.c ends by abort(), and no report is written; registers.c adds up a word of its frame that it has not written,
# and the signals of stops write there.
PROGRAMS = (*(p for p in pe_test.SMALL if p not in ("registers", "signals")), "lua", "sqlite3")
LAYOUTS = {
    "original": [["--layout", "original"]],
    "random 1": [["--layout", "random", "--seed", "1"]],
    "random 2": [["--layout", "random", "--seed", "2"]],
    "scatter": [["--layout", "scatter", "--seed", "1"]],
    "default": [[]],
    "second round": [["--layout", "random", "--seed", "3"], ["--layout", "random", "--seed", "4"]],
    "second scatter": [["--layout", "scatter", "--seed", "3"], ["--layout", "scatter", "--seed", "4"]],
}
LEAST_STOPS = {"offsets": 80, "interpreter": 350, "processes": 300, "shapes": 500, "threads": 500, "lua": 20000, "sqlite3": 60000}


def read_report(path):
    numbers, faults = {}, []
    for line in path.read_text().splitlines():
        key, value = line.split(" ", 1)
        if key == "fault":
            faults.append(value)
        else:
            numbers[key] = int(value)
    return numbers, faults


def stop_everywhere(world, image, run):
    """The program's behaviour when it is stopped at every instruction, and the unwinder's findings."""
    report = world.scratch.file("stops.txt")
    outcome = common.run_command(
        [pe_test.NT, image, *run.args],
        stdin=run.stdin,
        timeout=600,
        cwd=world.scratch.folder(),
        env={**os.environ, "RESPIKE_NT_STOPS": str(report)},
    )
    common.expect(report.exists(), f"no report of stops: exit status {outcome.status}, {outcome.stderr.decode()}")
    return outcome, *read_report(report)


def run_of(name):
    return pe_test.runs_of(name)[0]


class StubFinder:
    """Where unwinders may be wrong: stubs of far branches have no entries of their own, and change the stack pointer
    (unwind/pdata/README.md)."""

    # Each word with the bits that count. lda sp,-16(sp); stq at,0(sp); br at,next; ldah at; lda at; jmp (at)
    DEPARTURE = ((0x23DEFFF0, ~0), (0xB79E0000, ~0), (0xC3800000, ~0), (0x279C0000, ~0xFFFF), (0x239C0000, ~0xFFFF), (0x6BFC0000, ~0xFFFF))
    LANDING = ((0xA79E0000, ~0), (0x23DE0010, ~0), (0xC3E00000, ~0x1FFFFF))  # ldq at,0(sp); lda sp,16(sp); br

    def __init__(self, image):
        self.image = pe_test.Image(image)

    def matches(self, address, pattern):
        try:
            words = [self.image.word(address - self.image.base + 4 * i) for i in range(len(pattern))]
        except common.Failure:  # the section ends before
            return False
        return all(word & mask == wanted for word, (wanted, mask) in zip(words, pattern))

    def in_stub(self, address):
        return any(
            self.matches(address - 4 * i, pattern) for pattern in (self.DEPARTURE, self.LANDING) for i in range(len(pattern))
        )

    def concerns(self, fault):
        """Whether the stop of a fault is in a stub."""
        return self.in_stub(int(fault.split()[0], 16))


def check_stops(world, name, image, what, far_stubs=False):
    expected = world.expected(name, 0)
    actual, numbers, faults = stop_everywhere(world, image, run_of(name))
    if world.text(actual, image) != world.text(expected, world.image(name)):
        raise common.Failure(f"{what}: {common.describe_difference(expected, actual)}")
    if far_stubs:
        finder = StubFinder(image)
        common.expect(len(faults) == numbers["faults"], f"{numbers['faults']} faults are too many to look at")
        faults = [fault for fault in faults if not finder.concerns(fault)]
    common.expect(not faults, f"{what}: {numbers['faults']} of {numbers['stops']} stops: {faults[:3]}")
    least = LEAST_STOPS.get(name, 700)
    common.expect(numbers["stops"] >= least, f"{what}: {numbers['stops']} stops only")
    common.expect(numbers["prologs"] >= 3, f"{what}: {numbers['prologs']} stops in prologs only")
    return numbers


def check_layout(world, name, layouts):
    image = world.image(name)
    report = world.scratch.file("report.json")
    for options in layouts:
        output = world.scratch.file(f"{name}.exe")
        common.optimize(image, output, *options, "--report", report)
        image = output
    far_stubs = json.loads(report.read_text())["far_stubs"] != 0
    check_stops(world, name, image, " then ".join(" ".join(o) for o in layouts), far_stubs)


def without_prologs(entry):
    return (*entry[:4], entry[0])


def with_changed_table(image, change):
    """The bytes of an image whose function table has other entries."""
    parsed = pe_test.Image(image)
    place = parsed.directories[3][0]
    offset = next(o + place - p for _, p, m, o, _, _ in parsed.sections if p <= place < p + m)
    data = bytearray(image.read_bytes())
    for index, entry in enumerate(parsed.function_table()):
        struct.pack_into("<5I", data, offset + 20 * index, *change(entry))
    return data


def check_wrong_tables(world):
    """Each of these changes of the function table is found, except where it makes no difference."""
    original = world.image("calls")

    def shorter_prolog(entry):
        return (*entry[:4], max(entry[0], entry[4] - 8))

    def first_half(entry):
        return (entry[0], entry[4] if entry[4] > entry[0] else entry[1], *entry[2:])

    for change in (without_prologs, shorter_prolog, first_half):
        changed = world.scratch.file("calls.exe")
        changed.write_bytes(with_changed_table(original, change))
        _, numbers, _ = stop_everywhere(world, changed, run_of("calls"))
        common.expect(numbers["faults"] >= 50, f"{change.__name__}: {numbers} are too few faults")


# --- Libraries ------------------------------------------------------------------------------------


class Libraries:
    """Programs whose libraries are loaded with them, with delay, or by name."""

    def __init__(self, scratch):
        self.world = pe_dll_test.World(scratch)

    def folder(self):
        return self.world.shared("with opening", self.make)

    def make(self):
        folder = self.world.scratch.folder()
        for image in self.world.folder("user").iterdir():
            shutil.copy(image, folder)
        objects = [images.compile_source(dlls.PROGRAMS / "opening.c", self.world.scratch.folder())]
        (folder / "opening.exe").write_bytes(link.link(objects, link.Options(imports=dlls.SYSTEM)))
        return folder

    def check(self, layouts):
        folder = self.folder()
        for options in layouts:
            out = self.world.scratch.folder()
            for image in folder.iterdir():
                common.optimize(image, out / image.name, *options)
            folder = out
        for program, arguments, least in (("user.exe", (), 450), ("user.exe", ("a", "b"), 500), ("opening.exe", OPENS_LATE, 150)):
            run = common.Run(arguments, None)
            expected = self.world.outcome(self.folder() / program, run)
            actual, numbers, faults = stop_everywhere(self.world, folder / program, run)
            if (actual.status, actual.stdout.replace(str(folder / program).encode(), b"PROGRAM")) != expected[:2]:
                raise common.Failure(f"{program} {arguments}: {common.describe_difference(expected[2], actual)}")
            common.expect(numbers["faults"] == 0, f"{program}: {numbers} {faults[:3]}")
            common.expect(numbers["stops"] >= least, f"{program}: {numbers['stops']} stops only")

    def check_wrong_table(self):
        """A library that is opened twice is also stopped: faults of its table are found."""
        folder = self.world.scratch.folder()
        for name in ("opening.exe", "late.dll"):
            shutil.copy(self.folder() / name, folder)
        (folder / "late.dll").write_bytes(with_changed_table(self.folder() / "late.dll", without_prologs))
        _, numbers, _ = stop_everywhere(self.world, folder / "opening.exe", common.Run(OPENS_LATE, None))
        common.expect(numbers["faults"] >= 10, f"{numbers} are too few faults")


OPENS_LATE = ("late", "late_number", "7", "2")


def library_cases(scratch):
    libraries = Libraries(scratch)
    yield common.Case("libraries input", lambda: libraries.check([]))
    yield common.Case("libraries wrong table", libraries.check_wrong_table)
    for what, layouts in LAYOUTS.items():
        yield common.Case(f"libraries {what}", lambda l=layouts: libraries.check(l))


# --- Exceptions -----------------------------------------------------------------------------------


class Exceptions:
    """The program that raises exceptions."""

    def __init__(self, world):
        self.world, self.shared = world, common.Shared()

    def objects(self):
        folder = common.ROOT / "tests" / "pe" / "programs"
        sources = [folder / "exceptions.c", folder / "exceptions.s"]
        return self.shared("objects", lambda: images.compile_sources(sources, self.world.scratch.folder()))

    def image(self, high=False):
        def make():
            path = self.world.scratch.file("exceptions.exe")
            path.write_bytes(link.link(self.objects(), link.Options(symbols=True, high=high)))
            return path

        return self.shared(("image", high), make)

    def run(self, path, arguments, base=None):
        outcome = self.world.outcome(path, common.Run(arguments, None), base)
        return outcome.status, outcome.stdout, b"unhandled exception 0xe0000003" in outcome.stderr

    def check(self, path, what):
        """Without arguments every exception is handled, with two arguments the last one is not."""
        for arguments in ((), ("a", "b")):
            expected = self.shared(("expected", arguments), lambda a=arguments: self.run(self.image(), a))
            common.expect(expected[2] == bool(arguments) and b"finally, abnormally" in expected[1], str(expected))
            common.expect(b"filter repairs" in expected[1] and b"goes on = 1237" in expected[1], str(expected))
            for base in pe_test.BASES:
                actual = self.run(path, arguments, base)
                common.expect(actual == expected, f"{what} at {base}: {actual} instead of {expected}")
        _, numbers, faults = stop_everywhere(self.world, path, common.Run((), None))
        common.expect(numbers["faults"] == 0 and numbers["stops"] >= 450, f"{what}: {numbers} {faults[:3]}")

    def check_layout(self, layouts, high):
        image = self.image(high)
        for options in layouts:
            output = self.world.scratch.file("exceptions.exe")
            common.optimize(image, output, *options)
            image = output
        self.check(image, str(layouts))
        common.respike_ok("image", "verify", self.image(high), image)

    def info(self, path):
        return json.loads(common.respike_ok("image", "info", "--json", path).stdout)

    def check_understood(self):
        """Procedures with scope tables stay, and everything else of them is understood."""
        info = self.info(self.image())
        common.expect(info["opaque_procedures"] == 1, f"{info['opaque']}: only one has no scope table")
        pinned = [each for each in info["pinned"] if "exception handler" in json.dumps(each)]
        common.expect(len(pinned) == 5, f"{info['pinned']}")

    def check_odd_tables(self):
        """A scope table with a record that is not of its procedure is not understood: the procedure is opaque."""
        parsed = pe_test.Image(self.image())
        entries = [e for e in parsed.function_table() if e[2] and e[3]]
        data = self.image().read_bytes()
        begin, end = entries[0][:2]
        # Fields: the number of records; of the first record the begin, the end, the handler, the target.
        for field, value in ((0, 0), (0, 0xFFFFFFFF), (1, end), (2, begin), (2, end + 4), (3, 2), (4, begin - 4), (4, end)):
            place = entries[0][3] - parsed.base + 4 * field
            offset = next(o + place - p for _, p, m, o, _, _ in parsed.sections if p <= place < p + m)
            bad = bytearray(data)
            struct.pack_into("<I", bad, offset, value)
            changed = self.world.scratch.file("changed.exe")
            changed.write_bytes(bad)
            common.expect(self.info(changed)["opaque_procedures"] >= 2, f"field {field} = {value:#x}: not opaque")
            output = self.world.scratch.file("output.exe")
            common.optimize(changed, output, "--layout", "random")


def exception_cases(world):
    program = Exceptions(world)
    yield common.Case("exceptions input", lambda: [program.check(program.image(h), "input") for h in (False, True)])
    yield common.Case("exceptions understood", program.check_understood)
    yield common.Case("exceptions odd tables", program.check_odd_tables)
    for what, layouts in LAYOUTS.items():
        for high in (False, True):
            kind = "high" if high else "adj"
            yield common.Case(f"exceptions {kind} {what}", lambda l=layouts, h=high: program.check_layout(l, h))


def cases(scratch):
    world = pe_test.World(scratch)
    yield from exception_cases(world)
    yield from library_cases(scratch)
    yield common.Case("wrong tables", lambda: check_wrong_tables(world))
    for name in PROGRAMS:
        if pe_test.sources_of(name) is None:
            continue
        yield common.Case(f"{name} input", lambda n=name: check_stops(world, n, world.image(n), "input"))
        for what, layouts in LAYOUTS.items():
            yield common.Case(f"{name} {what}", lambda n=name, l=layouts: check_layout(world, n, l))


def main():
    args = common.argument_parser(__doc__).parse_args()
    if not pathlib.Path(pe_test.NT).exists() or not (pathlib.Path(pe_test.NT).parent / "respike-nt-loader").exists():
        print("respike-nt has no loader: it was built without a compiler for Alpha")
        return 1
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

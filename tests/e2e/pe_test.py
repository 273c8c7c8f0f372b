#!/usr/bin/env python3
"""Images of Windows NT for Alpha: rewritten ones behave like the originals.

No image made by Microsoft's own tools was available: programs are compiled by gcc, converted to NT's code form and
linked by tests/pe/, and run in the test world `respike-nt`, at two bases, with HIGHADJ and with HIGH base relocations.
Small readers of our own check tables that no other tool reads: base relocations and the function table. RESPIKE_NT: the
command, where it is not beside respike.

Random layouts: --seeds N (RESPIKE_SEEDS, default 5), --heavy-seeds N for SQLite (RESPIKE_HEAVY_SEEDS, default 1);
scripts/nightly.sh takes 20 of each."""

import collections
import os
import pathlib
import re
import struct
import sys

import common

sys.path.insert(0, str(common.ROOT / "tests" / "pe"))
import convert  # noqa: E402
import images  # noqa: E402
import link  # noqa: E402

NT = os.environ.get("RESPIKE_NT", str(pathlib.Path(common.RESPIKE).parent / "respike-nt"))
BASES = (None, 0x1230000)
SOURCES = common.ROOT / "tests" / "programs" / "c"
HIGH, HIGHLOW, HIGHADJ = 1, 3, 4
COUNTERS = ".cntrsp"  # the section with the counters of an instrumented image

# All programs of tests/programs/c, and one of C++.
SMALL = ("calls", "floats", "interpreter", "kernels", "offsets", "processes", "registers", "shapes", "signals", "strings", "switches",
         "threads")
# These programs have other outputs on Linux: how far the stack grows, callers beyond a signal handler.
UNLIKE_LINUX = ("calls", "signals")
# Programs with constructors start elsewhere.
START = common.ROOT / "tests" / "pe" / "start.s"
ENTRIES = {"processes": "respike_start", "shapes": "respike_start"}
FLAGS = {
    "threads": convert.THREAD_FLAGS,
    "lua": ["-DLUA_USE_C89", "-Dluai_makeseed(L)=21164"],
    "sqlite3": ["-D_GNU_SOURCE", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
}


def sources_of(name):
    """The sources of a program, or None when Debian's sources were unreachable."""
    if name in ("lua", "bzip2", "sqlite3"):
        return common.real_sources(name)
    here = {"shapes": "shapes.cc", "ends": "ends.c"}  # of Windows NT alone
    source = common.ROOT / "tests" / "pe" / "programs" / here[name] if name in here else SOURCES / f"{name}.c"
    if name == "registers":
        return [source, common.ROOT / "tests" / "programs" / "asm" / "all_registers.S"]
    return [source, START] if name in ENTRIES else [source]


def runs_of(name):
    """Arguments and input of the runs of a program."""
    inputs = common.ROOT / "tests" / "programs" / "inputs"
    if name == "lua":
        return [common.Run((str(inputs / "workload.lua"),), None), common.Run(("-e", "print(#arg, 2^53) error('x')"), None)]
    if name == "bzip2":
        return [common.Run(("-c", str(inputs / "file.sql")), None), common.Run(("-t", str(inputs / "file.sql")), None)]
    if name == "sqlite3":
        return [common.Run(("-batch", ":memory:"), str(inputs / "file.sql"))]
    return [common.Run((), None), common.Run(("a", "bc", "7"), None)]


class World:
    """The images, each made once."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.shared = common.Shared()

    def objects(self, name):
        def make():
            sources = sources_of(name)
            flags = [*FLAGS.get(name, ()), f"-I{sources[0].parent}"]
            return images.compile_sources(sources, self.scratch.folder(), flags)

        return self.shared(("objects", name), make)

    def image(self, name, **options):
        def make():
            path = self.scratch.file(f"{name}.exe")
            path.write_bytes(link.link(self.objects(name), link.Options(entry=ENTRIES.get(name, "main"), **options)))
            return path

        return self.shared(("image", name, tuple(sorted(options.items()))), make)

    def outcome(self, path, run, base=None):
        where = ["--base", hex(base)] if base else []
        return common.run_command([NT, *where, path, *run.args], stdin=run.stdin, timeout=600, cwd=self.scratch.folder())

    def expected(self, name, index):
        return self.shared(("run", name, index), lambda: self.outcome(self.image(name), runs_of(name)[index]))

    def check(self, name, path, what):
        for index, run in enumerate(runs_of(name)):
            expected = self.expected(name, index)
            for base in BASES:
                actual = self.outcome(path, run, base)
                # argv[0] is the path of the image, which is another one.
                if self.text(actual, path) != self.text(expected, self.image(name)):
                    at = f" at {base:#x}" if base else ""
                    raise common.Failure(f"{what}{at}, run {index}: {common.describe_difference(expected, actual)}")

    @staticmethod
    def text(outcome, path):
        return outcome.status, outcome.stdout.replace(str(path).encode(), b"PROGRAM")


# --- A reader of our own --------------------------------------------------------------------------


class Image:
    """The parts of an image that tests check: read by the specification, without code of Respike."""

    def __init__(self, path):
        self.data = data = path.read_bytes()
        coff = struct.unpack_from("<I", data, 0x3C)[0] + 4
        self.machine, count, _, _, _, size, _ = struct.unpack_from("<HHIIIHH", data, coff)
        optional = coff + 20
        self.base = struct.unpack_from("<I", data, optional + 28)[0]
        self.checksum = struct.unpack_from("<I", data, optional + 64)[0]
        self.checksum_at = optional + 64
        self.entry = struct.unpack_from("<I", data, optional + 16)[0]
        self.directories = [struct.unpack_from("<II", data, optional + 96 + 8 * i) for i in range(16)]
        self.sections = []
        for i in range(count):
            fields = struct.unpack_from("<8sIIIIIIHHI", data, optional + size + 40 * i)
            self.sections.append((fields[0].rstrip(b"\0").decode(), fields[2], fields[1], fields[4], fields[3], fields[9]))

    def at(self, rva, size):
        for _, place, memory, offset, raw, _ in self.sections:
            if place <= rva and rva + size <= place + raw:
                return self.data[offset + rva - place : offset + rva - place + size]
        raise common.Failure(f"{rva:#x} is not in the file")

    def word(self, rva):
        return struct.unpack("<I", self.at(rva, 4))[0]

    def base_relocations(self):
        """(rva, kind, the second word of HIGHADJ)"""
        place, size = self.directories[5]
        table, found, at = self.at(place, size), [], 0
        while at < size:
            page, length = struct.unpack_from("<II", table, at)
            words = iter(struct.unpack_from(f"<{(length - 8) // 2}H", table, at + 8))
            for word in words:
                if word >> 12:
                    found.append((page | word & 0xFFF, word >> 12, next(words) if word >> 12 == HIGHADJ else None))
            at += length
        return found

    def function_table(self):
        place, size = self.directories[3]
        entries = [struct.unpack("<5I", self.at(place + i, 20)) for i in range(0, size - 19, 20)]
        return [e for e in entries if any(e)]

    def is_code(self, address):
        return any(p <= address - self.base < p + max(m, 1) and f & 0x20 for _, p, m, _, _, f in self.sections)


def check_tables(path, original):
    """Compares base relocations and function table of an output with those of the input."""
    before, after = Image(original), Image(path)
    common.expect(after.machine == before.machine and after.base == before.base, "the headers changed")
    common.expect(after.sections[-1][0] == ".reloc", "the base relocations are not last")
    zeroed = bytearray(after.data)
    struct.pack_into("<I", zeroed, after.checksum_at, 0)
    common.expect(link.checksum(zeroed) == after.checksum, "the checksum is wrong")

    for rva, kind, low in after.base_relocations():
        if kind == HIGHADJ:
            word = after.word(rva)
            common.expect(word >> 26 == 9, f"HIGHADJ at {rva:#x} is at no ldah")
            address = (word << 16) + (low ^ 0x8000) - 0x8000 & 0xFFFFFFFF
            where = address - after.base
            # Only a helper for delayed imports asks for the base itself.
            common.expect(where == 0 or 0x2000 <= where < 0x10000000, f"HIGHADJ at {rva:#x} says {address:#x}")
            common.expect(where % 4 == 0 or not after.is_code(address), f"HIGHADJ at {rva:#x} says {address:#x}")
    # Words of data stay where they are, all of them, and refer to data as before.
    words = [{r for r, k, _ in image.base_relocations() if k == HIGHLOW} for image in (before, after)]
    # Words that lead probes to counters are in a section of their own.
    added = next((s for s in after.sections if s[0] == COUNTERS), None)
    kept = [words[0], {r for r in words[1] if added is None or not added[1] <= r < added[1] + added[2]}]
    outside = [{r for r in found if not in_table(image, r)} for image, found in zip((before, after), kept)]
    common.expect(outside[0] == outside[1], f"words have other base relocations: {sorted(outside[0] ^ outside[1])[:5]}")
    for rva in outside[0]:
        if not before.is_code(before.word(rva)):
            common.expect(before.word(rva) == after.word(rva), f"the word at {rva:#x} changed")
    kinds = [collections.Counter(k for _, k, _ in image.base_relocations()) for image in (before, after)]
    for kind in (HIGH, HIGHADJ):
        common.expect((kinds[0][kind] == 0) == (kinds[1][kind] == 0), f"other kinds of base relocations: {kinds}")

    end = 0
    table = after.function_table()
    for entry in table:
        common.expect(end <= entry[0] < entry[1], f"the function table is out of order at {entry[0]:#x}")
        common.expect(entry[0] <= entry[4] <= entry[1] and entry[2] == entry[3] == 0, f"{entry} makes no sense")
        end = entry[1]
    # Whatever the prologs are, the output's pieces have no others than the input.
    prologs = [{image.at(e[0] - image.base, e[4] - e[0]) for e in image.function_table()} for image in (before, after)]
    fixed = [{strip_fields(p) for p in found} for found in prologs]
    common.expect(fixed[1] <= fixed[0], "there are prologs that the input does not have")


def strip_fields(prolog):
    """The prolog's effects on the frame: its stores, and instructions that use the stack pointer or frame pointer."""
    words = struct.unpack(f"<{len(prolog) // 4}I", prolog)
    return tuple(w for w in words if w >> 26 in (0x2D, 0x27) or w >> 16 & 31 in (15, 30) or w >> 21 & 31 == 30)


def in_table(image, rva):
    place, size = image.directories[3]
    return place <= rva < place + size


# --- Cases ----------------------------------------------------------------------------------------


def check_layout(world, name, high, options):
    original = world.image(name, high=high, symbols=True)
    output = world.scratch.file(f"{name}.exe")
    common.optimize(original, output, *options)
    check_tables(output, original)
    world.check(name, output, " ".join(map(str, options)))
    common.respike_ok("image", "verify", original, output)
    output.unlink()


def check_original(world, name):
    """Both kinds of base relocations and all bases give the same behaviour, and so does the program for Linux."""
    for high in (False, True):
        world.check(name, world.image(name, high=high), "HIGH" if high else "HIGHADJ")
    program = common.find_program(f"{name}.dynamic")
    if name not in SMALL or name in UNLIKE_LINUX or program is None:
        return
    for index, run in enumerate(runs_of(name)):
        native = common.run_program(program.image, run)
        actual = world.expected(name, index)
        native_text = native.stdout.replace(b"program", b"PROGRAM")
        text = actual.stdout.replace(str(world.image(name)).encode(), b"PROGRAM").replace(b"program", b"PROGRAM")
        common.expect((native.status, native_text) == (actual.status, text), f"Linux: {common.describe_difference(native, actual)}")


def check_understood(world, name):
    """Nearly everything is understood, with and without the lower halves in the base relocations."""
    import json

    for options in ({"high": False}, {"high": True}, {"high": False, "symbols": True}):
        info = json.loads(common.respike_ok("image", "info", "--json", world.image(name, **options)).stdout)
        common.expect(info["format"].startswith("PE32"), info["format"])
        few = max(1, info["procedures"] // 50)
        common.expect(info["opaque_procedures"] <= few, f"{options}: {info['opaque'][:5]}")


def check_second_round(world, name):
    original = world.image(name, symbols=True)
    first, second = world.scratch.file("first.exe"), world.scratch.file("second.exe")
    common.optimize(original, first, "--layout", "random", "--seed", "7")
    common.optimize(first, second, "--layout", "random", "--seed", "8")
    world.check(name, second, "twice rewritten")
    check_tables(second, first)
    third = world.scratch.file("third.exe")
    common.optimize(second, third, "--layout", "scatter", "--seed", "9")
    check_tables(third, second)
    common.respike_ok("image", "verify", original, third)


def expect_refusal(arguments, text):
    outcome = common.respike(*arguments)
    message = outcome.stderr.decode()
    common.expect(outcome.status == 1, f"exit status {outcome.status}: {message}")
    common.expect(len(message.strip().splitlines()) == 1 and re.search(text, message), message)


def check_refusals(world):
    stripped = world.image("offsets", base_relocations=False)
    output = world.scratch.file("out.exe")
    expect_refusal(["image", "optimize", stripped, "-o", output], "no base relocations: link it with /FIXED:NO")
    good = world.image("offsets").read_bytes()
    changed = world.scratch.file("changed.exe")
    for offset, value, text in (
        (0x84, 0x14C, "it is for x86"),
        (0x84, 0x200, "Windows on ia64"),
        (0x84, 0x1234, "machine 0x1234"),
        (0x80 + 24 + 68, 1, "driver"),
        (0x3C, 0, "DOS"),
    ):
        data = bytearray(good)
        struct.pack_into("<H", data, offset, value)
        changed.write_bytes(data)
        expect_refusal(["image", "optimize", changed, "-o", output], text)
    common.expect(not output.exists(), "a refused image left an output")


def check_disassembly(world):
    listing = common.respike_ok("image", "disasm", world.image("switches", symbols=True), "--procedure", "main").stdout
    common.expect(b"main" in listing and b"ret" in listing, listing[:200].decode())


def check_programs():
    """Every C program of tests/programs is one of the programs here."""
    missing = {path.stem for path in SOURCES.glob("*.c")} - set(SMALL)
    common.expect(not missing, f"not in the test: {missing}")


def cases(args, scratch):
    world = World(scratch)
    yield common.Case("programs", check_programs)
    yield common.Case("refusals", lambda: check_refusals(world))
    yield common.Case("disasm", lambda: check_disassembly(world))
    for name in (*SMALL, "lua", "bzip2", "sqlite3"):
        if sources_of(name) is None:
            continue
        seeds = args.heavy_seeds if name == "sqlite3" else args.seeds
        yield common.Case(f"{name} original", lambda n=name: check_original(world, n))
        yield common.Case(f"{name} understood", lambda n=name: check_understood(world, n))
        yield common.Case(f"{name} second round", lambda n=name: check_second_round(world, n))
        layouts = [["--layout", "original"], ["--layout", "ext-tsp,split,colour"]]
        layouts += [["--layout", "random", "--seed", str(s)] for s in range(1, seeds + 1)]
        layouts += [["--layout", "scatter", "--seed", "1"]]
        for options in layouts:
            for high in (False, True):
                kind = "high" if high else "adj"
                text = f"{name} {kind} {' '.join(options[1:])}"
                yield common.Case(text, lambda n=name, h=high, o=options: check_layout(world, n, h, o))


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("RESPIKE_SEEDS", 5)))
    parser.add_argument("--heavy-seeds", type=int, default=int(os.environ.get("RESPIKE_HEAVY_SEEDS", 1)))
    args = parser.parse_args()
    if not pathlib.Path(NT).exists() or not (pathlib.Path(NT).parent / "respike-nt-loader").exists():
        print("respike-nt has no loader: it was built without a compiler for Alpha")
        return 1
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

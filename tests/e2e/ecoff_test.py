#!/usr/bin/env python3
"""Static images of Tru64's form (ECOFF) for Alpha: rewritten ones behave like the originals.

No program of Tru64 was available: programs are compiled by gcc, linked at Tru64's addresses and converted by `objcopy`
(tests/ecoff/), and run by `respike-ecoff`. Most are linked with glibc; NAME.dec are linked with a small C library of
our own: all their code loads addresses as DEC's compilers did, and binutils can read all relocations. RESPIKE_ECOFF:
the command, if it is not beside respike. --seeds N (RESPIKE_SEEDS, default 2; 20 with RESPIKE_ALL_CASES): random
layouts."""

import collections
import json
import os
import pathlib
import random
import re
import struct
import sys

import common

sys.path.insert(0, str(common.ROOT / "tests" / "ecoff"))
import images  # noqa: E402

ECOFF = os.environ.get("RESPIKE_ECOFF", str(pathlib.Path(common.RESPIKE).parent / "respike-ecoff"))
ALL_CASES = bool(os.environ.get("RESPIKE_ALL_CASES"))
SOURCES = common.ROOT / "tests" / "programs" / "c"
INPUTS = common.ROOT / "tests" / "programs" / "inputs"

# The images describe no frames, so programs that unwind end there: calls.c and signals.c are left out for that, and
# threads.c, which has thread-local variables, ends early.
SMALL = ("floats", "interpreter", "kernels", "offsets", "processes", "registers", "strings", "switches", "threads")
DEC = ("interpreter", "kernels", "offsets", "switches")
FLAGS = {
    "lua": ["-DLUA_USE_C89", "-Dluai_makeseed(L)=21164"],
    # Without explicit relocations gcc knows no thread-local variables.
    "threads": ["-mexplicit-relocs"],
    "sqlite3": ["-D_GNU_SOURCE", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
}
# A section has no more than 65,535 relocations: fewer are left where the linker relaxes code.
RELAXED = ("sqlite3",)
UNWINDS = ("threads",)
# Distances between labels, which are not marked as such: nearly all of this code stays, and it has no counts.
UNCOUNTED = ("offsets.dec",)
SLOW = ("kernels.dec", "floats", "switches", "sqlite3")  # every night only
HEADERS = 104


def sources_of(name):
    """The sources of a program, or None when Debian's sources were unreachable."""
    if name in ("lua", "bzip2", "sqlite3"):
        return common.real_sources(name)
    if name == "registers":
        return [SOURCES / "registers.c", SOURCES.parent / "asm" / "all_registers.S"]
    return [SOURCES / f"{name.removesuffix('.dec')}.c"]


def runs_of(name):
    if name == "lua":
        return [common.Run((str(INPUTS / "workload.lua"),), None), common.Run(("-e", "print(#arg, 2^53) error('x')"), None)]
    if name == "bzip2":
        return [common.Run(("-c", str(INPUTS / "file.sql")), None), common.Run(("-t", str(INPUTS / "file.sql")), None)]
    if name == "sqlite3":
        return [common.Run(("-batch", ":memory:"), str(INPUTS / "file.sql"))]
    return [common.Run((), str(INPUTS / "heavy.sql") if name == "strings" else None)]


class World:
    """The images, each made once."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.shared = common.Shared()

    def image(self, name):
        def make():
            folder, sources = self.scratch.folder(), sources_of(name)
            objects = images.compile_sources(sources, folder, [*FLAGS.get(name, ()), f"-I{sources[0].parent}"])
            path = folder / f"{name}.ecoff"
            images.make(objects, path, folder, dec=name.endswith(".dec"), relax=name in RELAXED)
            return path

        return self.shared(("image", name), make)

    def outcome(self, path, run):
        return common.run_command([ECOFF, path, *run.args], stdin=run.stdin, timeout=300, cwd=self.scratch.folder())

    def expected(self, name, index):
        return self.shared(("run", name, index), lambda: self.outcome(self.image(name), runs_of(name)[index]))

    def check(self, name, path, what):
        for index, run in enumerate(runs_of(name)):
            expected, actual = self.expected(name, index), self.outcome(path, run)
            # argv[0] is the path of the image, which is another one.
            if self.text(actual, path) != self.text(expected, self.image(name)):
                raise common.Failure(f"{what}, run {index}: {common.describe_difference(expected, actual)}")

    @staticmethod
    def text(outcome, path):
        return outcome.status, *(t.replace(str(path).encode(), b"PROGRAM") for t in (outcome.stdout, outcome.stderr))


# --- A reader of our own --------------------------------------------------------------------------


class Section(collections.namedtuple("Section", "name address size offset relocations count flags")):
    @property
    def loaded(self):
        return self.flags & 0x2FFF000 != 0x2100000 and self.size


class Image:
    """The parts of an image that tests check: read by binutils' headers, without code of Respike."""

    def __init__(self, path):
        self.data = data = path.read_bytes()
        self.magic, count, _, self.symbolic, size, optional, self.flags = struct.unpack_from("<HHIQIHH", data, 0)
        common.expect(self.magic == 0x183 and optional == 80 and size == 144, "the headers are others")
        self.kind, = struct.unpack_from("<H", data, 24)
        (self.text_size, self.data_size, self.zero_size, self.entry, self.text_start, self.data_start,
         self.zero_start) = struct.unpack_from("<7Q", data, 32)
        self.sections = []
        for i in range(count):
            name, _, address, bytes_, offset, relocations, _, number, _, flags = struct.unpack_from(
                "<8sQQQQQQHHI", data, HEADERS + 64 * i)
            name = name.rstrip(b"\0").decode()
            self.sections.append(Section(name, address, bytes_, offset, relocations, number, flags))
        magic, _, *counts = struct.unpack_from("<HH11I", data, self.symbolic)
        common.expect(magic == 0x1992, "the header of the symbols is another one")
        offsets = struct.unpack_from("<12Q", data, self.symbolic + 48)
        self.symbols = {}
        for i in range(counts[10]):
            value, name = struct.unpack_from("<QI", data, offsets[11] + 24 * i)
            start = offsets[8] + name
            self.symbols[data[start : data.index(b"\0", start)].decode()] = value

    def section_at(self, address):
        return next((s for s in self.sections if s.loaded and s.address <= address < s.address + s.size), None)

    def word(self, address, kind="<Q"):
        section = self.section_at(address)
        return struct.unpack_from(kind, self.data, section.offset + address - section.address)[0]

    def relocations(self):
        """(address, type, symbol, external) of all sections."""
        for section in self.sections:
            for i in range(section.count):
                address, symbol, kind, bits = struct.unpack_from("<QIBB", self.data, section.relocations + 16 * i)
                yield section, address, kind, symbol, bits & 1

    def is_code(self, address):
        section = self.section_at(address)
        return section is not None and bool(section.flags & 0x81000020) and not section.flags & 0x2000000


def check_tables(path, original):
    """Compares the headers, relocations and symbols of an output with those of the input."""
    before, after = Image(original), Image(path)
    common.expect(after.kind == before.kind == 0o413, "the kind changed")
    common.expect(after.is_code(after.entry), "the entry is in no code")
    offset_of_data = min(s.offset for s in after.sections if s.loaded and s.offset and s.address >= after.data_start)
    end_of_text = max(s.address + s.size for s in after.sections if s.loaded and s.address < after.data_start)
    common.expect(after.text_start + after.text_size >= end_of_text, "the text is longer than its header says")
    common.expect(after.text_size <= offset_of_data, "text and data overlap in the file")
    for section in after.sections:
        if section.loaded and section.offset:
            common.expect((section.address - section.offset) % 0x2000 == 0, f"{section.name} cannot be mapped")
            if section.address < after.data_start:
                common.expect(section.address - section.offset == after.text_start, f"{section.name} is elsewhere")
    kept = {s.name: s for s in before.sections if s.loaded}
    for name, section in kept.items():
        same = next(s for s in after.sections if s.name == name and s.loaded)
        common.expect((same.address, same.size, same.flags) == (section.address, section.size, section.flags), name)

    for section, address, kind, symbol, external in after.relocations():
        common.expect(section.address <= address < section.address + section.size, f"relocation at {address:#x}")
        if kind in (4, 6, 7, 8):
            opcode = after.word(address, "<I") >> 26
            allowed = {4: (0x29,), 6: (9,), 7: tuple(range(0x30, 0x40)), 8: (0x1A,)}[kind]
            common.expect(opcode in allowed, f"relocation of type {kind} at {address:#x} on opcode {opcode:#x}")
    # Words of data keep their places. The words that meant data are as before, and others mean code.
    words = [{(a, k) for s, a, k, _, _ in i.relocations() if k in (2, 3) and not i.is_code(a)} for i in (before, after)]
    common.expect(words[0] == words[1], f"words have other relocations: {sorted(words[0] ^ words[1])[:5]}")
    for address, kind in words[0]:
        if kind == 2:
            values = before.word(address), after.word(address)
            meant = [image.is_code(value) for image, value in zip((before, after), values)]
            common.expect(meant[0] == meant[1] and (meant[0] or values[0] == values[1]), f"the word at {address:#x}")
    common.expect(before.symbols.keys() <= after.symbols.keys(), "symbols are missing")
    for name, value in before.symbols.items():
        common.expect(before.is_code(value) == after.is_code(after.symbols[name]), f"symbol {name}")


def objdump(image, *options):
    """The output of binutils, if they have no objection."""
    outcome = common.run_command(["alpha-linux-gnu-objdump", *options, image])
    common.expect(outcome.status == 0 and not outcome.stderr, f"objdump: {outcome.stderr[-300:].decode()}")
    return outcome.stdout.decode()


def relocation_kinds(image):
    """How many relocations of each type binutils read. LITUSE and HINT may come along with dead code."""
    return collections.Counter(line.split()[1] for line in objdump(image, "-r").splitlines()
                               if re.match(r"[0-9a-f]{16} ", line))


# --- Cases ----------------------------------------------------------------------------------------


def check_original(world, name):
    """The converted program behaves like the program for Linux."""
    program = common.find_program(f"{name.removesuffix('.dec')}.static")
    if program is None:
        raise common.Skip("no program for Linux to compare with")
    for index, run in enumerate(runs_of(name)):
        native = common.run_program(program.image, run)
        actual = world.expected(name, index)
        text = [world.text(actual, world.image(name))[1].replace(b"PROGRAM", b"program"), native.stdout]
        common.expect(native.status == actual.status and text[0] == text[1], common.describe_difference(native, actual))


def check_understood(world, name):
    """Nearly everything is understood, although static procedures have no names."""
    info = json.loads(common.respike_ok("image", "info", "--json", world.image(name)).stdout)
    common.expect(info["format"] == "ECOFF" and info["machine"] == "alpha", str(info)[:200])
    share = 0.2 if name.endswith(".dec") else 0.03  # uncalled code is not known to be code
    common.expect(info["opaque_bytes"] <= share * info["text_bytes"], f"{info['opaque_bytes']}: {info['opaque'][:5]}")


def check_layout(world, name, options):
    original = world.image(name)
    output = world.scratch.file(f"{name}.ecoff")
    common.optimize(original, output, *options)
    check_tables(output, original)
    world.check(name, output, " ".join(map(str, options)))
    common.respike_ok("image", "verify", original, output)
    objdump(output, "-h", "-t")
    if name.endswith(".dec"):
        objdump(output, "-d", "-r")
        kinds = relocation_kinds(original), relocation_kinds(output)
        for kind in ("GPREL32", "REFQUAD"):
            common.expect(kinds[0][kind] == kinds[1][kind], f"{kind}: {kinds}")
        for kind in kinds[1]:
            common.expect(kinds[1][kind] <= kinds[0][kind], f"{kind}: {kinds}")
    output.unlink()


def check_appended(world):
    """Data appended to an image stays after it, at the same place within a page, in counting outputs as well."""
    data = b"PAYLOAD begins here" + bytes(range(256)) * 40 + b"THE ENDS"
    image, output, second, cut = (world.scratch.file(f"{name}.ecoff") for name in ("behind", "first", "second", "cut"))
    plain = world.image("threads").read_bytes()
    image.write_bytes(plain + bytes(-len(plain) % 512) + data)
    place = image.read_bytes().index(data) % 8192

    def check(rewritten):
        found = rewritten.read_bytes()
        common.expect(found.endswith(data) and found.index(data) % 8192 == place, f"{rewritten}: it is not behind the image")

    for options in (["--layout", "random", "--seed", "1"], ["--layout", "original"]):
        common.optimize(image, output, *options)
        check(output)
        common.respike_ok("image", "verify", image, output)
        common.optimize(output, second, "--layout", "random", "--seed", "2")
        check(second)
        world.check("threads", second, "twice rewritten")
    cut.write_bytes(output.read_bytes()[: -len(data)])
    verdict = common.respike("image", "verify", image, cut)
    common.expect(verdict.status == 1 and b"behind" in verdict.stderr + verdict.stdout, f"verify says nothing: {verdict}")
    common.respike_ok("image", "instrument", image, "-o", output, "--spool", world.scratch.folder())
    check(output)
    image.write_bytes(plain + bytes(4096))  # zeros are padding
    common.optimize(image, output, "--layout", "original")
    common.expect(not output.read_bytes().endswith(bytes(4096)), "padding is kept")


def check_second_round(world, name):
    original = world.image(name)
    first, second = world.scratch.file("first.ecoff"), world.scratch.file("second.ecoff")
    common.optimize(original, first, "--layout", "random", "--seed", "7")
    common.optimize(first, second, "--layout", "random", "--seed", "8")
    world.check(name, second, "twice rewritten")
    check_tables(second, first)
    common.respike_ok("image", "verify", original, second)


def check_profile(world, name):
    """Counts of a run make a layout, which behaves the same; so does the counting program."""
    original, spool = world.image(name), world.scratch.folder()
    counting, fast, profile = (world.scratch.file(f"{name}.ecoff") for _ in range(3))
    outcome = common.respike_ok("image", "instrument", original, "-o", counting, "--spool", spool)
    common.expect(b"does not run on Tru64" in outcome.stderr, outcome.stderr.decode())
    check_tables(counting, original)
    world.check(name, counting, "counting")
    common.respike_ok("image", "collect", *sorted(spool.glob("*.counts")), "-o", profile)
    shown = common.respike_ok("profile", "show", profile).stdout.decode()
    common.expect(name in UNCOUNTED or re.search(r"[1-9]\d* executed", shown), shown[:500])
    common.respike_ok("image", "optimize", original, "-o", fast, "--profile", profile)
    world.check(name, fast, "laid out by its profile")
    check_tables(fast, original)
    common.respike_ok("image", "verify", original, fast)
    refused = common.respike("image", "optimize", counting, "-o", fast)
    common.expect(refused.status == 1 and b"instrumented image" in refused.stderr, refused.stderr.decode())


def expect_refusal(arguments, text):
    outcome = common.respike(*arguments)
    message = outcome.stderr.decode()
    common.expect(outcome.status == 1, f"exit status {outcome.status}: {message}")
    common.expect(len(message.strip().splitlines()) == 1 and re.search(text, message), message)


def check_refusals(world):
    good = world.image("switches.dec").read_bytes()
    changed, output = world.scratch.file("changed.ecoff"), world.scratch.file("out.ecoff")
    rdata = next(i for i, s in enumerate(Image(world.image("switches.dec")).sections) if s.name == ".rdata")
    flags = HEADERS + 64 * rdata + 60
    for offset, value, text in (
        (0, 0x185, "an ECOFF program for BSD"),
        (0, 0x188, "a compressed object"),
        (22, 0x3002, "it uses shared libraries: .* -non_shared"),
        (22, 0x2002, "it is a shared library: .* -non_shared"),
        (22, 0, "an object file"),
        (20, 0, "an object file"),
        (24, 0o407, "not loaded by pages .* -N"),
        (flags + 2, 0x280, r"describes its frames in \.rdata"),
    ):
        data = bytearray(good)
        struct.pack_into("<H", data, offset, value)
        changed.write_bytes(data)
        expect_refusal(["image", "optimize", changed, "-o", output], text)
    data = bytearray(good)
    for i in range(struct.unpack_from("<H", data, 2)[0]):
        struct.pack_into("<H", data, HEADERS + 64 * i + 56, 0)
    changed.write_bytes(data)
    expect_refusal(["image", "optimize", changed, "-o", output], "compact ones of Tru64's linker are not read")
    common.expect(not output.exists(), "a refused image left an output")


def check_damage(world, count):
    """Damaged images are refused in one sentence, or work: each field of the headers, truncations, flipped bytes."""
    good = world.image("interpreter.dec").read_bytes()
    path, output = world.scratch.file("damaged.ecoff"), world.scratch.file("out.ecoff")
    generator = random.Random(21164)
    sections = struct.unpack_from("<H", good, 2)[0]
    symbolic = struct.unpack_from("<Q", good, 8)[0]
    fields = [*range(0, HEADERS + 64 * sections, 2), *range(symbolic, symbolic + 144, 4)]
    damages = [[(at, value)] for at in fields for value in (0, 0xFFFF, 0x8000)]
    damages = generator.sample(damages, min(len(damages), count))
    for _ in range(count):
        damages.append([(generator.randrange(len(good)), None) for _ in range(generator.choice((1, 1, 2, 8)))])
    damages += [[(generator.randrange(len(good)), "cut")] for _ in range(count // 10)]
    for damage in damages:
        data = bytearray(good)
        for at, value in damage:
            if value == "cut":
                del data[at:]
            elif value is None:
                data[at] ^= 1 << generator.randrange(8)
            else:
                struct.pack_into("<H", data, at, value)
        path.write_bytes(data)
        for command in (["optimize", path, "-o", output, "--layout", "random"],
                        ["instrument", path, "-o", output, "--spool", "/absent"], ["info", path]):
            if command[0] != "optimize" and generator.random() < 0.8:
                continue
            outcome = common.respike("image", *command, timeout=60)
            message = outcome.stderr.decode(errors="replace")
            what = f"{command[0]} with {damage}: status {outcome.status}: {message[-300:]}"
            common.expect(outcome.status in (0, 1) and "internal error" not in message, what)
            if outcome.status == 1:
                common.expect(len(message.splitlines()) == 1 and not output.exists(), what)
            output.unlink(missing_ok=True)


def check_disassembly(world):
    listing = common.respike_ok("image", "disasm", world.image("interpreter.dec"), "--procedure", "main").stdout
    common.expect(b"main" in listing and b"ret" in listing, listing[:200].decode())


def check_objdump(world):
    """Where code is, binutils and Respike agree: the same instructions, in other places."""
    original, output = world.image("interpreter.dec"), world.scratch.file("moved.ecoff")
    common.optimize(original, output, "--layout", "random", "--seed", "3")
    calls = [collections.Counter(re.findall(r"\t(addq|stq|ldq|jsr|ret|mulq)\t", objdump(image, "-d")))
             for image in (original, output)]
    for mnemonic, times in calls[0].items():
        common.expect(calls[1][mnemonic] >= 0.9 * times, f"{mnemonic}: {calls}")


def cases(args, scratch):
    world = World(scratch)
    yield common.Case("refusals", lambda: check_refusals(world))
    yield common.Case("disasm", lambda: check_disassembly(world))
    yield common.Case("objdump", lambda: check_objdump(world))
    yield common.Case("appended", lambda: check_appended(world))
    yield common.Case("damage", lambda: check_damage(world, 2000 if ALL_CASES else 100))
    names = [*(f"{n}.dec" for n in DEC), *SMALL, "bzip2", "lua", "sqlite3"]
    if not ALL_CASES:
        names = [n for n in names if n not in SLOW]
    for name in names:
        if sources_of(name) is None:
            continue
        if name not in UNWINDS:
            yield common.Case(f"{name} original", lambda n=name: check_original(world, n))
        yield common.Case(f"{name} understood", lambda n=name: check_understood(world, n))
        if ALL_CASES or name in ("interpreter.dec", "lua"):
            yield common.Case(f"{name} second round", lambda n=name: check_second_round(world, n))
        if ALL_CASES or name in ("switches.dec", "threads", "bzip2", "lua"):
            yield common.Case(f"{name} profile", lambda n=name: check_profile(world, n))
        layouts = [["--layout", "random", "--seed", str(s)] for s in range(1, args.seeds + 1)]
        layouts += [["--layout", "scatter", "--seed", "1"]]
        if ALL_CASES or name == "switches.dec":
            layouts += [["--layout", "original"], ["--layout", "ext-tsp,split,colour"]]
        for options in layouts:
            yield common.Case(f"{name} {' '.join(options[1:])}", lambda n=name, o=options: check_layout(world, n, o))


def main():
    parser = common.argument_parser(__doc__)
    seeds = os.environ.get("RESPIKE_SEEDS", 20 if ALL_CASES else 2)
    parser.add_argument("--seeds", type=int, default=int(seeds))
    args = parser.parse_args()
    if not pathlib.Path(ECOFF).exists() or not (pathlib.Path(ECOFF).parent / "respike-ecoff-loader").exists():
        print("respike-ecoff has no loader: it was built without a compiler for Alpha")
        return 1
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

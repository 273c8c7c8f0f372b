#!/usr/bin/env python3
"""Instrumented images are compared with their input: `image verify` agrees with an image as it was written, and finds
each of many kinds of damage to one, with the sentence that belongs to the damage."""

import itertools
import platform
import re
import shutil
import struct
import sys

import common
from common import Skip, expect

SOURCE = common.ROOT / "tests" / "programs" / "counting_check.c"
LONG_WAYS = common.ROOT / "tests" / "programs" / "long_ways.c"


class Counting:
    """A program and its instrumented image, as bytes and as a list of its instructions."""

    def __init__(self, scratch, compiler, objdump, *options, source=SOURCE):
        if shutil.which(compiler) is None:
            raise Skip(f"there is no {compiler}")
        self.folder = scratch.folder()
        self.input, self.output = self.folder / "program", self.folder / "counting"
        done = common.run_command([compiler, "-O1", "-Wl,-q", '-DPAD="nop"', source, "-o", self.input])
        expect(done.status == 0, done.stderr.decode(errors="replace"))
        common.respike_ok("image", "instrument", self.input, "-o", self.output, "--spool", self.folder / "spool", *options)
        self.bytes = self.output.read_bytes()
        self.sections = {}  # name -> (address, offset, size)
        for line in common.binutils("readelf", "-SW", self.output).splitlines():
            found = re.match(r"\s*\[ *\d+\] (\S+)\s+\S+\s+([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) ", line)
            if found:
                self.sections.setdefault(found[1], tuple(int(field, 16) for field in found.groups()[1:]))
        text = common.run_command([objdump, "-d", "-w", "--no-show-raw-insn", self.output]).stdout.decode()
        self.code = []  # address, size, text; only of the program's own procedures
        self.names = []  # by instruction: its procedure
        procedure = None
        for line in text.splitlines():
            if found := re.match(r"[0-9a-f]+ <([^>]*)>:", line):
                procedure = found[1]
            elif found := re.match(r"\s*([0-9a-f]+):\t(.*)", line):
                if procedure in ("choose", "twice", "sum", "find", "fold", "main"):
                    self.code.append((int(found[1], 16), found[2].strip()))
                    self.names.append(procedure)
        counters = self.sections[".bss.respike"]
        self.counters = range(counters[0], counters[0] + counters[2])

    def offset(self, address):
        for start, offset, size in self.sections.values():
            if start != 0 and start <= address < start + size:
                return offset + address - start
        raise AssertionError(f"no section holds {address:#x}")

    def word(self, address):
        return struct.unpack_from("<i", self.bytes, self.offset(address))[0]

    def verify(self, *changes):
        """The sentence of `verify` about the image with (offset, bytes) changed; nothing: it agrees."""
        damaged = bytearray(self.bytes)
        for offset, new in changes:
            damaged[offset : offset + len(new)] = new
        expect(damaged != self.bytes or not changes, "nothing was damaged")
        image = self.folder / "damaged"
        image.write_bytes(damaged)
        done = common.respike("image", "verify", self.input, image)
        expect(done.status in (0, 1), f"status {done.status}")
        return done.stderr.decode() if done.status else ""

    def expect_found(self, what, pattern, *changes):
        said = self.verify(*changes)
        expect(re.search(pattern, said), f"{what}: verify says {said.strip() or 'that all is well'!r}")

    def expect_swaps_found(self, probes, swap):
        """No two probes of a procedure may have each other's counters: each path through the procedure passes exactly
        the probes of its own blocks and edges. `probes`: anything by address; `swap`: the changes, or nothing if the
        code of two probes is too different for a swap."""
        swaps = 0
        for name in dict.fromkeys(name for _, name in probes):
            for one, other in itertools.combinations([probe for probe, of in probes if of == name], 2):
                if changes := swap(one, other):
                    swaps += 1
                    self.expect_found(f"{name} swaps the counters of {one} and {other}", "probe of counter|has no probe", *changes)
        expect(swaps > 25, f"only {swaps} pairs of probes have been swapped")


class X8664(Counting):
    def __init__(self, scratch, *options, source=SOURCE):
        if platform.machine() != "x86_64":
            raise Skip("the host has another processor")
        super().__init__(scratch, "gcc", "objdump", *options, source=source)
        ends = [address for address, _ in self.code[1:]] + [self.code[-1][0] + 1]
        self.code = [(address, end - address, text) for (address, text), end in zip(self.code, ends)]
        self.probes = [i for i, (_, size, text) in enumerate(self.code) if text.startswith("incq") and size == 7]

    def branch_behind(self, index):
        """The conditional branch after a probe, a comparison before it, and no code between that depends on its
        place."""
        for i in range(index + 1, len(self.code)):
            text = self.code[i][2]
            if re.match("j[^m]", text):
                return i if re.match("(cmp|test)", self.code[i - 1][2]) and i > index + 1 else None
            if re.match("j|call|ret", text) or "%rip" in text:
                return None
        return None

    def move_probe(self, index, branch):
        """The image with a probe right in front of the branch."""
        address, size, _ = self.code[index]
        at, other = self.offset(address), self.code[branch][0] - address - size
        probe = self.bytes[at : at + size - 4] + struct.pack("<i", self.word(address + 3) - other)
        return at, self.bytes[at + size : at + size + other] + probe


def check_agrees(counting):
    expect(counting.verify() == "", f"verify: {counting.verify()}")
    expected, actual = (common.run_command([image]) for image in (counting.input, counting.output))
    expect(re.sub(rb"\S*named", b"", expected.stdout) == re.sub(rb"\S*named", b"", actual.stdout), "the outputs differ")


def check_x86_64_probes(counting):
    """Probes that count elsewhere, harm, or are not there."""
    address, size, _ = counting.code[counting.probes[1]]
    field = counting.offset(address) + 3
    here = counting.word(address + 3)

    def count_at(place):
        return field, struct.pack("<i", place - (address + size))

    counter = address + size + here
    state = next(symbol.value for symbol in common.read_symbols(counting.output) if symbol.name == "state")
    counting.expect_found("counts in the program's data", "the instructions differ.*inc", count_at(state))
    counting.expect_found("counts behind the counters", "the instructions differ.*inc", count_at(counting.counters.stop))
    counting.expect_found("counts beside a counter", "the instructions differ.*inc", count_at(counter + 4))
    for other in counting.probes:
        own, length, _ = counting.code[other]
        target = own + length + counting.word(own + 3)
        if target != counter:
            counting.expect_found("counts what another probe counts", "does not stand where|has two probes", count_at(target))
    nop = bytes.fromhex("0f1f8000000000")
    counting.expect_found("is not there", "has no probe", (field - 3, nop))
    counting.expect_found("subtracts", "the instructions differ", (field - 1, b"\x0d"))
    compared = [(i, branch) for i in counting.probes if (branch := counting.branch_behind(i)) is not None]
    expect(compared, "no probe stands in front of a comparison")
    for probe, branch in compared:
        counting.expect_found("changes flags", "a probe changes .*, which may still be read", counting.move_probe(probe, branch))


def check_x86_64_swaps(counting):
    def swap(one, other):
        changes = []
        for at, to in ((one, other), (other, one)):
            counter = to + 7 + counting.word(to + 3)
            changes.append((counting.offset(at) + 3, struct.pack("<i", counter - at - 7)))
        return changes

    counting.expect_swaps_found([(counting.code[i][0], counting.names[i]) for i in counting.probes], swap)


def check_alpha_swaps(counting):
    """Probes in place, as check_alpha() has them, exchange the distances from gp; small probes their numbers."""
    probes = []
    for i, (address, text) in enumerate(counting.code[:-2]):
        is_number = re.match(r"lda\tt\d+,-?\d+$", text) and counting.code[i + 1][1].startswith("bsr")
        load = re.match(r"ldq\t(\w+),-?\d+\(\w+\)$", text)
        if is_number or load and counting.code[i + 1][1] == f"lda\t{load[1]},1({load[1]})":
            probes.append((address, counting.names[i]))

    def words(address):
        return struct.unpack_from("<3I", counting.bytes, counting.offset(address))

    def swap(one, other):
        (a, a_next, a_last), (b, b_next, b_last) = words(one), words(other)
        if a >> 26 != b >> 26 or a >> 16 & 31 != b >> 16 & 31:
            return []  # one loads a number, or they have different bases
        if a >> 26 == 0x08:  # lda
            return [(counting.offset(one), struct.pack("<H", b & 0xFFFF)), (counting.offset(other), struct.pack("<H", a & 0xFFFF))]
        return [
            (counting.offset(at) + place, struct.pack("<H", word & 0xFFFF))
            for at, load, store in ((one, b, b_last), (other, a, a_last))
            for place, word in ((0, load), (8, store))
        ]

    counting.expect_swaps_found(probes, swap)


def check_long_ways(scratch, compiler, level, pad):
    """Long ways over no-ops or branches at the head of a loop, whose counters stand anywhere on them."""
    if shutil.which(compiler) is None:
        raise Skip(f"there is no {compiler}")
    folder = scratch.folder()
    program, counting = folder / "program", folder / "counting"
    done = common.run_command([compiler, level, "-Wl,-q", f"-DPAD={pad}", LONG_WAYS, "-o", program])
    expect(done.status == 0, done.stderr.decode(errors="replace"))
    for counters in ("shared", "atomic") if "alpha" in compiler else ("shared", "atomic", "threads"):
        common.respike_ok("image", "instrument", program, "-o", counting, "--spool", folder / "spool", "--counters", counters)
        done = common.respike("image", "verify", program, counting)
        expect(done.status == 0, f"--counters {counters}: {done.stderr.decode()}")


def check_x86_64_code(counting):
    """Code that leads elsewhere."""
    for i, (address, size, text) in enumerate(counting.code):
        if re.match(r"j[^m]\w* ", text) and size == 2:
            at = counting.offset(address)
            counting.expect_found(f"{text} is inverse", "differ|lead|probe", (at, bytes([counting.bytes[at] ^ 1])))
            past = counting.code[i + 1][1]
            distance = (counting.bytes[at + 1] + past) & 0x7F if counting.bytes[at + 1] < 0x70 else 0
            counting.expect_found(f"{text} leads elsewhere", "differ|lead|probe", (at + 1, bytes([distance])))
        elif text.startswith("call") and size == 5 and "<choose>" in text:
            field = counting.offset(address) + 1
            far = counting.word(address + 1) + 1
            counting.expect_found(f"{text} leads elsewhere", ".", (field, struct.pack("<i", far)))
    relocations = common.binutils("readelf", "-rW", counting.output)
    entries = [
        int(fields[0], 16)
        for line in relocations.split("'.rela.rodata'")[1].split("Relocation section")[0].splitlines()
        if len(fields := line.split()) > 3 and fields[2] == "R_X86_64_PC32"
    ]
    expect(len(entries) >= 7, "the switch has no table")
    first, second = entries[0], entries[1]
    swapped = counting.word(second) + first - second  # leads where the second entry leads
    counting.expect_found("an entry leads elsewhere", "lead|differ|probe", (counting.offset(first), struct.pack("<i", swapped)))
    _, offset, size = counting.sections[".rela.rodata"]
    for at in range(offset, offset + size, 24):
        if struct.unpack_from("<Q", counting.bytes, at)[0] == second:
            counting.expect_found("a relocation is gone", "address of code in one image only", (at + 8, bytes(8)))
    _, offset, size = counting.sections[".rela.dyn"]
    addend = struct.unpack_from("<q", counting.bytes, offset + 16)[0]
    counting.expect_found("a dynamic relocation leads elsewhere", ".",
                          (offset + 16, struct.pack("<q", addend + 4)))
    _, offset, size = counting.sections[".eh_frame"]
    step = counting.bytes.rindex(b"\x0e\x10", offset, offset + size)  # DW_CFA_def_cfa_offset 16
    counting.expect_found("a frame is deeper", "unwind", (step + 1, b"\x18"))
    _, offset, _ = counting.sections[".data"]
    counting.expect_found("data differ", "differs", (offset + 1, b"\x5a"))


def check_x86_64_start(counting):
    """The start code, its parameters and the counter map."""
    _, offset, size = counting.sections[".text.respike.start"]
    counting.expect_found("another start code", "start code", (offset + 100, bytes([counting.bytes[offset + 100] ^ 1])))
    parameters = counting.bytes.index(b"RSPKCNT\0", offset, offset + size) - 32 - 4096
    next_place = struct.unpack_from("<q", counting.bytes, parameters + 8)[0]
    counting.expect_found("begins behind the entry", "the entry of the image", (parameters + 8, struct.pack("<q", next_place + 4)))
    counting.expect_found("begins nowhere", "does not go on", (parameters + 8, bytes(8)))
    counters = struct.unpack_from("<q", counting.bytes, parameters)[0]
    counting.expect_found("keeps other memory", "parameters", (parameters, struct.pack("<q", counters - 4096)))
    counting.expect_found("keeps less memory", "parameters|memory", (parameters + 16, struct.pack("<Q", 0)))
    counting.expect_found("is exact", "parameters", (parameters + 32 + 4096 + 64, b"\x01"))
    map_at = next(
        int(found[1], 16)
        for line in common.binutils("readelf", "-SW", counting.output).splitlines()
        if (found := re.search(r"\.respike\.counters +PROGBITS +0+ ([0-9a-f]+)", line))
    )
    counting.expect_found("another counter map", ".", (map_at + 60, bytes([counting.bytes[map_at + 60] ^ 1])))


def check_alpha(counting):
    """Probes of Alpha in place: ldq v,d(b); lda v,1(v); stq v,d(b). Small probes: lda v,number(zero); bsr
    link,routine."""
    found = small = 0
    for i, (address, text) in enumerate(counting.code[:-3]):
        at = counting.offset(address)
        if re.match(r"lda\tt\d+,-?\d+$", text) and counting.code[i + 1][1].startswith("bsr"):
            small += 1
            load_number, call = struct.unpack_from("<2I", counting.bytes, at)
            for bit in (1, 0x4000):  # another counter, none
                counting.expect_found("counts elsewhere", "probe|differ", (at, struct.pack("<I", load_number ^ bit)))
            counting.expect_found("calls elsewhere", "differ", (at + 4, struct.pack("<I", call + 1)))
            counting.expect_found("returns elsewhere", "differ", (at + 4, struct.pack("<I", call ^ 1 << 21)))
            continue
        load = re.match(r"ldq\t(\w+),(-?\d+)\((\w+)\)$", text)
        if not load or counting.code[i + 1][1] != f"lda\t{load[1]},1({load[1]})":
            continue
        found += 1
        words = list(struct.unpack_from("<3I", counting.bytes, at))

        def changed(*new, at=at):
            return at, struct.pack(f"<{len(new)}I", *new)

        counting.expect_found("adds 2", "the instructions differ|the operands differ", changed(words[0], words[1] + 1))
        counting.expect_found("stores elsewhere", "differ", changed(words[0], words[1], words[2] ^ 8))
        if found == 1:
            counting.expect_found("counts elsewhere", "differ|probe", changed(words[0] ^ 0x4000, words[1], words[2] ^ 0x4000))
            said = []
            for register in (9, 10, 11, 12, 13, 14, 26):
                keep = ~(31 << 21)
                said.append(
                    counting.verify(
                        changed(
                            words[0] & keep | register << 21,
                            words[1] & keep & ~(31 << 16) | register << 21 | register << 16,
                            words[2] & keep | register << 21,
                        )
                    )
                )
            expect(all("which may still be read" in text for text in said), f"changes registers: {said}")
    expect(found > 0 and small > 0, "probes are missing")


def cases(scratch):
    def case(name, check, make, *options, source=SOURCE):
        def run():
            check(make(scratch, *options, source=source))

        return common.Case(name, run)

    def alpha(scratch, *options, source=SOURCE):
        return Counting(scratch, "alpha-linux-gnu-gcc", "alpha-linux-gnu-objdump", *options, source=source)

    yield case("x86-64 agrees", check_agrees, X8664)
    yield case("x86-64 agrees atomic", check_agrees, X8664, "--counters", "atomic")
    yield case("x86-64 agrees threads", check_agrees, X8664, "--counters", "threads")
    yield case("x86-64 probes", check_x86_64_probes, X8664)
    yield case("x86-64 code", check_x86_64_code, X8664)
    yield case("x86-64 start", check_x86_64_start, X8664)
    yield case("x86-64 swaps", check_x86_64_swaps, X8664)
    yield case("x86-64 swaps in loops", check_x86_64_swaps, X8664, source=LONG_WAYS)
    yield case("alpha", check_alpha, alpha)
    yield case("alpha swaps", check_alpha_swaps, alpha)
    yield case("alpha swaps in loops", check_alpha_swaps, alpha, source=LONG_WAYS)
    compilers = {"alpha": "alpha-linux-gnu-gcc"} | ({"x86-64": "gcc"} if platform.machine() == "x86_64" else {})
    for machine, compiler in compilers.items():
        branch = "br" if machine == "alpha" else "jmp"
        pads = {"no-ops": r'".rept 150\nnop\n.endr"', "branches": rf'".rept 100\n{branch} 1f\n1:\n.endr"'}
        for (what, pad), level in itertools.product(pads.items(), ("-O1", "-O2")):
            yield common.Case(f"{machine} long ways {what} {level}",
                              lambda compiler=compiler, level=level, pad=pad: check_long_ways(scratch, compiler, level, pad))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

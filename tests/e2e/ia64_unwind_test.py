#!/usr/bin/env python3
"""Itanium code whose unwind descriptors Respike does not understand stays in place, with its
descriptors.

A program in assembler has procedures with descriptors for predicates, with another convention, with saves that
unwinders take for something else, and with handlers. In all layouts, instrumented, and rewritten again, these
procedures stay, readelf lists the same descriptors for the same addresses, everything else moves, and the program
behaves the same. The same holds for exception tables that are not understood.

Unwinders look up return addresses as they are: a call and the bundle after it must be in one region, even if a layout
joins code that an earlier layout split. If the symbols of a library move, the distance between symbols and names stays,
since the dynamic linker takes it for the size of the symbols."""

import functools
import json
import re
import struct
import sys

import common
import ia64_programs
from common import expect
from ia64_run_test import FREESTANDING, emulate, scratch

KEPT = {"predicated", "convention", "mistimed", "handles"}
REASON = "its unwind information is not understood"
PROCEDURES = 6  # the program's exit status: the number of procedures that it calls


def program(kept=ia64_programs.ASSEMBLER_SOURCES / "unwind" / "kept.s"):
    folder, objects = scratch.folder(), []
    for source in (FREESTANDING / "start.s", FREESTANDING / "runtime.s", kept):
        objects.append(folder / f"{source.stem}.o")
        ia64_programs.tool("as", "-o", objects[-1], source)
    image = folder / "kept"
    ia64_programs.tool("ld", "-q", "--build-id", "-o", image, *objects)
    return image


def listing(image):
    """{(start, end): readelf's text of the entry}. readelf counts addresses from the segment that
    holds the table, unwinders count from the lowest segment: in a copy, the lowest segment is
    extended up to the table."""
    data = bytearray(image.read_bytes())
    first = struct.unpack_from("<Q", data, 32)[0]
    headers = [first + 56 * i for i in range(struct.unpack_from("<H", data, 56)[0])]
    loads = [h for h in headers if struct.unpack_from("<I", data, h)[0] == 1]
    lowest = min(loads, key=lambda h: struct.unpack_from("<Q", data, h + 16)[0])
    struct.pack_into("<Q", data, lowest + 40, 1 << 30)
    copy = scratch.file("listed")
    copy.write_bytes(data)
    entries, lines = {}, None
    for line in ia64_programs.tool("readelf", "-u", copy).splitlines():
        head = re.match(r"<.*>: \[0x(\w+)-0x(\w+)\], info at", line)
        if head:
            lines = entries.setdefault((int(head[1], 16), int(head[2], 16)), [])
        elif lines is not None and line.strip():
            lines.append(line)
    return entries


def addresses(image):
    symbols = ia64_programs.tool("nm", image)
    return {name: int(address, 16) for address, name in re.findall(r"^(\w+) [tT] (\w+)$", symbols, re.MULTILINE)}


def check_kept(image, output, what):
    before, after = addresses(image), addresses(output)
    old, new = listing(image), listing(output)
    for name in KEPT:
        expect(before[name] == after[name], f"{what}: {name} moved")
        (place,) = [p for p in old if p[0] == before[name]]
        expect(len(old[place]) > 2 and new.get(place) == old[place], f"{what}: {name} is described by {new.get(place)}")
    for name in ("program", "plain"):
        entry = next(lines for (start, end), lines in new.items() if start <= after[name] < end)
        expect("body" in " ".join(entry), f"{what}: {name} is not described")
    expect(emulate(output).status == PROCEDURES, f"{what}: status {emulate(output).status}")


def check_reasons(image):
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    expect({e["name"] for e in info["opaque"] if e["reason"] == REASON} == KEPT, f"{info['opaque']}")


def layouts():
    image = program()
    expect(emulate(image).status == PROCEDURES, "the program itself is wrong")
    check_reasons(image)
    moved = 0
    for options in (("original",), ("random", "--seed", "1"), ("random", "--seed", "2"), ("scatter", "--seed", "1"), ("ext-tsp",)):
        output = scratch.file("output")
        common.optimize(image, output, "--layout", *options)
        check_kept(image, output, " ".join(options))
        moved += addresses(output)["plain"] != addresses(image)["plain"]
        again = scratch.file("again")
        common.optimize(output, again, "--layout", "random", "--seed", "3")
        check_kept(image, again, f"{' '.join(options)}, again")
        check_reasons(again)
        common.respike_ok("image", "verify", image, output)
    expect(moved >= 3, "nothing moves")


def counted():
    image, output = program(), scratch.file("counting")
    common.respike_ok("image", "instrument", image, "-o", output, "--spool", scratch.folder())
    check_kept(image, output, "counted")


def verify():
    """`image verify` finds changes of code and descriptors that had to stay."""
    image, output = program(), scratch.file("output")
    common.optimize(image, output, "--layout", "random", "--seed", "1")
    data = bytearray(output.read_bytes())
    predicated = bytes([0xFC, 0x06, 0x04])  # X4, p6, r4
    expect(data.count(predicated) >= 1, "there is no predicated descriptor")
    data[data.rindex(predicated) + 1] = 0x07
    output.write_bytes(data)
    outcome = common.respike("image", "verify", image, output)
    expect(outcome.status == 1 and b"unwind information" in outcome.stderr + outcome.stdout, f"{outcome}")


def check_kept_table(image, output, what):
    """The procedure `handles` stays, and its entry leads to its old descriptors. (readelf reads descriptors in one section
    only, and here are two.)"""
    place = addresses(image)["handles"]
    entries = [next(entry for entry in unwind_entries(each) if entry[0] == place) for each in (image, output)]
    expect(entries[0] == entries[1], f"{what}: {entries[0]} became {entries[1]}")
    expect(addresses(output)["handles"] == place, f"{what}: it moved")
    described = [address for name, address in addresses(output).items() if name in ("program", "plain")]
    expect(all(any(start <= at < end for start, end, _ in unwind_entries(output)) for at in described), f"{what}: not all is described")
    expect(emulate(output).status == PROCEDURES, f"{what}: status {emulate(output).status}")


# An exception table that names where landing pads start, in another procedure, and then is not understood.
PADS_ELSEWHERE = """
	.global lands#
	.proc lands#
	.personality plain#
lands:
	.prologue
	.save rp, r14
	mov r14 = b0
	.body
	br.call.sptk.many b0 = plain#
	;;
	mov b0 = r14
	;;
	br.ret.sptk.many b0
	.handlerdata
	data1 0x00
	data8.ua elsewhere#
	data1 0xff, 0x7f
	.text
	.endp lands#
	.global elsewhere#
	.proc elsewhere#
elsewhere:
	.prologue
	.body
	mov r8 = 1
	br.ret.sptk.many b0
	.endp elsewhere#
"""


def pads_elsewhere():
    """The code to which a table leads that is not understood stays, whatever its name."""
    source = scratch.folder() / "kept.s"
    source.write_text((ia64_programs.ASSEMBLER_SOURCES / "unwind" / "kept.s").read_text() + PADS_ELSEWHERE)
    image, output = program(source), scratch.file("output")
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    opaque = {entry["name"]: entry["reason"] for entry in info["opaque"]}
    expect({"lands", "elsewhere"} <= opaque.keys(), f"{opaque}")
    expect("exception table" in opaque["elsewhere"], f"{opaque['elsewhere']}")
    common.optimize(image, output, "--layout", "random", "--seed", "1")
    expect(emulate(output).status == PROCEDURES, "the program does something else")


def unreadable_tables():
    """An exception table that is not understood may lead to any code of its procedure: table and procedure stay, also
    in further rounds, and nothing else stays. `image verify` finds changes of the table."""
    image = program()
    data = bytearray(image.read_bytes())
    table = bytes([0xFF, 0xFF, 0x01])  # no start of landing pads, no types, call sites as ULEB128
    expect(data.count(table) == 1, "the exception table is not found")
    place = data.index(table)
    for what, at, value in (("encoding of call sites", place + 2, 0x7F), ("start of landing pads", place, 0x7F)):
        damaged = data.copy()
        damaged[at] = value
        bad = scratch.file("bad")
        bad.write_bytes(damaged)
        for options in (("original",), ("random", "--seed", "1"), ("ext-tsp",)):
            output, again = scratch.file("output"), scratch.file("again")
            common.optimize(bad, output, "--layout", *options)
            check_kept_table(bad, output, f"{what}, {' '.join(options)}")
            common.optimize(output, again, "--layout", "random", "--seed", "3")
            check_kept_table(bad, again, f"{what}, {' '.join(options)}, again")
            common.respike_ok("image", "verify", bad, output)
        counting = scratch.file("counting")
        common.respike_ok("image", "instrument", bad, "-o", counting, "--spool", scratch.folder())
        check_kept_table(bad, counting, f"{what}, counted")
        changed = bytearray(output.read_bytes())
        kept = bytes(damaged[place : place + 8])
        expect(changed.count(kept) == 1, f"{what}: {changed.count(kept)} tables in the output")
        changed[changed.index(kept) + 3] ^= 1
        output.write_bytes(changed)
        outcome = common.respike("image", "verify", bad, output)
        expect(outcome.status == 1 and b"exception tables" in outcome.stderr + outcome.stdout, f"{what}: {outcome}")


# --- Return addresses -------------------------------------------------------------------------------

THROWS_STATUS = 12


def throws():
    """A C++ program without a runtime: its procedures have exception tables, but nothing throws."""
    folder, objects = scratch.folder(), []
    unwind = ia64_programs.ASSEMBLER_SOURCES / "unwind"
    for source in (FREESTANDING / "start.s", FREESTANDING / "runtime.s", unwind / "throws.s", unwind / "throws_stubs.s"):
        objects.append(folder / f"{source.stem}.o")
        ia64_programs.tool("as", "-o", objects[-1], source)
    image = folder / "throws"
    ia64_programs.tool("ld", "-q", "--build-id", "-o", image, *objects)
    return image


def segments(data):
    first = struct.unpack_from("<Q", data, 32)[0]
    return [struct.unpack_from("<IIQQQQQQ", data, first + 56 * i) for i in range(struct.unpack_from("<H", data, 56)[0])]


def unwind_entries(image):
    """(start, end, address of the descriptors) of all entries of the unwind table."""
    data = image.read_bytes()
    headers = segments(data)
    base = min(h[3] for h in headers if h[0] == 1)
    (table,) = [h for h in headers if h[0] == 0x70000001]
    entries = [struct.unpack_from("<QQQ", data, at) for at in range(table[2], table[2] + table[5], 24)]
    return sorted(tuple(base + place for place in entry) for entry in entries)


def regions(image):
    """(start, end) of all entries of the unwind table."""
    return [(start, end) for start, end, _ in unwind_entries(image)]


def calls(image):
    """Addresses of the bundles that end with a call, by objdump."""
    result, bundle = set(), 0
    for line in ia64_programs.tool("objdump", "-d", image).splitlines():
        place = re.match(r"\s*([0-9a-f]+):\t", line)
        if place:
            bundle = int(place[1], 16) & ~15
        if re.search(r"\bbrl?\.call", line):
            result.add(bundle)
    return sorted(result)


def check_return_addresses(image, what):
    table = regions(image)
    region = lambda address: next((r for r in table if r[0] <= address < r[1]), None)
    lost = [hex(c) for c in calls(image) if region(c) is not None and region(c) != region(c + 16)]
    expect(not lost, f"{what}: calls at {', '.join(lost)} return into another unwind region")
    expect(emulate(image).status == THROWS_STATUS, f"{what}: status {emulate(image).status}")


def return_addresses():
    image = throws()
    check_return_addresses(image, "the program itself")
    for number, first in enumerate((("scatter", "--seed", "1"), ("random", "--seed", "1"), ("random", "--seed", "2"))):
        once, twice = scratch.file("once"), scratch.file("twice")
        common.optimize(image, once, "--layout", *first)
        check_return_addresses(once, " ".join(first))
        for second in (("original",), ("ext-tsp",), ("random", "--seed", str(number + 3))):
            common.optimize(once, twice, "--layout", *second)
            check_return_addresses(twice, f"{' '.join(first)}, then {' '.join(second)}")


def listed_addresses():
    """readelf counts addresses from the segment that holds the table: it shows the right addresses
    if the table found room in the first segment."""
    image, once, twice = throws(), scratch.file("once"), scratch.file("twice")
    common.optimize(image, once)
    common.optimize(once, twice)
    for output in (once, twice):
        text = ia64_programs.tool("readelf", "-u", output)
        starts = {int(start, 16) for start in re.findall(r": \[0x(\w+)-0x\w+\], info at", text)}
        expect(starts == {start for start, _ in regions(output)}, f"readelf lists {sorted(map(hex, starts))}")
        check_return_addresses(output, "the default layout")


def thrown():
    """With a real runtime: exceptions are caught after one layout, and after a second layout on
    top."""
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise common.Skip(ia64_programs.MISSING)
    image = scratch.file("caught")
    source = ia64_programs.ASSEMBLER_SOURCES / "c" / "caught.cc"
    command = [toolchain / "bin" / "ia64-linux-gnu-g++", "-O2", "-static", "-Wl,-q,-S", "-o", image, source]
    built = common.run_command(command, timeout=common.TOOL_TIMEOUT)
    expect(built.status == 0, f"{built.stderr}")
    once, twice = scratch.file("once"), scratch.file("twice")
    common.optimize(image, once, "--layout", "scatter", "--seed", "1")
    common.optimize(once, twice)
    emulate(twice).same_as(emulate(image), "scatter, then the default")


# --- Symbols and their names ------------------------------------------------------------------------


# The unwind tables need a segment of their own, and that needs a program header.
FEW_SYMBOLS = """
	.text
	.global answer#
	.proc answer#
answer:
	.prologue
	.save pr, r14
	mov r14 = pr
	.body
	br.sptk.many hidden#
	.endp answer#
	.global hidden#
	.hidden hidden#
	.proc hidden#
hidden:
	.prologue
	.body
	mov r8 = 42
	br.ret.sptk.many b0
	.endp hidden#
"""


def library(style):
    folder = scratch.folder()
    source, image = folder / "few.s", folder / f"libfew.{style}.so"
    source.write_text(FEW_SYMBOLS)
    ia64_programs.tool("as", "-o", folder / "few.o", source)
    ia64_programs.tool("ld", "-shared", "-q", f"--hash-style={style}", "-o", image, folder / "few.o")
    return image


def symbols_and_names():
    """The symbols keep their distance: glibc's elf/dl-fptr.c takes DT_STRTAB - DT_SYMTAB for the
    size of the dynamic symbols."""
    for style in ("gnu", "sysv", "both"):
        image = library(style)
        for layout in ("ext-tsp", "random"):
            output = scratch.file("few.so")
            common.optimize(image, output, "--layout", layout)
            headers = ia64_programs.tool("readelf", "-SW", output)
            places = dict(re.findall(r"\] (\.dyn\w+) +\w+ +([0-9a-f]+)", headers))
            size = int(re.search(r"\] \.dynsym +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", headers)[1], 16)
            distance = int(places[".dynstr"], 16) - int(places[".dynsym"], 16)
            expect(distance == size, f"{style}: names are {distance} bytes behind symbols of {size} bytes")
            common.respike_ok("image", "verify", image, output)
            image = output


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [common.Case(f.__name__, functools.partial(f)) for f in (layouts, counted, verify, unreadable_tables, pads_elsewhere, return_addresses, listed_addresses, thrown, symbols_and_names)]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Itanium code whose unwind descriptors are not understood stays where it is, with its descriptors.

A program in assembler has procedures with descriptors for predicates, another convention, saves that unwinders take
for something else, and one with handlers. In all layouts, counted and rewritten again these stay, readelf lists the
same descriptors for the same addresses, everything else moves, and the program does the same. Tables that nobody could
write again are refused in one sentence."""

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
PROCEDURES = 6  # the program's exit status: those that it calls


def program():
    folder, objects = scratch.folder(), []
    for source in (FREESTANDING / "start.s", FREESTANDING / "runtime.s", ia64_programs.ASSEMBLER_SOURCES / "unwind" / "kept.s"):
        objects.append(folder / f"{source.stem}.o")
        ia64_programs.tool("as", "-o", objects[-1], source)
    image = folder / "kept"
    ia64_programs.tool("ld", "-q", "--build-id", "-o", image, *objects)
    return image


def listing(image):
    """{(start, end): what readelf says of the entry}. readelf counts addresses from the segment that holds the table, unwinders from
    the lowest one: in a copy that one is made to reach up to the table."""
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
    """`image verify` sees when what is kept was changed."""
    image, output = program(), scratch.file("output")
    common.optimize(image, output, "--layout", "random", "--seed", "1")
    data = bytearray(output.read_bytes())
    predicated = bytes([0xFC, 0x06, 0x04])  # X4, p6, r4
    expect(data.count(predicated) >= 1, "there is no predicated descriptor")
    data[data.rindex(predicated) + 1] = 0x07
    output.write_bytes(data)
    outcome = common.respike("image", "verify", image, output)
    expect(outcome.status == 1 and b"unwind information" in outcome.stderr + outcome.stdout, f"{outcome}")


def refused():
    """An exception table that cannot be read may name any code: it cannot be kept."""
    image = program()
    data = bytearray(image.read_bytes())
    table = bytes([0xFF, 0xFF, 0x01])
    expect(data.count(table) == 1, "the exception table is not found")
    data[data.index(table) + 2] = 0x7F
    bad = scratch.file("bad")
    bad.write_bytes(data)
    outcome = common.respike("image", "optimize", bad, "-o", scratch.file("output"))
    text = outcome.stderr.decode()
    expect(outcome.status == 1 and len(text.splitlines()) == 1 and "would be lost" in text, f"{outcome.status}: {text}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [common.Case(f.__name__, functools.partial(f)) for f in (layouts, counted, verify, refused)]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

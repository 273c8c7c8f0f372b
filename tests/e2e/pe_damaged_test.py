#!/usr/bin/env python3
"""Damaged images of Windows NT end in one clear sentence or in an image that Respike itself finds right.

Every field of the headers and of the tables (function table, base relocations, exports, imports, scope tables, symbols)
takes values that are likely to break something: all ones, zero, one more, one less, a number that is far too large.
Files are cut at every structure's borders, and single bits flip. Commands must end soon, in little memory, and say at
most one sentence. RESPIKE_PE_FLIPS: how many random flips of each image (default 75); the fuzzers' smoke test does many
more, in one process.

Rewritten images are not run: a damaged program may do anything. `respike` compares its output with its input."""

import os
import pathlib
import random
import struct
import sys

import common
import pe_test

sys.path.insert(0, str(common.ROOT / "tests" / "pe"))
import images  # noqa: E402
import link  # noqa: E402

SEEDS = common.ROOT / "tests" / "fuzz" / "seeds"
TIMEOUT = 20.0
MOST_MEMORY = 1 << 30  # bytes of address space
WILD = (0xFFFFFFFF, 0, 0x7FFFFFF0)


def make_images(scratch):
    """Two small images: a program with exports, symbols and imports; one with scope tables."""
    program, handlers = (images.compile_sources([SEEDS / n], scratch.folder()) for n in ("program.c", "handlers.s"))
    options = link.Options(entry="_start", exports=("_start", "choose"), symbols=True)
    yield "program", link.link(program, options)
    yield "handlers", link.link(handlers, link.Options(entry="start", high=True, symbols=True))


def structures(data):
    """{name: (offset, size, size of a field)} of everything that an image is made of."""
    coff = struct.unpack_from("<I", data, 0x3C)[0] + 4
    sections, _, symbols, symbol_count, optional_size = struct.unpack_from("<HIIIH", data, coff + 2)
    optional, directories = coff + 20, coff + 20 + 96
    table = optional + optional_size
    found = {
        "DOS header": (0, 0x40, 2),
        "COFF header": (coff - 4, 24, 2),
        "optional header": (optional, 96, 4),
        "optional header, halves": (optional, 96, 2),
        "directories": (directories, 128, 4),
        "section headers": (table, 40 * sections, 4),
        "symbols": (symbols, 18 * symbol_count, 2),
        "names of symbols": (symbols + 18 * symbol_count, 4, 4),
    }
    names = ("exports", "imports", None, "function table", None, "base relocations")
    headers = [struct.unpack_from("<8sIIII", data, table + 40 * i) for i in range(sections)]
    for number, name in enumerate(names):
        place, size = struct.unpack_from("<II", data, directories + 8 * number)
        for _, _, start, raw, offset in headers:
            if name and size and start <= place < start + raw:
                found[name] = (offset + place - start, size, 2 if name == "base relocations" else 4)
    for text, _, _, raw, offset in headers:
        name = text.rstrip(b"\0").decode()
        if name in (".rdata", ".idata", ".text"):
            found[f"words of {name}"] = (offset, min(raw, 0x300), 4)
    return found


def try_image(data, scratch, what):
    """The commands end well. Gives whether the image was rewritten."""
    image, out = scratch.file("damaged.exe"), scratch.file("out.exe")
    image.write_bytes(data)
    limit = [] if "RESPIKE_SANITIZED" in os.environ else ["prlimit", f"--as={MOST_MEMORY}"]  # sanitizers reserve terabytes
    command = [*limit, common.RESPIKE, "image", "optimize", image, "-o", out, "--layout", "random"]
    outcome = common.run_command(command, timeout=TIMEOUT)
    messages = outcome.stderr.decode(errors="replace")
    try:
        if outcome.status == 0:
            common.expect(out.exists(), f"{what}: no output")
            return True
        common.expect(outcome.status == 1, f"{what}: {common.describe_status(outcome.status)}, {messages[-300:]!r}")
        lines = messages.splitlines()
        common.expect(len(lines) == 1 and len(lines[0]) > 10, f"{what}: not one sentence but {messages[:500]!r}")
        common.expect("internal error" not in messages and "would differ" not in messages, f"{what}: {messages}")
        common.expect(not out.exists(), f"{what}: left an output behind")
        return False
    finally:
        image.unlink()
        out.unlink(missing_ok=True)


def check_fields(data, where, part, scratch, name):
    """Changes every field of a structure, `part` saying which of several shares of them."""
    start, size, field = where
    letter = {2: "<H", 4: "<I"}[field]
    for index, offset in enumerate(range(start, start + size - field + 1, field)):
        if index % part[1] != part[0]:
            continue
        old = struct.unpack_from(letter, data, offset)[0]
        values = {v & (1 << 8 * field) - 1 for v in (*WILD, old + 1, old - 1)} - {old}
        for value in sorted(values):
            bad = bytearray(data)
            struct.pack_into(letter, bad, offset, value)
            try_image(bad, scratch, f"{name} at {offset:#x}: {value:#x} instead of {old:#x}")


def check_truncated(data, scratch):
    """Cut at the borders of all structures, and one byte before and after."""
    borders = {b for start, size, _ in structures(data).values() for b in (start, start + size)} | {len(data)}
    rewritten = 0
    for border in sorted(borders):
        for length in (border - 1, border, border + 1):
            if 0 <= length < len(data):
                rewritten += try_image(data[:length], scratch, f"cut to {length:#x} bytes")
    common.expect(rewritten <= 6, f"{rewritten} images were rewritten though parts were cut off")


def check_flips(data, seed, count, scratch):
    generator = random.Random(seed)
    for _ in range(count):
        bad, places = bytearray(data), []
        for _ in range(generator.choice((1, 1, 2, 4))):
            offset, bit = generator.randrange(len(bad)), generator.randrange(8)
            bad[offset] ^= 1 << bit
            places.append(f"{offset:#x}^{1 << bit:#x}")
        try_image(bad, scratch, " ".join(places))


# Findings of random flips: {image: ((offset, bits), ...) of each input}.
FOUND = {
    "program": (((0x214, 0x7F),), ((0x264, 0x7F),)),  # the function table, or the base relocations, is said to be code
    "handlers": (
        ((0xA54, 0x1),),  # a flag at the end of an entry of the function table
        ((0x4B7, 0x80), (0x4CE, 0x80), (0x424, 0x2)),  # a call of padding, after a no-op that became code
        ((0x1010, 0xF2), (0x1011, 0xFF)),  # all symbols belong to the first: the output has names of none
        ((0x8C, 0xFF), (0x8D, 0x1F)),  # the table of symbols begins a byte earlier
    ),
}


def check_found(data, found, scratch):
    for flips in found:
        bad = bytearray(data)
        for offset, bits in flips:
            bad[offset] ^= bits
        try_image(bad, scratch, " ".join(f"{o:#x}^{b:#x}" for o, b in flips))


def cases(args, scratch):
    for name, data in make_images(scratch):
        if name in FOUND:
            yield common.Case(f"{name} found", lambda d=data, f=FOUND[name]: check_found(d, f, scratch))
        yield common.Case(f"{name} whole", lambda d=data: common.expect(try_image(d, scratch, "whole"), "it was refused"))
        yield common.Case(f"{name} truncated", lambda d=data: check_truncated(d, scratch))
        for what, where in structures(data).items():
            shares = args.share
            for part in range(0, where[1] // where[2] // 12 // shares + 1):
                yield common.Case(
                    f"{name} {what} {part}",
                    lambda d=data, w=where, p=(part * shares, (where[1] // where[2] // 12 // shares + 1) * shares), t=what:
                        check_fields(d, w, p, scratch, t),
                )
        for part in range(0, args.flips, 25):
            yield common.Case(
                f"{name} flips {part}",
                lambda d=data, s=f"{name} {part}": check_flips(d, s, min(25, args.flips - part), scratch),
            )


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--flips", type=int, default=int(os.environ.get("RESPIKE_PE_FLIPS", 75)), help="for each image")
    parser.add_argument("--share", type=int, default=int(os.environ.get("RESPIKE_PE_SHARE", 4)),
                        help="one of how many fields is damaged")
    args = parser.parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every bundle of IA-64 programs and libraries reads like objdump's text and encodes back to itself.

`respike image disasm IMAGE --objdump` prints `ADDRESS: BYTES TEXT` for each slot of the executable sections, where
BYTES are encoded again from the decoded instructions. All columns must be the same as in the output of
ia64-linux-gnu-objdump. readelf checks the listing by symbols and `image info`."""

import json
import random
import re
import sys

import common
import ia64_programs

SYMBOL = re.compile(r" *<[^>\n]*>")


def objdump_lines(image):
    """Each slot's address, bytes and text, with single blanks and without symbols."""
    lines = []
    listing = SYMBOL.sub("", ia64_programs.tool("objdump", "-d", "-z", image))
    for line in listing.splitlines():
        columns = line.split("\t")
        if len(columns) == 3:
            lines.append(" ".join(line.split()))
        elif len(columns) == 2 and columns[0].endswith(":"):
            # The rest of a bundle with a long instruction: only bytes.
            words = lines[-1].split()
            lines[-1] = " ".join(words[:7] + columns[1].split() + words[7:])
    return lines


def our_lines(image):
    listing = common.respike_ok("image", "disasm", image, "--objdump").stdout.decode()
    return [" ".join(line.split()) for line in listing.splitlines()]


def check_bundles(image):
    ours, theirs = our_lines(image), objdump_lines(image)
    common.expect(len(theirs) > 100, f"objdump printed only {len(theirs)} slots")
    wrong = [f"{t!r}, not {o!r}" for t, o in zip(theirs, ours) if t != o]
    common.expect(not wrong, f"{len(wrong)} of {len(theirs)} slots differ: " + "; ".join(wrong[:5]))
    common.expect(len(ours) == len(theirs), f"{len(ours)} slots listed, objdump lists {len(theirs)}")


def procedure_symbols(image):
    """{address: sizes and names of procedures}, by readelf."""
    procedures = {}
    for line in ia64_programs.tool("readelf", "-sW", image).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[3] == "FUNC" and fields[6].isdigit() and fields[6] != "0":
            procedures.setdefault(int(fields[1], 16), []).append((int(fields[2], 0), fields[7]))
    return procedures


def executable_bytes(image):
    total = 0
    for line in ia64_programs.tool("readelf", "-SW", image).splitlines():
        match = re.match(r"\s*\[\s*\d+\]\s+\S+\s+(\S+)\s+\S+\s+\S+\s+([0-9a-f]+)\s+\S+\s+(\S+)", line)
        if match and match[1] != "NOBITS" and "X" in match[3]:
            total += int(match[2], 16)
    return total


def kept_relocations(image):
    counts = re.findall(
        r"^Relocation section '\.rela(?!\.dyn|\.plt|\.IA_64\.pltoff)\S*' at offset \S+ contains (\d+)",
        ia64_programs.tool("readelf", "-rW", image),
        re.M,
    )
    return sum(map(int, counts))


def check_info(image):
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    common.expect(info["machine"] == "ia64", f"machine {info['machine']}")
    procedures = procedure_symbols(image)
    common.expect(
        info["procedures"] >= len(procedures), f"{info['procedures']} procedures, not {len(procedures)}"
    )
    slots = executable_bytes(image) // 16 * 3
    common.expect(
        0.85 * slots < info["instructions"] <= slots, f"{info['instructions']} instructions, not {slots}"
    )
    common.expect(info["text_bytes"] <= executable_bytes(image), f"{info['text_bytes']} bytes of text")
    relocations = kept_relocations(image)
    common.expect(
        info["relocations"] == relocations, f"{info['relocations']} relocations, not {relocations}"
    )
    common.expect(info["blocks"] > info["procedures"] / 2, f"{info['blocks']} blocks")


def check_listing(image):
    """The listing has each procedure at its symbol, and at each address the slot of the raw
    listing."""
    listing = common.respike_ok("image", "disasm", image).stdout.decode()
    heads = {int(a, 16): name for a, name in re.findall(r"^([0-9a-f]+) <(.*)>: \d+ bytes", listing, re.M)}
    procedures = procedure_symbols(image)
    # Sections without relocations are skipped; linkers piece start-up code (_init, _fini) together
    # in such sections.
    missing = [n for a, names in procedures.items() if a not in heads for _, n in names if n not in ("_init", "_fini")]
    common.expect(not missing, f"no headlines: {missing[:5]}")
    bundles = {}  # address -> lines; a long instruction has two lines
    for line in our_lines(image):
        words = re.sub(r": (?:[0-9a-f]{2} )+", ": ", line, 1).split(": ", 1)
        bundles.setdefault(int(words[0], 16) & ~15, []).append(words[1])
    lines = re.findall(r"^    ([0-9a-f]+):  (.*?)(?:  ; .*)?$", listing, re.M)
    for address, text in lines:
        if address == "added":  # by lifting: not in the input
            continue
        slot, bundle = int(address, 16) & 15, bundles[int(address, 16) & ~15]
        expected = bundle[slot if len(bundle) == 3 else slot // 2]
        common.expect(" ".join(text.split()) == expected, f"{address}: {text!r}, not {expected!r}")
    common.expect(len(lines) > 0.85 * sum(map(len, bundles.values())), f"only {len(lines)} lines")
    address = next(a for a, n in sorted(procedures.items()) if n[0][0] >= 64)
    one = common.respike_ok("image", "disasm", image, "--procedure", f"{heads[address]}@{address:x}")
    common.expect(
        re.findall(r"^    ([0-9a-f]+):  ", one.stdout.decode(), re.M)[0] == f"{address:x}", "another procedure"
    )


def check_refusals(scratch):
    """An image without relocations can only be listed word by word, and a sentence says so."""
    folder = scratch.folder()
    source = next(ia64_programs.ASSEMBLER_SOURCES.glob("*.s"))
    ia64_programs.tool("as", "-o", folder / "one.o", source)
    image = folder / "one.so"
    ia64_programs.tool("ld", "-shared", "-o", image, folder / "one.o")
    for args in (
        ("image", "optimize", image, "-o", scratch.file("out")),
        ("image", "info", image),
        ("image", "disasm", image, "--ir"),
    ):
        outcome = common.respike(*args)
        message = outcome.stderr.decode()
        common.expect(outcome.status == 1 and message.count("\n") == 1, f"{args}: {message!r}")
        common.expect("the image has no relocations" in message, f"{args}: {message!r}")
    common.respike_ok("image", "disasm", image, "--objdump")
    linked = ia64_programs.assemble(source, folder)
    outcome = common.respike("image", "disasm", linked, "--procedure", "no such procedure")
    common.expect(
        outcome.status == 1 and b"there is no procedure no such procedure" in outcome.stderr,
        f"an unknown procedure: {outcome.stderr!r}",
    )


def check_damage(image, scratch):
    """Flipped bytes of headers, symbols and code: a listing, or one sentence."""
    original, random_ = image.read_bytes(), random.Random(1)
    damaged = scratch.file("damaged")
    for _ in range(60):
        contents = bytearray(original)
        for _ in range(random_.choice((1, 1, 4))):
            at = random_.randrange(64 if random_.random() < 0.3 else len(contents))
            contents[at] ^= 1 << random_.randrange(8)
        damaged.write_bytes(contents)
        for args in (("info",), ("disasm",), ("disasm", "--objdump")):
            outcome = common.respike("image", args[0], damaged, *args[1:])
            message = outcome.stderr.decode(errors="replace")
            common.expect(
                outcome.status == 0 or (outcome.status == 1 and message.count("\n") == 1),
                f"{args}: {common.describe_status(outcome.status)}: {message!r}",
            )


def link_whole(archive, folder):
    """Links all members of an archive into one image; undefined symbols stay unresolved."""
    source, definition = folder / "definition.s", folder / "definition.o"
    source.write_text(".data\n.globl __dso_handle\n__dso_handle: data8 0\n")
    ia64_programs.tool("as", "-o", definition, source)
    image = folder / f"{archive.stem}.elf"
    options = ("-q", "-e", "0", "--unresolved-symbols=ignore-all", "--whole-archive")
    ia64_programs.tool("ld", *options, archive, definition, "-o", image)
    return image


def libraries(toolchain, folder):
    """Shared libraries of the toolchain, and its archives, each linked into one image."""
    sysroot = toolchain / "sysroot" / "lib"
    images = [sysroot / name for name in ("libc.so.6.1", "libm.so.6.1", "ld-linux-ia64.so.2")]
    images.append(link_whole(toolchain / "ia64-linux-gnu" / "lib" / "libstdc++.a", folder))
    images.append(link_whole(next((toolchain / "lib" / "gcc").rglob("libgcc.a")), folder))
    return images


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        folder = scratch.folder()
        images = [
            ia64_programs.assemble(source, folder)
            for source in sorted(ia64_programs.ASSEMBLER_SOURCES.glob("*.s"))
        ]
        cases = [
            common.Case("refusals", lambda: check_refusals(scratch)),
            common.Case("damage", lambda: check_damage(images[0], scratch)),
        ]
        full = images[:1]
        real = ia64_programs.programs()
        if real:
            images += real
            full += real[:1]
            toolchain = ia64_programs.toolchain()
            if toolchain:
                images += libraries(toolchain, folder)
        else:
            print(f"NOTE: {ia64_programs.MISSING}")
        cases += [common.Case(f"bundles.{i.name}", lambda i=i: check_bundles(i)) for i in images]
        for image in full:
            cases.append(common.Case(f"info.{image.name}", lambda i=image: check_info(i)))
            cases.append(common.Case(f"listing.{image.name}", lambda i=image: check_listing(i)))
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

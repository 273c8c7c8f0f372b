#!/usr/bin/env python3
"""Each instruction of an output has the file, the line, the column, the function and the inlined frames of the
instruction that it came from.

Programs are compiled with -g by gcc and clang in several formats of debug information (debug_images.py) and rewritten
in the layouts original, random, scatter and by the profile of their own run. llvm-symbolizer reads all instructions of
both images, and symbols have to name the same procedure. Instructions that Respike added are counted by kind. gdb
reads some of the instructions, the scopes around them, and all names. readelf -w, llvm-dwarfdump --verify and gdb may
not complain about an output unless they complain about the input in the same words.

A case of its own proves that wrong information is found: the output gets the debug sections of its input.

RESPIKE_DEBUG_LARGE=1: SQLite, too, and gdb reads all instructions. --layout NAME: this layout only."""

import os
import random
import sys
import threading

import common
import debug_images
import debug_readers

LARGE = bool(os.environ.get("RESPIKE_DEBUG_LARGE"))
GDB_PLACES = 1_000_000 if LARGE else 1_500
STALE = ("info", "line", "rnglists", "loclists", "ranges", "loc", "aranges", "addr")


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.compared, self.kept, self.synthesized, self.no_end = 0, 0, {}, []

    def add(self, rewriting):
        with self.lock:
            self.compared += len(rewriting.origins)
            self.kept += len(rewriting.kept)
            for kind in rewriting.synthesized.values():
                self.synthesized[kind] = self.synthesized.get(kind, 0) + 1


def of_input(what, build, scratch, read):
    """What a reader says of the build's image; asked once."""
    return debug_images.shared((what, build), lambda: read(debug_images.compiled(build, scratch)))


def compare_lines(rewriting, frames_before):
    """Problems of the lines of all instructions. `frames_before`: {OLD: frames}."""
    problems = debug_images.Problems()
    pairs = rewriting.pairs()
    frames_after = debug_readers.symbolize(rewriting.output, [new for new, _ in pairs])
    for (new, old), after in zip(pairs, frames_after):
        before = frames_before[old]
        if before is not after and before != after:
            problems.add(
                debug_readers.difference(before, after),
                f"{new:#x} from {old:#x}: {debug_readers.show_frames(before)} became {debug_readers.show_frames(after)}",
            )
    return problems


def symbolize_input(rewriting):
    addresses = sorted(rewriting.before)
    return dict(zip(addresses, debug_readers.symbolize(rewriting.image, addresses)))


def compare_symbols(rewriting):
    problems = debug_images.Problems()
    before, after = debug_readers.Symbols(rewriting.image), debug_readers.Symbols(rewriting.output)
    for new, old in rewriting.origins.items():
        expected = before.names(old)
        if expected and not expected & after.names(new):
            problems.add("symbol", f"{new:#x} from {old:#x}: {sorted(expected)} became {sorted(after.names(new))}")
    return problems


def gdb_of_input(image, build):
    """What gdb says of the input, and the addresses whose places it was asked for."""
    addresses = sorted(debug_images.listing(build.on, image))
    chosen = sorted(random.Random(build.name).sample(addresses, min(len(addresses), GDB_PLACES)))
    return chosen, debug_readers.gdb_says(image, chosen)


def compare_gdb(rewriting, build, scratch):
    """gdb's view of some instructions, and of all names."""
    problems = debug_images.Problems()
    chosen, before = of_input("gdb", build, scratch, lambda image: gdb_of_input(image, build))
    places, kept = dict(zip(chosen, before["places"])), set(rewriting.kept)
    pairs = [(new, old) for old in chosen for new in rewriting.news.get(old, [old] if old in kept else [])]
    after = debug_readers.gdb_says(rewriting.output, [new for new, _ in pairs])
    for (new, old), other in zip(pairs, after["places"]):
        one = places[old]
        if one != other:
            what = "scopes in gdb" if one[:2] == other[:2] else "line in gdb"
            problems.add(what, f"{new:#x} from {old:#x}: {one} became {other}")
    for kind in ("functions", "variables", "types"):
        for line in sorted(before[kind] - after[kind]):
            problems.add(f"gdb does not list {kind}", line)
        for line in sorted(after[kind] - before[kind]):
            problems.add(f"gdb lists more {kind}", line)
    for line in sorted(after["complaints"] - before["complaints"]):
        problems.add("gdb complains", line)
    return problems


def compare_complaints(rewriting, build, scratch, tally):
    problems = debug_images.Problems()
    known = of_input("readelf", build, scratch, debug_readers.readelf_complaints)
    for line in sorted(debug_readers.readelf_complaints(rewriting.output) - known):
        problems.add("readelf complains", line)
    try:
        known = of_input("verify", build, scratch, verify_or_none)
        if known is None:
            with tally.lock:
                tally.no_end.append(build.name)
        else:
            for line in sorted(debug_readers.verify_complaints(rewriting.output) - known):
                problems.add("llvm-dwarfdump --verify complains", line)
    except debug_readers.NoEnd:
        problems.add("llvm-dwarfdump --verify does not end", f"in {debug_readers.VERIFY_TIMEOUT:g} s")
    return problems


def verify_or_none(image):
    try:
        return debug_readers.verify_complaints(image)
    except debug_readers.NoEnd:
        return None


def has_sections(image):
    return any(name.startswith((".debug_info", ".debug_line")) for name in debug_readers.sections(image.read_bytes()))


def check(build, layout, scratch, tally):
    rewriting = debug_images.rewritten(build, layout, scratch)
    problems = rewriting.check_map()
    common.expect(has_sections(rewriting.output), "the output has no debug information")
    before = of_input("lines", build, scratch, lambda _: symbolize_input(rewriting))
    for found in (
        compare_lines(rewriting, before),
        compare_symbols(rewriting),
        compare_gdb(rewriting, build, scratch),
        compare_complaints(rewriting, build, scratch, tally),
    ):
        problems.update(found)
    tally.add(rewriting)
    common.expect(not problems, f"{len(rewriting.origins)} instructions\n    {debug_images.describe(problems)}")


def stale_information(scratch):
    """The debug information of the input does not fit to the output, and this test says so."""
    build = debug_images.find_build("variables.x86_64")
    rewriting = debug_images.rewritten(build, "random", scratch)
    output = scratch.folder() / "stale"
    command, folder = ["objcopy"], scratch.folder()
    for name in debug_readers.sections(rewriting.image.read_bytes()):
        if name.startswith(".debug_") and name.removeprefix(".debug_") in STALE:
            common.run_command(["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", rewriting.image, folder / name])
            command += ["--remove-section", name, "--add-section", f"{name}={folder / name}"]
    done = common.run_command([*command, rewriting.output, output])
    common.expect(done.status == 0, f"objcopy: {done.stderr.decode()[:300]}")
    stale = debug_images.Rewriting(rewriting.machine, rewriting.image, output, rewriting.map_file)
    problems = compare_lines(stale, of_input("lines", build, scratch, lambda _: symbolize_input(rewriting)))
    wrong = sum(map(len, problems.values()))
    common.expect(2 * wrong > len(rewriting.origins), f"only {wrong} of {len(rewriting.origins)} instructions are found wrong")


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--layout", choices=debug_images.LAYOUTS)
    args = parser.parse_args()
    tally = Tally()
    with common.Scratch() as scratch:
        cases = [
            common.Case(f"{build.name} {layout}", lambda b=build, l=layout: check(b, l, scratch, tally))
            for build in debug_images.builds(LARGE)
            for layout in debug_images.LAYOUTS
            if debug_images.applies(build, layout) and args.layout in (None, layout)
        ]
        cases.append(common.Case("stale information", lambda: stale_information(scratch)))
        status = common.run_cases(cases, args)
    added = ", ".join(f"{number} {kind}" for kind, number in sorted(tally.synthesized.items()))
    print(f"{tally.compared} moved instructions compared, {tally.kept} that stayed; without an origin: {added or 'none'}")
    if tally.no_end:
        print(f"llvm-dwarfdump --verify does not end on the inputs {', '.join(sorted(set(tally.no_end)))}")
    return status


if __name__ == "__main__":
    sys.exit(main())

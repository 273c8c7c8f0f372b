#!/usr/bin/env python3
"""Each instruction of an output has the file, the line, the column, the function and the inlined frames of the
instruction that it came from.

Programs are compiled with -g by gcc and clang in several formats of debug information (debug_images.py) and rewritten
in the layouts original, random, scatter and by the profile of their own run. llvm-symbolizer reads all instructions of
both images, and symbols have to name the same procedure. Instructions that Respike added are counted by kind. gdb
reads some of the instructions, the scopes around them, and all names. readelf -w, llvm-dwarfdump --verify and gdb may
not complain about an output unless they complain about the input in the same words.

A case of its own proves that wrong information is found: the output gets the debug sections of its input.

RESPIKE_DEBUG_LARGE=1: also SQLite, and gdb reads all instructions. --layout NAME: this layout only."""

import bisect
import collections
import os
import random
import sys
import threading

import common
import debug_images
import debug_readers

LARGE = bool(os.environ.get("RESPIKE_DEBUG_LARGE"))
GROUPS = 3  # of rows, as far as gdb looks back
GDB_PLACES = 1_000_000 if LARGE else 1_500
STALE = ("info", "abbrev", "line", "rnglists", "loclists", "ranges", "loc", "aranges", "addr")


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


def lines_of_input(work):
    """{OLD: frames} of all instructions."""
    return dict(zip(work.addresses, debug_readers.symbolize(work.image, work.addresses)))


def compare_lines(rewriting):
    """Problems of the lines of all instructions. Outputs do not refer to .dwo files, which describe the old code, so
    they have only lines of their own."""
    problems = debug_images.Problems()
    frames_before = rewriting.work.shared("lines", lambda: lines_of_input(rewriting.work))
    pairs = rewriting.pairs()
    frames_after = debug_readers.symbolize(rewriting.output, [new for new, _ in pairs])
    for (new, old), after in zip(pairs, frames_after):
        before = frames_before[old]
        if rewriting.work.build.is_split:
            before, after = only_lines(before), only_lines(after)
        if before is not after and before != after:
            problems.add(
                debug_readers.difference(before, after),
                f"{new:#x} from {old:#x}: {debug_readers.show_frames(before)} became {debug_readers.show_frames(after)}",
            )
    return problems


def only_lines(frames):
    """The innermost frame without its function."""
    return tuple(("", *frame[1:5], "", 0) for frame in frames[:1])


def compare_symbols(rewriting):
    problems = debug_images.Problems()
    after = debug_readers.Symbols(rewriting.output)
    for new, old in rewriting.origins.items():
        expected = rewriting.work.procedures(old)
        if expected and not expected & after.names(new):
            problems.add("symbol", f"{new:#x} from {old:#x}: {sorted(expected)} became {sorted(after.names(new))}")
    return problems


def gdb_of_input(work):
    """gdb's answers about the input, and the addresses whose places it was asked for."""
    addresses = sorted(work.instructions)
    chosen = sorted(random.Random(work.build.name).sample(addresses, min(len(addresses), GDB_PLACES)))
    return chosen, debug_readers.gdb_says(work.image, chosen)


def compare_gdb(rewriting):
    """gdb's view of some instructions, and of all names. gdb prefers statements among the
    rows of an address, and takes a line before for the line 0; so gdb's line of an output may be that of llvm-symbolizer,
    any line where llvm-symbolizer says 0, and that of a row shortly in front."""
    problems, work = debug_images.Problems(), rewriting.work
    chosen, before = work.shared("gdb", lambda: gdb_of_input(work))
    lines = work.shared("lines", lambda: lines_of_input(work))
    places, kept = dict(zip(chosen, before["places"])), set(rewriting.kept)
    at = debug_readers.lines_at(rewriting.output)
    row_addresses = sorted(at)
    rows_at = [at[address] for address in row_addresses]
    pairs = [(new, old) for old in chosen for new in rewriting.news.get(old, [old] if old in kept else [])]
    after = debug_readers.gdb_says(rewriting.output, [new for new, _ in pairs])
    for (new, old), other in zip(pairs, after["places"]):
        one = places[old]
        if work.build.is_split:
            one, other = one[:2], other[:2]
        if one[2:] == other[2:] and lines[old] and (other[:2] == lines[old][0][1:3] or lines[old][0][2] == 0):
            continue
        # A property of the first of several rows at one address also holds for the instructions after it.
        rows = rows_at[max(bisect.bisect_right(row_addresses, new) - GROUPS, 0) : bisect.bisect_right(row_addresses, new)]
        if one[2:] == other[2:] and any(other[1] in lines_there for lines_there in rows):
            continue
        if one != other:
            what = "scopes in gdb" if one[:2] == other[:2] else "line in gdb"
            problems.add(what, f"{new:#x} from {old:#x}: {one} became {other}")
    for kind in ("functions", "variables", "types") if not work.build.is_split else ():
        for line in sorted(before[kind] - after[kind]):
            problems.add(f"gdb does not list {kind}", line)
        for line in sorted(after[kind] - before[kind]):
            problems.add(f"gdb lists more {kind}", line)
    for line in sorted(after["complaints"] - before["complaints"]):
        # Values that hot-cold optimization made stale (optimizer/debug/README.md).
        if "call_value for DW_TAG_call_site child" in line and work.build.machine == "alpha":
            continue
        problems.add("gdb complains", line)
    return problems


def compare_complaints(rewriting, tally):
    problems, work = debug_images.Problems(), rewriting.work
    known = work.shared("readelf", lambda: debug_readers.readelf_complaints(work.image))
    for line in sorted(debug_readers.readelf_complaints(rewriting.output) - known):
        problems.add("readelf complains", line)
    try:
        known = work.shared("verify", lambda: verify_or_none(work.image))
        if known is None:
            with tally.lock:
                tally.no_end.append(work.build.name)
        else:
            for line in sorted(debug_readers.verify_complaints(rewriting.output) - known - collections.Counter([common.describe_status(0)])):
                # LLVM does not know the typed operations; an entry of a location list that has one becomes several.
                if "invalid DWARF expression" in line and line in known:
                    continue
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


def check_layout(work, layout, tally):
    rewriting = work.rewritten(layout)
    problems = rewriting.check_map()
    if not has_sections(rewriting.output):
        problems.add("no debug information", rewriting.output.name)
        return problems
    for found in (
        compare_lines(rewriting),
        compare_symbols(rewriting),
        compare_gdb(rewriting),
        compare_complaints(rewriting, tally),
    ):
        problems.update(found)
    tally.add(rewriting)
    rewriting.remove()
    return problems


def check(build, layouts, scratch, tally):
    work = debug_images.Work(build, scratch)
    debug_images.check_layouts(work, layouts, lambda layout: check_layout(work, layout, tally))


def stale_information(scratch):
    """The debug information of the input does not fit to the output, and this test says so."""
    work = debug_images.Work(debug_images.find_build("variables.x86_64"), scratch)
    rewriting = work.rewritten("random")
    output = scratch.folder() / "stale"
    command, folder = ["objcopy"], scratch.folder()
    for name in debug_readers.sections(rewriting.image.read_bytes()):
        if name.startswith(".debug_") and name.removeprefix(".debug_") in STALE:
            common.run_command(["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", rewriting.image, folder / name])
            command += ["--update-section", f"{name}={folder / name}"]
    done = common.run_command([*command, rewriting.output, output])
    common.expect(done.status == 0, f"objcopy: {done.stderr.decode()[:300]}")
    stale = debug_images.Rewriting(work, output, rewriting.map_file)
    problems = compare_lines(stale)
    wrong = sum(map(len, problems.values()))
    common.expect(2 * wrong > len(rewriting.origins), f"only {wrong} of {len(rewriting.origins)} instructions are found wrong")


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--layout", choices=debug_images.LAYOUTS)
    args = parser.parse_args()
    tally = Tally()
    with common.Scratch() as scratch:
        cases = [
            common.Case(build.name, lambda b=build: check(b, [args.layout] if args.layout else debug_images.LAYOUTS, scratch, tally))
            for build in debug_images.builds(LARGE)
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

#!/usr/bin/env python3
"""Instrumented Itanium programs behave like the originals, and their counts equal the emulator's counts.

The oracle counts every slot of the instrumented program's own execution, so both sides count the same run. Programs in
assembler from the repository are always tested, other programs if the toolchain is there (ia64_programs.py)."""

import collections
import functools
import json
import pathlib
import shutil
import sys

import common
import ia64_programs
import profiles
from common import expect
from ia64_rewrite_test import FREESTANDING_NAMES, LARGE, compile_image, link_freestanding
from ia64_run_test import SOURCES, emulate, read_counts, real_image, scratch


def Case(name, function, *arguments):
    return common.Case(name, functools.partial(function, *arguments))


# Signals arrive at any moment, and an instruction that faults counts twice for the emulator.
EXACT = {"threads": ("atomic",), "exceptions": ("atomic",), "signals": ()}


def instrumented(image, folder, *options):
    """The instrumented image, and the places of its blocks: {address in the original: address}."""
    spool, output, blocks = folder / "spool", folder / f"{image.name}.instrumented", folder / "blocks"
    spool.mkdir()
    common.respike_ok("image", "instrument", image, "-o", output, "--spool", spool, "--block-map", blocks, *options)
    return output, {int(before, 16): int(after, 16) for before, after in map(str.split, blocks.read_text().splitlines())}


def profile_of(folder):
    (counters,) = (folder / "spool").glob("*.counts")
    common.respike_ok("image", "collect", counters, "-o", folder / "profile")
    return json.loads(common.respike_ok("profile", "show", folder / "profile", "--json").stdout)


def check_counts(profile, places, counts):
    """Checks that every block's count is the emulator's count of the first slot of that block's
    code in the instrumented image."""
    slots = collections.Counter()
    for part in counts:
        slots.update({address + slot: count for (address, slot), count in part.items()})
    # A block of no-ops alone takes no room; the code after it has the same address.
    shared = collections.Counter(places.values())
    wrong, compared = [], 0
    for procedure in profile["procedures"]:
        if not procedure["exact"]:
            continue
        for block in procedure["blocks"]:
            if block["address"] == 0 or shared[places[block["address"]]] > 1:  # 0: added by lifting
                continue
            compared += 1
            seen = slots[places[block["address"]]]
            if block["count"] != seen:
                wrong.append((procedure["name"], hex(block["address"]), block["count"], seen))
    expect(not wrong, f"{len(wrong)} of {compared} blocks: {wrong[:3]}")
    expect(compared, "no blocks")


def check(image, arguments=(), stdin=None, exact=("shared", "atomic"), kinds=("shared", "atomic")):
    expected = emulate(image, *arguments, stdin=stdin)
    for counters in kinds:
        folder = scratch.folder()
        output, places = instrumented(image, folder, "--counters", counters)
        counts = folder / "counts"
        outcome = emulate(output, *arguments, stdin=stdin, options=["--counts", counts])
        outcome.same_as(expected, f"{image.name} {counters}")
        expect(not outcome.stderr, outcome.stderr[:300])
        if counters in exact:
            check_counts(profile_of(folder), places, read_counts(counts))


def freestanding(name):
    check(link_freestanding(name))


def real(name):
    asm = ia64_programs.SHARED / "asm"
    check(real_image(name), (asm / "t.lua",) if name == "lua" else (), asm / "t.sql" if name == "sqlite3" else None)


def own(name, level):
    folder = scratch.folder()
    source = next(SOURCES.glob(f"{name}.c*"))
    exact = EXACT.get(name, ("shared", "atomic"))
    kinds = (exact or ("shared",))[:1] if common.is_sampled() else ("shared", "atomic")
    check(compile_image(source, folder / name, level, "-static"), ("an argument",), exact=exact, kinds=kinds)


def dynamic(*flags):
    """A program, a linked library and an opened library: all three instrumented, and each alone."""
    folder = scratch.folder()
    names = ("main", "liblinked.so", "libopened.so")
    for library in ("linked", "opened"):
        compile_image(SOURCES / f"dynamic_{library}.c", folder / f"lib{library}.so", "-O2", "-shared", "-fPIC")
    link = [f"-L{folder}", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-llinked"]
    compile_image(SOURCES / "dynamic_main.c", folder / "main", "-O2", "-rdynamic", *flags, *link)
    options = ["--sysroot", ia64_programs.toolchain() / "sysroot"]
    expected = emulate(folder / "main", "./libopened.so", options=options, cwd=folder)
    for chosen in (names, *((name,) for name in names)):
        place = scratch.folder()
        for name in names:
            shutil.copy(folder / name, place / name)
        for number, name in enumerate(chosen):
            spool = place / f"spool{number}"
            spool.mkdir()
            common.respike_ok("image", "instrument", folder / name, "-o", place / name, "--spool", spool)
        outcome = emulate(place / "main", "./libopened.so", options=options, cwd=place)
        outcome.same_as(expected, f"instrumented: {chosen}")
        for number, name in enumerate(chosen):
            files = list((place / f"spool{number}").glob("*.counts"))
            expect(files, f"{name} did not count")


def trained(name):
    """Laid out by a profile of its own run, and by the same profile inverted, a program behaves the
    same."""
    asm, folder = ia64_programs.SHARED / "asm", scratch.folder()
    image, stdin = real_image(name), asm / "t.sql" if name == "sqlite3" else None
    arguments = [asm / "t.lua"] if name == "lua" else []
    expected = emulate(image, *arguments, stdin=stdin)
    output, _ = instrumented(image, folder)
    emulate(output, *arguments, stdin=stdin)
    profile_of(folder)
    inverted = profiles.make("inverted", folder / "profile", folder / "inverted")
    for profile in (folder / "profile", inverted, profiles.make("random", "1", image, folder / "random")):
        better = folder / "optimized"
        common.optimize(image, better, "--profile", profile)
        emulate(better, *arguments, stdin=stdin).same_as(expected, f"by {profile.name}")


def weighted(name):
    """Counters by the weights of the own run stand where otherwise there are none, for example in
    code that leaves gp wrong."""
    folder = scratch.folder()
    image = real_image(name)
    output, _ = instrumented(image, folder)
    emulate(output)
    profile_of(folder)
    again = scratch.folder()
    output, places = instrumented(image, again, "--weights", folder / "profile")
    counts = again / "counts"
    emulate(output, options=["--counts", counts]).same_as(emulate(image), "by weights")
    check_counts(profile_of(again), places, read_counts(counts))


def start_is_not_told_of():
    """Start-up code is opaque, since it computes gp from its own address; no message mentions it,
    since it runs once and users cannot change it."""
    image, folder = link_freestanding("closures"), scratch.folder()
    info = json.loads(common.respike_ok("image", "info", "--json", image).stdout)
    expect([procedure["name"] for procedure in info["opaque"]] == ["_start"], f"{info['opaque']}")
    (folder / "spool").mkdir()
    for outcome in (
        common.respike_ok("image", "instrument", image, "-o", folder / "counting", "--spool", folder / "spool"),
        common.respike_ok("image", "optimize", image, "-o", folder / "optimized"),
    ):
        expect(not outcome.stderr, f"{outcome.stderr!r}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [Case(f"freestanding.{name}", freestanding, name) for name in FREESTANDING_NAMES]
    cases += [Case(f"real.{name}", real, name) for name in ("hello", "mix", "loops", "sw", *LARGE)]
    cases += [Case(f"own.{name}{level}", own, name, level) for name in ("arithmetic", "calls", "exceptions", "signals", "threads") for level in ("-O0", "-O2")]
    cases += [Case(f"trained.{name}", trained, name) for name in ("mix", *LARGE)]
    cases += [Case("own.nested-O2", own, "nested", "-O2"), Case("weighted", weighted, "mix")]
    cases += [Case("start_is_not_told_of", start_is_not_told_of)]
    cases += [Case("dynamic", dynamic), Case("dynamic.pie", dynamic, "-pie", "-fPIE")]
    with scratch:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

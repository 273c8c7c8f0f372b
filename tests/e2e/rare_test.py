#!/usr/bin/env python3
"""Rare shapes of code behave the same when rewritten, or are left alone with a reason.

The sources are tests/programs/rare/*.c and *.cc. Each line `build: FLAGS` of a head comment is one
build of the source; STATIC stands for a static link. Each build is rewritten with the layouts
original, random and scatter, and in the default layout by estimates and by random counts; one
output of each layout is rewritten again, twice; and the build is instrumented with both kinds of counters (of a sample of
the cases, one output of one layout and one kind of counters, others for each build). `expect: NAME:
REASON` names a procedure that has to be left alone in every build, `rewritten: NAME` a procedure
that must not be left alone.

RESPIKE_RARE_SEEDS: number of random and scattered layouts (default 4)."""

import json
import os
import pathlib
import re
import sys

import common
import profiles

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "programs" / "rare"
STATIC = "-static -Wl,--defsym=__ehdr_start=0x120000000"
SEEDS = int(os.environ.get("RESPIKE_RARE_SEEDS", "4"))


def head_lines(source, key):
    return re.findall(rf"^ *(?:/\* *)?{key}: *(.*?)(?: *\*/)?$", source.read_text(), re.M)


def run_image(image):
    return common.run_command([*common.QEMU, "-0", "program", image], timeout=common.PROGRAM_TIMEOUT)


def check_same(expected, image, what):
    actual = run_image(image)
    if actual.behaviour() != expected.behaviour():
        raise common.Failure(f"{what}: {common.describe_difference(expected, actual)}")


def check_opaque(source, image):
    report = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    opaque = {entry["name"]: entry["reason"] for entry in report["opaque"]}
    for line in head_lines(source, "expect"):
        name, reason = line.split(": ", 1)
        if reason not in opaque.get(name, ""):
            raise common.Failure(f"{name} should be left alone ({reason}), but is: {opaque.get(name, 'rewritten')}")
    for name in head_lines(source, "rewritten"):
        common.respike_ok("image", "disasm", image, "--procedure", name)  # fails if there is none
        if name in opaque:
            raise common.Failure(f"{name} should be rewritten, but: {opaque[name]}")


def check_build(source, flags, scratch, number):
    """`number`: of the build, among all."""
    folder = scratch.folder()
    image = folder / source.stem
    compiler = "alpha-linux-gnu-g++" if source.suffix == ".cc" else "alpha-linux-gnu-gcc"
    command = [compiler, "-w", "-Wl,-q", source, *flags.replace("STATIC", STATIC).split(), "-o", image]
    built = common.run_command(command)
    if built.status != 0:
        raise common.Failure(f"it does not compile: {built.stderr.decode(errors='replace')[-400:]}")
    expected = run_image(image)
    check_opaque(source, image)
    layouts = [("original", 1, ["--layout", "original"]), ("default", 1, [])]
    for seed in range(1, SEEDS + 1):
        for layout in ("random", "scatter"):
            layouts.append((layout, seed, ["--layout", layout, "--seed", seed]))
        if seed <= 2:
            layouts.append(("profiled", seed, profiles.random_options(image, seed, scratch)))
    again_of = {layouts[number % len(layouts)][0]} if common.is_sampled() else {layout for layout, _, _ in layouts}
    for layout, seed, options in layouts:
        output = folder / f"{layout}.{seed}"
        common.optimize(image, output, *options)
        check_same(expected, output, f"{layout} {seed}")
        for generation in range(2) if seed == 1 and layout in again_of else ():
            again = folder / f"{layout}.{seed}.{generation}"
            common.optimize(output, again, "--layout", "random", "--seed", seed + 10 + generation)
            check_same(expected, again, f"{layout} {seed}, then again {generation + 1} times")
            output = again
    for counters in ("shared", "atomic")[number % 2 :: 2] if common.is_sampled() else ("shared", "atomic"):
        counting = folder / f"counting.{counters}"
        options = ["--spool", folder / "spool", "--counters", counters]
        common.respike_ok("image", "instrument", image, "-o", counting, *options)
        check_same(expected, counting, f"instrumented with {counters} counters")


def cases(scratch):
    builds = [(source, flags) for source in sorted(SOURCES.glob("*.c*")) for flags in head_lines(source, "build")]
    for number, (source, flags) in enumerate(builds):
        yield common.Case(f"{source.stem} {flags}", lambda s=source, f=flags, n=number: check_build(s, f, scratch, n))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

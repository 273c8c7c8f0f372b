#!/usr/bin/env python3
"""Images of 64-bit Windows NT for Alpha (PE32+, machine 0x284) are rewritten and counted like those of 32-bit Windows NT.

The programs are some of pe_test.py, linked with words of 64 bits for pointers, function tables and slots of imports
(tests/pe/link.py). They behave like the 32-bit programs; layouts, a second round, the unwinder's check at every
instruction, exact counts and layouts by these counts; a program and its library that both count."""

import functools
import json
import sys

import common
import pe_count_dll_test
import pe_count_test
import pe_dll_test
import pe_test
import pe_unwind_test
from common import expect

import dlls  # tests/pe, which pe_test puts into the path

PROGRAMS = ("calls", "floats", "interpreter", "kernels", "registers", "strings", "switches", "lua", "bzip2")


def wide_image(world, name, high=False):
    return world.image(name, high=high, symbols=True, wide=True)


def check_original(world, name):
    for high in (False, True):
        image = wide_image(world, name, high)
        world.check(name, image, "as linked")
        info = json.loads(common.respike_ok("image", "info", "--json", image).stdout)
        expect(info["format"].startswith("PE32+"), info["format"])
        expect(info["opaque_procedures"] <= max(1, info["procedures"] // 50), f"{info['opaque'][:5]}")


def check_layouts(world, name):
    for high in (False, True):
        for layout in (["random", "--seed", "1"], ["scatter", "--seed", "1"], ["ext-tsp,split,colour"]):
            original, output = wide_image(world, name, high), world.scratch.file(f"{name}.exe")
            common.optimize(original, output, "--layout", *layout)
            world.check(name, output, " ".join(layout))
            common.respike_ok("image", "verify", original, output)
    again = world.scratch.file(f"{name}.exe")
    common.optimize(output, again, "--layout", "random", "--seed", "2")
    world.check(name, again, "second round")


def check_stops(world, name):
    original, output = wide_image(world, name), world.scratch.file(f"{name}.exe")
    pe_unwind_test.check_stops(world, name, original, "as linked")
    common.optimize(original, output, "--layout", "scatter", "--seed", "2")
    pe_unwind_test.check_stops(world, name, output, "scatter")


def check_profiled(world, name):
    original, output = wide_image(world, name), world.scratch.file(f"{name}.exe")
    counting = pe_count_test.Counting(world, original)
    run = pe_test.runs_of(name)[0]
    common.run_command([pe_test.NT, counting.image, *run.args], stdin=run.stdin, timeout=600, cwd=world.scratch.folder())
    common.optimize(original, output, "--profile", counting.profile())
    world.check(name, output, "laid out by its profile")
    common.respike_ok("image", "verify", original, output)


def wide_library(world):
    """A folder with lua.exe and lua.dll."""

    def make():
        folder = world.scratch.folder()
        objects = world.shared(("objects", "lua"), lambda: world.compile("lua"))
        main = [o for o in objects if o.name.startswith("lua.c")]
        names = dlls.link_library("lua.dll", [o for o in objects if o not in main],
                                  lambda s: s.name.startswith(("lua_", "luaL_", "luaopen_")), folder, wide=True)
        dlls.link_user("lua.exe", main, "lua.dll", names, folder, wide=True)
        world.check("lua", folder, "as linked")
        return folder

    return world.shared("wide", make)


def check_library(world, counters):
    """lua.exe and lua.dll count, at the library's own base and elsewhere."""
    counting = pe_count_dll_test.Counting(world, wide_library(world), ["lua.exe", "lua.dll"], "--counters", counters)
    runs = world.runs("lua")
    for index, (program, run) in list(enumerate(runs))[-1 if common.is_sampled() else 0 :]:  # the last takes least time
        for place, options in pe_count_dll_test.PLACES.items():
            outcome = counting.run(program, run, options)
            pe_count_dll_test.expect_same(world.expected("lua", index)[2], outcome, f"{place} bases, run {index}")


def cases(scratch):
    world, libraries = pe_test.World(scratch), pe_dll_test.World(scratch)

    def case(name, function, *arguments, **options):
        return common.Case(name, functools.partial(function, world, *arguments, **options))

    for name in PROGRAMS:
        if pe_test.sources_of(name) is None:
            continue
        yield case(f"{name} original", check_original, name)
        yield case(f"{name} layouts", check_layouts, name)
        yield case(f"{name} profiled", check_profiled, name)
        for counters in ("shared", "atomic"):
            yield case(f"{name} counts {counters}", pe_count_test.check_counts, name, counters == "atomic", counters, wide=True)
        if name not in ("registers", "bzip2"):
            yield case(f"{name} stops", check_stops, name)
    if pe_test.sources_of("lua"):
        for counters in ("shared", "atomic"):
            yield common.Case(f"library {counters}", lambda c=counters: check_library(libraries, c))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

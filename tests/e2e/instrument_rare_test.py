#!/usr/bin/env python3
"""Rare images and options for instrumenting: libraries without an initializer, outputs of `image
optimize`, very long names and paths; and refusals in one sentence."""

import dataclasses
import json
import re
import sys

import common
import instrument_test
from common import expect

# `f` runs once for each argument, and once in the constructor.
LIBRARY = """
int f(int n) { return n & 1 ? n * 3 + 1 : n / 2; }
#ifdef CONSTRUCTOR
int initialized;
__attribute__((constructor)) static void initialize(void) { initialized = f(5); }
#else
int initialized = 16;
#endif
int own_call(int n) { return f(n); }
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
extern int initialized;
int own_call(int);
int main(int argc, char **argv) {
  int sum = initialized;
  for (int i = 1; i < argc; i++) sum += own_call(atoi(argv[i]));
  printf("%d\\n", sum);
  return 0;
}
"""
# Layouts by which an image is optimized, in this order, before it is instrumented.
OPTIMIZED = (
    ("calls.dynamic", ["random"]),
    ("calls.static", ["scatter"]),
    ("calls.pie", ["original"]),
    ("linked.dynamic", ["random"]),
    ("exceptions.static", ["random", "scatter"]),
    ("exceptions.pie", ["scatter", "random"]),
)


def compile_alpha(source, output, *options):
    outcome = common.run_command(
        ["alpha-linux-gnu-gcc", "-O1", "-Wl,-q", source, *options, "-o", output]
    )
    expect(outcome.status == 0, f"{output.name}: {outcome.stderr.decode()[-400:]}")


def instrument(image, folder, *options):
    """Instruments `image`; returns the instrumented image and its spool."""
    output, spool = folder / f"counting-{image.name}", folder / f"spool-{image.name}"
    common.respike_ok("image", "instrument", image, "-o", output, "--spool", spool, *options)
    return output, spool


def refused(reason, *args):
    outcome = common.respike(*args)
    message = outcome.stderr.decode()
    expect(
        outcome.status == 1 and message.count("\n") == 1 and reason in message,
        f"status {outcome.status}, {message[:600]}",
    )


def entries(folder, files):
    """How often each procedure was entered, by the profile of the counter files."""
    common.respike_ok("image", "collect", *files, "-o", folder / "profile")
    shown = common.respike_ok("profile", "show", folder / "profile", "--json")
    return {
        p["name"]: p["blocks"][0]["count"] for p in json.loads(shown.stdout)["procedures"]
    }


def only_file(spool):
    files = list(spool.iterdir())
    expect(len(files) == 1, f"{len(files)} counter files instead of one")
    return files[0]


def build_library(folder, *options):
    (folder / "library.c").write_text(LIBRARY)
    library = folder / "libf.so"
    compile_alpha(
        folder / "library.c",
        library,
        *["-shared", "-fPIC", "-nostartfiles", "-nostdlib", "-Wl,-soname,libf.so", *options],
    )
    tags = common.binutils("readelf", "-dW", library)
    expect("(INIT)" not in tags, "the library has an initializer")
    return library


def check_library(scratch, *options):
    folder = scratch.folder()
    library = build_library(folder, *options)
    (folder / "main.c").write_text(MAIN)
    compile_alpha(folder / "main.c", folder / "main", library)
    arguments = common.Run(("1", "2", "3"), None)
    expected = common.run_program(folder / "main", arguments, folder)
    expect(expected.stdout == b"31\n", f"the original prints {expected.stdout}")

    (folder / "counting").mkdir()
    output, spool = instrument(library, folder)
    (folder / "counting" / "libf.so").symlink_to(output)
    actual = common.run_program(folder / "main", arguments, folder / "counting")
    expect(
        actual.behaviour() == expected.behaviour(), common.describe_difference(expected, actual)
    )
    counts = entries(folder, [only_file(spool)])
    constructed = 1 if "-DCONSTRUCTOR" in options else 0
    expect(counts["f"] == 3 + constructed, f"f ran {counts['f']} times")
    expect(counts.get("initialize", 0) == constructed, f"{counts}")


def check_library_without_room(scratch):
    library = build_library(scratch.folder(), "-Wl,--spare-dynamic-tags=0")
    output = library.parent / "out"
    refused("--spare-dynamic-tags", "image", "instrument", library, "-o", output)
    expect(not output.exists(), "there is an output")


def check_optimized(name, layouts, scratch):
    """An output of `optimize` is instrumented like any image, see instrument_test.py."""
    program = common.find_program(name)
    folder = scratch.folder()
    images = {}
    for role, image in program.images():
        for number, layout in enumerate(layouts):
            output = folder / f"{role}.{number}"
            common.optimize(image, output, "--layout", layout, "--seed", number)
            image = output
        images[role] = image
    instrument_test.check_counts(
        dataclasses.replace(
            program,
            image=images["main"],
            libraries=tuple(common.Library(l.soname, images[l.soname]) for l in program.libraries),
        ),
        scratch,
    )


def check_optimized_for_tools(scratch):
    """GNU tools can read and strip an instrumented output of `optimize`, which has one more
    segment."""
    for variant in ("dynamic", "static", "pie"):
        program = common.find_program(f"calls.{variant}")
        folder = scratch.folder()
        common.optimize(program.image, folder / "optimized", "--layout", "random")
        output, _ = instrument(folder / "optimized", folder)
        notes = common.binutils("readelf", "-aW", output)
        expect(not re.search("warning:|error:", notes, re.I), f"{variant}: readelf complains")
        common.binutils("objdump", "-x", output)
        common.binutils("strip", output, "-o", folder / "stripped")
        common.check_behaviour(program, folder / "stripped", what=f"{variant}, stripped")


def check_instrumented_input(scratch):
    program = common.find_program("calls.dynamic")
    folder = scratch.folder()
    output, _ = instrument(program.image, folder)
    for command in ("instrument", "optimize"):
        refused("instrumented image", "image", command, output, "-o", folder / "again")
    common.respike_ok("image", "verify", program.image, output)
    refused("instrumented image", "image", "verify", output, program.image)


def check_long_name(name, scratch):
    """The name of a counter file begins with the name of the image, as far as it fits."""
    program = common.find_program("calls.dynamic")
    folder = scratch.folder()
    output = folder / name
    common.respike_ok("image", "instrument", program.image, "-o", output, "--spool", folder / "spool")
    common.check_behaviour(program, output, runs=[0])
    file = only_file(folder / "spool")
    kept = file.name.split("~")[0]
    expect(len(kept.encode()) > 150 and name.startswith(kept), f"the file is {file.name}")
    expect(entries(folder, [file])["main"] == 1, "main did not run once")


def check_long_spool(scratch):
    program = common.find_program("calls.dynamic")
    output = scratch.folder() / "out"
    for spool in ("/x" * 2031 + "/", "/x" * 3000):
        refused("too long", "image", "instrument", program.image, "-o", output, "--spool", spool)
    expect(not output.exists(), "there is an output")


def cases(scratch):
    def case(name, function, *args):
        return common.Case(name, lambda: function(*args, scratch))

    for options in ([], ["-DCONSTRUCTOR"], ["-DCONSTRUCTOR", "-Wl,-z,relro", "-Wl,-z,now"]):
        yield common.Case(
            f"library without an initializer {' '.join(options)}",
            lambda o=options: check_library(scratch, *o),
        )
    yield case("library without room for an initializer", check_library_without_room)
    for name, layouts in OPTIMIZED:
        yield case(f"{name} optimized, {', '.join(layouts)}", check_optimized, name, layouts)
    yield case("GNU tools", check_optimized_for_tools)
    yield case("instrumented image as input", check_instrumented_input)
    yield case("long name", check_long_name, "n" * 250)
    yield case("long name of other letters", check_long_name, "x" + "\u00e4" * 125)
    yield case("long path of the spool", check_long_spool)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

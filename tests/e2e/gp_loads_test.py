#!/usr/bin/env python3
"""If Respike calls a load of gp needless, the register holds the right gp already.

tests/poison inserts code before every such load that computes gp from the program counter and spoils the stack pointer
if the register holds another value. This code shares nothing with the analysis but the list of loads. The same check
before all other loads after calls must break a program whose callees have another gp; otherwise the test could not
detect a fault. The layout by counts drops needless loads from every static program, and `verify` finds no fault.
"""

import json
import pathlib
import sys

import common
import rare_test

POISON = pathlib.Path(common.RESPIKE).parent / "tests" / "poison"


def check_gp(program, scratch):
    folder = scratch.folder()
    images = {}
    for role, path in program.images():
        images[role] = folder / role
        outcome = common.run_command([POISON, "--gp-loads", path, images[role]])
        common.expect(outcome.status == 0, f"{role}: {outcome.stderr.decode(errors='replace')}")
    main = images.pop("main")
    libraries = common.link_libraries(program, folder / "libraries", images)
    common.check_behaviour(program, main, libraries, what="with checks of gp")
    for role, _ in program.images():
        (folder / role).unlink()


def check_dropped(program, scratch):
    output, report = scratch.file("output"), scratch.file("report")
    image = dict(program.images())["main"]
    common.optimize(image, output, "--report", report)
    dropped = json.loads(report.read_text())["dropped_gp_loads"]
    common.expect(dropped > 20, f"only {dropped} loads were dropped")
    common.respike_ok("image", "verify", image, output)
    output.unlink()


def check_rare(flags, scratch):
    """Callees written by hand decide whether a load is needless."""
    folder = scratch.folder()
    image = folder / "image"
    source = rare_test.SOURCES / "gp_loads.c"
    built = common.run_command(["alpha-linux-gnu-gcc", "-w", "-Wl,-q", source, *flags, "-o", image])
    common.expect(built.status == 0, built.stderr.decode(errors="replace"))
    expected = rare_test.run_image(image)
    for options, same in (((), True), (("--wrong",), False)):
        checked = folder / "checked"
        outcome = common.run_command([POISON, "--gp-loads", *options, image, checked])
        common.expect(outcome.status == 0, outcome.stderr.decode(errors="replace"))
        actual = rare_test.run_image(checked)
        if same:
            common.expect(actual.behaviour() == expected.behaviour(), common.describe_difference(expected, actual))
        else:
            common.expect(actual.behaviour() != expected.behaviour(), "nothing breaks where another gp is there")


def cases(scratch):
    for program in common.load_programs():
        yield common.Case(program.name, lambda p=program: check_gp(p, scratch))
        if program.name.endswith(".static") and ".O0" not in program.name:  # not relaxed
            yield common.Case(f"{program.name} dropped", lambda p=program: check_dropped(p, scratch))
    for flags in rare_test.head_lines(rare_test.SOURCES / "gp_loads.c", "build"):
        if "no-relax" not in flags:
            words = flags.replace("STATIC", rare_test.STATIC).split()
            yield common.Case(f"gp_loads {flags}", lambda w=words: check_rare(w, scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

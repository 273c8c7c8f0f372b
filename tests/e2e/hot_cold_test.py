#!/usr/bin/env python3
"""Hot-cold optimization makes programs execute fewer instructions, never wrong ones.

profiled_test.py rewrites programs by true and false profiles, with hot-cold optimization, which is the default. This
test rewrites every program of the manifest by profiles in which all blocks are hot, and in which all but the first
blocks are cold; large programs only with --heavy-seeds above 1. Standard output and exit status under qemu-alpha must
be the same as for the original. With the profile of their own run, programs named in SHORTER execute fewer instructions
than with the same layout alone. Outputs of programs in AGAIN are inputs again.

Seeds: --heavy-seeds N (RESPIKE_HEAVY_PROFILE_SEEDS, default 1)."""

import json
import sys

import common
import oracle
import profiles
from layouts_test import is_heavy
from profiled_test import check

SHORTER = ["lua.static", "sqlite3.static"]
AGAIN = ["lua.static", "calls.static", "exceptions.static", "modern.dynamic"]


def check_extreme(program, scratch):
    folder = scratch.folder()
    check(program, 0, scratch, profiles.make_all("hot", program, folder))
    check(program, 0, scratch, profiles.make_all("cold", program, folder, "1"))


def executed(image, run):
    return oracle.count(image, run.args, images=[], stdin=run.stdin).total


def check_shorter(program, scratch):
    folder = scratch.folder()
    profile = ["--profile", profiles.count(program, folder)["main"]]
    alone, both, report = folder / "alone", folder / "both", folder / "report"
    common.optimize(program.image, alone, *profile, "--hot-cold", "off")
    common.optimize(program.image, both, *profile, "--report", report)
    figures = json.loads(report.read_text())["hot_cold"]
    common.expect(figures["coverage"]["optimized"] > 0, "nothing was optimized")
    before, after = (executed(image, program.runs[0]) for image in (alone, both))
    common.expect(after < before, f"{after} instructions executed, {before} without")


def check_again(program, scratch):
    """Outputs are inputs: for another layout, for counting, and for hot-cold optimization again."""
    folder = scratch.folder()
    once, twice = folder / "once", folder / "twice"
    common.optimize(program.image, once, "--profile", profiles.count(program, folder)["main"])
    common.optimize(once, twice, "--layout", "random", "--seed", "3")
    common.check_behaviour(program, twice, None, what="the output in random order")
    profile = profiles.count_image(
        once,
        folder,
        lambda counting: common.check_behaviour(program, counting, None, what="the output, instrumented"),
    )
    common.optimize(once, twice, "--profile", profile)
    common.check_behaviour(program, twice, None, what="the output of the output")


def check_caught_faults(scratch):
    """If a load may fault and a landing pad catches the fault, the landing pad finds registers and
    memory as they were."""
    folder = scratch.folder()
    source, image = common.ROOT / "tests" / "programs" / "rare" / "caught_faults.cc", folder / "image"
    command = ["alpha-linux-gnu-g++", "-O1", "-fnon-call-exceptions", "-Wl,-q", source, "-o", image]
    common.expect(common.run_command(command).status == 0, "it does not compile")
    run = common.Run((), None)
    profile = profiles.count_image(image, folder, lambda counting: common.run_program(counting, run))
    common.optimize(image, folder / "optimized", "--profile", profile)
    expected, actual = (common.run_program(each, run) for each in (image, folder / "optimized"))
    common.expect(b"caught 49" in expected.stdout, f"the program itself: {expected}")
    common.expect(
        actual.behaviour() == expected.behaviour(), common.describe_difference(expected, actual)
    )


def cases(args, scratch):
    yield common.Case("caught faults", lambda: check_caught_faults(scratch))
    for program in common.load_programs():
        if not is_heavy(program) or args.heavy_seeds > 1:
            yield common.Case(
                f"{program.name} all hot and all cold", lambda p=program: check_extreme(p, scratch)
            )
    for program in filter(None, map(common.find_program, SHORTER)):
        yield common.Case(f"{program.name} is shorter", lambda p=program: check_shorter(p, scratch))
    for program in filter(None, map(common.find_program, AGAIN)):
        yield common.Case(f"{program.name} again", lambda p=program: check_again(p, scratch))


if __name__ == "__main__":
    sys.exit(profiles.main(__doc__, cases))

#!/usr/bin/env python3
"""Hot-cold optimization makes programs shorter, never wrong.

Every program of the manifest is rewritten with --hot-cold on by the profile of its own run, by that
profile inverted, by those in which all blocks are hot and in which all but the first ones are cold,
and by random counts for several seeds: what is taken to be cold then runs all the time, so stubs,
clones and the middle of originals do. Standard output and exit status under
qemu-alpha must equal those of the original; images of a program with libraries are rewritten one by
one and together. With the profile of their own run, programs named in SHORTER execute fewer
instructions than with the same layout alone. Outputs of programs in AGAIN are inputs again.

Seeds: --seeds N for small programs (environment RESPIKE_PROFILE_SEEDS, default 2), --heavy-seeds N
for large ones (RESPIKE_HEAVY_PROFILE_SEEDS, default 1: then these are not run all hot and all cold)."""

import json
import sys

import common
import oracle
import profiles
from layouts_test import check_images, choose_images, is_heavy

ON = ["--hot-cold", "on"]
SHORTER = ["lua.static", "sqlite3.static"]
AGAIN = ["lua.static", "calls.static", "exceptions.static", "modern.dynamic"]


def check(program, number, scratch, profile_of):
    options = {
        role: ON + ["--profile", profile_of[role]] for role in choose_images(program, number)
    }
    check_images(program, options, scratch)


def check_own(program, scratch):
    folder = scratch.folder()
    own = profiles.count(program, folder)
    inverted = profiles.invert(own, folder)
    for number in range(3 if program.libraries else 1):
        check(program, number, scratch, own)
        check(program, number, scratch, inverted)


def check_extreme(program, scratch):
    folder = scratch.folder()
    check(program, 0, scratch, profiles.make_all("hot", program, folder))
    check(program, 0, scratch, profiles.make_all("cold", program, folder, "1"))


def check_random(program, seed, scratch):
    check(program, seed, scratch, profiles.make_random(program, seed, scratch.folder()))


def executed(image, run):
    return oracle.count(image, run.args, images=[], stdin=run.stdin).total


def check_shorter(program, scratch):
    folder = scratch.folder()
    profile = ["--profile", profiles.count(program, folder)["main"]]
    alone, both, report = folder / "alone", folder / "both", folder / "report"
    common.optimize(program.image, alone, *profile)
    common.optimize(program.image, both, *profile, *ON, "--report", report)
    figures = json.loads(report.read_text())["hot_cold"]
    common.expect(figures["coverage"]["optimized"] > 0, "nothing was optimized")
    before, after = (executed(image, program.runs[0]) for image in (alone, both))
    common.expect(after < before, f"{after} instructions executed, {before} without")


def check_again(program, scratch):
    """Outputs are inputs: for another layout, for counting, and for hot-cold optimization again."""
    folder = scratch.folder()
    once, twice = folder / "once", folder / "twice"
    common.optimize(program.image, once, *ON, "--profile", profiles.count(program, folder)["main"])
    common.optimize(once, twice, "--layout", "random", "--seed", "3")
    common.check_behaviour(program, twice, None, what="the output in random order")
    profile = profiles.count_image(
        once,
        folder,
        lambda counting: common.check_behaviour(program, counting, None, what="the output, instrumented"),
    )
    common.optimize(once, twice, *ON, "--profile", profile)
    common.check_behaviour(program, twice, None, what="the output of the output")


def cases(args, scratch):
    for program in common.load_programs():
        seeds = args.heavy_seeds if is_heavy(program) else args.seeds
        yield common.Case(
            f"{program.name} own and inverted", lambda p=program: check_own(p, scratch)
        )
        if not is_heavy(program) or seeds > 1:
            yield common.Case(
                f"{program.name} all hot and all cold", lambda p=program: check_extreme(p, scratch)
            )
        for seed in range(1, seeds + 1):
            yield common.Case(
                f"{program.name} random {seed}",
                lambda p=program, s=seed: check_random(p, s, scratch),
            )
    for program in filter(None, map(common.find_program, SHORTER)):
        yield common.Case(f"{program.name} is shorter", lambda p=program: check_shorter(p, scratch))
    for program in filter(None, map(common.find_program, AGAIN)):
        yield common.Case(f"{program.name} again", lambda p=program: check_again(p, scratch))


if __name__ == "__main__":
    sys.exit(profiles.main(__doc__, cases))

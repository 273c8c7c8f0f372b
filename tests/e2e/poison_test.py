#!/usr/bin/env python3
"""Registers that the analyses call dead may hold anything, and gp has the value that the analyses
claim.

tests/poison overwrites such registers in random places: every wrong "dead" shows as broken behaviour; the head comment
of tests/poison says how to find the place. All images of a program are poisoned together. Overwriting live registers
must break programs; otherwise the test would not notice anything.

RESPIKE_POISON_SEEDS: how many random choices for each program (default 1)."""

import os
import pathlib
import sys

import common

POISON = pathlib.Path(common.RESPIKE).parent / "tests" / "poison"
SEEDS = int(os.environ.get("RESPIKE_POISON_SEEDS", "1"))
SHARE = 10  # percent of all instructions


def poison(program, folder, *options):
    """Poisons all images of a program; returns the main image and the folder of the other
    images."""
    images = {}
    for role, path in program.images():
        images[role] = folder / role
        outcome = common.run_command([POISON, *options, path, images[role]])
        common.expect(outcome.status == 0, f"{role}: {outcome.stderr.decode(errors='replace')}")
    main = images.pop("main")
    return main, common.link_libraries(program, folder / "libraries", images)


def check_dead(program, seed, scratch):
    main, libraries = poison(program, scratch.folder(), "--share", SHARE, "--seed", seed)
    common.check_behaviour(program, main, libraries, what=f"poisoned by seed {seed}")
    for role, _ in program.images():
        (main.parent / role).unlink()


def check_live(program, scratch):
    main, libraries = poison(program, scratch.folder(), "--share", 1, "--wrong")
    actual = common.run_program(main, program.runs[0], libraries)
    expected = common.expected_behaviour(program, 0)
    common.expect(actual.behaviour() != expected.behaviour(), "nothing breaks without live registers")


def cases(scratch):
    for number, program in enumerate(common.load_programs()):
        first = 1 + number % 2  # odd and even seeds act differently
        for seed in range(first, first + SEEDS):
            yield common.Case(
                f"{program.name} {seed}", lambda p=program, s=seed: check_dead(p, s, scratch)
            )
    program = common.find_program("registers.dynamic")
    yield common.Case("live registers", lambda: check_live(program, scratch))


if __name__ == "__main__":
    sys.exit(common.main(__doc__, cases))

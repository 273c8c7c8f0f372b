#!/usr/bin/env python3
"""Stacks of rewritten x86-64 programs can be unwound at every instruction.

Programs run step by step, and a signal handler unwinds their stack (unwind_steps/steps.c says how, and how it knows the
right stack). The images are shuffled, laid out by the profile of their own run, and instrumented; meanwhile programs
throw through every kind of frame, and print the same as without the steps.

RESPIKE_STEPS: how many instructions of each run are followed (default 30,000)."""

import os
import pathlib
import re
import subprocess
import sys

import common

HERE = pathlib.Path(__file__).resolve().parent
STEPS = int(os.environ.get("RESPIKE_STEPS", 30_000))
FEWEST = 100  # checks
COUNTERS = ("shared", "threads")
PROGRAMS = re.compile(
    r"^(calls\.pie|switches\.(dynamic|cet\.pie|frames\.pie|lld\.pie|O0\.pie|pie|v3\.pie)"
    r"|exceptions\.(pie|dynamic|O3\.pie|sections\.pie|gold\.pie|mold\.pie|clang\.pie|clang-lld\.pie|large\.dynamic)"
    r"|interpreter\.(pie|clang-O3\.pie|trained\.pie)|modern\.pie|containers\.pie|strings\.pie|lua\.pie|bzip2\.(pie|trained\.pie)"
    r"|minigzip\.pie|sqlite3\.pie|kernels\.pie|floats\.pie)$"
)


def build(scratch):
    library = scratch.file("steps.so")
    command = ["x86_64-linux-gnu-gcc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "unwind_steps" / "steps.c"]
    subprocess.run(command, check=True)
    return library


def counting_image(program, folder, counters):
    counting, spool = folder / "counting", folder / "spool"
    common.respike_ok("image", "instrument", program.image, "-o", counting, "--spool", spool, "--counters", counters)
    return counting


def profile_of(program, scratch):
    folder = scratch.folder()
    counting, spool = counting_image(program, folder, "shared"), folder / "spool"
    common.run_program(counting, program.runs[0])
    common.respike_ok("image", "collect", *sorted(spool.iterdir()), "-o", folder / "profile")
    return folder / "profile"


def step_through(image, run, steps, library, scratch):
    """The outcome of the run, and the figures: steps, checks, wrong stacks, the faults."""
    report = scratch.file("report")
    settings = {"LD_PRELOAD": str(library), "STEPS_OUT": str(report), "STEPS_MOST": str(steps), "LD_BIND_NOW": "1"}
    outcome = common.run_program(image, run, environment=settings)
    return outcome, report.read_text().split(None, 3)


def check(program, kind, library, scratch):
    run = program.runs[0]
    if kind == "original":
        image = program.image
    elif kind in ("random", "scatter"):
        image = scratch.file("image")
        common.optimize(program.image, image, "--layout", kind)
    elif kind == "profile":
        image = scratch.file("image")
        common.optimize(program.image, image, "--profile", profile_of(program, scratch))
    else:
        image = counting_image(program, scratch.folder(), kind)
    # The start code goes through all counters; containers begins with long work of libstdc++.
    steps = 4 * STEPS if kind in COUNTERS or program.name.startswith("containers") else STEPS
    expected = common.run_program(program.image, run)
    outcome, (_, checks, wrong, *told) = step_through(image, run, steps, library, scratch)
    common.expect(outcome.behaviour() == expected.behaviour(), common.describe_difference(expected, outcome))
    common.expect(int(wrong) == 0, f"{wrong} of {checks} stacks: {' '.join(told)}")
    common.expect(int(checks) > FEWEST, f"only {checks} stacks")


def cases(library, scratch):
    for program in common.load_programs():
        if PROGRAMS.match(program.name):
            for kind in ("original", "random", "scatter", "profile", *COUNTERS):
                yield common.Case(
                    f"{program.name} {kind}",
                    lambda p=program, k=kind: check(p, k, library, scratch),
                )


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(build(scratch), scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

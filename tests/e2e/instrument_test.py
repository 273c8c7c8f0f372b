#!/usr/bin/env python3
"""Instrumented programs behave as the original, and their profiles are exact.

All images of every program of the manifest are instrumented; the program must print what the
original prints. The profiles of single-threaded programs, and with atomic counters of all programs,
are compared with the oracle (tests/e2e/oracle.py), libraries and libc included:

- with the oracle's counts of the same run of the instrumented program: every block has the oracle's
  count. In procedures that the profile itself calls not exact (calls in them never returned, and it
  is not sure which calls), a few blocks may differ;
- with the oracle's counts of the original: a few blocks differ because the image differs, not
  because it is instrumented: one more program header, unwind tables of another form, a heap at
  another address.

RESPIKE_COUNTERS=shared|atomic|threads chooses the counters (default: shared); with threads, which only programs can
have, libraries get atomic counters."""

import json
import os
import pathlib
import sys
import tempfile

import common
import oracle

# Shares of all blocks that may differ, see above.
NOT_EXACT, OTHER_IMAGE = 0.0005, 0.02

# QEMU 7.2 for x86-64 begins the fault of signals again for ever, and crashes with some runs of the
# originals of static threads.
NO_ORACLE = {"signals", "threads.static", "threads.static-pie"}

COUNTERS = os.environ.get("RESPIKE_COUNTERS", "shared")
EXACT_WITH_THREADS = ("atomic", "threads")


def instrument(image, output, spool, *options):
    outcome = common.respike_ok(
        "image", "instrument", image, "-o", output, "--spool", spool, "--json", *options
    )
    return json.loads(outcome.stdout)


class Instrumented:
    """A program with all its images instrumented, in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.spools = {}  # role -> spool
        self.images = {}  # role -> instrumented image
        self.figures = {}
        self.blocks = {}  # role -> {address: address in the instrumented image}
        replaced = {}
        for role, path in program.images():
            spool = self.folder / f"spool-{role}"
            output = self.folder / f"instrumented-{role}"
            block_map = self.folder / f"blocks-{role}"
            counters = "atomic" if COUNTERS == "threads" and role != "main" else COUNTERS
            options = ("--block-map", block_map, "--counters", counters)
            self.figures[role] = instrument(path, output, spool, *options)
            self.blocks[role] = dict(
                (int(before, 16), int(after, 16))
                for before, after in (line.split() for line in block_map.read_text().splitlines())
            )
            self.spools[role], self.images[role] = spool, output
            if role != "main":
                replaced[role] = output
        self.libraries = common.link_libraries(program, self.folder / "libraries", replaced)
        self.main = self.images["main"]

    def files(self, role):
        return sorted(self.spools[role].iterdir())

    def forget(self):
        for role in self.spools:
            for file in self.files(role):
                file.unlink()

    def collect(self, role):
        profile = self.folder / f"profile-{role}"
        files = self.files(role)
        common.expect(files, f"{role}: no counter file")
        common.respike_ok("image", "collect", *files, "-o", profile)
        shown = common.respike_ok("profile", "show", profile, "--json")
        return json.loads(shown.stdout)


def check_behaviour(program, scratch):
    with tempfile.TemporaryDirectory(dir=scratch.path) as folder:
        instrumented = Instrumented(program, folder)
        common.check_behaviour(
            program, instrumented.main, instrumented.libraries, what="the instrumented image"
        )
        for role in instrumented.spools:
            common.expect(instrumented.files(role), f"{role}: no counter file")


def differences(profile, counted):
    """The blocks whose count is not the oracle's count of their first instruction: of exact
    procedures, and of other procedures; and the number of all blocks."""
    exact, inexact, blocks = [], [], 0
    for procedure in profile["procedures"]:
        for block in procedure["blocks"]:
            if block["address"] == 0:
                continue  # a block that lifting added
            blocks += 1
            expected = counted(block["address"])
            if block["count"] != expected:
                where = (procedure["name"], f"{block['address']:#x}", block["count"], expected)
                (exact if procedure["exact"] else inexact).append(where)
    return exact, inexact, blocks


def uncounted(profile, blocks, counts):
    """Addresses of blocks that ran but are not in the profile."""
    known = {block["address"] for procedure in profile["procedures"] for block in procedure["blocks"]}
    return [f"{a:#x}" for a in blocks if a not in known and counts.get(blocks[a], 0) != 0]


def describe(wrong):
    return f"{len(wrong)} blocks: " + "; ".join(
        f"{name} {where}: {count} instead of {expected}" for name, where, count, expected in wrong[:6]
    )


def check_counts(program, scratch):
    with tempfile.TemporaryDirectory(dir=scratch.path) as folder:
        instrumented = Instrumented(program, folder)
        originals = common.link_libraries(program, pathlib.Path(folder) / "original-libraries")
        for index, run in enumerate(program.runs):
            instrumented.forget()
            original = oracle.count(
                program.image,
                run.args,
                images=[path for _, path in program.images()],
                libraries=originals,
                stdin=run.stdin,
            )
            same = oracle.count(
                instrumented.main,
                run.args,
                images=list(instrumented.images.values()),
                libraries=instrumented.libraries,
                stdin=run.stdin,
            )
            common.expect(
                same.outcome.behaviour() == original.outcome.behaviour(),
                f"run {index}: " + common.describe_difference(original.outcome, same.outcome),
            )
            for role, path in program.images():
                profile = instrumented.collect(role)
                blocks, counts = instrumented.blocks[role], same.images[instrumented.images[role]]
                exact, inexact, number = differences(profile, lambda a: counts.get(blocks[a], 0))
                what = f"run {index}, {role}"
                common.expect(
                    not (ran := uncounted(profile, blocks, counts)), f"{what}, not counted: {ran}"
                )
                common.expect(not exact, f"{what}, the same run: {describe(exact)}")
                common.expect(
                    len(inexact) <= NOT_EXACT * number,
                    f"{what}, of {number} blocks in procedures that are not exact: {describe(inexact)}",
                )
                if program.threads:
                    continue  # no two runs are the same
                exact, _, _ = differences(profile, lambda a: original.images[path].get(a, 0))
                common.expect(
                    len(exact) <= OTHER_IMAGE * number,
                    f"{what}, the original's run, of {number}: {describe(exact)}",
                )


def cases(scratch):
    all_cases = not common.is_sampled()
    for program in common.load_programs():
        if COUNTERS == "threads" and "static" in program.name:
            continue  # refused
        yield common.Case(
            f"{program.name} behaviour", lambda p=program: check_behaviour(p, scratch)
        )
        if common.is_native() and (program.program in NO_ORACLE or program.name in NO_ORACLE):
            continue
        if common.is_native() and program.heavy and not all_cases:
            continue  # QEMU with the plugin takes minutes
        if not program.threads or COUNTERS in EXACT_WITH_THREADS:
            yield common.Case(f"{program.name} counts", lambda p=program: check_counts(p, scratch))


def main():
    args = common.argument_parser(__doc__).parse_args()
    common.note_missing_programs()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

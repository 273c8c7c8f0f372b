#!/usr/bin/env python3
"""What counting costs: code size, counters, and executed instructions of instrumented programs.

usage: bench/counting.py [PROGRAM...]     default: sqlite3.static lua.static bzip2.static

The table has three rows for each program: instrumented with static estimates, with a profile of the
same run as weights, and with atomic counters. Executed instructions, which the oracle of the tests
counts in the program's first run, are relative to the original. RESPIKE and RESPIKE_PROGRAMS as for
the end-to-end tests."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))

import common  # noqa: E402
import oracle  # noqa: E402


def count(image, run):
    return oracle.count(image, run.args, images=[], stdin=run.stdin).total


def measure(program, folder, options):
    output, spool = folder / "counting", folder / "spool"
    figures = json.loads(
        common.respike_ok(
            "image", "instrument", program.image, "-o", output, "--spool", spool, "--json", *options
        ).stdout
    )
    for old in spool.iterdir():
        old.unlink()
    executed = count(output, program.runs[0])
    profile = folder / "profile"
    common.respike_ok("image", "collect", *spool.iterdir(), "-o", profile)
    return figures, executed, profile


def main():
    names = sys.argv[1:] or ["sqlite3.static", "lua.static", "bzip2.static"]
    print("| program | options | counters per block | blocks with one | code | executed | no free register |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        program = common.find_program(name)
        if program is None:
            raise SystemExit(f"{name} was not built")
        with tempfile.TemporaryDirectory(prefix="respike-counting-") as folder:
            folder = pathlib.Path(folder)
            original = count(program.image, program.runs[0])
            weights = folder / "weights"
            for options in ([], ["--weights", weights], ["--counters", "atomic"]):
                figures, executed, profile = measure(program, folder, options)
                if not options:
                    profile.rename(weights)
                print(
                    f"| {name} | {' '.join(str(o) for o in options if o != weights)} | "
                    f"{figures['counters'] / figures['blocks']:.1%} | "
                    f"{figures['counted_blocks'] / figures['blocks']:.1%} | "
                    f"{figures['new_text_bytes'] / figures['text_bytes'] - 1:+.1%} | "
                    f"{executed / original:.3f} | "
                    f"{figures['probes_that_save_registers']} of {figures['probes']} |"
                )


if __name__ == "__main__":
    main()

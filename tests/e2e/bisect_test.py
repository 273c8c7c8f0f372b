#!/usr/bin/env python3
"""scripts/bisect-procedures.sh finds the procedures whose rewriting breaks a program.

A faulty respike is simulated by a wrapper: it runs the real one and then ruins the output whenever
all procedures of a chosen set may be moved."""

import os
import sys

import common

SCRIPT = common.ROOT / "scripts" / "bisect-procedures.sh"
WRAPPER = """#!/usr/bin/env python3
import subprocess, sys
arguments, culprits = sys.argv[1:], {culprits!r}
status = subprocess.run([{respike!r}, *arguments]).returncode
if status == 0 and arguments[:2] == ["image", "optimize"]:
    only = [arguments[i + 1] for i, a in enumerate(arguments) if a == "--only"]
    if culprits and (not only or set(culprits) <= set(only)):
        open(arguments[arguments.index("-o") + 1], "wb").write(b"#!/bin/false")
sys.exit(status)
"""


def bisect(scratch, culprits, *arguments, timeout=300):
    wrapper = scratch.file("respike")
    wrapper.write_text(WRAPPER.format(culprits=culprits, respike=common.RESPIKE))
    wrapper.chmod(0o755)
    return common.run_command(
        [SCRIPT, *arguments], timeout=timeout, env={**os.environ, "RESPIKE": str(wrapper)}
    )


def test_command(program, scratch):
    """A shell command that compares a candidate's output with the original's."""
    good = scratch.file("good")
    good.write_bytes(common.expected_behaviour(program, 0).stdout)
    return f"{' '.join(common.QEMU)} -0 program {{}} | cmp - {good}"


def check_found(scratch, culprits):
    program = common.find_program("calls.dynamic")
    outcome = bisect(
        scratch,
        culprits,
        program.image,
        test_command(program, scratch),
        "--",
        "--layout",
        "random",
        "--seed",
        "3",
    )
    found = outcome.stdout.decode().split()
    common.expect(
        outcome.status == 0, f"exit status {outcome.status}: {outcome.stderr.decode()[-500:]}"
    )
    common.expect(found == sorted(culprits), f"found {found} instead of {culprits}")


def check_refused(scratch, status, word, *arguments):
    outcome = bisect(scratch, [], *arguments)
    text = outcome.stderr.decode()
    common.expect(
        outcome.status == status, f"exit status {outcome.status} instead of {status}: {text[-300:]}"
    )
    common.expect(word in text and not outcome.stdout, f"no {word!r} in {text!r}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    program = common.find_program("calls.dynamic")
    with common.Scratch() as scratch:
        cases = [
            common.Case("one culprit", lambda: check_found(scratch, ["ackermann"])),
            common.Case("two culprits", lambda: check_found(scratch, ["is_odd", "huge_frame"])),
            common.Case(
                "nothing to find",
                lambda: check_refused(
                    scratch, 1, "passes the test", program.image, test_command(program, scratch)
                ),
            ),
            common.Case(
                "the original fails",
                lambda: check_refused(scratch, 1, "original", program.image, "false"),
            ),
            common.Case(
                "no such file", lambda: check_refused(scratch, 1, "no such file", "absent", "true")
            ),
            common.Case("wrong usage", lambda: check_refused(scratch, 2, "usage", program.image)),
        ]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

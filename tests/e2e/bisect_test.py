#!/usr/bin/env python3
"""scripts/bisect-procedures.sh finds the procedures whose rewriting breaks a program.

A wrapper simulates a faulty respike: it runs the real respike and then ruins the output if all
procedures of a chosen set may be moved. The wrapper may also fail if a certain procedure may be
moved, but not all of the set."""

import os
import re
import shutil
import sys

import common

SCRIPT = common.ROOT / "scripts" / "bisect-procedures.sh"
WRAPPER = """#!/usr/bin/env python3
import subprocess, sys
arguments, culprits, failing = sys.argv[1:], {culprits!r}, {failing!r}
only = [arguments[i + 1] for i, a in enumerate(arguments) if a == "--only"]
skipped = [arguments[i + 1] for i, a in enumerate(arguments) if a == "--skip"]
if failing in only and not set(culprits) <= set(only):
    sys.exit("respike: internal error")
status = subprocess.run([{respike!r}, *arguments]).returncode
if status == 0 and arguments[:2] == ["image", "optimize"]:
    if culprits and not skipped and (not only or set(culprits) <= set(only)):
        open(arguments[arguments.index("-o") + 1], "wb").write(b"#!/bin/false")
sys.exit(status)
"""


def bisect(scratch, culprits, *arguments, failing=None, timeout=300):
    wrapper = scratch.file("respike")
    wrapper.write_text(WRAPPER.format(culprits=culprits, failing=failing, respike=common.RESPIKE))
    wrapper.chmod(0o755)
    return common.run_command(
        [SCRIPT, *arguments], timeout=timeout, env={**os.environ, "RESPIKE": str(wrapper)}
    )


def test_command(program, scratch):
    """A shell command that compares a candidate's output with the original's."""
    good = scratch.file("good")
    good.write_bytes(common.expected_behaviour(program, 0).stdout)
    return f"{' '.join(common.QEMU)} -0 program {{}} | cmp - {good}"


HELPERS = """
static __attribute__((noinline)) long helper(long x) {{ return x * {factor}; }}
long call_{number}(long x) {{ return helper(x) + 1; }}
"""
MAIN = "long call_1(long), call_2(long); int main(void) { return call_1(2) + call_2(3); }"


def check_same_names(scratch):
    """The faulty procedure shares its name with a procedure of another file."""
    folder = scratch.folder()
    for number, factor in ((1, 3), (2, 5)):
        (folder / f"{number}.c").write_text(HELPERS.format(number=number, factor=factor))
    (folder / "main.c").write_text(MAIN)
    image = folder / "helpers"
    sources = [folder / name for name in ("main.c", "1.c", "2.c")]
    built = common.run_command(["alpha-linux-gnu-gcc", "-O2", "-Wl,-q", *sources, "-o", image])
    common.expect(built.status == 0, built.stderr.decode())
    listing = common.respike_ok("image", "disasm", image).stdout.decode()
    addresses = re.findall(r"^([0-9a-f]+) <helper>", listing, re.M)
    common.expect(len(addresses) == 2, f"{len(addresses)} procedures named helper")
    for address in addresses:
        culprit = f"helper@{address}"
        test = f"{' '.join(common.QEMU)} {{}}; test $? = 23"
        outcome = bisect(scratch, [culprit], image, test)
        found = outcome.stdout.decode().split()
        common.expect(found == [culprit], f"found {found} instead of {culprit}")
    wrong = common.respike("image", "optimize", image, "-o", folder / "out", "--only", "helper@1234")
    text = wrong.stderr.decode()
    common.expect(wrong.status == 1 and "no procedure helper@1234" in text, text)


def check_found(scratch, culprits, failing=None):
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
        failing=failing,
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


def check_command(scratch):
    """respike is the command beside the script, else the command in PATH; a sentence says if there
    is none."""
    installed = scratch.folder()
    (installed / "scripts").mkdir()
    script = installed / "scripts" / SCRIPT.name
    shutil.copy(SCRIPT, script)
    program = common.find_program("calls.dynamic").image
    environment = {k: v for k, v in os.environ.items() if k != "RESPIKE"}
    for variable in ({}, {"RESPIKE": "/nowhere/respike"}):
        outcome = common.run_command([script, program, "true"], env={**environment, **variable})
        text = outcome.stderr.decode()
        common.expect(outcome.status == 1 and text.count("\n") == 1, f"{outcome}")
        common.expect("there is no command" in text and "RESPIKE=" in text, text)
    folder = scratch.folder()
    (folder / "respike").symlink_to(common.RESPIKE)
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    outcome = common.run_command([script, program, "true"], env=environment)
    common.expect(b"nothing to find" in outcome.stderr, f"by PATH: {outcome}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    program = common.find_program("calls.dynamic")
    with common.Scratch() as scratch:
        cases = [
            common.Case("one culprit", lambda: check_found(scratch, ["ackermann"])),
            common.Case("two culprits", lambda: check_found(scratch, ["is_odd", "huge_frame"])),
            common.Case(
                "respike fails now and then",
                lambda: check_found(scratch, ["huge_frame", "is_odd"], failing="ackermann"),
            ),
            common.Case("two of one name", lambda: check_same_names(scratch)),
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
                "nothing moves and it fails",
                lambda: check_refused(scratch, 1, "no procedure is to blame", program.image, f"cmp {{}} {program.image}"),
            ),
            common.Case(
                "no such file", lambda: check_refused(scratch, 1, "no such file", "absent", "true")
            ),
            common.Case("which command", lambda: check_command(scratch)),
            common.Case("wrong usage", lambda: check_refused(scratch, 2, "usage", program.image)),
        ]
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

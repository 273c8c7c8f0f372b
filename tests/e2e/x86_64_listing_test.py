#!/usr/bin/env python3
"""Code of x86-64 programs and libraries is listed as llvm-objdump lists it; what needs relocations is refused without.

`respike image disasm --objdump IMAGE` prints `ADDRESS: BYTES TEXT` for each instruction of the executable sections, in
both syntaxes. Prefixes that llvm-objdump lists on lines of their own belong to the next instruction."""

import pathlib
import re
import sys

import common

OBJDUMP = "/usr/lib/llvm-22/bin/llvm-objdump"
LINE = re.compile(r"^ *([0-9a-f]+): ([0-9a-f]{2}(?: [0-9a-f]{2})*) *\t(.*)$", re.M)
REMARKS = re.compile(r"\s*(<[^\n]*>|# .*)$")
PREFIXES = {"26", "2e", "36", "3e", "64", "65", "66", "67", "f0", "f2", "f3"}
FILES = ["/bin/true", "/usr/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/x86_64-linux-gnu/libgmp.so.10"]


def words(text):
    return " ".join(text.split())


def objdump_lines(image, *options):
    """[(address, bytes, text)] with single blanks and without symbols; prefixes joined with their instructions."""
    outcome = common.run_command([OBJDUMP, "-d", "-z", *options, image], timeout=common.TOOL_TIMEOUT)
    lines, prefixes = [], []
    for address, code, text in LINE.findall(outcome.stdout.decode()):
        line = (int(address, 16), code, words(REMARKS.sub("", text)))
        if code in PREFIXES:
            prefixes.append(line)
            continue
        parts = [*prefixes, line]
        lines.append((parts[0][0], *(" ".join(part[i] for part in parts) for i in (1, 2))))
        prefixes = []
    return lines


def our_lines(image, *options):
    listing = common.respike_ok("image", "disasm", image, *options).stdout.decode()
    lines = re.findall(r"^([0-9a-f]+): ((?:[0-9a-f]{2} )+)(.*)$", listing, re.M)
    return [(int(address, 16), words(code), words(text)) for address, code, text in lines]


def check_listing(image, ours, theirs):
    ours, theirs = our_lines(image, *ours), objdump_lines(image, *theirs)
    common.expect(len(theirs) > 1000, f"llvm-objdump printed only {len(theirs)} instructions")
    wrong = [f"{t}, not {o}" for t, o in zip(theirs, ours) if t != o]
    common.expect(not wrong, f"{len(wrong)} of {len(theirs)} lines differ: " + "; ".join(wrong[:5]))
    common.expect(len(ours) == len(theirs), f"{len(ours)} instructions, llvm-objdump lists {len(theirs)}")


def check_refused(image, *arguments):
    outcome = common.respike(*arguments)
    message = outcome.stderr.decode()
    common.expect(outcome.status == 1 and not outcome.stdout, f"{arguments}: status {outcome.status}")
    common.expect("--emit-relocs" in message, message)


def check_refusals(image):
    check_refused(image, "image", "info", image)
    check_refused(image, "image", "disasm", image, "--ir")
    check_refused(image, "image", "disasm", image, "--procedure", "main")
    check_refused(image, "image", "optimize", image, "-o", "/dev/full")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [common.Case("refusals", lambda: check_refusals("/bin/true"))]
    for file in FILES:
        name = pathlib.Path(file).name
        cases.append(common.Case(name, lambda f=file: check_listing(f, ["--objdump"], [])))
        cases.append(
            common.Case(
                f"{name} in the manual's syntax",
                lambda f=file: check_listing(f, ["--objdump", "--manual-syntax"], ["-M", "intel"]),
            )
        )
    return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every code word of every program reads like objdump's text and encodes back to itself.

`respike image disasm IMAGE --objdump` prints `ADDRESS: WORD TEXT` for each word of the executable
sections, WORD encoded again from the decoded instruction. Both columns must equal those of
alpha-linux-gnu-objdump."""

import re
import sys

import common

LINE = re.compile(r"^\s*(?:0x)?([0-9a-f]+):\s+(?:0x)?([0-9a-f]{8})\s+(.*)$")


def read_ours(image):
    words = {}
    for line in (
        common.respike_ok("image", "disasm", image, "--objdump").stdout.decode().splitlines()
    ):
        match = LINE.match(line)
        common.expect(match, f"unexpected line {line!r}")
        words[int(match[1], 16)] = (
            int(match[2], 16),
            re.sub(r"\s+", " ", common.normalize_text(match[3])),
        )
    return words


def check_image(image):
    ours = read_ours(image)
    wrong, total = [], 0
    for section in common.objdump_code(image):
        for theirs in section:
            total += 1
            if ours.get(theirs.address) != (theirs.word, re.sub(r"\s+", " ", theirs.text)):
                wrong.append(
                    f"{theirs.address:x}: {theirs.word:08x} {theirs.text!r}, not {ours.get(theirs.address)}"
                )
    common.expect(total > 100, f"objdump printed only {total} instructions")
    common.expect(not wrong, f"{len(wrong)} of {total} words differ: " + "; ".join(wrong[:5]))
    # objdump prints data in code sections as bytes; respike has to list those words all the same.
    common.expect(len(ours) >= total, f"{len(ours)} words listed, objdump lists {total}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [
        common.Case(name, lambda i=image: check_image(i)) for name, image in common.all_images()
    ]
    return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

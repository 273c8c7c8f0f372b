#!/usr/bin/env python3
"""Every code word of every program reads like objdump's text and encodes back to itself.

`respike image disasm IMAGE --objdump` prints `ADDRESS: WORD TEXT` for each word of the executable sections, where WORD
is encoded again from the decoded instruction. WORD and TEXT must be the same as in the output of
alpha-linux-gnu-objdump."""

import re
import sys

import common

# objdump's lines: an address, the bytes of a word, its text, and comments; respike's lines: an
# address, a word, its text.
WORD = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) *\t(.*\S)[ \t]*$", re.M)
REMARKS = re.compile(r"\t#.*"), re.compile(r" <[^>\n]*>")
OURS = re.compile(r"^([0-9a-f]+): [0-9a-f]{8} \S", re.M)


def simplify(listing):
    for remark in REMARKS:
        listing = remark.sub("", listing)
    while "  " in listing:  # faster than a regular expression
        listing = listing.replace("  ", " ")
    return listing


def read_ours(image):
    """The lines of respike's listing, whole: a listing has hundreds of thousands of lines."""
    listing = simplify(common.respike_ok("image", "disasm", image, "--objdump").stdout.decode())
    listing = listing.replace("\t", " ")
    lines, addresses = listing.splitlines(), OURS.findall(listing)
    common.expect(len(addresses) == len(lines), f"{len(lines) - len(addresses)} unexpected lines")
    common.expect(len({*addresses}) == len(lines), "an address is listed twice")
    return {*lines}


def read_theirs(image):
    """objdump's words, as lines of respike's form."""
    listing = simplify(common.binutils("objdump", "-d", "-z", "-w", image))
    words = WORD.findall(listing)
    return [f"{at}: {d}{c}{b}{a} {text}".replace("\t", " ") for at, a, b, c, d, text in words]


def check_image(image):
    ours, theirs = read_ours(image), read_theirs(image)
    wrong = [line for line in theirs if line not in ours]
    common.expect(len(theirs) > 100, f"objdump printed only {len(theirs)} instructions")
    if wrong:
        by_address = {line.partition(":")[0]: line for line in ours}
        pairs = [f"{line!r}, not {by_address.get(line.partition(':')[0])!r}" for line in wrong[:5]]
        raise common.Failure(f"{len(wrong)} of {len(theirs)} words differ: " + "; ".join(pairs))
    # objdump prints data in code sections as bytes, but respike also has to list these words.
    common.expect(len(ours) >= len(theirs), f"{len(ours)} words listed, objdump lists {len(theirs)}")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [
        common.Case(name, lambda i=image: check_image(i)) for name, image in common.all_images()
    ]
    return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Hand-written assembly in which control falls from each procedure into the next, and half of the
procedures are opaque: the time of rewriting grows with the size of the image, not with its
square."""

import subprocess
import sys

import common

SMALL, LARGE = 10_000, 40_000  # procedures
MOST = 6.5                     # times the time for four times the size; the square would be 16

HEAD = "\t.set noreorder\n\t.text\n\t.globl main\n\t.ent main\nmain:\n\tmov 0,$0\n\tret $31,($26),1\n\t.end main\n"
# Every other procedure jumps to an address that it computes.
OPAQUE = "\tbr $1,1f\n1:\taddq $1,$16,$1\n\tbne $16,2f\n\tjmp $31,($1),0\n2:"


def make_image(count, scratch):
    folder = scratch.folder()
    source, image = folder / "falling.s", folder / "falling"
    bodies = (f"\t.globl g{i}\n\t.ent g{i}\ng{i}:\n{'' if i % 2 else OPAQUE}\taddq $16,1,$16\n\t.end g{i}\n"
              for i in range(count))
    source.write_text(HEAD + "".join(bodies) + "\tret $31,($26),1\n\t.section .note.GNU-stack,\"\",@progbits\n")
    subprocess.run(["alpha-linux-gnu-gcc", "-Wl,-q", "-o", image, source], check=True)
    return image


def check(scratch):
    images = [make_image(count, scratch) for count in (SMALL, LARGE)]
    measurements = [lambda i=image: common.processor_seconds(lambda: common.optimize(i, scratch.folder() / "out")) for image in images]
    small, large = common.least_times(measurements, lambda small, large: large < MOST * small)
    common.expect(large < MOST * small, f"{LARGE // SMALL} times the procedures take {large / small:.1f} times the time")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        return common.run_cases([common.Case("time", lambda: check(scratch))], args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Hand-written assembly in which control falls from each procedure into the next, and half of the
procedures are opaque: the time of rewriting grows with the size of the image, not with its
square."""

import resource
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


def seconds(image, scratch):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    common.optimize(image, scratch.folder() / "out")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def check(scratch):
    small, large = (make_image(count, scratch) for count in (SMALL, LARGE))
    ratio = min(seconds(large, scratch) / seconds(small, scratch) for _ in range(3))
    common.expect(ratio < MOST, f"{LARGE // SMALL} times the procedures take {ratio:.1f} times the time")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        return common.run_cases([common.Case("time", lambda: check(scratch))], args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Sequences that must stay as they are do so in every shuffled image, as objdump reads it.

Two kinds are collected, as straight lines of instructions along the fall-through path:

- from each ldl_l/ldq_l to its stl_c/stq_c: nothing may be inserted, an unconditional branch least
  of all, and no fall-through may become a taken branch, else the store might never succeed on real
  hardware;
- from each floating-point instruction with software completion (/s) to the trapb that ends its trap
  shadow, if it has one before control flow leaves the line: the trap handler may re-execute or skip
  in there.

The multiset of these sequences, with their registers and displacements but without addresses, must
be the same in the original and in the output. A sequence that meets an unconditional jump or the
end of the code before its end counts as broken; the originals have a few in which the load leads
nowhere, and as many of them, not more, may be in the output."""

import collections
import re
import sys

import common

LOCKED_LOADS = ("ldl_l", "ldq_l")
CONDITIONAL_STORES = ("stl_c", "stq_c")
LEAVES = ("br", "bsr", "jmp", "jsr", "ret", "jsr_coroutine", "call_pal", "callsys")
CONDITIONAL = re.compile(r"^(f?b(eq|ne|lt|le|gt|ge)|blbc|blbs)$")
SOFTWARE_COMPLETION = re.compile(r"^(?:add|sub|mul|div|sqrt|cmp|cvt)[a-z0-9]+/[a-z]*s[a-z]*$")
LONGEST = 64


def mnemonic(word):
    return word.text.split(" ", 1)[0]


def normalize(word):
    """The instruction without branch targets and addresses formed off gp: they may change."""
    name, _, operands = word.text.partition(" ")
    if CONDITIONAL.match(name):
        return f"{name} {operands.rsplit(',', 1)[0]}"
    if name in ("lda", "ldah") and operands.endswith("(gp)"):
        return f"{name} {operands.split(',', 1)[0]}"
    return word.text


def follow(code, start, ends, stop_at_conditional):
    """The normalized line from code[start] to an instruction in `ends`, or None."""
    line = [normalize(code[start])]
    for word in code[start + 1 : start + LONGEST]:
        if word.address != code[start].address + 4 * len(line):
            return None  # objdump skipped something
        name = mnemonic(word)
        line.append(normalize(word))
        if name in ends:
            return tuple(line)
        if (
            name in LEAVES
            or name in LOCKED_LOADS
            or (stop_at_conditional and CONDITIONAL.match(name))
        ):
            return None
    return None


def collect(image):
    """Multisets of locked sequences and trap shadows; how many locked loads lead nowhere."""
    locked, shadows, open_ended = collections.Counter(), collections.Counter(), 0
    for code in common.objdump_code(image):
        for index, word in enumerate(code):
            name = mnemonic(word)
            if name in LOCKED_LOADS:
                line = follow(code, index, CONDITIONAL_STORES, stop_at_conditional=False)
                if line:
                    locked[line] += 1
                else:
                    open_ended += 1
            elif SOFTWARE_COMPLETION.match(name):
                line = follow(code, index, ("trapb", "excb"), stop_at_conditional=True)
                if line:
                    shadows[line] += 1
    return locked, shadows, open_ended


def describe(name, before, after):
    lost, gained = before - after, after - before
    return (
        f"{name}: {sum(lost.values())} of {sum(before.values())} lost, e.g. {next(iter(lost), None)}; "
        f"{sum(gained.values())} new, e.g. {next(iter(gained), None)}"
    )


def check_image(image, options, scratch, minimum):
    locked, shadows, open_ended = collect(image)
    common.expect(
        sum(locked.values()) >= minimum,
        f"only {sum(locked.values())} locked sequences in the original",
    )
    output = scratch.file(image.name)
    common.optimize(image, output, *options)
    new_locked, new_shadows, new_open_ended = collect(output)
    common.expect(locked == new_locked, describe("locked sequences", locked, new_locked))
    common.expect(shadows == new_shadows, describe("trap shadows", shadows, new_shadows))
    common.expect(
        open_ended == new_open_ended,
        f"{new_open_ended} locked loads without a store, originally {open_ended}",
    )
    output.unlink()


def cases(scratch):
    layouts = [["random", "--seed", "1"], ["random", "--seed", "2"], ["scatter", "--seed", "1"]]
    # Static images carry glibc's own sequences; the others have those of the program.
    static = {
        name: 100
        for name in ("sqlite3.static", "threads.static", "concurrency.static", "floats.ieee.static")
    }
    others = {name: 1 for name in ("threads.dynamic", "threads.pie", "concurrency.dynamic")}
    others.update({name: 0 for name in ("floats.ieee.dynamic", "floats.inexact.dynamic")})
    for name, minimum in {**static, **others}.items():
        program = common.find_program(name)
        for layout in layouts if program else []:
            yield common.Case(
                f"{name} {layout[0]} {layout[-1]}",
                lambda p=program, l=layout, m=minimum: check_image(
                    p.image, ["--layout", *l], scratch, m
                ),
            )


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

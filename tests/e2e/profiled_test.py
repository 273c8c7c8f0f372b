#!/usr/bin/env python3
"""A profile may make a program slow, never wrong.

Every program of the manifest is rewritten in the default layout without a profile (by static estimates), with the
profile of its own run, with that profile inverted, with a profile of zeros, and with random counts for several seeds.
Standard output and exit status under qemu-alpha must be the same as for the original. With an inverted profile, code
that counts as cold runs all the time, and so do stubs, clones and the middle of originals that hot-cold optimization
makes. A program with its own shared libraries is run with the libraries rewritten, with the main image rewritten, and
with both. Some programs are also rewritten with every combination of the words of --layout, by their own profile
(without hot-cold optimization) and by random counts.

Seeds: --seeds N for small programs (environment RESPIKE_PROFILE_SEEDS, default 2), --heavy-seeds N for large programs
(RESPIKE_HEAVY_PROFILE_SEEDS, default 1)."""

import itertools
import sys

import common
import profiles
from layouts_test import check_images, choose_images, is_heavy

BLOCKS = ("", "chain", "ext-tsp")
SPLIT = ("", "split")
PIECES = ("", "place", "colour", "cdsort")
COMBINED = [
    "calls.static",
    "exceptions.dynamic",
    "switches.pie",
    "linked.dynamic",
    "interpreter.static",
    "minigzip.shared.dynamic",
]


def combinations():
    """All lists of words for --layout."""
    for words in itertools.product(BLOCKS, SPLIT, PIECES):
        if any(words):
            yield ",".join(filter(None, words))


def check(program, number, scratch, profile_of=None, words=()):
    """Rewrites images of the program, each by its profile if there are profiles, and runs it."""
    words = list(words)
    options = {
        role: words + (["--profile", profile_of[role]] if profile_of else [])
        for role in choose_images(program, number)
    }
    check_images(program, options, scratch)


def check_own(program, scratch):
    folder = scratch.folder()
    own = profiles.count(program, folder)
    numbers = range(3 if program.libraries else 1)
    for number in numbers:
        check(program, number, scratch, own)
    inverted = profiles.invert(own, folder)
    for number in numbers:
        check(program, number, scratch, inverted)


def check_zero(program, number, scratch):
    check(program, number, scratch, profiles.make_zero(program, scratch.folder()))


def check_random(program, seed, scratch):
    check(program, seed, scratch, profiles.make_random(program, seed, scratch.folder()))


def check_combinations(program, scratch):
    folder = scratch.folder()
    own, by_chance = profiles.count(program, folder), profiles.make_random(program, 1, folder)
    some = slice(None, None, 3 if common.is_sampled() else 1)  # still with each word
    for number, layout in list(enumerate(combinations()))[some]:
        words = ["--layout", layout]
        check(program, number, scratch, own, [*words, "--hot-cold", "off"])
        check(program, number, scratch, by_chance, words)


def cases(args, scratch):
    for program in common.load_programs():
        seeds = args.heavy_seeds if is_heavy(program) else args.seeds
        yield common.Case(
            f"{program.name} own and inverted", lambda p=program: check_own(p, scratch)
        )
        for number in range(3 if program.libraries else 1):
            yield common.Case(
                f"{program.name} none {number}",
                lambda p=program, n=number: check(p, n, scratch),
            )
            yield common.Case(
                f"{program.name} zero {number}",
                lambda p=program, n=number: check_zero(p, n, scratch),
            )
        for seed in range(1, seeds + 1):
            yield common.Case(
                f"{program.name} random {seed}",
                lambda p=program, s=seed: check_random(p, s, scratch),
            )
    for program in filter(None, map(common.find_program, COMBINED)):
        yield common.Case(
            f"{program.name} all layouts", lambda p=program: check_combinations(p, scratch)
        )


if __name__ == "__main__":
    sys.exit(profiles.main(__doc__, cases))

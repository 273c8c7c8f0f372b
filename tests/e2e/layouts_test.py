#!/usr/bin/env python3
"""Rewritten programs behave like the originals, whatever the layout of their blocks.

Every program of the manifest is rewritten with --layout original, --layout random for several seeds, and --layout
scatter (the blocks of one procedure spread over the whole text). Standard output and exit status under qemu-alpha must
be the same as for the original. A program with its own shared libraries is run with the libraries rewritten, with the
main image rewritten, and with both.

Seeds: --seeds N for small programs (environment RESPIKE_SEEDS, default 20), --heavy-seeds N for
images above HEAVY_BYTES (RESPIKE_HEAVY_SEEDS, default 3); scripts/nightly.sh takes 20 of each."""

import os
import sys

import common

HEAVY_BYTES = 1_000_000

def is_heavy(program):
    return program.heavy or program.image.stat().st_size > HEAVY_BYTES


def choose_images(program, number):
    """The images to rewrite: all of them in the first round, then the libraries, then the main
    image."""
    main, libraries = ["main"], [l.soname for l in program.libraries]
    if not libraries:
        return main
    return [main + libraries, libraries, main][number % 3]


def check_images(program, options, scratch):
    """Rewrites images (role -> options of `image optimize`) and runs the program."""
    folder = scratch.folder()
    rewritten = {}
    for role, path in program.images():
        if role in options:
            rewritten[role] = folder / path.name
            common.optimize(path, rewritten[role], *options[role])
    libraries = common.link_libraries(program, folder / "libraries", rewritten)
    image = rewritten.get("main", program.image)
    words = " ".join(map(str, next(iter(options.values()))))
    what = f"rewritten {'+'.join(rewritten)} {words and 'with '}{words}"
    common.check_behaviour(program, image, libraries, what=what.strip())
    for path in rewritten.values():
        path.unlink()


def check_layout(program, options, number, scratch):
    check_images(program, {role: options for role in choose_images(program, number)}, scratch)


def cases(args, scratch):
    for program in common.load_programs():
        seeds = args.heavy_seeds if is_heavy(program) else args.seeds
        layouts = [["--layout", "original"]]
        layouts += [["--layout", "random", "--seed", str(s)] for s in range(1, seeds + 1)]
        layouts += [
            ["--layout", "scatter", "--seed", str(s)] for s in range(1, max(2, seeds // 5) + 1)
        ]
        for number, options in enumerate(layouts):
            name = f"{program.name} {options[1]}" + (f" {options[3]}" if len(options) > 2 else "")
            yield common.Case(
                name, lambda p=program, o=options, n=number: check_layout(p, o, n, scratch)
            )


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("RESPIKE_SEEDS", 20)))
    parser.add_argument(
        "--heavy-seeds", type=int, default=int(os.environ.get("RESPIKE_HEAVY_SEEDS", 3))
    )
    args = parser.parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Respike understands its own outputs again, all of them.

Every C++ program of the manifest, and an IA-64 program if that is built, is rewritten in random, scattered and default
order, and by profiles: of its own run, the inverse of that profile, by chance, and with all blocks hot. The output and
the input must have the same procedures that are not understood, for the same reasons. The output by the first profile
is instrumented and laid out by its own profile; this second output must behave like the original, by `image verify` and
by a run.

Seeds: --seeds N (RESPIKE_PROFILE_SEEDS, default 2), --heavy-seeds N for static programs
(RESPIKE_HEAVY_PROFILE_SEEDS, default 1)."""

import json
import sys

import common
import ia64_programs
import profiles


def not_understood(image):
    """{procedure that is not understood: reason, without addresses}."""
    info = json.loads(common.respike_ok("image", "info", image, "--json").stdout)
    return {e["name"]: e["reason"].split(" at 0x")[0] for e in info["opaque"]}


def check_understood(image, output, what):
    before, after = not_understood(image), not_understood(output)
    common.expect(before == after, f"{what}: {dict(after.items() ^ before.items())}")


def check_layouts(image, seeds, scratch):
    output = scratch.file("output")
    orders = [[]] + [["--layout", order, "--seed", str(s)] for order in ("random", "scatter") for s in range(1, seeds + 1)]
    for options in orders:
        common.optimize(image, output, *options)
        check_understood(image, output, " ".join(options) or "by estimates")


def check_profiles(program, scratch):
    folder = scratch.folder()
    once, twice = folder / "once", folder / "twice"
    own = profiles.count(program, folder)
    others = [profiles.invert(own, folder), profiles.make_random(program, 1, folder), profiles.make_all("hot", program, folder)]
    for profile in [*others, own]:
        common.optimize(program.image, once, "--profile", profile["main"])
        check_understood(program.image, once, f"by {profile['main'].name}")
    libraries = common.link_libraries(program, folder / "libraries")
    profile = profiles.count_image(
        once, folder, lambda counting: common.check_behaviour(program, counting, libraries, what="the output, counted")
    )
    common.optimize(once, twice, "--profile", profile)
    check_understood(once, twice, "by the profile of the output")
    common.respike_ok("image", "verify", once, twice)
    common.check_behaviour(program, twice, libraries, what="the output of the output")


def check_ia64(seeds, scratch):
    image = next((path for path in ia64_programs.programs() if path.name == "cxx.ia64"), None)
    if image is None:
        raise common.Skip(ia64_programs.MISSING)
    output = scratch.file("output")
    for seed in range(1, seeds + 1):
        common.optimize(image, output, "--layout", "random", "--seed", str(seed))
        check_understood(image, output, f"random {seed}")


def cases(args, scratch):
    yield common.Case("cxx.ia64 in random order", lambda: check_ia64(args.heavy_seeds, scratch))
    for program in common.load_programs():
        if program.language != "c++":
            continue
        seeds = args.heavy_seeds if program.kind == "static" else args.seeds
        yield common.Case(f"{program.name} in orders", lambda i=program.image, s=seeds: check_layouts(i, s, scratch))
        if program.kind != "static" or args.heavy_seeds > 1:
            yield common.Case(f"{program.name} by profiles", lambda p=program: check_profiles(p, scratch))


if __name__ == "__main__":
    sys.exit(profiles.main(__doc__, cases))

"""Profiles for the end-to-end tests: profiles of a program's own runs, and profiles that no run
would give (tests/profiles/make_profile.cc). There is one for each image: {role: path}, see
common.Program.images()."""

import os
import pathlib

import common

MAKE_PROFILE = pathlib.Path(common.RESPIKE).parent / "tests" / "make_profile"


def make(kind, *arguments):
    """Calls make_profile; the last argument is the profile's path, which is returned."""
    outcome = common.run_command([MAKE_PROFILE, kind, *arguments])
    common.expect(
        outcome.status == 0, f"make_profile {kind}: {outcome.stderr.decode(errors='replace')}"
    )
    return arguments[-1]


def random_options(image, seed, scratch):
    """Options of `image optimize` for the default layout by random counts."""
    return ["--profile", make("random", str(seed), image, scratch.file("profile"))]


def make_all(kind, program, folder, *seed):
    """Makes a profile of a kind for each image of the program; these kinds need no runs."""
    return {
        role: make(kind, *seed, path, folder / "-".join([kind, *seed, role]))
        for role, path in program.images()
    }


def make_random(program, seed, folder):
    return make_all("random", program, folder, str(seed))


def make_zero(program, folder):
    return make_all("zero", program, folder)


def invert(profiles, folder):
    return {
        role: make("inverted", path, folder / f"inverted-{role}") for role, path in profiles.items()
    }


def count_image(image, folder, check):
    """The profile of an image that check(counting image) runs."""
    counting, spool, profile = folder / "counting", folder / "spool", folder / "profile"
    common.respike_ok("image", "instrument", image, "-o", counting, "--spool", spool)
    check(counting)
    common.respike_ok("image", "collect", *sorted(spool.iterdir()), "-o", profile)
    return profile


_counted = common.Shared()


def count(program, folder):
    """Instruments all images of the program, runs it as the manifest says, and collects. Done once
    in each test process, in the folder of the first caller."""
    return dict(_counted(program, lambda: _count(program, folder)))


def _count(program, folder):
    spools, images = {}, {}
    for role, path in program.images():
        spools[role], images[role] = folder / f"spool-{role}", folder / f"counting-{role}"
        common.respike_ok("image", "instrument", path, "-o", images[role], "--spool", spools[role])
    libraries = common.link_libraries(program, folder / "counting-libraries", images)
    common.check_behaviour(program, images["main"], libraries, what="the instrumented image")
    profiles = {}
    for role, spool in spools.items():
        profiles[role] = folder / f"profile-{role}"
        common.respike_ok("image", "collect", *sorted(spool.iterdir()), "-o", profiles[role])
        images[role].unlink()
    return profiles


def main(doc, cases):
    """Runs the cases of cases(args, scratch), which make args.seeds random profiles, of heavy
    programs args.heavy_seeds."""
    parser = common.argument_parser(doc)
    for option, variable, number in (("--seeds", "RESPIKE_PROFILE_SEEDS", 2), ("--heavy-seeds", "RESPIKE_HEAVY_PROFILE_SEEDS", 1)):
        parser.add_argument(option, type=int, default=int(os.environ.get(variable, number)))
    args = parser.parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(list(cases(args, scratch)), args)

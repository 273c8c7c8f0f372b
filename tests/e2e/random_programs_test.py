#!/usr/bin/env python3
"""Random programs behave the same after instrumentation, optimization and shuffling.

tests/programs/random makes C++ programs from a seed, with every kind of code that a rewriter can get wrong. Each
program is compiled for Alpha with flags drawn by the seed (all optimization levels; dynamic, position-independent and
static), instrumented, and rewritten: by the profile of its own run with and without hot-cold optimization; with
hot-cold optimization by wrong profiles, see VARIANTS, under which stubs, clones and cold parts run all the time; and in
random orders. Output and exit status under qemu-alpha must be the same as for the original. Some outputs are rewritten
again. One program of ITANIUM_ONE_OF is also compiled for IA-64, if the toolchain is there (ia64_programs.py), and is
tested in the same way, but without hot-cold optimization.

A failure names the program's seed, keeps the program's source and images beside the build's files,
and says how to repeat the case.

Programs: --programs N (environment RESPIKE_RANDOM_PROGRAMS, default 25) from --seed N on
(RESPIKE_RANDOM_SEED, 1).
"""

import json
import os
import pathlib
import random
import re
import shutil
import sys
import threading

import common
import ia64_programs
import profiles

FOLDER = common.ROOT / "tests" / "programs"
GENERATOR = FOLDER / "random" / "random_program.py"
sys.path.insert(0, str(FOLDER))
import build  # noqa: E402

KEPT = pathlib.Path(common.RESPIKE).parent / "random-programs"
EMULATOR = os.environ.get("RESPIKE_IA64_EMULATOR", str(pathlib.Path(common.RESPIKE).parent / "respike-ia64"))
FLAGS = ["-w", "-std=gnu++20", "-fwrapv", "-fno-strict-aliasing", f"-I{GENERATOR.parent}"]
ITANIUM_ONE_OF = 8
AGAIN_ONE_OF = 4
HOT_COLD = ["--hot-cold", "on"]

# Name, kind of profile, options
VARIANTS = [
    ("its own profile", "own", ["--hot-cold", "off"]),
    ("hot-cold, its own profile", "own", HOT_COLD),
    ("hot-cold, inverted", "inverted", HOT_COLD),
    ("hot-cold, all hot", "hot", HOT_COLD),
    ("hot-cold, all cold", "cold", HOT_COLD),
    ("hot-cold, patchy", "patchy", HOT_COLD),
    ("hot-cold, random", "random", HOT_COLD),
    ("random order", None, ["--layout", "random"]),
    ("scattered", None, ["--layout", "scatter"]),
]


class Tally:
    """The results of hot-cold optimization, over all programs."""

    def __init__(self):
        self.lock = threading.Lock()
        self.programs = self.procedures = self.itanium = 0

    def add(self, procedures):
        with self.lock:
            self.programs += procedures > 0
            self.procedures += procedures


tally = Tally()


def generate(seed, folder):
    """The source of the program, and the compiler flags that the source asks for."""
    source = folder / "program.cc"
    outcome = common.run_command([sys.executable, GENERATOR, seed])
    common.expect(outcome.status == 0, outcome.stderr.decode()[-500:])
    source.write_bytes(outcome.stdout)
    return source, outcome.stdout.decode().splitlines()[0].removeprefix("// ").split()


def compile_program(compiler, source, output, *flags):
    outcome = common.run_command(
        [compiler, *FLAGS, source, "-o", output, *flags, "-lm", "-pthread"], timeout=300
    )
    common.expect(outcome.status == 0, f"{compiler} fails: {outcome.stderr.decode(errors='replace')[:500]}")
    return output


def flags_of(seed):
    """(kind, flags of the compiler and the linker) for Alpha."""
    draw = random.Random(f"flags {seed}")
    kind = draw.choice(["dynamic"] * 6 + ["pie"] * 2 + ["static"] * 2)
    compiling, linking = build.KINDS[kind]
    flags = [draw.choice(["-O0", "-O1", "-O2", "-O2", "-O2", "-O3", "-O3", "-Os"]), *compiling, *linking]
    for flag in ("-mcpu=ev67", "-mieee", "-fno-inline", "-ffunction-sections", "-fno-jump-tables"):
        flags += [flag] * (draw.random() < 0.15)
    # gcc 12 gets exceptions wrong with -fno-omit-frame-pointer. Exceptions of libstdc++ would find
    # a wrong gp, see build.py.
    return kind, flags + [build.RELOCATIONS] + [build.NO_RELAX] * (kind != "static")


def make_program(seed, source, flags, level=None):
    """`level`: an optimization level of the compiler that replaces the seed's."""
    kind, chosen = flags_of(seed)
    if level:
        chosen = [level if re.fullmatch("-O.", flag) else flag for flag in chosen]
    image = compile_program(build.CXX, source, source.with_name("program" + (level or "")), *flags, *chosen)
    run = common.Run((), None)
    return common.Program(
        f"random {seed}", "random", str(seed), kind, "c++", image, (), (run,), False, "-DTHREADS" in flags
    )


def profile_for(kind, own, program, seed, folder):
    if kind is None or kind == "own":
        return own
    if kind == "inverted":
        return profiles.invert(own, folder)
    return profiles.make_all(kind, program, folder, *([] if kind == "hot" else [str(seed)]))


def check_variant(program, image, options):
    report = image.with_suffix(".json")
    common.optimize(program.image, image, *options, "--report", report)
    common.check_behaviour(program, image)
    found = json.loads(report.read_text())["hot_cold"]["procedures"]
    return sum(p["category"] == "optimized" for p in found)


def check_again(program, image, folder):
    """Outputs of hot-cold optimization are inputs again, for instrumenting and for optimizing."""
    twice = folder / "again"
    profile = profiles.count_image(image, folder, lambda counting: common.check_behaviour(program, counting))
    common.optimize(image, twice, *HOT_COLD, "--profile", profile)
    common.check_behaviour(program, twice)


def is_well(outcome):
    """Whether a program ended as generated programs do."""
    return 0 <= outcome.status < 64


def check_alpha(seed, folder):
    source, flags = generate(seed, folder)
    program = make_program(seed, source, flags)
    outcome = common.expected_behaviour(program, 0)
    if not is_well(outcome) and is_well(common.expected_behaviour(make_program(seed, source, flags, "-O0"), 0)):
        # Seed 10390001: gcc 12 merges two landing pads, each of which loads gp for its own call.
        raise common.Skip(f"the compiler gets it wrong: {common.describe_status(outcome.status)}")
    common.expect(is_well(outcome), f"the program itself: {common.describe_status(outcome.status)}")
    own, failures, optimized = profiles.count(program, folder), [], 0
    for name, kind, options in VARIANTS:
        image = folder / name.replace(",", "").replace(" ", "-")
        chosen = (
            ["--profile", profile_for(kind, own, program, seed, folder)["main"]]
            if kind
            else ["--seed", str(seed)]
        )
        try:
            optimized += check_variant(program, image, [*options, *chosen])
            if options == HOT_COLD and kind in ("own", "patchy") and seed % AGAIN_ONE_OF == 0:
                name += ", again"
                check_again(program, image, scratch.folder())
        except common.Failure as failure:
            failures.append(f"{name}: {failure}")
    tally.add(optimized)
    common.expect(not failures, "\n  ".join(["", *failures]))


# --- Itanium ----------------------------------------------------------------------------------------


def emulate(image, expected=None, what=""):
    outcome = common.run_command([EMULATOR, image])
    if expected and outcome.behaviour() != expected.behaviour():
        raise common.Failure(f"{what}: {common.describe_difference(expected, outcome)}")
    return outcome


def check_itanium(seed, folder):
    toolchain = ia64_programs.toolchain()
    if toolchain is None:
        raise common.Skip(ia64_programs.MISSING)
    source, flags = generate(seed, folder)
    level = random.Random(f"flags {seed}").choice(["-O0", "-O1", "-O2", "-O3", "-Os"])
    compiler = toolchain / "bin" / "ia64-linux-gnu-g++"
    image = compile_program(
        compiler, source, folder / "program", *flags, level, "-static", "-ffp-contract=off", build.RELOCATIONS
    )
    expected = emulate(image)
    common.expect(
        is_well(expected), f"the program itself: {common.describe_difference(expected, expected)}"
    )
    output = folder / "output"
    profile = profiles.count_image(image, folder, lambda counting: emulate(counting, expected, "instrumented"))
    wrong = profiles.make("patchy", str(seed), image, folder / "patchy")
    for options in (
        ["--profile", profile],
        ["--profile", wrong],
        ["--layout", "random", "--seed", str(seed)],
        ["--layout", "scatter", "--seed", str(seed)],
    ):
        common.optimize(image, output, *options)
        emulate(output, expected, " ".join(map(str, options)))
    tally.itanium += 1


# --- Cases ------------------------------------------------------------------------------------------


def check(function, seed, machine):
    folder = scratch.folder()
    try:
        function(seed, folder)
    except common.Failure as failure:
        kept = KEPT / f"{machine}-{seed}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        raise common.Failure(
            f"{failure}\n  kept: {kept}\n  repeat: {sys.argv[0]} --programs 1 --seed {seed} --filter {machine}"
        ) from None
    finally:
        shutil.rmtree(folder)


def cases(args):
    for seed in range(args.seed, args.seed + args.programs):
        yield common.Case(f"alpha {seed}", lambda s=seed: check(check_alpha, s, "alpha"))
        if seed % ITANIUM_ONE_OF == 0:
            yield common.Case(f"ia64 {seed}", lambda s=seed: check(check_itanium, s, "ia64"))


def main():
    parser = common.argument_parser(__doc__)
    parser.add_argument("--programs", type=int, default=int(os.environ.get("RESPIKE_RANDOM_PROGRAMS", 25)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("RESPIKE_RANDOM_SEED", 1)))
    args = parser.parse_args()
    with scratch:
        status = common.run_cases(list(cases(args)), args)
    print(
        f"{tally.procedures} hot procedures in {tally.programs} programs for Alpha; {tally.itanium} programs for Itanium"
    )
    if not args.filter and args.programs >= 10 and tally.programs < args.programs / 2:
        print("FAILED: hot-cold optimization found too little to do")
        status = 1
    return status


scratch = common.Scratch()

if __name__ == "__main__":
    sys.exit(main())

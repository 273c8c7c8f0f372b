#!/usr/bin/env python3
"""A profile of one build serves another build: profile match, and the commands that match by
themselves.

The other build's own profile of the same run is the oracle: the carried-over counts of blocks must overlap with the
real counts (the sum of the smaller count of each pair, divided by the sum of the real counts). Builds are
position-independent or not, static or not, of other optimization levels, rewritten in other layouts, and of an edited
source. Programs that are laid out by a carried-over profile behave as before."""

import json
import subprocess
import sys

import common
import profiles
from bad_input_test import check_refused

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
static int order(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
__attribute__((noinline)) static long collatz(long n) {
  long steps = 0;
  while (n != 1) {
    if (n & 1) n = 3 * n + 1;
    else n /= 2;
    HERE
    steps++;
  }
  return steps;
}
__attribute__((noinline)) static int classify(int n) {
  switch (n % 7) {
    case 0: return n + 1;
    case 1: return n * 3;
    case 2: return n ^ 5;
    case 3: HERE return n - 4;
    case 4: return n / 2;
    default: return -n;
  }
}
EXTRA
int main(void) {
  int values[500];
  long sum = 0;
  for (int i = 0; i < 500; i++) values[i] = classify(i * 7919 % 1000);
  qsort(values, 500, sizeof *values, order);
  for (int i = 0; i < 500; i++) sum += RENAMED(abs(values[i]) + 1);
  printf("%ld\\n", sum);
  return 0;
}
"""
EXTRA = """
static volatile int touched;
__attribute__((noinline)) static long again(long n) {
  touched = 1;
  if (n < 0) return 0;
  return collatz(n);
}
"""


def edited_source():
    text = SOURCE.replace("EXTRA", "")
    if common.is_native():  # gcc would keep n in another register, and each block of it differ
        text = text.replace("case 3: HERE", "case 3:")
    text = text.replace("HERE", "if (touched > 1) touched = 0;")
    text = text.replace("RENAMED", "again").replace("int main(void)", EXTRA + "int main(void)")
    return "static volatile int touched;\n" + text.replace("classify", "classified")


def build(source, image, kind):
    command = [common.compiler(), "-O2", "-Wl,-q", kind, "-x", "c", "-", "-o", image]
    subprocess.run(command, input=source.encode(), check=True)
    return image


def match(profile, image, scratch, *options):
    output = scratch.file("matched")
    done = common.respike_ok("profile", "match", profile, image, "-o", output, "--json", *options)
    return output, json.loads(done.stdout)


def counts(profile):
    """{address of a block: how often it ran}, for blocks with an address of their own."""
    shown = json.loads(common.respike_ok("profile", "show", profile, "--json").stdout)
    return {b["address"]: b["count"] for p in shown["procedures"] for b in p["blocks"] if b["size"]}


def overlap(carried, counted):
    both = sum(min(count, carried.get(address, 0)) for address, count in counted.items())
    return both / sum(counted.values())


def count_run(image, scratch):
    """The profile of a program that needs no arguments."""
    folder = scratch.folder()
    common.respike_ok(
        "image", "instrument", image, "-o", folder / "counting", "--spool", folder / "spool"
    )
    done = common.run_command([*common.emulator(), folder / "counting"])
    common.expect(done.status == 0, f"{image} fails when it counts: {done.stderr!r}")
    profile = folder / "profile"
    common.respike_ok("image", "collect", *(folder / "spool").iterdir(), "-o", profile)
    return profile


def own_profile(program, scratch):
    return profiles.count(program, scratch.folder())["main"]


# ---- builds ----


def check_other_build(before, after, least_share, least_overlap, scratch):
    older, newer = common.find_program(before), common.find_program(after)
    if older is None or newer is None:
        raise common.Skip("the program was not built")
    if older.image.read_bytes() == newer.image.read_bytes():
        raise common.Skip("the compiler makes the same of both")
    profile, counted = own_profile(older, scratch), own_profile(newer, scratch)
    carried, report = match(profile, newer.image, scratch)
    share = report["matched_share"]
    common.expect(share >= least_share, f"only {share:.3f} of what was executed is matched")
    common.expect(0 < report["confidence"] <= share + 1e-9, f"confidence {report['confidence']}")
    same = overlap(counts(carried), counts(counted))
    common.expect(same >= least_overlap, f"only {same:.3f} of the counts are right")
    output = scratch.file("optimized")
    done = common.optimize(newer.image, output, "--profile", profile)
    common.expect(b"another build" in done.stderr, f"no word that it was matched: {done.stderr!r}")
    libraries = common.link_libraries(newer, scratch.folder())
    common.check_behaviour(newer, output, libraries)


def check_rewritten(name, scratch):
    """Matching there and back: all counts arrive, and counts that come back are the same; nearly
    all if hot-cold optimization changed procedures."""
    program = common.find_program(name)
    if program is None:
        raise common.Skip("the program was not built")
    profile = own_profile(program, scratch)
    before = counts(profile)
    for options, share, least in (
        (["--layout", "random"], 1, 0.9999),
        (["--profile", profile, "--hot-cold", "off"], 1, 0.9999),
        (["--profile", profile], 0.9, 0.85),
    ):
        image = scratch.file("rewritten")
        common.optimize(program.image, image, *options)
        there, report = match(profile, image, scratch)
        common.expect(report["matched_share"] >= share, f"{options}: {report['matched_share']}")
        common.expect(report["confidence"] > least, f"{options}: {report['confidence']}")
        back, report = match(there, program.image, scratch)
        common.expect(report["confidence"] > least, f"{options} back: {report['confidence']}")
        same = overlap(counts(back), before)
        common.expect(same > least, f"{options}: {same} of the counts come back")


def check_edited_source(scratch):
    sources = [
        SOURCE.replace("HERE", "").replace("EXTRA", "").replace("RENAMED", "collatz"),
        edited_source(),
    ]
    for kinds in (("-no-pie", "-no-pie"), ("-no-pie", "-pie"), ("-pie", "-no-pie")):
        older, newer = (
            build(source, scratch.file("image"), kind)
            for source, kind in zip(sources, kinds)
        )
        profile, counted = count_run(older, scratch), count_run(newer, scratch)
        carried, report = match(profile, newer, scratch)
        names = {p["name"]: p for p in report["procedure_list"]}
        common.expect(
            names["classify"].get("new_name") == "classified", f"classify is {names['classify']}"
        )
        same = overlap(counts(carried), counts(counted))
        common.expect(same > 0.7, f"{kinds}: only {same:.3f} of the counts are right")
        output = scratch.file("optimized")
        common.optimize(newer, output, "--profile", profile)
        outcomes = [common.run_command([*common.emulator(), image]) for image in (newer, output)]
        common.expect(outcomes[0].behaviour() == outcomes[1].behaviour(), "it behaves differently")


DATA = """
#include <stdio.h>
int BEFORE first[100], second[100];
__attribute__((noinline)) int sum(int n) {
  int result = 0;
  for (int i = 0; i < n; i++)
    if (first[i] > second[n - i]) result += first[i];
    else result -= second[i]++;
  return result;
}
int main(void) {
  for (int i = 0; i < 100; i++) first[i] = i * 37 % 101;
  return printf("%d\\n", sum(99)) < 0;
}
"""


def check_moved_data(scratch):
    """Code is known again although the data that it uses has other addresses."""
    older, newer = (
        build(DATA.replace("BEFORE", before), scratch.file("image"), "-no-pie")
        for before in ("", "added[1000] = {1, 2, 3},")
    )
    _, report = match(count_run(older, scratch), newer, scratch)
    (found,) = (p for p in report["procedure_list"] if p["name"] == "sum")
    common.expect(found["confidence"] == 1, f"{found}")


# ---- commands ----


def check_same_build(program, profile, scratch):
    carried, report = match(profile, program.image, scratch)
    common.expect(report["confidence"] == 1, f"confidence {report['confidence']} in itself")
    common.expect(counts(carried).items() >= counts(profile).items(), "counts change in itself")
    again, _ = match(profile, program.image, scratch)
    common.expect(carried.read_bytes() == again.read_bytes(), "the same input, other bytes")


def check_commands(program, profile, scratch):
    other = common.find_program("calls.pie").image
    text = common.respike_ok("profile", "match", profile, other, "-o", scratch.file("x")).stdout
    for word in (b"procedures", b"executed", b"confidence"):
        common.expect(word in text, f"{word} is not in {text!r}")
    report = scratch.file("report")
    common.optimize(other, scratch.file("x"), "--profile", profile, "--report", report)
    fields = json.loads(report.read_text())
    common.expect(0.9 < fields["profiled_share"] <= 1, f"profiled_share {fields['profiled_share']}")
    common.expect(0.8 < fields["profile_confidence"] <= 1, f"{fields['profile_confidence']}")
    for image in (program.image, other):
        listing = common.respike_ok(
            "image", "disasm", image, "--profile", profile, "--procedure", "main"
        ).stdout.decode()
        common.expect("block 0, ran 1 -> " in listing, f"main did not run once: {listing[:300]}")
    folder = scratch.folder()
    common.respike_ok(
        "image",
        "instrument",
        other,
        "-o",
        folder / "i",
        "--spool",
        folder / "s",
        "--weights",
        profile,
    )


def check_merged(program, profile, scratch):
    """Older profiles are carried over to the build of the last profile."""
    newer = common.find_program("calls.pie")
    fresh = own_profile(newer, scratch)
    output = scratch.file("merged")
    done = common.respike_ok("profile", "merge", f"{profile}:3", fresh, "-o", output)
    common.expect(b"another build" in done.stderr, f"no word that it was matched: {done.stderr!r}")
    merged, once = counts(output), counts(fresh)
    total, single = sum(merged.values()), sum(once.values())
    common.expect(3.8 < total / single < 4.2, f"{total / single} times the counts of one run")
    common.expect(merged.keys() == once.keys(), "the blocks are not those of the last profile")
    carried, _ = match(profile, newer.image, scratch)
    done = common.respike_ok("profile", "merge", f"{carried}:3", fresh, "-o", output)
    common.expect(not done.stderr and counts(output) == merged, "a carried profile adds otherwise")


def check_foreign_weights(program, profile, scratch):
    """Weights only say where counters go: weights of another program are ignored, with a
    warning."""
    other = common.find_program("floats.dynamic")
    out, spool = scratch.file("out"), scratch.folder()
    arguments = ["image", "instrument", other.image, "-o", out, "--spool", spool]
    common.respike_ok(*arguments)
    plain = out.read_bytes()
    outcome = common.respike_ok(*arguments, "--weights", profile)
    text = outcome.stderr.decode()
    common.expect(
        text.startswith("respike: warning: ")
        and "the profile is of another program" in text
        and text.count("\n") == 1,
        text,
    )
    common.expect(out.read_bytes() == plain, "not as without weights")


def check_other_programs(program, profile, scratch):
    other = common.find_program("floats.dynamic").image
    out = scratch.file("out")
    for command in (
        ["profile", "match", profile, other, "-o", out],
        ["image", "optimize", other, "--profile", profile, "-o", out],
        ["image", "disasm", other, "--profile", profile],
        ["profile", "match", profile, "/dev/null", "-o", out],
        ["profile", "match", other, other, "-o", out],
        ["profile", "match", profile, program.image, "-o", program.image.parent / "no" / "folder"],
    ):
        check_refused(
            common.respike(*command, cwd=scratch.folder()), out, " ".join(map(str, command))
        )
    for command in (["profile", "match", profile], ["profile", "match", profile, other]):
        common.expect(common.respike(*command).status == 2, f"{command} is taken")


def check_empty_profile(program, scratch):
    """A profile of a program that never ran: nothing is known, and nothing is wrong."""
    some, profile = scratch.file("some"), scratch.file("zero")
    profiles.make("random", "1", program.image, some)
    common.respike_ok("profile", "merge", f"{some}:0", "-o", profile)
    carried, _ = match(profile, common.find_program("calls.pie").image, scratch)
    common.expect(not any(counts(carried).values()), "counts out of nothing")


def check_doctored(program, seed, scratch):
    """Wrong counts near 2^64 of another build: the program may be slow, never wrong."""
    newer = common.find_program("calls.pie")
    profile = profiles.make("random", str(seed), program.image, scratch.file("random"))
    output = scratch.file("optimized")
    common.optimize(newer.image, output, "--profile", profile)
    common.check_behaviour(newer, output)


# The least shares are below the measured shares, with a margin for other compilers.
BUILDS = [
    ("calls.dynamic", "calls.pie", 0.99, 0.95),
    ("calls.pie", "calls.dynamic", 0.99, 0.95),
    ("calls.static", "calls.dynamic", 0.05, 0.8),
    ("lua.dynamic", "lua.pie", 0.99, 0.9),
    ("interpreter.dynamic", "interpreter.O3.dynamic", 0.9, 0.3),
    ("sqlite3.dynamic", "sqlite3.pie", 0.99, 0.9),
    ("exceptions.dynamic", "exceptions.O3.dynamic", 0.5, 0.3),
    ("linked.dynamic", "linked.pie", 0.9, 0.8),
]
REWRITTEN = ["sqlite3.static", "lua.dynamic", "exceptions.pie", "switches.static"]


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        program = common.find_program("calls.dynamic")
        profile = own_profile(program, scratch)
        cases = [
            common.Case(f"{b[0]} to {b[1]}", lambda b=b: check_other_build(*b, scratch))
            for b in BUILDS
        ]
        cases += [
            common.Case(f"{n} rewritten", lambda n=n: check_rewritten(n, scratch))
            for n in REWRITTEN
        ]
        for check in (
            check_same_build,
            check_commands,
            check_merged,
            check_other_programs,
            check_foreign_weights,
        ):
            name = check.__name__.removeprefix("check_").replace("_", " ")
            cases.append(common.Case(name, lambda c=check: c(program, profile, scratch)))
        cases.append(common.Case("edited source", lambda: check_edited_source(scratch)))
        cases.append(common.Case("moved data", lambda: check_moved_data(scratch)))
        cases.append(common.Case("empty profile", lambda: check_empty_profile(program, scratch)))
        for seed in (1, 2, 3):
            cases.append(
                common.Case(f"doctored {seed}", lambda s=seed: check_doctored(program, s, scratch))
            )
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""No program gets slower by the profile of its own run.

Every program of the manifest is instrumented, run, optimized by `image optimize` without options,
and measured (`respike measure`) on the run of its profile: it may execute at most 0.5% more
instructions than the original and take at most 1% more modelled cycles. Programs with threads are
left out, since their runs differ; so are large programs, unless --heavy-seeds
(RESPIKE_HEAVY_PROFILE_SEEDS) is above 1, and runs that end by a signal. An insertion sort comes on
top: its inner loop took 32% more cycles where its six instructions lay in three groups of 16 bytes
instead of two. With RESPIKE_TABLE set, a
table lists all programs with their figures, the smallest gains first."""

import json
import os
import subprocess
import sys

import common
import profiles
from layouts_test import is_heavy

MOST_INSTRUCTIONS, MOST_CYCLES = 1.005, 1.01
rows = []  # of the table

INSERTION_SORT = """
#include <stdio.h>

static int numbers[2000];

__attribute__((noinline)) static void sort(int* a, int n) {
  for (int i = 1; i < n; i++) {
    int x = a[i], j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

int main(void) {
  unsigned state = 1;
  for (int i = 0; i < 2000; i++) {
    state = state * 1103515245u + 12345u;
    numbers[i] = state >> 8 & 0xffff;
  }
  sort(numbers, 2000);
  printf("%d %d\\n", numbers[0], numbers[1999]);
}
"""


def measured(image, program, index, libraries):
    """{figure: value} of a run under the model."""
    run = program.runs[index]
    environment = dict(os.environ) | ({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})
    with open(run.stdin or os.devnull, "rb") as stdin:
        done = subprocess.run(
            [common.RESPIKE, "measure", "--json", "--", image, *run.args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=10 * common.PROGRAM_TIMEOUT,
        )
    if done.returncode != 0:
        raise common.Skip(done.stderr.decode(errors="replace").strip()[-200:])
    return json.loads(done.stdout)


def total(image, program, libraries):
    """The sums of instructions and cycles over all runs."""
    figures = [measured(image, program, i, libraries) for i in range(len(program.runs))]
    return [sum(each[name] for each in figures) for name in ("instructions", "cycles")]


def check(program, scratch):
    folder = scratch.folder()
    counted = profiles.count(program, folder)
    before, after = folder / "0" / "program", folder / "1" / "program"  # paths of one length
    before.parent.mkdir()
    after.parent.mkdir()
    before.symlink_to(program.image)
    optimized = {}
    for role, path in program.images():
        optimized[role] = after if role == "main" else folder / f"optimized-{role}"
        common.optimize(path, optimized[role], "--profile", counted[role], as_users_do=True)
    first = total(before, program, common.link_libraries(program, folder / "0" / "lib"))
    second = total(after, program, common.link_libraries(program, folder / "1" / "lib", optimized))
    instructions, cycles = (b / a for a, b in zip(first, second))
    rows.append((cycles, instructions, first[0], program.name))
    common.expect(instructions <= MOST_INSTRUCTIONS, f"executes {100 * (instructions - 1):.2f}% more instructions")
    common.expect(cycles <= MOST_CYCLES, f"takes {100 * (cycles - 1):.2f}% more cycles")


def insertion_sort(scratch):
    source, image = scratch.file("sort.c"), scratch.file("sort")
    source.write_text(INSERTION_SORT)
    subprocess.run([common.compiler(), "-O2", "-Wl,-q", source, "-o", image], check=True)
    return common.Program(
        name="insertion-sort",
        program="insertion-sort",
        variant="",
        kind="dynamic",
        language="c",
        image=image,
        libraries=(),
        runs=(common.Run((), None),),
        heavy=False,
        threads=False,
    )


def cases(args, scratch):
    yield common.Case("insertion-sort", lambda: check(insertion_sort(scratch), scratch))
    for program in common.load_programs():
        if program.threads or (is_heavy(program) and args.heavy_seeds < 2):
            continue
        yield common.Case(program.name, lambda p=program: check(p, scratch))


if __name__ == "__main__":
    status = profiles.main(__doc__, cases)
    if os.environ.get("RESPIKE_TABLE"):
        for cycles, instructions, count, name in sorted(rows, reverse=True):
            print(f"{name:32} {count:12,} instructions {100 * (instructions - 1):+7.2f}%  cycles {100 * (cycles - 1):+7.2f}%")
    sys.exit(status)

#!/usr/bin/env python3
"""measure and compare --native: programs of this host are timed, and counted where the processor has counters.

Programs get the same work each time, a difference in speed is seen, none is made up for one program against itself, and
errors are errors of measured programs."""

import json
import re
import shutil
import signal
import subprocess
import sys

import common
from common import expect

COUNTED = b"respike: note: the cycles of the processor cannot be counted here ("  # where it has no counters

# Works as long as its last argument says, prints its view of the run, and adds its name to the file `runs`.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** arguments) {
  volatile long sum = 0;
  for (long i = 0; i < WORK * 1000000L; i++) sum += i;
  for (int i = 0; i < count; i++) printf("<%s>", arguments[i]);
  for (int c; (c = getchar()) != EOF;) putchar(c);
  FILE* runs = fopen("runs", "a");
  if (runs) fprintf(runs, "%s\n", NAME), fclose(runs);
  fprintf(stderr, "end");
  if (STATUS < 0) abort();
  return STATUS;
}
"""


def build(scratch, name="a", work=1, status=0):
    folder = scratch.folder()
    defines = [f'-DNAME="{name}"', f"-DWORK={work}", f"-DSTATUS={status}"]
    command = ["gcc", "-O1", "-x", "c", "-", *defines, "-o", folder / "program"]
    subprocess.run(command, input=SOURCE.encode(), check=True)
    return folder / "program"


def check_measure(scratch):
    program, text, folder = build(scratch, status=3), scratch.file("text"), scratch.folder()
    text.write_text("input")
    outcome = common.respike("measure", "--native", "--", program, "x", stdin=text, cwd=folder)
    expect(outcome.status == 0 and (outcome.stderr.count(COUNTED) == 1) == (b"cycles" not in outcome.stdout), outcome)
    printed = f"<{program}><x>input".encode()
    expect(outcome.stderr.count(printed) == 1 and outcome.stderr.count(b"end") == 1, outcome.stderr)
    expect(b"the program's exit status was 3" in outcome.stderr, outcome.stderr)
    rows = dict(re.findall(r"^(\w+) +([\d,]+)", outcome.stdout.decode(), re.M))
    expect({"runs", "least", "median"} <= set(rows), outcome.stdout)
    runs = (folder / "runs").read_text().count("a\n")
    expect(runs == int(rows["runs"]) + 1, f"{runs} runs, the first one is left out: {rows}")
    m = json.loads(common.respike_ok("measure", "--native", "--json", "--", program, cwd=folder).stdout)
    numbers = [m[f"{n}_microseconds"] for n in ("least", "lower_quartile", "median", "upper_quartile")]
    expect(numbers == sorted(numbers) and numbers[0] > 0 and m["exit_status"] == 3 and 15 <= m["runs"] <= 25, m)
    expect("model" not in m and "cycles" not in m, m)


def check_faster(scratch):
    """A fifth of the work is less time, whichever program comes first; the programs run in turn."""
    slow, fast = build(scratch, "slow", 25), build(scratch, "fast", 5)
    text = scratch.file("text")
    text.write_text("input")
    for before, after, faster in ((slow, fast, True), (fast, slow, False)):
        folder = scratch.folder()
        command = ["compare", "--native", "--json", before, after, "--", "x"]
        c = json.loads(common.respike_ok(*command, stdin=text, cwd=folder).stdout)
        expect(c["same_output"] and c["beyond_noise"], c)
        expect((c["faster_pairs"] > c["pairs"] / 2) == faster, c)
        ran = (folder / "runs").read_text().split()
        pairs = [set(ran[i : i + 2]) for i in range(0, len(ran), 2)]
        expect(len(pairs) == c["pairs"] + 1 and all(len(p) == 2 for p in pairs), ran)
    outcome = common.respike_ok("compare", "--native", slow, fast, cwd=folder)
    speedup = float(re.search(rb"speedup +([\d.]+)", outcome.stdout)[1])
    expect(2 < speedup < 10 and b"same output             yes" in outcome.stdout, outcome.stdout)
    counted = b"medians of what the processor counted" in outcome.stdout
    expect(outcome.stderr.startswith(COUNTED) != counted and outcome.stderr.count(b"\n") <= 1, outcome.stderr)
    low, high = map(float, re.search(rb"with 95% confidence ([\d.]+) to ([\d.]+)", outcome.stdout).groups())
    expect(low <= speedup <= high, outcome.stdout)


def check_same(scratch):
    """A program is not faster than itself: chance may say so in one of a hundred comparisons; the probability of four
    such comparisons before five others is 7e-7."""
    program, folder = build(scratch), scratch.folder()
    same = different = 0
    while same < 5 and different < 4:
        outcome = common.respike_ok("compare", "--native", program, program, cwd=folder)
        is_same = b"speedup                 none: the times vary more than they differ" in outcome.stdout
        same, different = same + is_same, different + (not is_same)
    expect(different < 4, f"a difference in {different} of {same + different} comparisons")


def check_different(scratch):
    good, bad, aborts = build(scratch), build(scratch, status=1), build(scratch, status=-1)
    folder = scratch.folder()
    outcome = common.respike("compare", "--native", good, bad, cwd=folder)
    expect(outcome.status == 1 and b"same output             no" in outcome.stdout, outcome)
    expect(b"does not behave like" in outcome.stderr and b"exit status is 1 instead of 0" in outcome.stderr, outcome)
    for command in (["measure", "--native", "--", aborts], ["compare", "--native", good, aborts]):
        outcome = common.respike(*command, cwd=folder)
        sentence = f"killed by signal {int(signal.SIGABRT)}".encode()
        expect(outcome.status == 1 and sentence in outcome.stderr and outcome.stderr.count(b"respike:") == 1, outcome)
    foreign = next(p.image for p in common.load_programs() if p.kind == "static")
    for command, machine in ((["compare", good, foreign], b"for x86-64"), (["compare", foreign, good], b"that this host runs itself")):
        outcome = common.respike(*command, "--native", cwd=folder)
        expect(outcome.status == 1 and b"not a program " + machine in outcome.stderr, outcome)
    outcome = common.respike("measure", "--model", "alpha21164", "--", good)
    expect(outcome.status == 1 and b"not a program for Alpha" in outcome.stderr, outcome)


def check_elsewhere(scratch):
    """A version that lies elsewhere finds the libraries that the original finds beside itself."""
    folder, other = scratch.folder(), scratch.folder()
    (folder / "lib").mkdir()
    library = [
        *("gcc", "-shared", "-fPIC", "-x", "c", "-"),
        *("-Wl,-soname,libfive.so", "-o", folder / "lib/libfive.so"),
    ]
    subprocess.run(library, input=b"int five(void) { return 5; }", check=True)
    main = [
        *("gcc", "-x", "c", "-", "-x", "none", folder / "lib/libfive.so"),
        *("-Wl,-rpath,$ORIGIN/lib", "-o", folder / "program"),
    ]
    subprocess.run(main, input=b"int five(void); int main(void) { return five() - 5; }", check=True)
    shutil.copy(folder / "program", other / "program")
    outcome = common.respike("compare", "--native", folder / "program", other / "program", cwd=scratch.folder())
    expect(outcome.status == 0 and b"same output             yes" in outcome.stdout, outcome)
    outcome = common.respike("compare", "--native", other / "program", folder / "program", cwd=scratch.folder())
    expect(outcome.status == 1 and b"exit status is 0 instead of 127" in outcome.stderr, outcome)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "measure": check_measure,
            "faster": check_faster,
            "same": check_same,
            "different": check_different,
            "elsewhere": check_elsewhere,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())

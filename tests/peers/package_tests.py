#!/usr/bin/env python3
"""Programs and libraries of Debian's source packages, built for x86-64 by gcc and clang, answer as before when they
were rewritten.

Each is laid out at random, scattered, counted, optimized by its profile, and the result is optimized once more. Each
image does the work that packages.py has for it: tcc and zlib run their own tests, Duktape scripts, and programs link
libstdc++. Further seeds repeat the random and scattered layouts. With --sample there are a few steps of one build of
two of them. Results are kept in a file, from which a stopped run goes on."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import machines
import packages
import results
import runner
import steps

MACHINE = machines.MACHINES["x86_64"]
SAMPLE = {"example": ("random", "count.atomic", "profile"), "libstdc++": ("random",)}  # a program, and a library that throws
ALL = tuple(step.name for step in steps.STEPS)
SEEDED = tuple(step.name for step in steps.STEPS if not step.of and "SEED" in step.options)


@dataclasses.dataclass(frozen=True)
class Case:
    package: packages.Package
    build: packages.Build
    seed: int
    steps: tuple

    @property
    def name(self):
        return f"x86_64/{self.package.name}@{self.build.name}/{self.seed}"


def _cases(args):
    for package in packages.PACKAGES:
        if args.sample:
            if package.name in SAMPLE:
                yield Case(package, package.builds[0], 1, SAMPLE[package.name])
            continue
        for build in package.builds:
            for seed in range(1, args.seeds + 1):
                yield Case(package, build, seed, tuple(args.step or (ALL if seed == 1 else SEEDED)))


def _walk(case, folder):
    """Takes the original in folder/start0 through the steps."""
    made = case.package.make(case.build)
    image = folder / "start0" / "program"
    image.parent.mkdir(parents=True)
    shutil.copy2(made.image, image)
    # Counts are not compared: threads and processes run at the same time.
    subject = steps.Subject(MACHINE, folder, image, None, {}, True, True, compares=False, work=made.work)
    subject.expected = made.work(image)
    walk, _ = steps.take(subject, case.seed, case.steps, False)
    return walk


def _run(case, folder, kept):
    start = time.monotonic()
    record = {"case": case.name, "machine": MACHINE.name, "suite": case.package.name, "set": case.build.name}
    try:
        walk = _walk(case, folder)
        wrong = {name: result for name, result in walk.results.items() if result != "ok"}
        record.update(status="failed" if wrong else "passed", wrong=wrong, warnings=dict(walk.warnings), opaque=walk.opaque)
    except packages.Unavailable as reason:
        record.update(status="left out", reason=str(reason))
    except common.Failure as failure:
        record.update(status="failed", wrong={"the original": str(failure)})
    if record["status"] == "failed" and folder.exists():
        runner.keep(case, folder, kept)
    shutil.rmtree(folder, ignore_errors=True)
    return {**record, "seconds": round(time.monotonic() - start, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--sample", action="store_true", help="one build of each of two packages, a few steps")
    parser.add_argument("--seeds", type=int, default=5, help="of random and scattered layouts (default 5)")
    parser.add_argument("--step", action="append", choices=ALL, help="only this step and those it needs (repeatable)")
    parser.add_argument("--results", type=pathlib.Path, default=runner.WORK / "packages.jsonl", help="the file of results")
    parser.add_argument("--fresh", action="store_true", help="do not go on where a run was stopped")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    args = parser.parse_args()
    cases = [case for case in _cases(args) if re.search(args.filter, case.name)]
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    if reason := MACHINE.missing():
        print(f"NOTE: without packages for x86-64: {reason}")
        return results.SKIPPED
    os.environ.pop("LD_LIBRARY_PATH", None)
    found = results.Results(args.results, args.fresh)
    done = runner.run_all(cases, found, lambda case, folder: _run(case, folder, runner.WORK / "failed"))
    return results.status(done, results.report(done))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""GCC's own execution tests, for Alpha, Itanium and x86-64, behave the same after everything that Respike does with them.

A test is compiled with a set of options (`--sets N` of them, drawn by `--seed`), and goes through all steps of
steps.py. README.md says where the tests come from and what is compared. Results are kept in a file, from which a
stopped run goes on; `--report` prints the results. Originals that cannot be compiled or run are left out, with the
reason.

Environment: RESPIKE, RESPIKE_PROGRAMS, RESPIKE_IA64 and RESPIKE_JOBS as for the end-to-end tests (docs/testing.md)."""

import argparse
import hashlib
import itertools
import pathlib
import re
import sys
import time

import gcc_sources
import common
import gcc_cases
import machines
import results
import runner
import steps


def _slice(text):
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or int(found[1]) >= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text} is no share, such as 0/100 to 99/100")
    return int(found[1]), int(found[2])


def _share(case, number):
    """The share of a test, whatever its set of options is."""
    return int.from_bytes(hashlib.sha256(case.name.rpartition("@")[0].encode()).digest()[:8], "big") % number


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--sets", type=int, default=1, help="sets of options for each test and machine")
    parser.add_argument("--seed", default="1", help="what draws sets of options and samples")
    parser.add_argument("--set", action="append", help="these sets of options instead (repeatable)")
    parser.add_argument("--machine", action="append", choices=list(machines.MACHINES), help="only these (repeatable)")
    parser.add_argument("--slice", type=_slice, metavar="K/N", help="the K-th of N shares of the tests, K from 0 on")
    parser.add_argument("--sample", type=int, help="so many cases that can be run, of all suites and sets")
    parser.add_argument("--step", action="append", help="only these steps, and what they need (repeatable)")
    parser.add_argument("--no-measure", action="store_true", help="without the model's cycles")
    parser.add_argument("--results", type=pathlib.Path, default=runner.WORK / "gcc.jsonl", help="the file of results")
    parser.add_argument("--kept", type=pathlib.Path, default=runner.WORK / "failed", help="where images that fail are kept")
    parser.add_argument("--fresh", action="store_true", help="do not go on where a run was stopped")
    parser.add_argument("--report", action="store_true", help="only print what is in the file of results")
    parser.add_argument("--most", type=int, default=40, help="lines of each list of the report")
    parser.add_argument("--never-slower", action="store_true", help="a profile that makes a program slower is a failure")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    return parser.parse_args()


def wanted(args, names):
    top = gcc_sources.folder()
    if top is None:
        return None
    sources = gcc_sources.sources(top)
    if args.set:
        cases = [gcc_cases.Case(s, m, o) for s in sources for m in names for o in args.set if o in machines.MACHINES[m].sets]
    else:
        cases = list(gcc_cases.choose(sources, names, args.sets, args.seed))
    cases = [case for case in cases if re.search(args.filter, case.name)]
    if args.slice:
        cases = [case for case in cases if _share(case, args.slice[1]) == args.slice[0]]
    # In random order: the finished cases are always a sample of all.
    cases.sort(key=lambda case: hashlib.sha256(f"{args.seed} {case.name}".encode()).digest())
    return _spread(cases) if args.sample else cases


def _spread(cases):
    """Machines and suites take turns."""
    kinds = {}
    for case in cases:
        kinds.setdefault((case.source.suite.name, case.machine), []).append(case)
    return [case for row in itertools.zip_longest(*kinds.values()) for case in row if case]


def main():
    args = parse()
    if unknown := set(args.step or ()) - {step.name for step in steps.STEPS}:
        sys.exit(f"no such step: {', '.join(unknown)}; there are {', '.join(s.name for s in steps.STEPS)}")
    if args.report:
        return 1 if results.report(results.read(args.results).values(), args.most) else 0
    names = []
    for name in args.machine or machines.MACHINES:
        if reason := machines.MACHINES[name].missing():
            print(f"NOTE: without {name}: {reason}")
        else:
            names.append(name)
    cases = wanted(args, names)
    if cases is None:
        print("NOTE: Debian's sources were unreachable; without GCC's tests")
        return results.SKIPPED
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    start = time.monotonic()

    def run(case, folder):
        return gcc_cases.run(case, folder, args.kept, args.step, not args.no_measure)

    done = runner.run_all(cases, results.Results(args.results, args.fresh), run, args.sample)
    failed = results.report(done, args.most)
    slower = len(results.offenders(done)[1]) if args.never_slower else 0
    ran = sum(r["status"] != "left out" for r in done)
    print(f"{ran} programs, {failed} failed, {slower} slower, {time.monotonic() - start:.0f} s; results: {args.results}")
    return 1 if failed or slower or not ran else 0


if __name__ == "__main__":
    sys.exit(main())

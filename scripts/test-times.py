#!/usr/bin/env python3
"""Says what a run of scripts/test.sh took: installing, building, programs, tests, and the slowest tests.

CTest runs two jobs at a time, and compiles the test programs while tests run that need none: the time for the programs
is part of the time of the tests, on one of the two processors.

usage: test-times.py FILE.xml --installing S --building S --tests S     (FILE.xml: ctest --output-junit)"""

import argparse
import pathlib
import xml.etree.ElementTree

PROGRAMS = "programs"  # tests of this name, or with this name behind _, compile the test programs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    for part in ("installing", "building", "tests"):
        parser.add_argument(f"--{part}", type=int, required=True, help="seconds")
    parser.add_argument("--slowest", type=int, default=10, help="how many tests to list")
    args = parser.parse_args()

    cases = [(float(c.get("time")), c.get("name")) for c in xml.etree.ElementTree.parse(args.file).iter("testcase")]
    programs = sum(seconds for seconds, name in cases if name.split("_")[-1] == PROGRAMS)
    print("what took how long:")
    print(f"  {args.installing:6.0f} s  installing packages")
    print(f"  {args.building:6.0f} s  building Respike and its tests")
    print(f"  {args.tests:6.0f} s  test programs and tests; compiling the programs took {programs:.0f} s of one processor")
    print(f"  {args.installing + args.building + args.tests:6.0f} s  in all")
    print("the slowest tests:")
    for seconds, name in sorted((c for c in cases if c[1].split("_")[-1] != PROGRAMS), reverse=True)[: args.slowest]:
        print(f"  {seconds:6.0f} s  {name}")


if __name__ == "__main__":
    main()

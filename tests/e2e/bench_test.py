#!/usr/bin/env python3
"""The benchmarks run, on one small program that needs no download: a table of layouts, measurements
that are kept, the page of figures (if matplotlib is installed), the generated inputs."""

import importlib.machinery
import importlib.util
import re
import sys

import common
from common import Case, Skip, expect

sys.path.insert(0, str(common.ROOT / "bench"))

import layouts  # noqa: E402
import measuring  # noqa: E402
import workloads  # noqa: E402

PROGRAM = "interpreter.static"
WITH_HOT_PROCEDURES = "modern.static"
SCRATCH = common.Scratch()


def small_workload(name=PROGRAM):
    program = common.find_program(name)
    runs = tuple(workloads.Run(r.args, r.stdin) for r in program.runs)
    return workloads.Workload("small", "a small program", program.image, runs, runs)


def check_table():
    lab = measuring.Lab(SCRATCH.folder(), common.RESPIKE)
    figures = layouts.measure_all(
        lab, [small_workload()], ["random", "chain,split,place"], ["different"], 2
    )
    original, random, optimized = (
        figures["small", "different", l] for l in ("original", "random", "chain,split,place")
    )
    expect(random["cycles_c"] > original["cycles_c"], "a random layout is not worse")
    expect(optimized["cycles_c"] < original["cycles_c"], "an optimized layout is not better")
    rows = [layouts.absolute(original), layouts.relative(optimized, original)]
    expect(all(len(row) == len(layouts.HEAD) - 3 for row in rows), f"rows do not fit: {rows}")

    # Again, with a lab that may start no program.
    again = measuring.Lab(lab.folder, common.RESPIKE)
    again._start = lambda *_: expect(False, "something was run again")
    repeated = layouts.measure_all(again, [small_workload()], ["random"], ["different"], 2)
    expect(repeated["small", "different", "random"] == random, "what was kept is something else")


def check_default():
    """The default layout gains on an input that it was not trained with, and its colouring adds to
    this gain."""
    program = common.find_program("lua.static")
    if program is None:
        raise Skip("Lua was not built")
    runs = (((workloads.Run((workloads.INPUTS / f"{k}.lua",)),)) for k in workloads.KINDS)
    workload = workloads.Workload("lua", "", program.image, *runs)
    lab = measuring.Lab(SCRATCH.folder(), common.RESPIKE)
    names = [measuring.DEFAULT, "ext-tsp,split,place"]
    figures = layouts.measure_all(lab, [workload], names, ["different"], 2)
    original, default, placed = (
        figures["lua", "different", l] for l in (measuring.ORIGINAL, *names)
    )
    rate = lambda f: f["icache_misses"] / f["instructions"]
    print(
        f"cycles {original['cycles_c'] / default['cycles_c']:.3f} times fewer, misses "
        f"{rate(default) / rate(original):.2f}, without colours {rate(placed) / rate(original):.2f}"
    )
    expect(default["cycles_c"] * 1.12 < original["cycles_c"], "the default layout gains too little")
    expect(rate(default) < 0.75 * rate(original), "too many misses are left")
    expect(rate(default) < rate(placed), "colours gain nothing")


def check_path_of_inputs():
    """A program does not see the folder of a file."""
    seen = []
    for name in ("a", "a-longer-name"):
        folder = SCRATCH.folder() / name
        folder.mkdir()
        (folder / "script").write_text("1")
        run = workloads.Run((folder / "script", "-I", folder, "x"))
        scratch = SCRATCH.folder()
        words = measuring.Lab._arguments(run, scratch)
        expect((scratch / "work" / words[0]).resolve() == folder.resolve() / "script", str(words))
        seen.append(words)
    expect(seen[0] == seen[1], f"{seen[0]} is not {seen[1]}")


def check_difference_is_noticed():
    lab = measuring.Lab(SCRATCH.folder(), common.RESPIKE)
    outputs = iter("ab")
    lab.measure = lambda image, runs: {"instructions": 1, "output": next(outputs)}
    try:
        layouts.measure_all(lab, [small_workload()], ["chain"], ["same"], 1)
    except measuring.Failure as failure:
        expect("other output" in str(failure), str(failure))
    else:
        expect(False, "another output was not noticed")


def check_page():
    loader = importlib.machinery.SourceFileLoader("paper", str(common.ROOT / "bench" / "paper"))
    paper = importlib.util.module_from_spec(importlib.util.spec_from_loader("paper", loader))
    try:
        loader.exec_module(paper)
    except SystemExit as reason:
        raise Skip(str(reason)) from None
    lab = measuring.Lab(SCRATCH.folder(), common.RESPIKE)
    data = paper.Evaluation(
        lab,
        lab.respike.parent / "bench" / "bench_characteristics",
        [small_workload(WITH_HOT_PROCEDURES)],
        2,
    )
    text = paper.page(data)
    for number in (2, 3, 4, 5, 6, 10, 11, *range(15, 21)):
        expect(f"Figure {number}" in text, f"figure {number} is missing")
    expect(text.count("<svg") >= 13, "plots are missing")
    for part in text.split("<svg"):
        words = re.findall(r"[a-z]+", part.split("</svg>")[-1].lower())
        expect("nan" not in words, "a number is missing")
    names = [f"program {number}" for number in range(len(workloads.WORKLOADS) + 8)]
    curves = [(name, {1: 10, 2: 20 + i, 1024: 100}, i) for i, name in enumerate(names)]
    drawn = importlib.import_module("plots").cumulative("many", curves, "x", "y")
    expect(all(name in drawn for name in names), "a figure of all programs lacks some")


def check_inputs():
    for make in (workloads.sql.training, workloads.sql.reference):
        expect(make(40) == make(40), "a generated script changes")
    training, reference = (
        {s for s in make(40).splitlines() if s.startswith(("INSERT", "SELECT", "UPDATE", "DELETE"))}
        for make in (workloads.sql.training, workloads.sql.reference)
    )
    expect(len(training) > 100 and len(reference) > 100, "too few statements")
    expect(not training & reference, "training and reference share statements")


def main():
    args = common.argument_parser(__doc__).parse_args()
    cases = [
        Case("table", check_table),
        Case("default layout", check_default),
        Case("paths of inputs", check_path_of_inputs),
        Case("another output", check_difference_is_noticed),
        Case("page", check_page),
        Case("inputs", check_inputs),
    ]
    with SCRATCH:
        return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())

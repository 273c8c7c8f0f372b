#!/usr/bin/env python3
"""What layouts gain: a table over workloads and layouts, by the model of respike measure.

  bench/layouts.py [--workloads NAME,...] [--layouts LIST...] [--inputs same,different] [--json]

A layout is a value of `image optimize --layout`, or `default` for `image optimize` without the option; `+hot-cold`
after a layout adds --hot-cold on. The profile comes from the training input. `different` runs the reference input with
this profile, `same` the training input again.

Rows of the original are absolute: millions of instructions, and events per 100 instructions (of the
instruction TLB per 10,000). Other rows are relative to the original: changes of instructions and
taken jumps, changes of misses and mispredicts per executed instruction (the rate itself if the
original has next to none), and how many times fewer cycles. Outputs must be the same. Measurements
are kept: only images and inputs that changed are measured again."""

import argparse
import json
import os
import sys

import measuring
import workloads

LAYOUTS = ["random", "chain", "place", "split,place", "chain,split,place", measuring.DEFAULT]
NEXT_TO_NONE = 0.05  # a rate below this is next to none
INPUTS = {"different": "reference", "same": "training"}
# Column: event, factor per instruction
RATES = {
    "taken jumps": ("taken_jumps", 100),
    "icache": ("icache_misses", 100),
    "refill": ("refill_hits", 100),
    "L2": ("l2_icache_misses", 100),
    "itb": ("itb_misses", 10_000),
    "mispredicts": ("mispredicts", 100),
}
HEAD = ["workload", "input", "layout", "instructions", *RATES, "cycles C", "cycles"]


def measure_all(lab, made, layouts, inputs, jobs):
    """{(workload, input, layout): figures}, the original among the layouts."""
    cells = [(w, i, l) for w in made for l in [measuring.ORIGINAL, *layouts] for i in inputs]

    def task(workload, input_name, layout):
        profile = None
        if layout != measuring.ORIGINAL:
            profile = lab.profile(workload.image, workload.training)
        image, _ = lab.optimize(workload.image, layout, profile)
        return lab.measure(image, workload.runs(INPUTS[input_name]))

    tasks = [(f"{w.name} {l}", lambda c=(w, i, l): task(*c)) for w, i, l in cells]
    results = measuring.run_all(tasks, jobs, "measuring")
    figures = {(w.name, i, l): r for (w, i, l), r in zip(cells, results)}
    for (name, input_name, layout), result in figures.items():
        if result["output"] != figures[name, input_name, measuring.ORIGINAL]["output"]:
            raise measuring.Failure(f"{name}, {layout}, {input_name} input: other output")
    return figures


def rate(figures, name):
    event, factor = RATES[name]
    return factor * figures[event] / figures["instructions"]


def absolute(figures):
    """The cells of an original's row."""
    rates = [f"{rate(figures, name):.2f}" for name in RATES]
    millions = [f"{figures[name] / 1e6:.1f} M" for name in ("instructions", "cycles_c", "cycles")]
    return [millions[0], *rates, *millions[1:]]


def relative(figures, original):
    """The cells of another layout's row."""
    change = lambda new, old: f"{100 * (new / old - 1):+.1f}%"
    cells = [change(figures["instructions"], original["instructions"])]
    for name in RATES:
        new, old = rate(figures, name), rate(original, name)
        if name == "taken jumps":
            cells.append(change(figures["taken_jumps"], original["taken_jumps"]))
        else:
            cells.append(change(new, old) if old >= NEXT_TO_NONE else f"{new:.2f}")
    return cells + [f"{original[n] / figures[n]:.3f}x" for n in ("cycles_c", "cycles")]


def originals(figures):
    """[(workload, input, figures of the original)]."""
    return [
        (name, i, f) for (name, i, layout), f in figures.items() if layout == measuring.ORIGINAL
    ]


def full_rows(figures, layouts):
    rows = []
    for name, input_name, original in originals(figures):
        rows.append([name, input_name, measuring.ORIGINAL, *absolute(original)])
        for layout in layouts:
            cells = relative(figures[name, input_name, layout], original)
            rows.append([name, input_name, layout, *cells])
    return rows


def speedup_rows(figures, layouts):
    return [
        [name, i, *(relative(figures[name, i, layout], original)[-2] for layout in layouts)]
        for name, i, original in originals(figures)
    ]


def print_table(head, rows):
    """A Markdown table that can be read as it is. Columns of numbers are aligned at the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    numbers = [not row_text[:1].isalpha() for row_text in rows[0]]

    def line(cells):
        padded = zip(cells, widths, numbers)
        return "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in padded) + " |"

    print(line(head))
    print("|" + "|".join("-" * (w + 1) + "-:"[n] for w, n in zip(widths, numbers)) + "|")
    for row in rows:
        print(line(row))


def inputs_of(text):
    names = text.split(",")
    if not set(names) <= set(INPUTS):
        raise argparse.ArgumentTypeError(f"an input is one of {', '.join(INPUTS)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    workloads.add_options(parser)
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, metavar="LIST")
    parser.add_argument("--inputs", type=inputs_of, default=list(INPUTS), metavar="NAME,...")
    parser.add_argument("--respike", default=measuring.RESPIKE, help="the command to measure")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument(
        "--speedups", action="store_true", help="only how many times fewer cycles, by model C"
    )
    parser.add_argument("--json", action="store_true", help="the figures as they were measured")
    args = parser.parse_args()
    layouts = [l for l in args.layouts if l != measuring.ORIGINAL]
    try:
        made = workloads.prepare(args.workloads, args.folder)
        lab = measuring.Lab(args.folder, args.respike)
        figures = measure_all(lab, made, layouts, args.inputs, args.jobs)
    except (workloads.Unavailable, measuring.Failure) as failure:
        sys.exit(f"layouts.py: {failure}")
    if args.json:
        keys = ("workload", "input", "layout")
        print(json.dumps([dict(zip(keys, k)) | v for k, v in figures.items()], indent=1))
        return
    if args.speedups:
        print_table(["workload", "input", *layouts], speedup_rows(figures, layouts))
    else:
        print_table(HEAD, full_rows(figures, layouts))


if __name__ == "__main__":
    main()

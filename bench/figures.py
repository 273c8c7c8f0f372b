"""The figures of bench/paper: what each figure shows, its message, and how to read it.

Each function takes an evaluation and returns the figure's message, its SVG and the text below, or None if the figure
would show nothing. Figures have the numbers of the paper's figures. Messages are computed from the measurements, so
they stay true."""

import hot_cold_figures
import measuring
import plots
from evaluation import COMPONENTS, NONLOOPING, RANDOM
from plots import percent

# Label and colour of each of evaluation.COMPONENTS
COMPONENT_STYLES = [
    ("chain blocks", plots.SKY),
    ("place procedures", plots.ORANGE),
    ("split and place", plots.GREEN),
    ("chain, split, place: all of Spike's", plots.BLUE),
    ("Respike's default", plots.DARK),
]


def figure_2(data):
    name = data.names()[0]
    points = data.trip_counts(name)
    looping = [p for p in data.characteristics[name]["procedures"] if p["trip_count"] >= 16]
    heaviest = max(
        looping, key=lambda p: p["instructions"], default={"name": "none", "instructions": 0}
    )
    entry = data.share(name, lambda p: p["entry_hottest"])
    marks = [(n, points[n], f"{points[n]:.0f}% below {n}") for n in (2, 16)]
    return (
        f"{name} spends {points[2]:.0f}% of its time in procedures whose loops run less than twice",
        plots.cumulative(
            "f2",
            [(name, points, 0)],
            "average trip count of the procedure's most frequent loop is less than",
            "executed instructions, cumulative",
            marks,
            first=2,
            legend=False,
        ),
        (
            "A procedure counts with all instructions that it executes; without a loop its trip"
            f" count is 0. Of those with 16 or more, {heaviest['name']} is the heaviest, with"
            f" {data.share(name, lambda p: p is heaviest):.0f}% of the time. {entry:.0f}% is in"
            " procedures whose entry block runs as often as any other. SQL Server in the paper:"
            " 69% below 2, nearly all below 16, and 69% by the entry block."
        ),
    )


def figure_3(data):
    names = data.names()
    curves = [(n, data.trip_counts(n), i) for i, n in enumerate(names)]
    curves.sort(key=lambda c: -c[1][2])
    most, least = curves[0], curves[-1]
    return (
        (
            f"Programs reach from call-intensive ({most[0]}: {most[1][2]:.0f}% of the time in loops"
            f" that run less than twice) to loop-intensive ({least[0]}: {least[1][2]:.0f}%)"
        ),
        plots.cumulative(
            "f3",
            curves,
            "average trip count of the procedure's most frequent loop is less than",
            "executed instructions, cumulative",
            first=2,
        ),
        (
            "The same for all programs, on their reference inputs. The paper's groups: about 70%"
            " below 2 for SQL Server, AutoCAD and Excel, about 40% for a C compiler and Word, about"
            " 10% for loop-intensive programs."
        ),
    )


def figure_4(data):
    name = data.names()[0]
    every, hot = (data.complexity(name, what) for what in ("blocks", "hot_blocks"))
    part = data.share(name, lambda p: p["trip_count"] < NONLOOPING)
    return (
        (
            f"{100 - every[16]:.0f}% of the nonlooping time of {name} is in procedures of more than"
            f" 16 blocks, {100 - hot[16]:.0f}% when rarely executed blocks do not count"
        ),
        plots.cumulative(
            "f4",
            [("hot blocks only", hot, 1), ("all blocks", every, 0)],
            "basic blocks in the procedure, at most",
            "executed instructions, cumulative",
        ),
        (
            f"Procedures with a trip count below {NONLOOPING}, which are {part:.0f}% of the time."
            " Rarely executed are the blocks that together are 1% of the execution. SQL Server in"
            " the paper: 90% and 65%."
        ),
    )


def figure_5(data):
    names = data.names()
    curves = [(n, data.complexity(n, "hot_blocks"), i) for i, n in enumerate(names)]
    curves.sort(key=lambda c: -c[1][16])
    low, high = curves[0], curves[-1]
    return (
        (
            f"{100 - low[1][16]:.0f}% ({low[0]}) to {100 - high[1][16]:.0f}% ({high[0]}) of the"
            " nonlooping time is in procedures with more than 16 hot blocks"
        ),
        plots.cumulative(
            "f5",
            curves,
            "hot basic blocks in the procedure, at most",
            "executed instructions, cumulative",
        ),
        (
            f"Procedures with a trip count below {NONLOOPING}, blocks that are not rarely executed."
            " In the paper it is more than half, with at least 16 blocks, for all programs."
        ),
    )


def figure_6(data):
    rows = [(n, data.overhead(n)) for n in data.by_looping()]
    totals = {n: sum(values) for n, values in rows}
    most, least = max(totals, key=totals.get), min(totals, key=totals.get)
    return (
        (
            f"Prologs and epilogs take {totals[least]:.1f}% ({least}) to {totals[most]:.0f}%"
            f" ({most}) of the executed instructions"
        ),
        plots.stacked(
            "f6",
            rows,
            ["stack adjustments", "saves", "restores"],
            "share of the executed instructions",
        ),
        (
            "Instructions that make or remove a stack frame and save or restore registers. The"
            " program with most time in procedures with a trip count below 8 comes first. In the"
            " paper 2% to 23%, SQL Server 15%."
        ),
    )


def figure_10(data):
    groups = [(n, [data.speedup(n, c) for c in COMPONENTS]) for n in data.by_looping()]
    name = data.names()[0]
    chain, place, split, spike, best = (data.speedup(name, c) for c in COMPONENTS)
    return (
        (
            f"Placing pays after splitting: {name} gains {percent(place)} by placing alone,"
            f" {percent(split)} after splitting, {percent(spike)} with chained blocks"
        ),
        plots.bars(
            "f10", groups, COMPONENT_STYLES, "speedup (cycles, model C)"
        ),
        (
            f"Reference input, profile of the training input; what is split off executes 0.2%. Of"
            f" {name}: chaining alone {percent(chain)}, Respike's default {percent(best)}. SQL Server"
            " on a 21064 in the paper: less than 4% by chaining or placing alone, 15% by splitting"
            " and placing, 16% by all."
        ),
    )


def figure_11(data):
    names = data.by_looping()
    rows = [
        (n, [data.speedup(n, measuring.DEFAULT, k) for k in ("training", "reference")])
        for n in names
    ]
    different = {n: values[1] for n, values in rows}
    most, least = max(different, key=different.get), min(different, key=different.get)
    return (
        (
            f"Layout speeds programs up by {percent(different[least])} ({least}) to"
            f" {percent(different[most])} ({most}) on inputs that the profile has not seen"
        ),
        plots.bars(
            "f11",
            rows,
            [("same input as for the profile", plots.SKY), ("different input", plots.BLUE)],
            "speedup (cycles, model C)",
        ),
        (
            "Respike's default layout with a profile of the training input, measured on that input"
            " and on the reference input. The program with most time in procedures with a trip"
            " count below 8 comes first. In the paper 0% to 45% on a 21164."
        ),
    )


def figure_causes(data):
    events = [("taken_jumps", False), ("icache_misses", True)]
    rows = [
        (n, [data.change(n, e, per_instruction=p) for e, p in events]) for n in data.by_looping()
    ]
    left_out = [n for n, values in rows if None in values]
    rows = [(n, values) for n, values in rows if None not in values]
    if not rows:
        return None
    jumps, misses = ([values[i] for _, values in rows] for i in range(2))
    note = f" Left out, as it hardly misses at all: {', '.join(left_out)}." if left_out else ""
    return (
        (
            f"It comes from {-max(jumps):.0f}% to {-min(jumps):.0f}% fewer taken jumps and"
            f" {-max(misses):.0f}% to {-min(misses):.0f}% fewer instruction cache misses"
        ),
        plots.panels(
            "causes",
            rows,
            [
                ("change of taken jumps", plots.BLUE),
                ("change of misses per instruction", plots.ORANGE),
            ],
        ),
        "Respike's default layout, reference input, profile of the training input. Jumps leave"
        " calls and returns out; the cache is the 21164's, 8 KB, direct-mapped." + note,
    )


def figure_random(data):
    def relative(name, layout):
        cycles = lambda l: data.measured[name, l, "reference"]["cycles_c"]
        return cycles(layout) / cycles(measuring.ORIGINAL)

    rows = [
        (n, [relative(n, RANDOM), 1.0, relative(n, measuring.DEFAULT)]) for n in data.by_looping()
    ]
    name = data.names()[0]
    values = dict(rows)[name]
    return (
        (
            f"A random layout costs {name} {percent(100 * (values[0] - 1))} more cycles, the"
            f" optimized one saves {percent(100 * (1 - values[2]))}"
        ),
        plots.dots(
            "random",
            rows,
            [
                ("random", plots.RED, "X"),
                ("original", plots.GREY, "|"),
                ("optimized", plots.BLUE, "o"),
            ],
            "cycles (model C) on the reference input, original = 1",
            1.0,
        ),
        (
            "Every block of every procedure in a random place, the linker's order, and Respike's"
            " default: the model tells good layouts from bad ones."
        ),
    )


FIGURES = {
    "What the programs are like": {
        "Figure 2": figure_2,
        "Figure 3": figure_3,
        "Figure 4": figure_4,
        "Figure 5": figure_5,
        "Figure 6": figure_6,
    },
    "What layout gains": {
        "Figure 10": figure_10,
        "Figure 11": figure_11,
        "Causes of figure 11, not in the paper": figure_causes,
        "A check, not in the paper": figure_random,
    },
    "What hot-cold optimization gains": hot_cold_figures.FIGURES,
}

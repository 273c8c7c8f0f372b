"""The figures of bench/paper about hot-cold optimization; see figures.py.

Categories and times of procedures are by the profile of the training input, as the optimizer sees
them; measurements are of the reference input."""

import plots
from plots import percent

TRAINING = " Time is executed instructions of the training input."
LABELS = {
    "optimized": "optimized",
    "infrequent": "infrequent",
    "no_split": "no split",
    "sp_modified": "SP modified",
    "not_provable": "not provable",
    "no_advantage": "no advantage",
}


def extremes(names, value):
    """The names with the greatest and the least value."""
    return max(names, key=value), min(names, key=value)


def figure_15(data):
    rows = [(n, data.coverage(n)) for n in data.by_looping()]
    covered = {n: values[0] for n, values in rows}
    most, least = extremes(covered, covered.get)
    return (
        (
            f"{percent(covered[least])} ({least}) to {percent(covered[most])} ({most}) of the time"
            " is in procedures that get a hot copy"
        ),
        plots.stacked("f15", rows, list(LABELS.values()), "executed instructions", whole=True),
        (
            "Infrequent procedures execute too little to be worth the work; where there is no split,"
            " all blocks run about equally often; SP modified: the frame is not of a fixed size;"
            " not provable, which the paper does not have: something about the procedure is not"
            " known for certain; no advantage: nothing was found to take out."
            + TRAINING
            + " In the"
            " paper typically 60% and more are optimized."
        ),
    )


def figure_16(data):
    names = data.by_looping()
    rows = [(n, data.removed(n)) for n in names]
    net = [data.path_reduction(n) for n in names]
    gains = dict(zip(names, net))
    most, least = extremes(names, gains.get)
    return (
        (
            f"Hot-cold optimization makes paths {gains[least]:.1f}% ({least}) to"
            f" {gains[most]:.1f}% ({most}) shorter than layout does, on the reference input"
        ),
        plots.stacked(
            "f16",
            rows,
            ["saves and restores", "partially dead code", "stack adjustments", "copies, branches, slots"],
            "share of the executed instructions",
            marks=("measured, reference input", net),
        ),
        (
            "Bars: what is taken out of hot code, by optimization, on the training input; what stubs"
            " and cold parts do instead is not subtracted. Dots: how many instructions less are"
            " executed than with the same layout alone, on the reference input. In the paper 3% to"
            " 8% for call-intensive programs, mostly saves and restores and partially dead code in"
            " equal parts."
        ),
    )


def figure_17(data):
    rows = [(n, data.leaf_time(n)) for n in data.by_looping()]
    more = {n: after - before for n, (before, after) in rows}
    most = max(more, key=more.get)
    before, after = dict(rows)[most]
    return (
        (
            f"Time in procedures without calls rises most for {most}, from {percent(before)} to"
            f" {percent(after)}"
        ),
        plots.bars(
            "f17",
            rows,
            [("before", plots.GREY), ("after", plots.BLUE)],
            "executed instructions",
        ),
        (
            "A hot procedure all of whose calls are in the cold part is a leaf." + TRAINING + " In"
            " the paper the share rises by 10 to 20 points for four of the programs and hardly for"
            " the others."
        ),
    )


def figure_18(data):
    rows = [(n, data.growth(n)) for n in data.by_looping()]
    totals = {n: sum(values) for n, values in rows}
    most, least = extremes(totals, totals.get)
    return (
        f"Code grows by {totals[least]:.1f}% ({least}) to {totals[most]:.1f}% ({most})",
        plots.stacked("f18", rows, ["hot and cold parts", "stubs"], "instructions of the program"),
        (
            "Instructions of hot and cold parts beyond those of the procedures that they come from,"
            " and of stubs, against all instructions of the program. In the paper at most 11.6%,"
            " 3.1% for SQL Server."
        ),
    )


def figure_19(data):
    rows = [(n, data.optimized_sizes(n)) for n in data.by_looping()]
    left_out = [n for n, sizes in rows if sizes is None]
    rows = [(n, sizes) for n, sizes in rows if sizes is not None]
    if not rows:
        return None
    mean = [sum(column) / len(rows) for column in zip(*(sizes for _, sizes in rows))]
    note = f" Left out, as nothing was optimized: {', '.join(left_out)}." if left_out else ""
    return (
        (
            f"Hot procedures have {percent(mean[1])} of the size of the originals,"
            f" {percent(mean[0])} before they are optimized; cold parts keep {percent(mean[2])}"
        ),
        plots.bars(
            "f19",
            rows,
            [
                ("hot blocks", plots.SKY),
                ("hot procedures", plots.BLUE),
                ("cold parts", plots.GREY),
                ("stubs", plots.ORANGE),
            ],
            "size of the original procedures",
        ),
        (
            "Instructions of all optimized procedures of a program; the means are of programs. In"
            " the paper hot procedures have 20% to 50%, cold parts more than 90%, as Spike keeps"
            " there all that another cold path may reach." + note
        ),
    )


def figure_20(data):
    names = sorted(data.names(), key=data.path_reduction, reverse=True)
    chosen = names if len(names) <= 4 else names[:2] + names[-2:]
    panels = [(n, data.by_size(n)) for n in chosen]
    before, after = (points[64] for points in panels[0][1])
    return (
        (
            f"Procedures of at most 64 instructions take {percent(after)} of the time of"
            f" {chosen[0]}, {percent(before)} before"
        ),
        plots.distributions(
            "f20",
            panels,
            ["before", "after"],
            "instructions of the procedure, at most",
            "executed instructions, cumulative",
        ),
        (
            "Programs whose paths get shorter most come first, those that gain least last. The"
            " farther the lines are apart, the more time moved to smaller procedures." + TRAINING
        ),
    )


FIGURES = {
    "Figure 15": figure_15,
    "Figure 16": figure_16,
    "Figure 17": figure_17,
    "Figure 18": figure_18,
    "Figure 19": figure_19,
    "Figure 20": figure_20,
}

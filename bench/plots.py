"""The kinds of plots that bench/paper draws: each function takes numbers and returns an SVG's text.

A figure has one message, which stands in the page's heading; so the plots have no titles of their own. Colours are
those of Okabe and Ito, which colour-blind people can distinguish; a program keeps its colour and marker in all
figures."""

import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, DARK, GREY = "#CC79A7", "#56B4E9", "#333333", "#999999"
CURVES = (BLUE, ORANGE, GREEN, RED, PURPLE, DARK, GREY, SKY)
PARTS = (BLUE, ORANGE, GREEN, PURPLE, GREY, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

plt.rcParams.update(
    {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#555555",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e2e2e2",
        "grid.linewidth": 0.8,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "svg.fonttype": "path",
        "figure.constrained_layout.use": True,
    }
)


def percent(value, sign=False):
    """A whole percentage as text, without a negative zero."""
    text = f"{round(value) + 0:+d}%" if sign and round(value) else f"{round(value) + 0:d}%"
    return text.replace("-", "\N{MINUS SIGN}")


def _svg(figure, name):
    """The figure as text; `name` is part of all ids, so figures in one page do not clash."""
    plt.rcParams["svg.hashsalt"] = name
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg", '<svg role="img"', 1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    for mark in ('id="', 'href="#', "url(#"):
        svg = svg.replace(mark, f"{mark}{name}-")
    return svg


def _height(rows):
    """Inches for a plot with a row per program."""
    return max(2.4, 1.4 + 0.42 * len(rows))


def _percent_axis(axis):
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}%".replace("-", "\N{MINUS SIGN}")))


def _powers_axis(axes, last, first=1):
    """A logarithmic x axis that names every power of two, or every second power."""
    ticks = [2**k for k in range(0, 20) if first <= 2**k <= last]
    axes.set_xscale("log", base=2)
    axes.set_xlim(first * 0.9, last * 1.1)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))


def cumulative(name, curves, x_label, y_label, marks=(), last=1024, first=1, legend=True):
    """Curves of percentages over powers of two: [(label, {x: percent}, style index)]. `marks`:
    points (x, percent, text) with a text beside them."""
    figure, axes = plt.subplots(figsize=(7.6, 4.2))
    for label, points, style in curves:
        colour, marker = CURVES[style % len(CURVES)], MARKERS[style % len(MARKERS)]
        axes.plot(list(points), list(points.values()), color=colour, marker=marker, label=label)
    for x, y, text in marks:
        axes.annotate(
            text,
            (x, y),
            xytext=(14, -22),
            textcoords="offset points",
            arrowprops={"arrowstyle": "-", "color": "#555555", "linewidth": 0.8},
        )
    _powers_axis(axes, last, first)
    _percent_axis(axes.yaxis)
    axes.set_ylim(0, 103)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if legend:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _svg(figure, name)


def growth(points, y_labels, x_label):
    """One graph for each y: lines through points (x, y, ...) on logarithmic axes, {label: [point]}. Grey lines are
    proportional to x."""
    figure, graphs = plt.subplots(1, len(y_labels), figsize=(4.4 * len(y_labels), 3.8))
    for index, (axes, y_label) in enumerate(zip(graphs, y_labels), start=1):
        for style, (label, series) in enumerate(points.items()):
            series = sorted(series)
            axes.plot([p[0] for p in series], [p[index] for p in series], color=CURVES[style % len(CURVES)],
                      marker=MARKERS[style % len(MARKERS)], label=label)
        sizes = [p[0] for series in points.values() for p in series]
        rates = [p[index] / p[0] for series in points.values() for p in series]
        for rate in (min(rates), max(rates)):
            ends = (min(sizes), max(sizes))
            axes.plot(ends, [rate * x for x in ends], color=GREY, linewidth=0.8, linestyle="--", zorder=0)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,g}"))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    graphs[0].legend(loc="upper left")
    return _svg(figure, "growth")


def stacked(name, rows, parts, x_label, marks=None, whole=False):
    """Horizontal bars of percentages: rows [(label, [part, ...])], parts [label]. `marks`: (label,
    [value of a row]), drawn as a dot in each row; `whole`: the parts add up to 100%."""
    figure, axes = plt.subplots(figsize=(7.6, _height(rows) + 0.4 * (len(parts) > 3)))
    labels = [label for label, _ in rows]
    left = [0.0] * len(rows)
    for index, part in enumerate(parts):
        values = [values[index] for _, values in rows]
        axes.barh(labels, values, left=left, color=PARTS[index], label=part, height=0.64)
        left = [l + v for l, v in zip(left, values)]
    dots = marks[1] if marks else []
    if marks:
        axes.scatter(dots, labels, color="black", s=30, zorder=3, label=marks[0])
        axes.axvline(0, color="#555555", linewidth=0.8)
    room = 0.012 * max(1.0, *left, *dots)
    for row, total in enumerate(left if not whole else []):
        near = [d for d in dots[row : row + 1] if 0 <= d - total < 8 * room]
        axes.text(max(total, *near, 0) + room, row, f"{total:.1f}%", va="center")
    axes.invert_yaxis()
    axes.set_xlim(min(0, *left, *dots) * 1.1, 100 if whole else max(1.0, *left, *dots) * 1.12)
    _percent_axis(axes.xaxis)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(x_label)
    if len(parts) > 3 or whole:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    else:
        axes.legend(loc="lower right")
    return _svg(figure, name)


def bars(name, groups, series, y_label, halves=None):
    """Groups of vertical bars of percentages: groups [(label, [value, ...])], series [(label,
    colour)]; None is no bar. `halves`: as the values of groups, half of each interval."""
    figure, axes = plt.subplots(figsize=(7.6, 4.2))
    width = 0.8 / len(series)
    for index, (label, colour) in enumerate(series):
        places = [g - 0.4 + (index + 0.5) * width for g in range(len(groups))]
        values = [values[index] or 0 for _, values in groups]
        errors = halves and [each[index] or 0 for each in halves]
        axes.bar(places, values, width * 0.92, color=colour, label=label, yerr=errors, ecolor="#555555", error_kw={"linewidth": 0.8})
        if len(series) <= 2 and len(groups) <= 8:
            for place, value in zip(places, values):
                axes.annotate(
                    percent(value),
                    (place, max(value, 0)),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=9,
                )
    axes.axhline(0, color="#555555", linewidth=0.8)
    axes.set_xticks(range(len(groups)), [label for label, _ in groups])
    axes.tick_params(axis="x", length=0)
    if len(groups) > 8:
        axes.tick_params(axis="x", labelsize=9)
    axes.grid(axis="x", visible=False)
    axes.margins(x=0.02)
    _percent_axis(axes.yaxis)
    axes.set_ylabel(y_label)
    columns = len(series) if len(series) < 5 else 3
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)
    return _svg(figure, name)


def dots(name, rows, series, x_label, line):
    """One row per program with a dot per series: rows [(label, [value, ...])], series [(label,
    colour, marker)]; `line`: the value of the original."""
    figure, axes = plt.subplots(figsize=(7.6, _height(rows)))
    for row, (_, values) in enumerate(rows):
        axes.plot([min(values), max(values)], [row, row], color="#cccccc", linewidth=2, zorder=1)
    for index, (label, colour, marker) in enumerate(series):
        values = [values[index] for _, values in rows]
        axes.scatter(
            values, range(len(rows)), color=colour, marker=marker, s=52, label=label, zorder=2
        )
    axes.axvline(line, color="#555555", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(x_label)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(series))
    return _svg(figure, name)


def panels(name, rows, columns):
    """Panels side by side with a horizontal bar per row: rows [(label, [value, ...])], columns
    [(title, colour)]. Values are percentages."""
    figure, all_axes = plt.subplots(1, len(columns), figsize=(7.6, _height(rows)), sharey=True)
    labels = [label for label, _ in rows]
    for index, (axes, (title, colour)) in enumerate(zip(all_axes, columns)):
        values = [values[index] for _, values in rows]
        axes.barh(labels, values, color=colour, height=0.64)
        low, high = min(0, *values), max(0, *values)
        room = 0.24 * (high - low)
        for row, value in enumerate(values):
            axes.annotate(
                percent(value, sign=True),
                (value, row),
                xytext=(-4 if value < 0 else 4, 0),
                textcoords="offset points",
                ha="right" if value < 0 else "left",
                va="center",
            )
        axes.set_xlim(low - (room if low < 0 else 0), high + (room if high > 0 else 0))
        axes.axvline(0, color="#555555", linewidth=0.8)
        _percent_axis(axes.xaxis)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(title)
    all_axes[0].invert_yaxis()
    return _svg(figure, name)


def distributions(name, panels, labels, x_label, y_label):
    """Small panels, two in a row, each with a cumulative curve for each label: panels [(title,
    [points, ...])], points as in cumulative()."""
    rows = (len(panels) + 1) // 2
    figure, grid = plt.subplots(
        rows, 2, figsize=(7.6, 0.6 + 2.4 * rows), sharex=True, sharey=True, squeeze=False
    )
    for axes, (title, curves) in zip(grid.flat, panels):
        for label, points, colour in zip(labels, curves, (GREY, BLUE)):
            axes.plot(list(points), list(points.values()), color=colour, marker=".", label=label)
        _powers_axis(axes, max(curves[0]), min(curves[0]))
        axes.xaxis.set_major_locator(FixedLocator(list(curves[0])[::2]))
        _percent_axis(axes.yaxis)
        axes.set_ylim(0, 103)
        axes.set_title(title, fontsize=10)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(x_label, fontsize=10)
    figure.supylabel(y_label, fontsize=10)
    grid[0][0].legend(loc="upper left")
    return _svg(figure, name)

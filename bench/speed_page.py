"""The page of speed.py: a plot for each column, and the table. Needs matplotlib."""

import html
import statistics

import plots

COLOURS = {"bolt": plots.ORANGE, "respike": plots.BLUE, "gcc": plots.GREEN, "lld": plots.PURPLE}
STYLE = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}svg{width:100%}"
STYLE += "table{border-collapse:collapse;font-size:14px}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
STYLE += "td:nth-child(-n+2),th:nth-child(-n+2){text-align:left}"


def plot(measured, column, title, change):
    """Bars of changes in percent, with intervals where there are any, and of their geometric means."""
    tools = [tool for tool in next(iter(measured.values())) if tool != "original"]
    by_tool = {
        tool: [change(results["original"], results.get(tool, {}), column) for results in measured.values()] for tool in tools
    }
    tools = [tool for tool in tools if any(mean is not None for mean, _ in by_tool[tool])]
    changes = list(zip(*(by_tool[tool] for tool in tools)))
    groups = [(program.replace("_", "\n"), [mean and 100 * mean for mean, _ in row]) for program, row in zip(measured, changes)]
    halves = [[half and 100 * half for _, half in row] for row in changes]
    if len(measured) > 1:
        ratios = [[1 + mean for mean, _ in each if mean is not None] for each in zip(*changes)]
        groups.append(("mean", [100 * (statistics.geometric_mean(each) - 1) for each in ratios]))
        halves.append([None] * len(tools))
    series = [(tool, COLOURS.get(tool, plots.GREY)) for tool in tools]
    intervals = halves if any(half for row in halves for half in row) else None
    return plots.bars(column, groups, series, f"change of {title}", intervals)


def table(text):
    """A table of Markdown as HTML."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
    made = []
    for row in rows:
        if set("".join(row)) <= set("-:"):
            continue
        tag = "th" if not made else "td"
        made.append("<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>")
    return "<table>" + "".join(made) + "</table>"


def page(measured, columns, titles, change, text):
    parts = ["<!doctype html><html lang='en'><meta charset='utf-8'><title>x86-64 layouts side by side</title>"]
    parts.append(f"<style>{STYLE}</style><h1>What layouts for x86-64 gain</h1>")
    parts.append("<p>Profiles are of the training input, figures of the reference input. Changes are against the original; "
                 "lines on bars of time are the 95% interval of the mean ratio.</p>")
    for column in columns:
        if all(column in results["original"] for results in measured.values()):
            parts.append(f"<h2>{html.escape(titles[column][0].upper() + titles[column][1:])}</h2>")
            parts.append(plot(measured, column, titles[column], change))
    return "\n".join([*parts, "<h2>All figures</h2>", table(text), "</html>"]) + "\n"

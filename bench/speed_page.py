"""The page of speed.py: a plot for each column, and the table. Needs matplotlib."""

import html

import plots

COLOURS = {"bolt": plots.ORANGE, "respike": plots.BLUE, "gcc": plots.GREEN, "lld": plots.PURPLE}
STYLE = "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}svg{width:100%}"
STYLE += "table{border-collapse:collapse;font-size:14px}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"


def plot(measured, column, title, change):
    """Bars of changes in percent; programs that a tool failed on have none."""
    tools = [tool for tool in next(iter(measured.values())) if tool != "original"]
    groups = []
    for program, results in measured.items():
        values = [
            100 * change(results["original"], results[tool], column)[0] if column in results.get(tool, {}) else 0
            for tool in tools
        ]
        groups.append((program, values))
    series = [(tool, COLOURS.get(tool, plots.GREY)) for tool in tools]
    return plots.bars(column, groups, series, f"change of {title}")


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
    parts.append("<p>Profiles are of the training input, figures of the reference input.</p>")
    for column in columns:
        if all(column in results["original"] for results in measured.values()):
            parts.append(f"<h2>{html.escape(titles[column].capitalize())}</h2>")
            parts.append(plot(measured, column, titles[column], change))
    return "\n".join([*parts, "<h2>All figures</h2>", table(text), "</html>"]) + "\n"

#!/usr/bin/env python3
"""Draws the animated terminal of README's first screen, docs/pictures/first-screen.svg: SQLite, from registering to a
faster program, with the real output of the commands.

    scripts/first-screen.py RESPIKE SQLITE      SQLITE: a program linked with -Wl,-q, build/programs/x86_64/images/sqlite3.pie

The picture needs no script: each line is a text that a CSS animation shows at its time. Users who prefer reduced motion
see all lines at once."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "workloads"))
import sql  # noqa: E402

COMMANDS = (
    "respike register sqlite3",
    "respike instrument sqlite3",
    "respike run sqlite3 < typical.sql",
    "respike optimize sqlite3",
    "respike check sqlite3 < other.sql | tail -n 1",
    "respike export sqlite3 out",
)
COLUMNS, FONT, LINE, MARGIN, BAR = 100, 13.0, 19, 16, 30  # pixels, except COLUMNS
WIDTH_OF_LETTER = 0.602 * FONT
TYPING, READING, REST = 0.9, 0.16, 5.0  # seconds: for a command, for a line of output, before the animation restarts


def transcript(respike, sqlite):
    """[(is a command, line)]"""
    lines = []
    with tempfile.TemporaryDirectory(prefix="respike-") as folder:
        home = pathlib.Path(folder)
        (home / "bin").mkdir()
        (home / "bin/respike").symlink_to(respike)
        shutil.copy(sqlite, home / "sqlite3")
        (home / "typical.sql").write_text(sql.training(240))
        (home / "other.sql").write_text(sql.reference(320))
        environment = dict(os.environ, HOME=folder, PATH=f"{home}/bin:{os.environ['PATH']}")
        environment.pop("XDG_DATA_HOME", None)
        for command in COMMANDS:
            done = subprocess.run(["bash", "-c", command], cwd=home, env=environment, text=True, capture_output=True, check=False)
            if done.returncode != 0:
                sys.exit(f"first-screen: {command}: {done.stderr}")
            lines.append((True, command))
            printed = "" if command.startswith("respike run") else done.stdout
            lines += [(False, as_at_home(line, folder)) for line in printed.splitlines() if line.strip()]
    return lines


def as_at_home(line, folder):
    """A line with another home folder, and with its columns at the same places."""
    padding = " " * (len(folder) - len("/home/me"))
    return re.sub(rf"{re.escape(folder)}(\S*)(?=  )", rf"/home/me\1{padding}", line).replace(folder, "/home/me")


def shortened(line):
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def drawn(lines):
    """The picture's text."""
    height = BAR + 2 * MARGIN + LINE * len(lines)
    width = 2 * MARGIN + WIDTH_OF_LETTER * COLUMNS
    times, now = [], 0.4
    for is_command, _ in lines:
        now += TYPING if is_command else READING
        times.append(now)
    whole = now + REST
    rules, texts = [], []
    for number, ((is_command, line), time) in enumerate(zip(lines, times)):
        share = 100 * time / whole
        rules.append(f"@keyframes l{number}{{0%,{share:.2f}%{{opacity:0}}{share + 0.01:.2f}%,100%{{opacity:1}}}}#l{number}{{animation:l{number} {whole:.1f}s infinite}}")
        text = html.escape(shortened(f"$ {line}" if is_command else line))
        kind = "command" if is_command else "verdict" if line.startswith("ship:") else "output"
        y = BAR + MARGIN + LINE * (number + 1) - 6
        texts.append(f'<text id="l{number}" class="{kind}" x="{MARGIN}" y="{y}" xml:space="preserve">{text}</text>')
    style = (
        f"text{{font:{FONT}px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#c9d1d9}}"
        ".command{fill:#ffffff;font-weight:bold}.verdict{fill:#7ee787;font-weight:bold}"
        "@media (prefers-reduced-motion:reduce){text{animation:none!important}}" + "".join(rules)
    )
    dots = "".join(f'<circle cx="{MARGIN + 4 + 20 * i}" cy="{BAR / 2}" r="5" fill="{colour}"/>' for i, colour in enumerate(("#ff7b72", "#e3b341", "#7ee787")))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" '
        f'aria-labelledby="title"><title id="title">A terminal: SQLite is registered, counted, optimized, checked and exported by '
        f"respike</title><style>{style}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/><path d="M0 {BAR}H{width:.0f}" stroke="#30363d"/>{dots}{"".join(texts)}</svg>\n'
    )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    respike, sqlite = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    (ROOT / "docs" / "pictures" / "first-screen.svg").write_text(drawn(transcript(respike, sqlite)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Each subcommand of `respike` has a row in the table of docs/manager.md, and each row is a subcommand.

Environment: RESPIKE, the command (default build/respike). Example: a new subcommand `respike annotate` without a row
fails with "docs/manager.md has no row for respike annotate"."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESPIKE = os.environ.get("RESPIKE", str(ROOT / "build" / "respike"))


def subcommands(words):
    """All command lines below `words` that do something, without options."""
    text = subprocess.run([RESPIKE, *words, "--help"], capture_output=True, text=True, check=True).stdout
    # A list of subcommands stands under a title without dashes: names are indented by two spaces.
    names = []
    for block in re.split(r"\n\n+", text):
        title, *lines = block.strip().splitlines() or [""]
        if title in ("Subcommands:", "Applications:"):
            names += [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]
    return [found for name in names for found in subcommands([*words, name])] if names else [" ".join(["respike", *words])]


def main():
    there = set(subcommands([]))
    rows = set(re.findall(r"^\| `(respike [a-z -]+)` \|", (ROOT / "docs" / "manager.md").read_text(), re.MULTILINE))
    problems = [f"docs/manager.md has no row for {name}" for name in sorted(there - rows)]
    problems += [f"docs/manager.md has a row for {name}, which is no command" for name in sorted(rows - there)]
    print("\n".join(problems) or f"{len(there)} commands, each with a row")
    return 1 if problems or len(there) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Edits a share of the functions of C files, as time does, without changing the program's behaviour.

  bench/edit_source.py --percent N [--seed N] --out DIR FILE.c...

Functions are chosen at random (seeded). Each chosen function gets one to three edits, each after some statement of the
function: a statement, a condition that never holds, a condition that always holds, or a call of a new function. One
function in five is renamed if it is static, and one in five moves to another part of the text. Added code works on
counters of its own, which nothing else reads. The same arguments always give the same files. The script finds functions
by their shape (a definition starts and ends in the first column), so the files must be laid out as SQLite and Lua
are."""

import argparse
import pathlib
import random
import re

DEFINITION = re.compile(r"^(?!typedef|struct|union|enum|extern)[A-Za-z_][\w\s*]*?\b(\w+)\s*\(")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "else", "do", "goto", "case"}
# A whole assignment or call on a line of its own.
STATEMENT = re.compile(r"^\s+(\*?[\w.\[\]>-]+\s*(=|\+=|-=|\|=|&=)[^=].*|\w+\s*\(.*\));\s*$")
COUNTERS = """
static volatile unsigned char respike_edits[64];
__attribute__((noinline, unused)) static int respike_called(int n) {
  if (n > 7) respike_edits[n & 63] += 1;
  return respike_edits[(n + 1) & 63];
}
"""


class Function:
    """Lines [start, end] of a file: from the first line of the definition to the closing brace."""

    def __init__(self, name, start, body, end, static):
        self.name, self.start, self.body, self.end, self.static = name, start, body, end, static


def functions(lines):
    """All function definitions whose head starts in the first column and takes at most 12 lines."""
    found, number = [], 0
    while number < len(lines):
        match = DEFINITION.match(lines[number])
        end_of_head = None
        if match and match[1] not in KEYWORDS and not lines[number].rstrip().endswith((";", "\\")):
            for at in range(number, min(number + 12, len(lines))):
                text = lines[at].rstrip()
                if text.endswith(("\\", ";")) or text.startswith("#"):
                    break
                if text.endswith("{"):
                    end_of_head = at
                    break
        if end_of_head is None:
            number += 1
            continue
        end = next(
            (i for i in range(end_of_head + 1, len(lines)) if lines[i].startswith("}")), None
        )
        if end is None:
            break
        if lines[end].rstrip() == "}":
            static = "static" in lines[number].split("(")[0].split()
            found.append(Function(match[1], number, end_of_head, end, static))
        number = end + 1
    return found


def places(lines, function):
    """Numbers of lines after which a statement may be put."""
    result = []
    for at in range(function.body + 1, function.end):
        line = lines[at]
        if not STATEMENT.match(line) or line.count("(") != line.count(")") or "{" in line:
            continue
        before = next(
            (lines[i].strip() for i in range(at - 1, function.body - 1, -1) if lines[i].strip()), ""
        )
        after = next(
            (lines[i].strip() for i in range(at + 1, function.end + 1) if lines[i].strip()), ""
        )
        if line.split("(")[0].split()[0].rstrip(";") in KEYWORDS or not before.endswith(
            (";", "{", "}")
        ):
            continue
        if (
            before.startswith("#")
            or after.startswith(("else", "#", "while"))
            or before.endswith("= {")
        ):
            continue
        result.append(at)
    return result


def edit(number):
    k = number % 61
    never = f"respike_edits[{k}] == {200 + k % 50} && respike_edits[{k + 1}]"
    return [
        f"respike_edits[{k}] += {number % 7};",
        f"if ({never}) respike_edits[{k + 2}] = 0;",
        f"if (respike_edits[{k}] < 256) respike_edits[{k}] += 1;",
        f"respike_called({k});",
    ]


def edit_file(text, percent, numbers):
    """Returns the edited text and the names of the functions that were chosen."""
    lines = text.split("\n")
    found = [(f, places(lines, f)) for f in functions(lines)]
    candidates = [(f, p) for f, p in found if p]
    count = min(len(candidates), round(len(found) * percent / 100))
    chosen = numbers.sample(candidates, count)
    renamed, head = [], {}
    for function, where in chosen:
        for at in numbers.sample(where, min(len(where), numbers.randint(1, 3))):
            lines[at] += " " + edit(numbers.randrange(1 << 16))[numbers.randrange(4)]
        fate = numbers.randrange(5)
        if fate == 0 and function.static:
            renamed.append(function.name)
        elif fate == 1:
            head[function.start] = '__attribute__((section(".text.moved"))) '
    for at, prefix in head.items():
        lines[at] = prefix + lines[at]
    text = "\n".join(lines)
    rename = {name: f"{name}_v2" for name in renamed}
    text = re.sub(r"\b[A-Za-z_]\w*", lambda word: rename.get(word[0], word[0]), text)
    return COUNTERS + text, [f.name for f, _ in chosen]


def edit_files(paths, folder, percent, seed=1):
    """Writes edited copies of C files into a folder; returns their paths and the number of edited
    functions. A file that exists with the same contents is not written again."""
    numbers = random.Random(f"{seed} {percent:g}")
    result, edited = [], 0
    for path in map(pathlib.Path, paths):
        text, names = edit_file(path.read_text(errors="surrogateescape"), percent, numbers)
        output = pathlib.Path(folder) / path.name
        content = text.encode(errors="surrogateescape")
        if not output.exists() or output.read_bytes() != content:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_bytes(content)
        result.append(output)
        edited += len(names)
    return result, edited


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--percent", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    outputs, edited = edit_files(args.files, args.out, args.percent, args.seed)
    print(f"{edited} functions edited in {len(outputs)} files")


if __name__ == "__main__":
    main()

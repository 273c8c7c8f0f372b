"""The cases that have passed, and for which state of the product: a table in Markdown that is committed.

The state of a part is a hash of the contents of all files that the part depends on, as they are in the work tree; times
of files do not matter. As long as the state is the same, cases that have passed need not run again. Example, in the
middle of GCC's tests:

    | gcc | 00..09, 12 (11 of 100) | 3f9a0c1b22 | 2026-01-05 | passed in 4,210 s; seed 3f9a0c1b22 |
    | gcc | 10 | 3f9a0c1b22 | 2026-01-05 | failed after 391 s: build-nightly/logs/gcc.10.log: 1 failed |
    | gcc | all 100 | 77b2d90e51 | 2026-01-02 | passed in 41,000 s; seed 77b2d90e51 |

Cases that passed share a row; each case that failed or was skipped has its own row until it passes. When all cases have
passed, they become one row, `all 100`. One row of earlier states remains: of the last complete state, or else of the
last state. `..` is a range of numbers at the end of names. The file is replaced as a whole after every case, so a
killed run leaves a complete file."""

import collections
import dataclasses
import datetime
import hashlib
import os
import pathlib
import re
import subprocess

HEAD = "| part | cases | state | date | result |\n|---|---|---|---|---|\n"
TITLE = "# Ledger of the nightly run\n\n"
PREPARATION = "preparation"  # in the place of a case: names are not known before it
MOST_TEXT = 200  # most characters of a result
_ROW = re.compile(r"^\| (.*?) \| (.*?) \| (\w+) \| ([\d-]+) \| (.*?) \|$")
_PASSED = re.compile(r"^passed in ([\d,]+) s(?:; (.*))?$")


# --- The state ------------------------------------------------------------------------------------


def state_of(root, paths):
    """A hash of the files below `paths` (git's pathspecs) that git tracks or would track."""
    listed = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths]
    # A session of its own: Ctrl-C is for the run, which ends in an orderly way.
    names = subprocess.run(listed, stdout=subprocess.PIPE, check=True, start_new_session=True).stdout.split(b"\0")
    state = hashlib.sha256()
    for name in sorted(set(filter(None, names))):
        path = pathlib.Path(root) / os.fsdecode(name)
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        elif path.is_file():
            content = path.read_bytes()
        else:
            continue  # deleted, but not with git
        state.update(name + b"\0" + hashlib.sha256(content).digest())
    return state.hexdigest()[:10]


# --- Names of cases -------------------------------------------------------------------------------


def compress(names):
    """`profiled.1..3, pe` of profiled.1, profiled.2, profiled.3 and pe."""
    rows = collections.defaultdict(list)  # prefix -> numbers, in order of appearance; the number may be missing
    for name in names:
        prefix, number = re.fullmatch(r"(.*?)(\d*)", name).groups()
        rows[prefix].append(number)
    words = []
    for prefix, numbers in rows.items():
        words += [prefix] * ("" in numbers)
        widths = {len(number) for number in numbers if number}
        width = widths.pop() if len(widths) == 1 else 0  # 08, 09, 10, but 8, 9, 10
        numbers = sorted(int(number) for number in numbers if number)
        starts = [n for n in numbers if n - 1 not in numbers]
        ends = [n for n in numbers if n + 1 not in numbers]
        for start, end in zip(starts, ends):
            first, last = f"{start:0{width}}", f"{end:0{width}}"
            words.append(f"{prefix}{first}" if start == end else f"{prefix}{first}..{last}")
    return ", ".join(words)


def expand(text):
    """The names from which compress() made `text`."""
    names = []
    for word in filter(None, text.split(", ")):
        if found := re.fullmatch(r"(.*?)(\d+)\.\.(\d+)", word):
            prefix, first, last = found.groups()
            width = len(first) if first.startswith("0") else 0
            names += [f"{prefix}{number:0{width}}" for number in range(int(first), int(last) + 1)]
        else:
            names.append(word)
    return names


# --- The table ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Row:
    part: str
    cases: str
    state: str
    date: str
    result: str

    def __str__(self):
        return f"| {self.part} | {self.cases} | {self.state} | {self.date} | {self.result} |\n"

    @property
    def seconds(self):
        """The total time of its cases; 0 when none passed."""
        found = _PASSED.match(self.result)
        return int(found[1].replace(",", "")) if found else 0

    @property
    def extra(self):
        found = _PASSED.match(self.result)
        return (found[2] or "") if found else ""

    @property
    def passed(self):
        return bool(_PASSED.match(self.result))

    @property
    def complete(self):
        """The number of cases, if the row is for all cases."""
        found = re.fullmatch(r"all (\d+)", self.cases)
        return int(found[1]) if found else None

    @property
    def names(self):
        """The names of its cases; rows of all cases, and rows of earlier states, have only a number."""
        if self.complete or re.fullmatch(r"\d+ of \d+", self.cases):
            return []
        return expand(re.sub(r" \(\d+ of \d+\)$", "", self.cases))

    @property
    def number(self):
        found = re.search(r"(\d+) of \d+\)?$", self.cases)
        return self.complete or (int(found[1]) if found else len(self.names))


def _passed_text(seconds, extra):
    return f"passed in {seconds:,.0f} s" + (f"; {extra}" if extra else "")


def _clean(text):
    return re.sub(r"\s+", " ", text.replace("|", "/")).strip()[:MOST_TEXT]


def _summarised(rows):
    """The row that remains of the rows of earlier states."""
    complete = [row for row in rows if row.complete and row.passed]
    if complete or not rows:
        return sorted(complete, key=lambda row: row.date)[-1:]
    last = max(rows, key=lambda row: row.date).state
    rows = [row for row in rows if row.state == last]
    if len(rows) == 1 and not rows[0].names:
        return rows
    passed = [row for row in rows if row.passed]
    bad = [name for row in rows if not row.passed for name in row.names]
    of = next((m[1] for row in passed if (m := re.search(r"of (\d+)", row.cases))), None)
    result = _passed_text(sum(row.seconds for row in passed), f"did not pass: {compress(bad)}" if bad else "")
    number = sum(row.number for row in passed)
    return [Row(rows[0].part, f"{number} of {of or len(bad)}", last, max(row.date for row in rows), _clean(result))]


class Ledger:
    """The file `path`. `order`: the names of the parts, in their order in the file."""

    def __init__(self, path, order):
        self.path, self.order = pathlib.Path(path), list(order)

    def read(self):
        """The text before the table, and the table's rows."""
        text = self.path.read_text() if self.path.exists() else TITLE
        rows = [Row(*found.groups()) for line in text.splitlines() if (found := _ROW.match(line)) and found[1] != "part"]
        return text.partition(HEAD.splitlines()[0])[0], rows

    def _rows(self, part, state):
        return [row for row in self.read()[1] if (row.part, row.state) == (part, state)]

    def complete(self, part, state):
        """The number of the part's cases, if all have passed for this state."""
        return next((row.complete for row in self._rows(part, state) if row.complete and row.passed), None)

    def passed(self, part, state, names=()):
        """The names of the cases that have passed; `names`: the names of all its cases."""
        rows = [row for row in self._rows(part, state) if row.passed]
        if any(row.complete == len(names) for row in rows):
            return set(names)
        return {name for row in rows for name in row.names}

    def others(self, part, state):
        """{case: result} of the cases that failed or were skipped."""
        return {name: row.result for row in self._rows(part, state) if not row.passed for name in row.names}

    def mean_seconds(self, part):
        """The average time of a case of the part; None if it is not known."""
        rows = [row for row in self.read()[1] if row.part == part and row.passed and row.number]
        return sum(row.seconds for row in rows) / sum(row.number for row in rows) if rows else None

    def note(self, part, state, names, case, verdict, seconds, text):
        """Records how a case ended: `passed`, `failed` or `skipped`. `names`: the names of all cases of the part.
        `text`: a remark, or the place of the log and its message. A part whose PREPARATION failed has a row for it
        until one of its cases has run."""
        before, rows = self.read()
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        mine = [row for row in rows if (row.part, row.state) == (part, state)]
        earlier = [row for row in rows if row.part == part and row.state != state]
        others = [row for row in mine if not row.passed and row.cases not in (case, PREPARATION)]
        kinds = {}  # remark -> [names, seconds, date] of passed cases
        for row in mine:
            if row.passed and (row.names or row.complete == len(names)):
                kinds[row.extra] = [set(row.names or names) - {case}, row.seconds, row.date]
        if verdict == "passed":
            kind = kinds.setdefault(_clean(text), [set(), 0, today])
            kind[0].add(case)
            kind[1:] = [kind[1] + max(round(seconds), 0), today]
        elif verdict == "failed":
            others.append(Row(part, case, state, today, f"failed after {seconds:,.0f} s: {_clean(text)}"))
        else:
            others.append(Row(part, case, state, today, f"skipped: {_clean(text)}"))
        position = {name: at for at, name in enumerate(names or [])}
        others.sort(key=lambda row: position.get(row.cases, -1))
        rows = [row for row in rows if row.part != part]
        rows += self._passed_rows(part, state, names, kinds) if names else [row for row in mine if row.passed]
        rows += others + _summarised(earlier)
        places = {name: at for at, name in enumerate(self.order)}
        rows.sort(key=lambda row: places.get(row.part, len(places)))
        self._write(before + HEAD + "".join(map(str, rows)))

    @staticmethod
    def _passed_rows(part, state, names, kinds):
        kinds = {extra: kind for extra, kind in kinds.items() if kind[0]}
        if kinds and set().union(*(kind[0] for kind in kinds.values())) >= set(names):
            extra = "; ".join(filter(None, kinds))
            seconds = sum(kind[1] for kind in kinds.values())
            return [Row(part, f"all {len(names)}", state, max(k[2] for k in kinds.values()), _passed_text(seconds, _clean(extra)))]
        rows = []
        for extra, (passed, seconds, date) in kinds.items():
            listed = [name for name in names if name in passed]
            rows.append(Row(part, f"{compress(listed)} ({len(listed)} of {len(names)})", state, date, _passed_text(seconds, extra)))
        return rows

    def _write(self, text):
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        part.write_text(text)
        os.replace(part, self.path)

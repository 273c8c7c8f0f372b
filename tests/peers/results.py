"""The file of results: a line of JSON for each case, written when the case has ended. A stopped run goes on where it
was, and failed cases run again; with another respike everything starts again, and the old file stays as FILE.old."""

import collections
import hashlib
import json
import pathlib
import re
import threading

import gcc_sources  # noqa: F401  (its folders of modules)
import common

# An optimized image is an offender when it executes so much more, or takes so many more cycles, on its training run.
INSTRUCTIONS, CYCLES = 0.005, 0.01
OWN = 10_000  # instructions of the image itself, mostly after its start; the rest is the dynamic linker's and libc's
NOTHING = 0.001  # a smaller gain does not count


class Results:
    def __init__(self, path, fresh=False):
        self.path = pathlib.Path(path)
        self.records, self._lock = {}, threading.Lock()
        head = {"respike": hashlib.sha256(pathlib.Path(common.RESPIKE).read_bytes()).hexdigest()}
        if self.path.exists():
            lines = [json.loads(line) for line in self.path.read_text().splitlines() if line.endswith("}")]
            if lines and lines[0] == head and not fresh:
                self.records = {line["case"]: line for line in lines[1:]}
                self.records = {case: line for case, line in self.records.items() if line["status"] != "failed"}
            else:
                self.path.rename(f"{self.path}.old")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            self.path.write_text(json.dumps(head) + "\n")

    def add(self, record):
        with self._lock:
            self.records[record["case"]] = record
            with open(self.path, "a") as file:
                file.write(json.dumps(record) + "\n")


def read(path):
    """All records of a file, whatever respike wrote it."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.endswith("}")]
    return {line["case"]: line for line in lines if "case" in line}


SKIPPED = 77  # an exit status: nothing could be done here; the last line of output says why


def status(records, failed):
    """The exit status of a run with these records and this number of failures."""
    if records and all(record["status"] == "left out" for record in records):
        print(f"left out: {records[0]['reason']}")
        return SKIPPED
    return 1 if failed or not records else 0


# --- The report -----------------------------------------------------------------------------------


def _change(record, what):
    before, after = (record["figures"][when][what] for when in ("before", "after"))
    return after / before - 1 if before else 0.0


def _kind(text):
    """A message without numbers and names, to count the kinds."""
    text = re.sub(r"0x[0-9a-f]+|\d+", "N", re.sub(r"(?<!\S)/\S+", "FILE", text.splitlines()[0]))
    return re.sub(r"'[^']*'|‘[^’]*’|\"[^\"]*\"|b'.*", "...", text)[:100]


def _table(title, counted, most=40):
    print(f"\n{title}")
    for name, number in counted.most_common(most):
        print(f"  {number:6}  {name}")


def offenders(records):
    """(case, change of instructions, of cycles, of the image's own instructions): of all measured cases, of cases that
    got slower by more than the limits, and of cases that gained nothing."""
    measured = [r for r in records if r.get("figures")]
    changes = [(r["case"], _change(r, "instructions"), _change(r, "cycles"), _change(r, "own")) for r in measured]
    large = {r["case"] for r in measured if r["figures"]["before"]["own"] >= OWN}
    slower = [c for c in changes if c[1] > INSTRUCTIONS or c[2] > CYCLES or (c[3] > INSTRUCTIONS and c[0] in large)]
    same = [c for c in changes if c[2] > -NOTHING and c not in slower]
    return changes, slower, same


def _print_changes(title, changes, most):
    print(f"\n{title}: {len(changes)}   (instructions, cycles, own instructions)")
    for name, instructions, cycles, own in sorted(changes, key=lambda c: -max(c[1:]))[:most]:
        print(f"  {instructions:+8.2%} {cycles:+8.2%} {own:+8.2%}  {name}")


def report(records, most=40):
    """Prints the results; returns the number of failed cases."""
    records = sorted(records, key=lambda r: r["case"])
    status = collections.Counter(r["status"] for r in records)
    by_suite = collections.defaultdict(collections.Counter)
    for record in records:
        by_suite[record["machine"], record["suite"]][record["status"]] += 1
    print(f"\n{'machine':8}{'suite':20}{'passed':>8}{'failed':>8}{'left out':>10}")
    for (machine, suite), counted in sorted(by_suite.items()):
        print(f"{machine:8}{suite:20}{counted['passed']:8}{counted['failed']:8}{counted['left out']:10}")
    _table("left out, by reason", collections.Counter(_kind(r["reason"]) for r in records if r["status"] == "left out"), most)
    warnings = collections.Counter()
    for record in records:
        warnings.update(record.get("warnings", {}).keys())
    _table("what respike said on the way, in how many cases", warnings, most)
    print(f"\ncounts of blocks compared with the emulator's: {sum(r.get('compared', 0) for r in records):,}")
    parted = [r for r in records if r.get("opaque") and any(len(v) > len(r["opaque"].get("count", [])) for v in r["opaque"].values())]
    print(f"procedures left out of counting only in outputs: {len(parted)} cases")
    failed = [r for r in records if r["status"] == "failed"]
    kinds = collections.Counter((r["machine"], step, _kind(m)) for r in failed for step, m in r["wrong"].items() if not m.startswith("not taken"))
    _table("failures, by machine, step and kind", collections.Counter({" ".join(k): n for k, n in kinds.items()}), most)
    for record in failed[:most]:
        print(f"FAILED {record['case']}")
        for step, message in record["wrong"].items():
            print(f"    {step}: {message}")
    changes, slower, same = offenders(records)
    if changes:
        _print_changes("no gain in cycles", same, most)
        _print_changes(f"more than {INSTRUCTIONS:.1%} instructions or {CYCLES:.1%} cycles more", slower, most)
        for at, what in ((1, "instructions"), (2, "cycles")):
            print(f"mean change of {what}: {sum(c[at] for c in changes) / len(changes):+.2%} in {len(changes)} cases")
    seconds = sum(r["seconds"] for r in records)
    print(f"\n{len(records)} cases: {', '.join(f'{n} {s}' for s, n in sorted(status.items()))}; {seconds:.0f} s of cases")
    return len(failed)

#!/usr/bin/env python3
"""What layouts for x86-64 gain: Respike, LLVM BOLT and others on the same programs, in one run.

  bench/speed.py [--programs sqlite3,lua] [--tools original,bolt,respike] [--models zen3,goldencove]
                 [--pairs 15] [--no-counts] [--short] [--layout WORDS] [--folder build/speed] [--json FILE]
                 [--html FILE] > table.md
  bench/speed.py --from FILE [--html FILE]

Each tool has counts of the training input; the measured input is the reference input. A row has the changes to the
original: executed instructions, misses of an instruction cache of 32 KB and 8 ways, taken jumps (without calls and
returns), misses of an instruction TLB of 64 entries, with --models the cycles of `respike measure`, and with --pairs
processor time: the images take turns, and the interval is of the mean ratio, at 95%. More rows compare Respike's images
with BOLT's. Counts are exact, by fetch_plugin.cc under QEMU; cycles come from a model. Each run has to print the same
as the original.

Tools: bolt (counts by -instrument, options of its documentation), respike, gcc (-fprofile-use, the
program is compiled again), lld (whole procedures in the order of their heat, linked again). The
programs are in speed_programs.py. Counts are kept in the folder, by the content of image and
inputs. --layout gives other layouts for Respike, separated by blanks, each a tool."""

import argparse
import hashlib
import importlib.util
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

import speed_programs
import speed_tools

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
COUNTS = ("instructions", "misses", "jumps", "page_misses", "zen3", "goldencove")
TITLES = {
    "instructions": "instructions",
    "misses": "I1 misses",
    "jumps": "taken jumps",
    "page_misses": "TLB misses",
    "zen3": "cycles (Zen 3)",
    "goldencove": "cycles (Golden Cove)",
    "seconds": "time",
}
# The quantile of Student's distribution at 97.5% by degrees of freedom, from 1 on.
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)


def digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]


class Lab:
    """Runs images, and keeps exact results."""

    def __init__(self, folder, respike, models=()):
        self.folder, self.respike, self.models = folder, respike, models
        self.place = folder / "place"
        self.plugin = ROOT / "build" / "respike-fetch.so"
        self.known = {}

    def hash_file(self, path):
        stat = os.stat(path)
        key = (str(path), stat.st_mtime_ns, stat.st_size)
        if key not in self.known:
            self.known[key] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        return self.known[key]

    def execute(self, image, run, command=()):
        """The finished process, in an empty folder. All images have one name."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        program = self.place.parent / "program"
        program.unlink(missing_ok=True)
        os.link(image, program)
        environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [*map(str, command), str(program), *map(str, run.args)],
            stdin=open(run.stdin) if run.stdin else subprocess.DEVNULL,
            capture_output=True, cwd=self.place, env=environment,
        )

    def run(self, image, run):
        """(the run's output and how it ends, processor seconds)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.execute(image, run)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        printed = digest(done.stdout, done.stderr, *(p.read_bytes() for p in sorted(self.place.iterdir())))
        return (printed, done.returncode), seconds

    def behaviour(self, image, runs):
        return [self.run(image, run)[0] for run in runs]

    def seconds(self, image, runs):
        return sum(self.run(image, run)[1] for run in runs)

    def kept(self, image, run, program, *words):
        """Where what a program says of a run is kept."""
        files = [self.hash_file(file) for file in speed_tools.files_of(run)]
        key = digest(self.hash_file(image), self.hash_file(program), *words, *files, *map(str, run.args))
        return self.folder / "counts" / f"{key}.json"

    def count(self, image, run):
        kept = self.kept(image, run, HERE / "fetch_plugin.cc")
        if not kept.exists():
            out = self.folder / "out.json"
            out.unlink(missing_ok=True)
            self.execute(image, run, ("qemu-x86_64", "-plugin", f"{self.plugin},out={out}"))
            kept.parent.mkdir(exist_ok=True)
            out.rename(kept)
        return json.loads(kept.read_text())

    def cycles(self, image, run, model):
        """What `respike measure` says; the program's own output goes to stderr."""
        kept = self.kept(image, run, self.respike.with_name("respike-measure.so"), model)
        if not kept.exists():
            done = self.execute(image, run, (self.respike, "measure", "--json", "--by", "image", "--model", model, "--"))
            if not done.stdout:
                raise speed_tools.Failed(f"{model}: {done.stderr.decode(errors='replace').strip()[-200:]}")
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(done.stdout)
        return json.loads(kept.read_text())["cycles"]

    def counts(self, image, runs):
        each = [self.count(image, run) for run in runs]
        modelled = {name: sum(self.cycles(image, run, name) for run in runs) for name in self.models}
        return {name: sum(one[name] for one in each) for name in each[0]} | modelled


def times(lab, images, runs, pairs):
    """{tool: [seconds]}: all images take turns, each round begins with another one. What takes less
    than a second is repeated."""
    taken = {name: [] for name in images}
    if not pairs:
        return taken
    names = list(images)
    runs = list(runs) * math.ceil(1 / max(0.01, lab.seconds(images["original"], runs)))
    for number in range(pairs):
        for name in names[number % len(names):] + names[:number % len(names)]:
            taken[name].append(lab.seconds(images[name], runs))
    return taken


def interval(before, after):
    """The mean ratio after / before of pairs, less one, and half of its 95% interval."""
    logs = [math.log(b / a) for a, b in zip(before, after)]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean) - 1, math.inf
    half = STUDENT[min(len(logs) - 1, len(STUDENT)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean) - 1, half


def measure(lab, program, tools, pairs, counts=True):
    """{tool: what its image takes}, or what happened instead."""
    expected = lab.behaviour(program.image, program.reference)
    for what, ends in (("training", lab.behaviour(program.image, program.training)), ("reference", expected)):
        failed = [status for _, status in ends if status != 0]
        if failed:
            print(f"speed: {program.name}: the original fails on the {what} input, with status {failed[0]}", file=sys.stderr)
    images, results = {}, {}
    for tool in tools:
        folder = lab.folder / "outputs" / program.name / tool.name.replace(" ", "_")
        try:
            image = tool.make(lab, program, folder)
            if lab.behaviour(image, program.reference) != expected:
                raise speed_tools.Failed("the output behaves differently")
        except (speed_tools.Failed, speed_programs.Unavailable) as failure:
            print(f"speed: {program.name}: {tool.name}: {failure}", file=sys.stderr)
            results[tool.name] = {"failed": str(failure)}
            continue
        images[tool.name] = image
        results[tool.name] = lab.counts(image, program.reference) if counts else {}
    for name, seconds in times(lab, images, program.reference, pairs).items():
        if seconds:
            results[name]["seconds"] = seconds
    return results


def change(original, result, name):
    """(the change, half of its interval or None); (None, None) where a figure of either is missing."""
    if original.get(name) in (None, []) or result.get(name) in (None, []):
        return None, None
    if name == "seconds":
        return interval(original[name], result[name])
    return max(1, result[name]) / max(1, original[name]) - 1, None


def show(original, result, name):
    mean, half = change(original, result, name)
    if mean is None:
        return "-"
    return f"{mean:+.1%}" if half is None else f"{mean:+.1%} ± {half:.1%}"


def mean_row(measured, tool, columns, against="original"):
    """The geometric means, of the programs that both tools can do; of time with half of the 95%
    interval, the programs' intervals being independent."""
    cells, programs = [], 0
    for column in columns:
        changes = [change(results.get(against, {}), results.get(tool, {}), column) for results in measured.values()]
        changes = [each for each in changes if each[0] is not None]
        if changes:
            mean = statistics.geometric_mean(1 + each for each, _ in changes) - 1
            halves = [half for _, half in changes if half is not None]
            interval_of_mean = f" ± {math.hypot(*halves) / len(halves):.1%}" if halves else ""
            cells.append(f"{mean:+.1%}{interval_of_mean}")
        else:
            cells.append("-")
        programs = max(programs, len(changes))
    return [f"*mean of {programs}*", title_of(tool, against), *cells]


def title_of(tool, against):
    return tool if against == "original" else f"{tool} against {against}"


def compared(results):
    """The pairs of tools that a table has rows of."""
    tools = [name for name in results if name != "original"]
    return [(tool, "original") for tool in tools] + [
        (tool, "bolt") for tool in tools if tool.startswith("respike") and "bolt" in tools
    ]


def table(measured, columns):
    rows = [["program", "tool", *(TITLES[name] for name in columns)], ["---", "---", *("---:" for _ in columns)]]
    for program, results in measured.items():
        original = results["original"]
        whole = [f"{original[c] / 1e6:,.1f} M" if c in COUNTS else f"{min(original.get(c, [0])):.2f} s" for c in columns]
        rows.append([program, "original", *whole])
        for tool, against in compared(results):
            if "failed" in results[tool]:
                if against == "original":
                    rows.append([program, tool, results[tool]["failed"], *("" for _ in columns[1:])])
            elif "failed" not in results[against]:
                cells = (show(results[against], results[tool], column) for column in columns)
                rows.append([program, title_of(tool, against), *cells])
    for tool, against in compared(next(iter(measured.values()))):
        rows.append(mean_row(measured, tool, columns, against))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def present(measured, page):
    """Prints the table, and writes a page if there is a name for it."""
    originals = [results["original"] for results in measured.values()]
    columns = [name for name in TITLES if all(name in original for original in originals)]
    text = table(measured, columns)
    print(text, end="")
    if page:
        import speed_page

        page.write_text(speed_page.page(measured, columns, TITLES, change, text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=",".join(speed_programs.NAMES))
    parser.add_argument("--tools", default="original,bolt,respike")
    parser.add_argument("--layout", default="", help="layouts for Respike, separated by blanks")
    parser.add_argument("--respike", type=pathlib.Path, default=ROOT / "build" / "respike")
    parser.add_argument("--bolt", default="llvm-bolt-22")
    parser.add_argument("--models", default="", help="models of respike measure: zen3,goldencove")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--no-counts", dest="counts", action="store_false", help="only processor time")
    parser.add_argument("--short", action="store_true", help="a fifth of the reference input")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "speed")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures")
    parser.add_argument("--html", type=pathlib.Path, help="write a page with plots (needs matplotlib)")
    parser.add_argument("--from", dest="earlier", type=pathlib.Path, help="show the figures of such a JSON file")
    args = parser.parse_args()
    if args.html and importlib.util.find_spec("matplotlib") is None:
        parser.error("--html needs matplotlib: Debian's package python3-matplotlib")
    if args.earlier:
        return present(json.loads(args.earlier.read_text()), args.html)
    lab = Lab(args.folder.resolve(), args.respike.resolve(), args.models.split(",") if args.models else ())
    tools = speed_tools.named(args.tools.split(","), args.respike.resolve(), args.bolt, args.layout.split())
    measured = {}
    for program in speed_programs.prepare(lab.folder, args.programs.split(","), args.short):
        measured[program.name] = measure(lab, program, tools, args.pairs, args.counts)
        if args.json:
            args.json.write_text(json.dumps(measured, indent=1) + "\n")
    if measured:
        present(measured, args.html)


if __name__ == "__main__":
    main()

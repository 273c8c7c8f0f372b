#!/usr/bin/env python3
"""What do layouts gain on Itanium? A table by the model of the Itanium 2.
Programs are trained with one input and measured with another; bench/workloads has the inputs
(sql.py, training.lua, reference.lua).

The programs are sqlite3 and lua of ../shared/ia64 (tests/e2e/ia64_programs.py says where it looks
for them). Each row is a run of the reference input, which must print what the original prints.
Instrumentation is measured with the training input."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "bench" / "workloads")]
import ia64_programs
import sql

LAYOUTS = ("original", "random", "ext-tsp", "ext-tsp,split,place", "ext-tsp,split,colour")


def inputs(name, folder):
    """(training, reference): each the arguments and a file for stdin."""
    if name == "lua":
        return [([ROOT / "bench" / "workloads" / f"{kind}.lua"], os.devnull) for kind in ("training", "reference")]
    runs = []
    for kind, text in (("training", sql.training(360)), ("reference", sql.reference(480))):
        path = folder / f"{kind}.sql"
        path.write_text(text)
        runs.append((["-batch", ":memory:"], path))
    return runs


class Bench:
    def __init__(self, build, folder):
        self.respike = os.environ.get("RESPIKE", build / "respike")
        self.emulator = os.environ.get("RESPIKE_IA64_EMULATOR", build / "respike-ia64")
        self.folder = folder

    def call(self, *command, stdin=os.devnull):
        with open(stdin) as file:
            return subprocess.run([str(c) for c in command], stdin=file, stdout=subprocess.PIPE, check=True).stdout

    def measure(self, image, run):
        """The figures of the model, and the output of the program."""
        arguments, stdin = run
        printed = self.call(self.emulator, image, *arguments, stdin=stdin)
        text = self.call(self.respike, "measure", "--json", "--", image, *arguments, stdin=stdin)
        return json.loads(text[text.rindex(b"\n{\n") + 1 if b"\n{\n" in text else 0 :]), printed

    def train(self, image, run):
        """The profile of a run, and the figures of the instrumented run."""
        spool, counting, profile = self.folder / "spool", self.folder / "counting", self.folder / "profile"
        spool.mkdir()
        self.call(self.respike, "image", "instrument", image, "-o", counting, "--spool", spool)
        figures, _ = self.measure(counting, run)
        self.call(self.respike, "image", "collect", *spool.iterdir(), "-o", profile)
        return profile, figures


def change(after, before):
    return f"{100 * (after / before - 1):+.1f}%"


def rows(bench, image):
    training, reference = inputs(image.name.removesuffix(".ia64"), bench.folder)
    profile, counting = bench.train(image, training)
    plain, _ = bench.measure(image, training)
    executed = [f["instructions"] - f["nops"] for f in (counting, plain)]
    yield (f"| {image.stem} | instrumented | {counting['instructions'] / 1e6:.1f} | {counting['instructions'] / plain['instructions']:.3f} "
           f"({executed[0] / executed[1]:.3f} without no-ops) | {100 * counting['nops'] / counting['instructions']:.1f} | | |")
    before, printed = bench.measure(image, reference)
    for layout in (None, *LAYOUTS):
        output = image
        if layout:
            output = bench.folder / "output"
            options = ["--seed", "1"] if layout == "random" else ["--profile", profile]
            bench.call(bench.respike, "image", "optimize", image, "-o", output, "--layout", layout, *options)
        after, text = bench.measure(output, reference)
        if text != printed:
            sys.exit(f"ia64_layouts.py: {image.name}, {layout}: prints something else")
        missed = [1000 * f["icache_misses"] / f["instructions"] for f in (after, before)]
        yield (f"| {image.stem} | {layout or 'as linked'} | {after['instructions'] / 1e6:.1f} | "
               f"{change(after['instructions'], before['instructions'])} | {100 * after['nops'] / after['instructions']:.1f} | "
               f"{missed[0]:.2f} ({change(*missed)}) | "
               f"{after['cycles'] / 1e6:.1f} ({change(after['cycles'], before['cycles'])}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=["sqlite3", "lua"], help="sqlite3, lua (both)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of the build")
    args = parser.parse_args()
    images = {path.stem: path for path in ia64_programs.programs()}
    if not set(args.programs) <= set(images):
        print(f"ia64_layouts.py: not measured: {ia64_programs.MISSING}")
        return 0
    print("| program | layout | M instructions | change | no-ops, % | L1I misses per 1,000 | M cycles |")
    print("|---|---|---|---|---|---|---|")
    for name in args.programs:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows(Bench(args.build, pathlib.Path(folder)), images[name]):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

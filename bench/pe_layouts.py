#!/usr/bin/env python3
"""What do layouts gain on programs of Windows NT for Alpha, beside the same programs for Linux?

Inputs are those of workloads.py: a profile of the training input, figures of the reference input, on the model of the
Alpha 21164. Both builds are of the same sources by the same compiler, linked dynamically, so the C library is laid out
in neither: for Linux by gcc, for NT by tests/pe. Figures are of whole processes, with loader and C library; each run
has to print the same as the original.

    bench/pe_layouts.py            a table
    bench/pe_layouts.py lua        a part of it"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "pe"), str(ROOT / "bench"), str(ROOT / "bench" / "workloads")]
import images
import link
import pe_test
import sql
import workloads

NAMES = ("lua", "sqlite3", "bzip2")
FLAGS = {  # as the programs for NT get them
    "lua": pe_test.FLAGS["lua"],
    "sqlite3": pe_test.FLAGS["sqlite3"],
    "bzip2": [],
}


def inputs(name, folder):
    """The training runs and the reference runs."""
    if name == "lua":
        return [[workloads.Run((workloads.INPUTS / f"{kind}.lua",))] for kind in workloads.KINDS]
    if name == "sqlite3":
        texts = {"training": sql.training(360), "reference": sql.reference(480)}
        return [[workloads.Run(("-batch", ":memory:"), workloads.write(folder / k, texts[k]))] for k in workloads.KINDS]
    data = workloads.compressor_inputs(folder, pe_test.common.PROGRAMS / "sources")
    return [[workloads.Run(("-c",), data[k]), workloads.Run(("-dc",), data[f"{k}.bz2"])] for k in workloads.KINDS]


def call(*command, stdin=None, cwd=None):
    with open(stdin or os.devnull, "rb") as source:
        done = subprocess.run([str(c) for c in command], stdin=source, capture_output=True, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"pe_layouts.py: {command[:4]}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder, self.count = build, folder, 0
        self.respike = build / "respike"

    def fresh(self, name):
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        return folder / name

    def linux(self, name):
        image = self.fresh(name)
        flags = ["-O2", "-w", "-Wl,-q", f"-I{pe_test.sources_of(name)[0].parent}", *FLAGS[name]]
        call("alpha-linux-gnu-gcc", *pe_test.sources_of(name), "-o", image, *flags, "-lm")
        return image

    def windows(self, name):
        sources, image = pe_test.sources_of(name), self.fresh(f"{name}.exe")
        objects = images.compile_sources(sources, image.parent, [*FLAGS[name], f"-I{sources[0].parent}"])
        image.write_bytes(link.link(objects, link.Options(symbols=True)))
        image.chmod(0o755)
        return image

    def words(self, image):
        return [self.build / "respike-nt"] if image.suffix == ".exe" else ["qemu-alpha", "-L", "/usr/alpha-linux-gnu"]

    def arguments(self, run):
        return [str(a) for a in run.args]

    def train(self, image, runs):
        spool = self.fresh("spool")
        counting, profile = self.fresh(image.name), self.fresh("profile")
        call(self.respike, "image", "instrument", image, "-o", counting, "--spool", spool)
        for run in runs:
            call(*self.words(image), counting, *self.arguments(run), stdin=run.stdin, cwd=self.fresh("work").parent)
        call(self.respike, "image", "collect", *sorted(spool.iterdir()), "-o", profile)
        return profile

    def optimize(self, image, profile, *options):
        output = self.fresh(image.name)
        call(self.respike, "image", "optimize", image, "-o", output, "--profile", profile, *options)
        output.chmod(0o755)
        return output

    def compare(self, before, after, runs):
        """The sums of the figures of the images' own code."""
        total = ({}, {})
        for run in runs:
            text = call(self.respike, "compare", "--json", before, after, "--", *self.arguments(run),
                        stdin=run.stdin, cwd=self.fresh("work").parent)
            result = json.loads(text)
            if not result["same_output"]:
                sys.exit(f"pe_layouts.py: {after}: prints something else")
            for sums, figures in zip(total, (result["before"], result["after"])):
                for key, value in figures.items():
                    if isinstance(value, int):
                        sums[key] = sums.get(key, 0) + value
        return total


def rows(bench, name):
    training, reference = inputs(name, bench.fresh("input").parent)
    for system, image in (("Linux", bench.linux(name)), ("NT", bench.windows(name))):
        profile = bench.train(image, training)
        options = [("layout", ["--hot-cold", "off"])] + ([("layout, hot-cold", [])] if system == "Linux" else [])
        for title, words in options:
            before, after = bench.compare(image, bench.optimize(image, profile, *words), reference)
            change = lambda key: f"{100 * (after[key] / before[key] - 1):+.1f}%"
            yield (f"| {name} | {system} | {title} | {before['instructions'] / 1e6:.1f} | {change('instructions')} | "
                   f"{change('taken_jumps')} | {change('icache_misses')} | {before['cycles'] / after['cycles']:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=NAMES, help=", ".join(NAMES))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder of the build")
    args = parser.parse_args()
    print("| program | for | changes | M instructions | instructions | taken jumps | instruction cache misses | cycles, before / after |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args.build.resolve(), pathlib.Path(folder))
        for name in args.programs:
            for row in rows(bench, name):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

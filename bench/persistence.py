#!/usr/bin/env python3
"""What a profile of an older build is worth for a newer build, by the model of respike measure.

  bench/persistence.py [--workloads sqlite3,lua] [--changes NAME...] [--json]

Each change has two builds of a program. The older build is profiled with the training input. The
newer build is laid out twice: by the older build's profile, carried over (`image optimize
--profile`), and by a fresh profile of its own. Both run the reference input. The table has, in this
order: the share of the procedures that ran, and of the instructions they executed, that matching
found; the confidence that Respike reports; cycles by model C against the newer build as it is (by
estimates without a profile, by the older profile, by the fresh profile); and the share of the fresh
profile's gain that the older profile keeps. Outputs must be the same. Older releases come from
crates that bundle them, fetched with cargo."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import edit_source
import layouts
import measuring
import workloads

import build  # found by workloads

RELEASES = {  # name: crate, version, folder in it
    "sqlite3 3.39.2": ("libsqlite3-sys", "0.25.2", "sqlite3"),
    "sqlite3 3.41.2": ("libsqlite3-sys", "0.26.0", "sqlite3"),
    "lua 5.4.6": ("lua-src", "546.0.2", "lua-5.4.6"),
}
EDITED = (1, 5, 20)  # percent of all functions
OTHER_OPTIONS = {
    "sqlite3": [
        "-DSQLITE_ENABLE_STAT4",
        "-DSQLITE_ENABLE_DBSTAT_VTAB",
        "-DSQLITE_DEFAULT_MEMSTATUS=0",
    ],
    "lua": ["-DLUA_USE_JUMPTABLE=0", "-DLUAI_MAXSHORTLEN=60"],
}
HEAD = [
    "workload",
    "change",
    "procedures",
    "executed",
    "confidence",
    "estimates",
    "older",
    "fresh",
    "kept",
]


def crate(folder, release):
    """The folder of a release's sources, unpacked by cargo."""
    name, version, inside = RELEASES[release]
    project = folder / "crates" / f"{name}-{version}"
    (project / "src").mkdir(parents=True, exist_ok=True)
    (project / "src" / "lib.rs").touch()
    (project / "Cargo.toml").write_text(
        f'[package]\nname = "fetched"\nversion = "0.1.0"\n[dependencies]\n'
        f'{name} = {{ version = "={version}", default-features = false }}\n'
    )
    try:
        subprocess.run(
            ["cargo", "vendor", "-q", "vendor"], cwd=project, check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise workloads.Unavailable(f"{release} cannot be had: {error}") from None
    return project / "vendor" / name / inside


class Builds:
    """The builds of one workload: {name: image}."""

    def __init__(self, name, builder, folder):
        self.name, self.folder = name, folder
        self.programs = build.Programs(builder)
        self.files, self.flags = build.real_sources(folder / "sources")[name]
        self.images = {}
        self.add("base", self.files, self.flags)

    def add(self, variant, files, flags):
        if variant not in self.images:
            name = f"{self.name}-{variant.replace(' ', '-')}"
            self.programs.program(name, files, [], ["static"], flags)
            self.images[variant] = pathlib.Path(self.programs.entries[-1]["image"])
        return self.images[variant]

    def of_release(self, release):
        """The shells, which the bundled sources lack, come from the present release."""
        top = crate(self.folder, release)
        if self.name == "lua":
            present = [p for p in sorted(top.glob("*.c")) if p.name not in ("luac.c", "ltests.c")]
            main = [p for p in self.files if p.name == "lua.c"]
            return self.add(release, present + main, [*self.flags, f"-I{top}"])
        flags = [f for f in self.flags if not f.startswith("-I")] + [f"-I{top}"]
        shell = next(p for p in self.files if p.name == "shell.c").read_bytes()
        # In a folder of its own: the copy includes the release's header.
        copy = workloads.write(self.folder / "crates" / "shell" / release / "shell.c", shell)
        return self.add(release, [top / "sqlite3.c", copy], flags)

    def edited(self, percent):
        folder = self.folder / "edited" / f"{self.name}-{percent}"
        shell = [p for p in self.files if p.name == "shell.c"]
        chosen = [p for p in self.files if p not in shell]
        files, _ = edit_source.edit_files(chosen, folder, percent)
        flags = [*self.flags, f"-I{self.files[0].parent}"]
        return self.add(f"{percent}% edited", [*files, *shell], flags)

    def with_options(self):
        return self.add("options", self.files, [*self.flags, *OTHER_OPTIONS[self.name]])

    def at_level(self, level):
        return self.add(level, self.files, [f if f != "-O2" else level for f in self.flags])

    def changes(self):
        """{name: function that gives the older and the newer build}."""
        base = lambda: self.images["base"]
        if self.name == "sqlite3":
            result = {
                "3.39.2 to 3.40.1": lambda: (self.of_release("sqlite3 3.39.2"), base()),
                "3.40.1 to 3.41.2": lambda: (base(), self.of_release("sqlite3 3.41.2")),
            }
        else:
            result = {"5.4.4 to 5.4.6": lambda: (base(), self.of_release("lua 5.4.6"))}
        for percent in EDITED:
            result[f"{percent}% edited"] = lambda p=percent: (base(), self.edited(p))
        result["other -D"] = lambda: (base(), self.with_options())
        for level in ("-O1", "-O3", "-Os"):
            result[f"-O2 to {level}"] = lambda l=level: (base(), self.at_level(l))
        return result


def prepare(names, wanted, folder, jobs):
    """[(workload, change, older image, newer image)]; `wanted`: names of changes, or None for
    all."""
    made = {w.name: w for w in workloads.prepare(names, folder)}
    builder = build.Builder(folder, jobs)
    rows = []
    for name, workload in made.items():
        builds = Builds(name, builder, folder)
        for change, images in builds.changes().items():
            if not wanted or change in wanted:
                rows.append((workload, change, *images()))
    progress = measuring.Progress(len(builder.steps), "building")
    for output, step in builder.steps.items():
        step.add_done_callback(lambda _, name=output.name: progress.step(name))
    try:
        builder.finish()
    except build.Failure as failure:
        raise workloads.Unavailable(str(failure)) from None
    finally:
        progress.end()
    return rows


def measure(lab, workload, older, newer):
    old = lab.profile(older, workload.training)
    fresh = lab.profile(newer, workload.training)
    images = {
        "original": lab.optimize(newer, measuring.ORIGINAL),
        "estimates": lab.optimize(newer, measuring.DEFAULT),
        "older": lab.optimize(newer, measuring.DEFAULT, old),
        "fresh": lab.optimize(newer, measuring.DEFAULT, fresh),
    }
    figures = {name: lab.measure(image, workload.reference) for name, (image, _) in images.items()}
    if len({f["output"] for f in figures.values()}) != 1:
        raise measuring.Failure(f"{newer}: layouts behave differently")
    cycles = {name: f["cycles_c"] for name, f in figures.items()}
    report = images["older"][1]
    matched = report["profile_match"]
    return {
        "procedures": matched["matched_executed_procedures"] / matched["executed_procedures"],
        "executed": matched["matched_share"],
        "confidence": matched["confidence"],
        "cycles": cycles,
        "kept": (cycles["original"] - cycles["older"]) / (cycles["original"] - cycles["fresh"]),
    }


def row_of(workload, change, result):
    cycles = result["cycles"]
    percent = [f"{100 * result[n]:.1f}%" for n in ("procedures", "executed", "confidence")]
    faster = [f"{cycles['original'] / cycles[n]:.3f}x" for n in ("estimates", "older", "fresh")]
    return [workload.name, change, *percent, *faster, f"{100 * result['kept']:.1f}%"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    workloads.add_options(parser)
    parser.add_argument("--changes", nargs="+", metavar="NAME", help="rows of the table")
    parser.add_argument("--respike", default=measuring.RESPIKE, help="the command to measure")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--json", action="store_true", help="the figures as they were measured")
    args = parser.parse_args()
    names = args.workloads or ["sqlite3", "lua"]
    if not set(names) <= {"sqlite3", "lua"}:
        parser.error("there are changes of sqlite3 and lua only")
    try:
        rows = prepare(names, args.changes, args.folder.resolve(), args.jobs)
        lab = measuring.Lab(args.folder, args.respike)
        tasks = [(f"{w.name} {c}", lambda r=(w, o, n): measure(lab, *r)) for w, c, o, n in rows]
        results = measuring.run_all(tasks, args.jobs, "measuring")
    except (workloads.Unavailable, measuring.Failure) as failure:
        sys.exit(f"persistence.py: {failure}")
    if args.json:
        keyed = [{"workload": w.name, "change": c} | r for (w, c, _, _), r in zip(rows, results)]
        print(json.dumps(keyed, indent=1))
        return
    layouts.print_table(HEAD, [row_of(w, c, r) for (w, c, _, _), r in zip(rows, results)])


if __name__ == "__main__":
    main()

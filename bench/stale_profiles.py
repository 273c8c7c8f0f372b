#!/usr/bin/env python3
"""The worth of an older build's profile for a newer build on x86-64: Respike and LLVM BOLT.

  bench/stale_profiles.py [--programs sqlite3,lua] [--changes "-O2 to -O3,gcc to clang"] [--short]
                          [--folder build/speed] [--json FILE] > table.md

Each change has two builds of a program, as in persistence.py, and gcc to clang. The older build runs the training input
and gives a profile. The newer build is laid out by that profile and by a fresh profile of its own, by Respike
(`image optimize --profile`) and by BOLT (`--infer-stale-profile` on its YAML profile). All run the reference input. The
table has the gain of the fresh profile, in taken jumps and in misses of an instruction cache of 32 KB
(fetch_plugin.cc), and the share of that gain that the older profile keeps. Each run has to print the same as the
unchanged newer build."""

import argparse
import dataclasses
import json
import pathlib
import sys

import edit_source
import persistence
import speed
import speed_programs
import speed_tools
from speed_programs import LINK, PIE

PROGRAMS = ("sqlite3", "lua")
MEASURED = {"jumps": "jumps", "misses": "misses"}


def compiled(folder, name, files, flags, compiler="gcc"):
    image = folder / name.replace(" ", "-")
    if not image.exists():
        speed_programs.call(compiler, "-w", *PIE, *LINK, *flags, *files, "-o", image, "-lm", "-lpthread")
    return image


class Builds(persistence.Builds):
    """The builds of a program, for x86-64; persistence.py says which there are."""

    def __init__(self, name, folder, images):
        self.name, self.folder, self.place = name, folder, images
        self.files, self.flags = persistence.build.real_sources(folder / "sources")[name]
        self.images = {}
        self.add("base", self.files, self.flags)

    def add(self, variant, files, flags, compiler="gcc"):
        if variant not in self.images:
            self.images[variant] = compiled(self.place, f"{self.name}-{variant}", files, flags, compiler)
        return self.images[variant]

    def changes(self):
        others = super().changes()
        others["gcc to clang"] = lambda: (self.images["base"], self.add("clang", self.files, self.flags, "clang"))
        return others


class StaleBolt(speed_tools.Bolt):
    """BOLT with the YAML profile of the older build."""

    def yaml(self, lab, older, folder):
        made = speed_tools.Bolt.make(self, lab, older, folder)
        profile = made.with_name("profile.yaml")
        if not profile.exists():
            speed_tools.call(self.program, older.image, "-o", "/dev/null", f"-data={folder / 'merged.fdata'}",
                             "-w", profile)
        return profile

    def make_stale(self, lab, older, newer, folders):
        profile = self.yaml(lab, older, folders["older"])
        output = folders["stale"] / "output"
        if speed_tools.fresh(folders["stale"], newer.image, profile):
            told = speed_tools.call(self.program, newer.image, "-o", output, f"-data={profile}",
                                    "-infer-stale-profile", *speed_tools.BOLT)
            (folders["stale"] / "told").write_text(told)
            (folders["stale"] / "done").touch()
        return output


class StaleRespike(speed_tools.Respike):
    def make_stale(self, lab, older, newer, folders):
        profile = self.profile(lab, older, folders["older"])
        output = folders["stale"] / "output"
        if speed_tools.fresh(folders["stale"], newer.image, profile, self.program):
            speed_tools.call(self.program, "image", "optimize", newer.image, "--profile", profile, "-o", output)
            (folders["stale"] / "done").touch()
        return output


def measure(lab, tools, older, newer, folder):
    """{"original", "fresh TOOL" and "older TOOL": counts, or why there are none}."""
    expected = lab.behaviour(newer.image, newer.reference)
    results = {"original": lab.counts(newer.image, newer.reference)}
    for tool in tools:
        folders = {kind: folder / tool.name / kind for kind in ("fresh", "stale", "older")}
        for kind, make in (
            ("fresh", lambda: tool.make(lab, newer, folders["fresh"])),
            ("older", lambda: tool.make_stale(lab, older, newer, folders)),
        ):
            key = f"{kind} {tool.name}"
            try:
                image = make()
                if lab.behaviour(image, newer.reference) != expected:
                    raise speed_tools.Failed("the output behaves differently")
                results[key] = lab.counts(image, newer.reference)
            except speed_tools.Failed as failure:
                print(f"stale_profiles: {folder.name}: {key}: {failure}", file=sys.stderr)
                results[key] = {"failed": str(failure)}
    return results


def gain(results, key, name):
    if "failed" in results[key]:
        return None
    return 1 - results[key][name] / max(1, results["original"][name])


def row(program, change, tool, results):
    cells = []
    for name in MEASURED:
        fresh, older = (gain(results, f"{kind} {tool}", name) for kind in ("fresh", "older"))
        kept = f"{older / fresh:.0%}" if fresh and older is not None else "-"
        cells += ["-" if fresh is None else f"{-fresh:+.1%}", "-" if older is None else f"{-older:+.1%}", kept]
    return [program, change, tool, *cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--changes", help="rows of the table, by commas")
    parser.add_argument("--respike", type=pathlib.Path, default=speed.ROOT / "build" / "respike")
    parser.add_argument("--bolt", default="llvm-bolt-22")
    parser.add_argument("--short", action="store_true", help="a fifth of the reference input")
    parser.add_argument("--folder", type=pathlib.Path, default=speed.ROOT / "build" / "speed")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures")
    args = parser.parse_args()
    lab = speed.Lab(args.folder.resolve(), args.respike.resolve())
    tools = [StaleRespike(args.respike.resolve()), StaleBolt(args.bolt)]
    head = ["program", "change", "tool"]
    for title in MEASURED.values():
        head += [f"{title}, fresh", f"{title}, older", "kept"]
    rows, figures = [head, ["---"] * 3 + ["---:"] * (len(head) - 3)], []
    wanted = args.changes.split(",") if args.changes else None
    for program in speed_programs.prepare(lab.folder, args.programs.split(","), args.short):
        builds = Builds(program.name, lab.folder, lab.folder / "images")
        changes = builds.changes()
        unknown = [change for change in wanted or () if change not in changes]
        if unknown:
            sys.exit(f"stale_profiles: there is no change {unknown[0]!r}; there are: {', '.join(changes)}")
        for change, make in changes.items():
            if wanted and change not in wanted:
                continue
            try:
                older, newer = (dataclasses.replace(program, image=image) for image in make())
            except (persistence.workloads.Unavailable, speed_programs.Unavailable) as reason:
                print(f"stale_profiles: WITHOUT {program.name} {change}: {reason}", file=sys.stderr)
                continue
            place = lab.folder / "stale" / f"{program.name} {change}".replace(" ", "_")
            results = measure(lab, tools, older, newer, place)
            rows += [row(program.name, change, tool.name, results) for tool in tools]
            figures.append({"program": program.name, "change": change} | results)
            if args.json:
                args.json.write_text(json.dumps(figures, indent=1) + "\n")
    print("".join("| " + " | ".join(cells) + " |\n" for cells in rows), end="")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The tables that scripts/demo.sh prints: a program and its rewritten images, side by side."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "bench" / "workloads")]
os.environ["RESPIKE"], os.environ["RESPIKE_PROGRAMS"] = (
    str(pathlib.Path(p).resolve()) for p in sys.argv[1:3]
)
os.environ["RESPIKE_MANIFEST"] = "demo.json"
import common  # noqa: E402  (it reads the environment above)
import sql  # noqa: E402

MACHINE, RUNNER = ("x86-64", "on this host") if common.is_native() else ("Alpha", "under qemu-alpha")
LAYOUTS = [["original"], ["random", "--seed", "1"], ["scatter", "--seed", "1"]]


def say(what):
    print(f"demo: {what}", flush=True)


def measure(command):
    """Runs the command; returns (exit status, seconds, peak memory in MB)."""
    start = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], stderr=subprocess.PIPE)
    errors = child.stderr.read().decode(errors="replace").strip()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"demo: {' '.join(map(str, command))}: {errors}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def print_table(title, rows):
    print(f"\n{title}")
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print(
            "  "
            + "  ".join(
                str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            )
        )
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def describe(programs):
    rows = [
        ["program", "text bytes", "procedures", "blocks", "instructions", "relocations", "opaque"]
    ]
    for program in programs:
        info = json.loads(common.respike_ok("image", "info", program.image, "--json").stdout)
        rows.append(
            [
                program.name,
                f"{info['text_bytes']:,}",
                f"{info['procedures']:,}",
                f"{info['blocks']:,}",
                f"{info['instructions']:,}",
                f"{info['relocations']:,}",
                f"{info['opaque_procedures']:,}",
            ]
        )
    print_table(f"What respike found in the images for {MACHINE}:", rows)


def rewrite(programs, folder):
    rows = [
        [
            "program",
            "layout",
            "seconds",
            "memory",
            "fragments",
            "input bytes",
            "output bytes",
            "same output",
        ]
    ]
    same = True
    for program in programs:
        for layout in LAYOUTS:
            output, report = folder / "output", folder / "report.json"
            seconds, memory = measure(
                [
                    common.RESPIKE,
                    "image",
                    "optimize",
                    program.image,
                    "-o",
                    output,
                    "--layout",
                    *layout,
                    "--report",
                    report,
                ]
            )
            data = json.loads(report.read_text())
            try:
                common.check_behaviour(program, output)
                verdict = "yes"
            except common.Failure as failure:
                verdict, same = f"NO: {failure}", False
            rows.append(
                [
                    program.name,
                    layout[0],
                    f"{seconds:.2f}",
                    f"{memory:.0f} MB",
                    f"{data.get('fragments', 0):,}",
                    f"{program.image.stat().st_size:,}",
                    f"{output.stat().st_size:,}",
                    verdict,
                ]
            )
    print_table(
        f"What it wrote; `same output` compares standard output and exit status {RUNNER}:",
        rows,
    )
    return same


def profile(programs, folder):
    """Counts the runs of each program, and shows in which procedures its instructions were
    executed."""
    rows = [["program", "counters per block", "code", "same output", "hottest procedures"]]
    same = True
    for program in programs:
        output, spool, result = folder / "counting", folder / "spool", folder / "profile"
        shutil.rmtree(spool, ignore_errors=True)
        figures = json.loads(
            common.respike_ok(
                "image", "instrument", program.image, "-o", output, "--spool", spool, "--json"
            ).stdout
        )
        try:
            common.check_behaviour(program, output)
            verdict = "yes"
        except common.Failure as failure:
            verdict, same = f"NO: {failure}", False
        common.respike_ok("image", "collect", *sorted(spool.iterdir()), "-o", result)
        shown = json.loads(common.respike_ok("profile", "show", result, "--json").stdout)
        hottest = sorted(shown["procedures"], key=executed, reverse=True)
        total = sum(map(executed, hottest))
        rows.append(
            [
                program.name,
                f"{figures['counters'] / figures['blocks']:.0%}",
                f"{figures['new_text_bytes'] / figures['text_bytes'] - 1:+.0%}",
                verdict,
                ", ".join(f"{p['name']} {executed(p) / total:.0%}" for p in hottest[:3]),
            ]
        )
    print_table("What its counters say, in a version of each program that counts:", rows)
    return same


def compare(programs, folder):
    """Lays SQLite out by a profile of one SQL script, and compares both on another script."""
    describe_gain = gain_in_time if common.is_native() else gain_on_model
    rows, same = [], True
    training, reference = folder / "training.sql", folder / "reference.sql"
    training.write_text(sql.training(360))
    reference.write_text(sql.reference(480))
    for program in programs:
        if program.program != "sqlite3":
            continue
        counting, spool, result, output = (
            folder / f"{program.name}-{name}" for name in ("counting", "spool", "profile", "output")
        )
        common.respike_ok("image", "instrument", program.image, "-o", counting, "--spool", spool)
        trained = common.run_command([*common.emulator(), counting, "-batch"], stdin=training)
        if trained.status != 0:
            sys.exit(f"demo: {counting}: {trained.stderr.decode(errors='replace')}")
        common.respike_ok("image", "collect", *sorted(spool.iterdir()), "-o", result)
        common.optimize(program.image, output, "--profile", result)
        here = ["--native"] if common.is_native() else []
        command = ["compare", program.image, output, *here, "--json", "--", "-batch"]
        outcome = common.respike(*command, stdin=reference)
        figures = json.loads(outcome.stdout)
        same = same and figures["same_output"]
        verdict = "yes" if figures["same_output"] else f"NO: {outcome.stderr.decode()}"
        row = describe_gain(figures)
        if not rows:
            rows.append(["program", *row, "same output"])
        rows.append([program.name, *row.values(), verdict])
    if rows:
        how = "in processor time" if common.is_native() else "on the model of the Alpha 21164"
        print_table(f"What a layout by a profile of one SQL script gains on another one, {how}:", rows)
    return same


def gain_on_model(figures):
    before, after = figures["before"], figures["after"]
    change = lambda event: f"{after[event] / before[event] - 1:+.1%}"
    return {
        "instructions": change("instructions"),
        "taken jumps": change("taken_jumps"),
        "cache misses": change("icache_misses"),
        "cycles before": f"{before['cycles'] / 1e6:.0f} M",
        "cycles after": f"{after['cycles'] / 1e6:.0f} M",
        "speedup": f"{before['cycles'] / after['cycles']:.2f}",
    }


def gain_in_time(figures):
    """A difference does not count unless it exceeds the variation of the times."""
    before, after = (figures[side]["median_microseconds"] for side in ("before", "after"))
    return {
        "median before": f"{before / 1e3:.1f} ms",
        "median after": f"{after / 1e3:.1f} ms",
        "faster": f"in {figures['faster_pairs']} of {figures['pairs']} runs",
        "speedup": f"{before / after:.2f}" if figures["beyond_noise"] else "none",
    }


def executed(procedure):
    return sum(block["count"] * block["instructions"] for block in procedure["blocks"])


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    programs = [p for p in common.load_programs() if not p.variant]
    if not programs:
        return  # no compiler for this machine
    common.note_missing_programs()
    describe(programs)
    with tempfile.TemporaryDirectory(prefix="respike-demo-") as folder:
        say("rewriting it with three layouts, and running the results")
        same = rewrite(programs, pathlib.Path(folder))
        say("counting what it executes")
        same = profile(programs, pathlib.Path(folder)) and same
        say("laying it out by a profile, and comparing both")
        same = compare(programs, pathlib.Path(folder)) and same
    if not same:
        sys.exit("demo: a rewritten program does not behave like its original")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Speed and memory of rewriting: lift, lay out, emit and verify images of growing size.

  rewriting.py [--respike build/respike] [--programs build/programs] [--runs 3] [--large]

Prints a Markdown table: wall time in seconds, the best of several runs; the largest resident memory
of these runs; and the sizes of input and output. The synthetic images come from synthetic-image.py;
--large adds the image of 10 million instructions. The layout `default` is that of `image optimize`
without options: without a profile, and with a profile for images that are run first.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def measure(command):
    """Runs the command; returns (seconds of wall time, peak memory in MB)."""
    start = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"rewriting: {' '.join(map(str, command))} failed")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def synthetic(folder, name, instructions, *options):
    image = folder / name
    subprocess.run([sys.executable, HERE / "synthetic-image.py", image, "--instructions", str(instructions), *options],
                   check=True, stderr=subprocess.DEVNULL)
    return image


def profile(args, folder, image, words, stdin=os.devnull):
    """Counts one run, which may fail; returns the path of the profile."""
    counting, spool, result = folder / "counting", folder / "spool", folder / "profile"
    shutil.rmtree(spool, ignore_errors=True)
    subprocess.run([args.respike, "image", "instrument", image, "-o", counting, "--spool", spool], check=True, stdout=subprocess.DEVNULL)
    with open(stdin, "rb") as file:
        subprocess.run(["qemu-alpha", counting, *words], stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([args.respike, "image", "collect", *spool.iterdir(), "-o", result], check=True, stdout=subprocess.DEVNULL)
    return result


def images(args, folder):
    """(title, image, function that makes a profile or None)."""
    sqlite = pathlib.Path(args.programs) / "images" / "sqlite3.static"
    if sqlite.exists():
        script = ROOT / "tests" / "programs" / "inputs" / "heavy.sql"
        yield "sqlite3, static", sqlite, lambda: profile(args, folder, sqlite, ["-batch", ":memory:"], script)
    large = synthetic(folder, "cpython-sized", 820_000, "--static")
    yield "synthetic, static, size of CPython", large, lambda: profile(args, folder, large, [])
    for millions in (1, 2, 4) + ((9.5,) if args.large else ()):
        yield f"synthetic, {millions:g} M", synthetic(folder, f"synthetic{millions:g}", int(millions * 1e6)), None


def row(args, folder, name, image, layout, options):
    out, report = folder / "out", folder / "report.json"
    command = [args.respike, "image", "optimize", image, "-o", out, "--report", report, *options]
    results = [measure(command) for _ in range(args.runs)]
    info = json.loads(subprocess.run([args.respike, "image", "info", "--json", image], check=True,
                                     capture_output=True, text=True).stdout)
    seconds = min(s for s, _ in results)
    return [name, layout, f"{info['text_bytes'] / 1e6:.1f}", f"{info['instructions'] / 1e6:.2f}", f"{seconds:.2f}",
            f"{info['instructions'] / seconds / 1e6:.2f}", f"{max(m for _, m in results):.0f}",
            f"{image.stat().st_size / 1e6:.1f}", f"{out.stat().st_size / 1e6:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--programs", default=ROOT / "build" / "programs")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 10 million instructions")
    args = parser.parse_args()
    head = ["image", "layout", "text MB", "M instructions", "seconds", "M instructions/s", "peak MB", "input MB", "output MB"]
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, image, make_profile in images(args, folder):
            layouts = {"original": ["--layout", "original"], "random": ["--layout", "random"], "default": []}
            if make_profile is not None:
                layouts["default, by a profile"] = ["--profile", make_profile()]
            for layout, options in layouts.items():
                print("| " + " | ".join(row(args, folder, title, image, layout, options)) + " |", flush=True)


if __name__ == "__main__":
    main()

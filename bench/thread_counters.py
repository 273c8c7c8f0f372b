#!/usr/bin/env python3
"""What counters cost a program of several threads, natively: each kind of counters with one thread and with eight, as
multiples of the original's processor time and time, both the least of interleaved runs.

usage: bench/thread_counters.py [--runs N]

The program is SQLite with workloads/sqlite_threads.c, from the sources that tests/programs fetched. RESPIKE and
RESPIKE_PROGRAMS as for the end-to-end tests."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "e2e"))

import common  # noqa: E402

THREADS = (1, 8)
KINDS = ("shared", "threads", "atomic")


def build(folder):
    sqlite = common.PROGRAMS / "sources" / "sqlite3-amalgamation"
    if not (sqlite / "sqlite3.c").exists():
        raise SystemExit("SQLite's source is not there: ctest --test-dir build -R '^programs$' fetches it")
    image = folder / "sqlite_threads"
    options = ["-DSQLITE_THREADSAFE=2", "-DSQLITE_DEFAULT_MEMSTATUS=0", "-Wl,--emit-relocs", f"-I{sqlite}"]
    sources = [HERE / "workloads" / "sqlite_threads.c", sqlite / "sqlite3.c"]
    subprocess.run(["gcc", "-O2", "-w", *options, *sources, "-pthread", "-lm", "-o", image], check=True)
    return image


def run(image, threads):
    """Processor time and time of a run, in seconds, and its output."""
    start = time.monotonic()
    process = subprocess.Popen([image, str(threads)], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{image}: status {status}")
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - start), output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="respike-threads-") as folder:
        folder = pathlib.Path(folder)
        images = {"original": build(folder)}
        for kind in KINDS:
            images[kind] = folder / kind
            spool = folder / f"spool-{kind}"
            options = ["--spool", spool, "--counters", kind]
            common.respike_ok("image", "instrument", images["original"], "-o", images[kind], *options)
        print("| threads | counters | processor time | time |\n|---|---|---|---|")
        for threads in THREADS:
            least, outputs = {}, set()
            for _ in range(runs):
                for kind, image in images.items():
                    times, output = run(image, threads)
                    outputs.add(output)
                    least[kind] = tuple(map(min, zip(least.get(kind, times), times)))
            if len(outputs) != 1:
                raise SystemExit("the images print different things")
            for kind in KINDS:
                processor, elapsed = (a / b for a, b in zip(least[kind], least["original"]))
                print(f"| {threads} | {kind} | {processor:.2f} | {elapsed:.2f} |")


if __name__ == "__main__":
    main()

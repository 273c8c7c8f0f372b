#!/usr/bin/env python3
"""What `respike run` adds to the start of a program that prints a line: a Markdown table by mode.

  starting.py [--respike build/respike] [--pairs 40]

Starts under the emulator alone and starts by `respike run` take turns; the result is the median of
the differences of these pairs. The counter files of instrumented runs are merged between pairs."""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
KINDS = {"static": ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"], "dynamic": []}


def do(*command):
    subprocess.run([str(c) for c in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def milliseconds(*command):
    start = time.perf_counter()
    do(*command)
    return 1000 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--pairs", type=int, default=40)
    args = parser.parse_args()
    print("| hello | mode | emulator alone | `respike run` | added |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RESPIKE_DB"] = f"{folder}/starting.db"
        source = pathlib.Path(folder) / "hello.c"
        source.write_text(HELLO)
        for kind, flags in KINDS.items():
            image = pathlib.Path(folder) / kind
            do("alpha-linux-gnu-gcc", "-O2", "-Wl,-q", *flags, source, "-o", image)
            for step in (["register", image], ["instrument", kind], ["optimize", kind]):
                do(args.respike, *step)
            for mode in ("original", "optimized", "instrumented"):
                do(args.respike, "mode", kind, mode)
                pairs = []
                for _ in range(args.pairs):
                    alone = milliseconds("qemu-alpha", "-L", "/usr/alpha-linux-gnu", image)
                    pairs.append((alone, milliseconds(args.respike, "run", kind)))
                    do(args.respike, "collect")
                alone, run = (statistics.median(times) for times in zip(*pairs))
                added = statistics.median(run - alone for alone, run in pairs)
                print(f"| {kind} | {mode} | {alone:.1f} ms | {run:.1f} ms | {added:.1f} ms |")


if __name__ == "__main__":
    main()

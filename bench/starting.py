#!/usr/bin/env python3
"""What Respike adds to the start of a program that prints a line: Markdown tables.

  starting.py [--respike build/respike] [--pairs 40] [--exec-pairs 1000] [--only run|exec]

The first table is of `respike run` and Alpha programs: starts under the emulator alone and starts by `respike run`
take turns. The second table is of native programs below `respike exec`: two processes, one inside and one outside,
start the same program in turn; `unregistered` is another program, below an exec that intercepts the first. As root, also
for another user. Results are medians of the differences of these pairs, with quartiles. Counter files of instrumented
runs are merged meanwhile."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
KINDS = {"static": ["-static", "-Wl,--defsym=__ehdr_start=0x120000000"], "dynamic": []}
AS_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def do(*command):
    subprocess.run([str(c) for c in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def milliseconds(*command):
    start = time.perf_counter()
    do(*command)
    return 1000 * (time.perf_counter() - start)


def measure_run(args, folder):
    print("| hello | mode | emulator alone | `respike run` | added |")
    print("|---|---|---|---|---|")
    source = folder / "hello.c"
    source.write_text(HELLO)
    for kind, flags in KINDS.items():
        image = folder / kind
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


def serve(program):
    """Starts the program for each line of stdin; answers with the time that it took in milliseconds."""
    output = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    for _ in sys.stdin:
        start = time.perf_counter()
        process = os.posix_spawn(program, [program], os.environ, file_actions=output)
        status = os.waitpid(process, 0)[1]
        taken = 1000 * (time.perf_counter() - start)
        print(taken if status == 0 else "failed", flush=True)


class Server:
    """A process that starts a program; `prefix`: by which it is started itself."""

    def __init__(self, prefix, program):
        command = [*prefix, "python3", __file__, "--serve", program]
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def differences(pairs, outside, inside):
    servers = Server(*outside), Server(*inside)
    for server in servers * 10:
        server.start()
    times = [[server.start() for server in servers] for _ in range(pairs)]
    for server in servers:
        server.end()
    before, after = (statistics.median(column) for column in zip(*times))
    low, middle, high = statistics.quantiles([b - a for a, b in times], n=4)
    return f"{before:.2f} ms | {after:.2f} ms | {middle:+.2f} ms ({low:+.2f} to {high:+.2f})"


def measure_exec(args, folder, prefix, user):
    source = folder / "hello.c"
    source.write_text(HELLO)
    for kind, flags in (("static", ["-static"]), ("dynamic", [])):
        name = f"{user}-{kind}"
        image, other = folder / name, folder / f"{name}-other"
        do("gcc", "-O2", "-Wl,-q", *flags, source, "-o", image)
        do("gcc", "-O1", "-Wl,-q,-z,noseparate-code", *flags, source, "-o", other)
        for path in (folder, image, other):
            os.chmod(path, 0o755)
            if prefix:
                os.chown(path, 65534, 65534)
        for step in (["register", image], ["instrument", name], ["optimize", name]):
            do(*prefix, args.respike, *step)
        inside = [*prefix, args.respike, "exec", name, "--"]
        print(f"| {kind} | {user} | unregistered | {differences(args.exec_pairs, (prefix, other), (inside, other))} |")
        for mode in ("optimized", "instrumented"):
            do(*prefix, args.respike, "mode", name, mode)
            print(f"| {kind} | {user} | {mode} | {differences(args.exec_pairs, (prefix, image), (inside, image))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--exec-pairs", type=int, default=1000)
    parser.add_argument("--only", choices=["run", "exec"])
    parser.add_argument("--serve", metavar="PROGRAM", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["RESPIKE_DB"] = f"{folder}/starting.db"
        if args.only != "exec":
            measure_run(args, folder)
            print()
        if args.only == "run":
            return
        print("| hello | user | mode | outside | below `respike exec` | added |")
        print("|---|---|---|---|---|---|")
        users = {"own": []} | ({"another": AS_USER} if os.getuid() == 0 else {})
        for user, prefix in users.items():
            os.environ["RESPIKE_DB"] = f"{folder}/{user}/starting.db"
            pathlib.Path(folder, user).mkdir()
            os.chmod(folder, 0o755)
            if prefix:
                os.chown(pathlib.Path(folder, user), 65534, 65534)
            measure_exec(args, folder, prefix, user)


if __name__ == "__main__":
    main()

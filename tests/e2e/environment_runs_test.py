#!/usr/bin/env python3
"""Running applications: what the program gets, how it ends, many runs at once, and the files that
runs leave."""

import concurrent.futures
import os
import signal
import sqlite3
import subprocess
import sys

import common
from applications import World, build_echo, rows_of, same_behaviour
from common import expect


def check_run(scratch, mode):
    """In every mode, the program gets its arguments, environment and input, and its end is the
    command's."""
    world = World(scratch)
    image = build_echo(scratch)
    world.ok("register", image, "--name", "echo")
    if mode != "original":
        world.ok("instrument" if mode == "instrumented" else "optimize", "echo")
    text = scratch.file("text")
    text.write_bytes(b"some input" * 1000)
    for args in (["--help"], ["a b", "", "[x,y]", "--db", "x", "--", "-e"], ["exit", "3"], ["exit", "200"]):
        expected = common.run_command([*common.emulator(), image, *args], stdin=text)
        same_behaviour(expected, world.respike("run", "echo", *args, stdin=text), args)
        same_behaviour(expected, world.respike("run", "--", "echo", *args, stdin=text), args)
    outcome = world.ok("run", "--env", "FIRST=a=b", "--env", "SECOND=", "echo", "--env", "FIRST=c")
    expect(outcome.stdout == b"[--env]\n[FIRST=c]\na=b \n0\n", outcome.stdout)
    for number in (signal.SIGSEGV, signal.SIGTERM, signal.SIGKILL):
        outcome = world.respike("run", "echo", "die", int(number))
        expect(outcome.status == -number, f"signal {number}: {outcome.status}")
    command = [common.RESPIKE, "run", "echo"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], env=world.environment, capture_output=True)
    expect(done.returncode == 0 and done.stdout == b"- -\n0\n", done)
    if mode == "instrumented":
        ends = check_ends_noted(world)
        expect(ends.get("exited 3") == 2 and ends.get("killed by 9") == 1, ends)


def check_ends_noted(world):
    world.ok("list")
    database = sqlite3.connect(world.database)
    ends = dict(database.execute("select ended, count(*) from run group by ended"))
    database.close()
    return ends


def check_run_problems(scratch):
    world = World(scratch)
    image = build_echo(scratch)
    world.ok("register", image, "--name", "echo")
    for args, text in ((["run", "none"], "none"), (["run", "--db", "/proc/nothing/x.db", "echo"], "/proc/nothing")):
        outcome = world.respike(*args)
        expect(outcome.status == 125 and text in outcome.stderr.decode(), outcome)
        expect(outcome.stderr.count(b"\n") == 1, outcome.stderr)
    expect(world.respike("run").status == 2, "no name")
    tools = world.folder / "tools"
    tools.mkdir()
    world.environment["PATH"] = str(tools)
    outcome = world.respike("run", "echo")
    if common.is_native():
        expect(outcome.behaviour() == (0, b"- -\n0\n") and not outcome.stderr, outcome)
    else:
        expect(outcome.status == 125 and b"qemu-alpha is not installed" in outcome.stderr, outcome)
    image.unlink()
    outcome = world.respike("run", "echo")
    expect(outcome.status == 125 and b"no such program" in outcome.stderr, outcome)


def check_many_runs(scratch):
    """Many runs at once, some of them killed: runs that ended count once."""
    world = World(scratch)
    image = build_echo(scratch)
    world.ok("register", image, "--name", "echo")
    world.ok("instrument", "echo")

    def one(number):
        command = [common.RESPIKE, "run", "echo", *(["sleep", "60"] if number % 10 == 0 else [str(number)])]
        process = subprocess.Popen(
            command, env=world.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if number % 10 == 0:
            process.stdout.readline()
            process.kill()
        process.communicate(timeout=120)
        return process.returncode

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(one, range(200)))
    expect(statuses.count(0) == 180 and statuses.count(-9) == 20, statuses)

    def merged_profile():  # when the kernel has ended all killed processes
        profile = world.images("echo")[image.name]["profile"]
        return None if world.spool() else profile

    profile = common.wait_until(merged_profile, "counter files stay")
    expect(profile["runs"] == 200, profile)
    expect(rows_of(world.database, "pragma integrity_check") == [("ok",)], "integrity_check")
    rows = rows_of(
        world.database,
        "select counts from procedure_count c join count_set s on s.id = c.count_set join procedure_shape p "
        "on p.shape = s.shape and p.ordinal = c.ordinal where p.name = 'main'",
    )
    sums = [sum(numbers) for numbers in zip(*(common.uleb128(counts[1:]) for (counts,) in rows), strict=True)]
    entered = next(count for count in sums if count != 0)
    expect(entered == 200 and 180 in sums, f"main was entered {entered} times, of which 180 came to its end: {sums}")


# Makes counter files of other processes: the process number is at offset 40. In a process of its
# own: other cases start processes meanwhile, which inherit open files for a moment, and an open
# counter file is not finished.
MORE_COUNTER_FILES = """
import pathlib, sys
file = pathlib.Path(sys.argv[1])
data = file.read_bytes()
for number in range(120):
    other = file.with_name(f"echo.{number}.0.counts")
    other.write_bytes(data[:40] + (1 << 40 | number).to_bytes(8, "little") + data[48:])
with open(other, "r+b"):
    print(flush=True)
    sys.stdin.read()
"""


def check_spool_stays_small(scratch):
    """If no command but `run` is ever called, files do not pile up. Files in use are left to other
    commands."""
    world = World(scratch)
    image = build_echo(scratch)
    world.ok("register", image, "--name", "echo")
    world.ok("instrument", "echo")
    world.ok("run", "echo")
    command = [sys.executable, "-c", MORE_COUNTER_FILES, str(world.spool()[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        world.ok("run", "echo")
        expect(len(world.spool()) == 2, f"{len(world.spool())} files")
        states = rows_of(world.database, "select state, count(*) from run group by state")
        expect(states == [("finished", 120)], states)
        ends = rows_of(world.database, "select count(*) from run where ended = 'exited 0'")
        expect(ends == [(1,)], f"{ends} ends are known")
    expect(world.images("echo")[image.name]["profile"]["runs"] == 122, "all are counted")


def check_speed(scratch):
    """`run` adds at most 15 ms of processor time, which is measured since other tests run
    meanwhile."""
    if "RESPIKE_SANITIZED" in os.environ:
        raise common.Skip("the sanitizers take their time")
    world = World(scratch)
    image = build_echo(scratch)
    for step in (["register", image, "--name", "echo"], ["optimize", "echo"]):
        world.ok(*step)

    commands = [[common.RESPIKE, "run", "echo"], [*common.emulator(), image]]
    measurements = [lambda c=command: common.processor_seconds(lambda: common.run_command(c, env=world.environment)) for command in commands]
    below, alone = common.least_times(measurements, lambda below, alone: below - alone <= 0.015, times=15, most=60)
    expect(below - alone <= 0.015, f"{1000 * (below - alone):.1f} ms")


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        checks = {
            "run problems": check_run_problems,
            "many runs": check_many_runs,
            "spool stays small": check_spool_stays_small,
        }
        cases = common.named_cases(checks, scratch)
        cases += [
            common.Case(f"run {mode}", lambda m=mode: check_run(scratch, m))
            for mode in ("original", "instrumented", "optimized")
        ]
        status = common.run_cases(cases, args)
        alone = common.Case("speed", lambda: check_speed(scratch))
        return status | (common.run_cases([alone], args) if args.filter in alone.name else 0)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Commands on applications may be killed at any time: each command gets SIGKILL at random moments.
The next command works, no run is lost or counted twice, and files under their final names are
whole.

The program's counts are known: it enters `work` 7 times in each run. So the counts in the database are compared with
the number of runs that ended; the progress of a killed run is unknown."""

import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import time

import common
from common import expect

KILLS = int(os.environ.get("RESPIKE_KILLS", 15))  # of each command
ENTRIES = 7  # of `work` in each run

PROGRAM = """
static volatile long sum;
__attribute__((noinline)) void work(long n) {
  for (long i = 0; i < n; i++)
    if (i % 3 == 0) sum += i;
}
int main(void) {
  for (long n = 0; n < 7; n++) work(1000 * n);
  return sum > 0 ? 0 : 1;
}
"""

_building = threading.Lock()


def build_program(scratch):
    """Links a small program: commands should spend their time with the database, not with code."""
    with _building:
        image = scratch.path / "seven"
        if not image.exists():
            source = scratch.file("seven.c")
            source.write_text(PROGRAM)
            subprocess.run(["alpha-linux-gnu-gcc", "-O2", "-no-pie", "-Wl,-q", source, "-o", image], check=True)
    return image


class World:
    """A database of its own and the application `app`, which is instrumented and has run once."""

    def __init__(self, scratch, seed):
        self.random = random.Random(seed)
        self.folder = scratch.folder()
        self.database = self.folder / "x.db"
        self.files = pathlib.Path(f"{self.database}.files")
        self.environment = dict(os.environ, RESPIKE_DB=str(self.database))
        self.program = build_program(scratch)
        self.image = self.copy("app")
        self.number = 0
        self.finished = 0
        self.killed_runs = 0
        for step in (["register", self.image], ["instrument", "app"]):
            self.ok(*step)
        self.run()
        self.ok("collect")
        (self.base,) = self.counts_of_work()
        # A call from the same file skips the first block, which loads gp.
        self.entry = next(i for i, count in enumerate(self.base) if count != 0)
        expect(self.base[self.entry] == ENTRIES, f"work was entered as {self.base} says")

    def copy(self, name):
        path = self.folder / name
        shutil.copy(self.program, path)
        return path

    def another(self):
        """A new image that is in no database."""
        self.number += 1
        image = self.copy(f"other{self.number}")
        with open(image, "ab") as file:
            file.write(b"%d" % self.number)
        return image

    def ok(self, *args):
        outcome = common.respike_ok(*args, env=self.environment)
        warnings = [w for w in outcome.stderr.splitlines() if b"warning" in w and b"there is no profile" not in w]
        expect(not warnings, f"{args}: {warnings}")
        return outcome

    def run(self):
        common.respike_ok("run", "app", env=self.environment)
        self.finished += 1

    def query(self, text):
        connection = sqlite3.connect(self.database)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def counts_of_work(self):
        """For each count set, the counts of the blocks, edges and calls of `work`."""
        rows = self.query(
            "select counts from procedure_count c join count_set s on s.id = c.count_set join procedure_shape p "
            "on p.shape = s.shape and p.ordinal = c.ordinal where p.name = 'work' and s.purpose in ('day', 'run')"
        )
        return [common.uleb128(counts[1:]) for (counts,) in rows]

    def kill(self, seconds, *args):
        """Kills a command after `seconds`; returns whether the command was still running."""
        process = subprocess.Popen(
            [str(a) for a in (common.RESPIKE, *args)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(seconds)
        process.kill()
        return process.wait() != 0


# --- Invariants -----------------------------------------------------------------------------------


def check_database(world):
    expect(world.query("pragma integrity_check") == [("ok",)], "integrity_check")
    expect(not world.query("pragma foreign_key_check"), "rows refer to others that are not there")


def check_counts(world):
    """Counts include all runs that ended, and an unknown part of each killed run."""
    sums = [sum(numbers) for numbers in zip(*world.counts_of_work(), strict=True)]
    if world.killed_runs == 0:
        expect(sums == [n * world.finished for n in world.base], f"{world.finished} runs: {sums}, of one {world.base}")
        expect(world.query("select sum(runs) from count_set") == [(world.finished,)], "number of runs")
    most = ENTRIES * (world.finished + world.killed_runs)
    entries = sums[world.entry]
    expect(ENTRIES * world.finished <= entries <= most, f"{entries} entries, at most {most}")
    counted = world.query("select (select sum(runs) from count_set), (select count(*) from run)")[0]
    expect(counted[0] == counted[1] <= world.finished + world.killed_runs, f"{counted} runs")


def is_whole_image(path):
    """Whether the section headers, which are the end of an image, are there."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or len(data) < 64:
        return False
    offset, size, number = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    return offset + size * number <= len(data)


def check_applications(world):
    """An application has all its images, or does not exist."""
    numbers = world.query("select count(*) from application_image group by application")
    applications = world.query("select count(*) from application")
    expect(applications == [(len(numbers),)], "an application without images")
    expect(len(set(numbers)) == 1, f"numbers of images: {numbers}")


def check_files(world):
    """Files that rows refer to exist, and files with final names in the store are whole."""
    store = {p.name: p for p in (world.files / "images").glob("*/*") if p.suffix != ".new"}
    for content, counter_map in world.query("select content_hash, map_hash from derived_image"):
        expect(content in store and is_whole_image(store[content]), f"image {content}")
        expect(not counter_map or store[counter_map].stat().st_size > 0, f"counter map {counter_map}")
    for path in store.values():
        expect(path.read_bytes()[:4] != b"\x7fELF" or is_whole_image(path), f"{path} is cut short")
    for folder in ("damaged", "unknown"):
        expect(not list((world.files / "spool").glob(f"{folder}/*")), f"a counter file is {folder}")


def check_exports(world):
    for path in world.folder.glob("out*/*"):
        if not path.name.startswith(".respike-"):
            expect(is_whole_image(path), f"{path} is cut short")


def check_after(world, again):
    """After a command was killed, other commands work, and the same command works when it is repeated."""
    world.ok("collect")
    world.ok("show", "app")
    check_database(world)
    check_counts(world)
    check_applications(world)
    check_files(world)
    check_exports(world)
    again()


def check_end(world):
    """Goes the whole way once more, and verifies the optimized images."""
    for step in (["mode", "app", "original"], ["instrument", "app"]):
        world.ok(*step)
    world.run()
    for step in (["optimize", "app"], ["prune", "--keep", "1"], ["export", "app", world.folder / "last"]):
        world.ok(*step)
    check_database(world)
    check_counts(world)
    common.respike_ok("image", "verify", world.image, world.folder / "last" / "app")
    outcome = common.run_command([*common.QEMU, world.folder / "last" / "app"])
    expect(outcome.status == 0, "the exported image")


# --- Commands -------------------------------------------------------------------------------------
#
# Each function prepares work for one command, and returns the command's arguments.


def prepare_register(world):
    return ["register", world.another()]


def prepare_instrument(world):
    world.number += 1
    return ["instrument", "app", "--counters", ("atomic", "shared")[world.number % 2]]


def prepare_run(world):
    world.ok("mode", "app", "instrumented")
    return ["run", "app"]


def prepare_collect(world):
    world.ok("mode", "app", "instrumented")
    for _ in range(3):
        world.run()
    return ["collect"]


def prepare_optimize(world):
    world.ok("mode", "app", "instrumented")
    world.run()
    return ["optimize", "app"]


def prepare_export(world):
    world.number += 1
    world.ok("optimize", "app")
    return ["export", "app", world.folder / f"out{world.number}"]


def register_another(world):
    image = world.another()
    for step in (["register", image], ["instrument", image.name], ["optimize", image.name]):
        world.ok(*step)
    return image.name


def prepare_prune(world):
    world.ok("unregister", register_another(world))
    for path in (world.files / "images").glob("*/*"):
        os.utime(path, (1, 1))  # old, since young files stay
    return ["prune"]


def prepare_unregister(world):
    return ["unregister", register_another(world)]


COMMANDS = {
    "register": prepare_register,
    "instrument": prepare_instrument,
    "run": prepare_run,
    "collect": prepare_collect,
    "optimize": prepare_optimize,
    "export": prepare_export,
    "prune": prepare_prune,
    "unregister": prepare_unregister,
}


def check_command(scratch, name, prepare):
    world = World(scratch, name)
    durations = []
    for _ in range(3):
        args = prepare(world)
        start = time.monotonic()
        world.ok(*args)
        durations.append(time.monotonic() - start)
        world.finished += name == "run"
    hit = 0
    for attempt in range(KILLS + 20):
        if attempt >= KILLS and hit != 0:
            break  # the last attempts, at once, are for commands that were too fast for the others
        args = prepare(world)
        hit += world.kill(world.random.uniform(0, 1.2 * min(durations)) if attempt < KILLS else 0, *args)
        world.killed_runs += name == "run"

        def again(args=tuple(args)):
            # If a command ended before it was killed, the application may be gone already.
            if name != "unregister" or world.query(f"select 1 from application where name = '{args[1]}'"):
                world.ok(*args)
            world.finished += name == "run"

        check_after(world, again)
    expect(hit > 0, "all came to their end before they were killed")
    check_end(world)


def main():
    args = common.argument_parser(__doc__).parse_args()
    with common.Scratch() as scratch:
        return common.run_cases(
            [common.Case(n, lambda n=n, p=p: check_command(scratch, n, p)) for n, p in COMMANDS.items()], args
        )


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Counters of threads (`--counters threads`), natively: as many copies as there are threads at a time and forked
children, counts as exact as atomic ones, and a program that goes on where no copy can be made."""

import collections
import json
import os
import platform
import subprocess
import sys

import common
from common import expect

HEADER = 8192  # bytes of a counter file in front of the counters
SOURCE = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned work(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum = i % 3 == 0 ? sum + i : sum ^ i << 1;
  return sum;
}
static volatile unsigned result, handled;
static void (*volatile called)(const char *, const char *, volatile long *, long);
static void *run(void *rounds) {
  volatile long sum = 0;
  called("several words", 0, &sum, 7);
  if (sum != 14 * 7) abort();
  pthread_kill(pthread_self(), SIGUSR1);
  for (long i = 0; i < (long)rounds; ++i) result ^= work(2000);
  return 0;
}
static void handle(int number) { handled += work((unsigned)number); }

/* Loops from its first instruction on: what the red zone and registers hold is live there. */
__attribute__((noinline)) static void loop(const char *at, const char *end, volatile long *sum, long step) {
  do *sum += step;
  while (*at++ != 0 && at != end);
}
static void (*volatile called)(const char *, const char *, volatile long *, long) = loop;
/* The call is a jump in optimized code. */
__attribute__((noinline)) static int spawn(void) { return fork(); }

/* Threads that live at the same time, one after the other, and children that live on. */
int main(int argc, char **argv) {
  if (argc != 4) return 1;
  const long together = atol(argv[1]), later = atol(argv[2]), children = atol(argv[3]);
  signal(SIGUSR1, handle);
  pthread_t threads[64];
  for (long i = 0; i < together; ++i) pthread_create(&threads[i], 0, run, (void *)200);
  for (long i = 0; i < together; ++i) pthread_join(threads[i], 0);
  for (long i = 0; i < later; ++i) {
    pthread_create(&threads[0], 0, run, (void *)20);
    pthread_join(threads[0], 0);
  }
  for (long i = 0; i < children; ++i)
    if ((i % 2 == 0 ? fork() : spawn()) == 0) {
      run((void *)300);
      raise(SIGUSR1);
      _exit(0);
    }
  run((void *)300);
  while (wait(0) > 0) continue;
  printf("%ld threads, %ld later, %ld children\n", together, later, children);
  return 0;
}
"""


def build(scratch, *options):
    image = scratch.folder() / "program"
    command = ["gcc", "-O2", "-x", "c", "-", "-pthread", "-Wl,--emit-relocs", "-o", image, *options]
    subprocess.run(command, input=SOURCE.encode(), check=True)
    return image


class Counted:
    """A program that counts in a spool of its own."""

    def __init__(self, scratch, image, counters):
        folder = scratch.folder()
        self.image, self.spool = folder / "counted", folder / "spool"
        common.respike_ok("image", "instrument", image, "-o", self.image, "--spool", self.spool, "--counters", counters)
        self.profile = folder / "profile"

    def run(self, *arguments):
        done = subprocess.run([self.image, *map(str, arguments)], capture_output=True, check=True, timeout=60)
        return done.stdout

    def copies(self):
        """How many times the counters stand in the one file."""
        (file,) = self.spool.iterdir()
        header = file.read_bytes()[:HEADER]
        return (file.stat().st_size - HEADER) // int.from_bytes(header[16:24], "little")

    def counts(self):
        common.respike_ok("image", "collect", *self.spool.iterdir(), "-o", self.profile)
        shown = json.loads(common.respike_ok("profile", "show", self.profile, "--json").stdout)
        counts = collections.Counter()
        for procedure in shown["procedures"]:
            for block in procedure["blocks"]:
                counts[procedure["name"], block["address"]] += block["count"]
        return shown["runs"], counts


def check_exact(scratch, *options):
    image = build(scratch, *options)
    for arguments in ((0, 0, 0), (8, 0, 0), (8, 200, 0), (0, 0, 3), (8, 8, 3)):
        atomic, own = (Counted(scratch, image, counters) for counters in ("atomic", "threads"))
        expect(atomic.run(*arguments) == own.run(*arguments), f"{arguments}: other output")
        expect(atomic.counts() == own.counts(), f"{arguments}: other counts")
        # Threads that have ended leave their copies to later threads.
        together, later, children = arguments
        most = 1 + together + (later > 0) + children
        expect(1 <= own.copies() <= most, f"{arguments}: {own.copies()} copies, not {most}")
        expect(own.copies() >= 1 + children, f"{arguments}: {own.copies()} copies for {children} children")


def check_without_file(scratch):
    """The file goes away, or cannot be made, or may not grow: the program does not mind."""
    image = build(scratch)
    output = Counted(scratch, image, "shared").run(8, 8, 3)
    counted = Counted(scratch, image, "threads")
    limit = ["prlimit", "--fsize=13000", counted.image, "8", "8", "3"]
    done = subprocess.run(limit, capture_output=True, check=True, timeout=60)
    expect(done.stdout == output, "other output where files may not grow")
    expect(counted.copies() == 1, f"{counted.copies()} copies where files may not grow")
    warning = common.respike_ok("image", "collect", *counted.spool.iterdir(), "-o", counted.profile).stderr
    expect(b"had no counters of their own" in warning, warning)
    unlimited = ["bash", "-c", 'ulimit -s unlimited; exec "$0" 8 8 3', counted.image]
    subprocess.run(unlimited, check=True, timeout=60, stdout=subprocess.DEVNULL)
    expect(max(file.stat().st_size for file in counted.spool.iterdir()) > 2 * HEADER, "no copies below the program")
    largest = max(counted.spool.iterdir(), key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size - 8)  # the last copy was being made
    counted.counts()
    for file in counted.spool.iterdir():
        file.unlink()
    counted.spool.rmdir()
    expect(counted.run(8, 8, 3) == output, "other output without a spool")


def check_refused(scratch):
    folder = scratch.folder()
    source = b"int f(int x) { int y; __asm__(\"movl %%gs:0,%0\" : \"=r\"(y)); return x + y; } int main(void) { return 0; }"
    cases = {
        "it is a library": ["-shared", "-fPIC"],
        "it is linked statically": ["-static-pie"],
        "the register for that is used in f": [],
    }
    for reason, options in cases.items():
        command = ["gcc", "-O1", "-x", "c", "-", "-Wl,--emit-relocs", "-o", folder / "image", *options]
        subprocess.run(command, input=source, check=True)
        outcome = common.respike("image", "instrument", folder / "image", "-o", folder / "out", "--counters", "threads", cwd=folder)
        expect(outcome.status == 1 and reason.encode() in outcome.stderr, outcome)


def main():
    args = common.argument_parser(__doc__).parse_args()
    if platform.machine() != "x86_64":
        print("thread_counters_test: skipped: this is no x86-64 host")
        return 0
    with common.Scratch() as scratch:
        checks = {
            "exact": check_exact,
            "exact without PIE": lambda s: check_exact(s, "-no-pie", "-fno-pie"),
            "without file": check_without_file,
            "refused": check_refused,
        }
        return common.run_cases(common.named_cases(checks, scratch), args)


if __name__ == "__main__":
    sys.exit(main())

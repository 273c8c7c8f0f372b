"""Runs cases, several at a time, until all have ended or the time is over.

A case is a command that takes minutes. Its output goes to a file. The verdict comes from its exit status, and from its
notes on its own skipped cases (verdict_of()). A case that needs all processors, or that measures times, runs `alone`.

With a time limit a case starts only if it would end in time, judging by its last duration; for a case that has never
run, the table of parts has an estimate. So the end of a run is filled with short cases. Cases that still run when the
time is over are killed with all their descendants (guard.py). This is not their fault, so no result is recorded. At
SIGINT and SIGTERM the same happens at once. Example: with 300 s left and cases that take 400, 200 and 250 s, the second
case starts, and the third beside it."""

import dataclasses
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

GUARD = pathlib.Path(__file__).resolve().with_name("guard.py")
SKIPPED = 77  # the exit status, as for tests of CTest
PAUSE = 0.05
LONGEST = 4 * 3600.0  # limit of a case that does not say how long it may take
LONGEST_KILL = 15.0


@dataclasses.dataclass
class Case:
    """`name`: without commas and blanks. `environment`: variables that differ. `seconds`: about the time that it takes,
    if known beforehand. `limit`: the case has failed if it takes longer. `remark`: for the ledger, when the case has
    passed."""

    name: str
    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    folder: object = None
    seconds: float | None = None
    alone: bool = False
    limit: float = LONGEST
    remark: str = ""
    skipped_if: str | None = None  # a pattern of its output


# --- Verdicts -------------------------------------------------------------------------------------


def _last(pattern, text):
    found = re.findall(pattern, text, re.MULTILINE)
    return found[-1] if found else None


def _remarks(text):
    """What was missing in a case that passed: its notes, and how many of its own cases it skipped."""
    notes = [f"NOTE: {note}" for note in dict.fromkeys(re.findall(r"^(?:\d+: )?NOTE: (.*)$", text, re.MULTILINE))]
    return notes[:2]


def verdict_of(case, status, text):
    """(passed, failed or skipped, a sentence) of a case that ended with this status and printed this text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if status == SKIPPED:
        return "skipped", last
    if status != 0:
        failed = re.findall(r"^FAILED .*|^.*\*\*\*(?:Failed|Exception|Timeout).*|^\[  FAILED  \] .*", text, re.MULTILINE)
        return "failed", f"{failed[0].strip() if failed else last} (status {status})"
    skipped = re.findall(r"^skipped (.*)$", text, re.MULTILINE)  # tests/e2e/common.py
    if skipped and _last(r"^(\d+) cases, 0 failed", text) == str(len(skipped)):
        return "skipped", skipped[0]
    if case.skipped_if and re.search(case.skipped_if, text):
        return "skipped", next(line for line in lines if re.search(case.skipped_if, line))
    return "passed", "; ".join(filter(None, [case.remark, *_remarks(text)]))


# --- Durations ------------------------------------------------------------------------------------


class Durations:
    """The last durations of cases, kept in a file; for a killed case, at least the time until then."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            self.known = json.loads(self.path.read_text())
        except (OSError, ValueError):
            self.known = {}

    def note(self, key, seconds, ended):
        self.known[key] = round(seconds if ended else max(seconds, self.known.get(key, 0)), 1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}")
        part.write_text(json.dumps(self.known, indent=0, sort_keys=True))
        os.replace(part, self.path)


# --- Processes ------------------------------------------------------------------------------------


class Process:
    """A case that runs below its guard."""

    def __init__(self, case, log, root):
        self.case, self.log, self.start = case, log, time.monotonic()
        log.parent.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **case.environment}
        with open(log, "wb") as output:
            self.guard = subprocess.Popen(
                [sys.executable, "-IS", str(GUARD), *map(str, case.command)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=case.folder or root, env=environment,
                start_new_session=True,
            )  # fmt: skip

    @property
    def seconds(self):
        return time.monotonic() - self.start

    def text(self):
        return self.log.read_text(errors="replace")

    def verdict(self):
        """The exit status; None while it runs."""
        status = self.guard.poll()
        if status is None:
            if self.seconds <= self.case.limit:
                return None
            kill([self])
            return "failed", f"no end after {self.case.limit:,.0f} s"
        return verdict_of(self.case, status, self.text())


def kill(processes):
    """Ends processes with all their descendants."""
    for process in processes:
        process.guard.terminate()
    end = time.monotonic() + LONGEST_KILL
    for process in processes:
        try:
            process.guard.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.guard.pid, signal.SIGKILL)
            process.guard.wait()


class Runner:
    """Starts cases while there is time. `seconds`: the time left, or None; `jobs`: the number of cases at a time."""

    def __init__(self, root, logs, jobs, seconds=None):
        self.root, self.logs, self.jobs = root, pathlib.Path(logs), jobs
        self.end = math.inf if seconds is None else time.monotonic() + seconds
        self.signal = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, number, _frame):
        self.signal = number

    def left(self):
        return self.end - time.monotonic()

    def over(self):
        return self.signal is not None or self.left() <= 0

    def log(self, part, case):
        return self.logs / f"{part}.{re.sub(r'[^A-Za-z0-9_.+@-]+', '_', case.name)}.log"

    def run(self, part, cases, estimate, ended, gamble=False):
        """Runs cases; ended(case, verdict, sentence, seconds) is called for each, with the verdict `stopped` when it
        was killed. estimate(case) returns (seconds, whether they are known). With `gamble`, cases of unknown length
        start even if time is short. Returns the cases that have not run."""
        waiting, running = list(cases), []
        try:
            while not self.over():
                while case := self._next(waiting, running, estimate, gamble):
                    waiting.remove(case)
                    running.append(Process(case, self.log(part, case), self.root))
                if not running:
                    break
                time.sleep(PAUSE)
                for process in list(running):
                    if verdict := process.verdict():
                        running.remove(process)
                        ended(process.case, *verdict, process.seconds)
        finally:
            kill(running)
        for process in running:
            ended(process.case, "stopped", "", process.seconds)
        return waiting

    def _next(self, waiting, running, estimate, gamble):
        if self.over() or len(running) >= self.jobs or any(process.case.alone for process in running):
            return None
        for case in waiting:
            seconds, known = estimate(case)
            if seconds <= self.left() or (gamble and not known):
                return None if case.alone and running else case
        return None

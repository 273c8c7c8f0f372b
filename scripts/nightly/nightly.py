#!/usr/bin/env python3
"""The command line of scripts/nightly.sh.

The table of parts is in parts.py, the results are in the ledger (ledger.py), and running.py starts the cases. A run
goes through the parts in the order of the table. A part that the ledger calls passed is left out; for any other part
the run builds its needs, lists its cases, and runs the cases that have not passed. Example, an hour each day:

    scripts/nightly.sh --for 60m        continues where the last run ended
    scripts/nightly.sh --needed         lists the remaining cases for the present files

Files are hashed when a run begins, since the run builds that state. If files of a part have changed by the time that
one of its cases ends, it is unknown which files the case has used: its result is not recorded, and the run ends."""

import argparse
import collections
import fcntl
import math
import os
import pathlib
import re
import signal
import sys
import time

import ledger
import running

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
MOST_NAMES = 160  # characters of names on a line


def _fail(message):
    print(f"nightly: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        _fail(f"{message}; --help says more")


def _duration(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no time, such as 100m, 2h or 90s")
    return float(found[1]) * UNITS[found[2]]


def _positive(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return int(text)


def _clock(seconds):
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def parse(arguments, parts, turn):
    says = "\n".join(f"  {part.name:12} {part.says}" for part in parts)
    parser = Parser(
        prog="scripts/nightly.sh",
        description="Runs checks that take too long for every change, part by part and case by case. What has passed "
        "for the present files is noted in bench/journal/nightly.md and does not run again.",
        epilog=f"parts, in this order:\n{says}\n\n"
        "examples:\n"
        "  scripts/nightly.sh --for 100m                     goes on where the last run ended, for 100 minutes\n"
        "  scripts/nightly.sh --only capstone,gcc/0.         one part, and a tenth of another: cases 00 to 09\n"
        "  scripts/nightly.sh --only 'fuzz/.*\\.1'            the first ten minutes of each fuzzer\n"
        "  scripts/nightly.sh --only cases/profiled --again  all slices of one test, even if they have passed\n\n"
        "exit status: 0, or 1 if a case failed, 2 if the command line is wrong, 128 + N if signal N ended the run",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--for", dest="seconds", type=_duration, metavar="TIME", help="end after this time: 100m, 2h, 90s, 90 (seconds)")
    parser.add_argument("--needed", action="store_true", help="print what has not passed for the present files; builds and runs nothing")
    parser.add_argument("--only", metavar="PART[/CASE],...", help="these parts; CASE: a regular expression of whole names")
    parser.add_argument("--again", action="store_true", help="run what has passed, too")
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, help="cases at a time (default: processors)")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build-nightly"), metavar="DIR",
                        help="folder of the build, which gets all cases of all tests (default build-nightly)")
    parser.add_argument("--fuzz-seconds", type=_positive, default=turn, metavar="SECONDS",
                        help=f"of each turn of a fuzzer (default {turn}; shorter ones are not noted)")
    return parser.parse_args(arguments)


def choose(only, parts):
    """{part: pattern of its cases, or None for all} in the order of the table."""
    if only is None:
        return {part: None for part in parts}
    by_name, chosen = {part.name: part for part in parts}, {}
    for word in only.split(","):
        name, _, pattern = word.partition("/")
        if name not in by_name:
            _fail(f"there is no part \"{name}\"; parts are: {' '.join(by_name)}")
        try:
            re.compile(pattern)
        except re.error as error:
            _fail(f"{pattern} is no regular expression: {error}")
        before = chosen.get(by_name[name], "")
        chosen[by_name[name]] = None if before is None or not pattern else f"{before}|{pattern}" if before else pattern
    return {part: chosen[part] for part in parts if part in chosen}


def matching(cases, pattern):
    """Cases whose whole name matches, or the name without the number of a slice."""
    whole = re.compile(rf"(?:{pattern})(?:\.\d+)?") if pattern is not None else None
    return [case for case in cases if not whole or whole.fullmatch(case.name)]


class Nightly:
    """A run, or the list of needed cases. `table`: a module with PARTS, PREPARATIONS, Context, TURN."""

    def __init__(self, table, root, options):
        self.table, self.root, self.options = table, root, options
        self.wanted = choose(options.only, table.PARTS)
        states = {part.name: ledger.state_of(root, part.depends) for part in table.PARTS}
        build = root / options.build
        self.context = table.Context(root, build, options.jobs, options.fuzz_seconds, states)
        self.ledger = ledger.Ledger(root / "bench" / "journal" / "nightly.md", [part.name for part in table.PARTS])
        self.durations = running.Durations(build / "durations.json")
        self.verdicts = collections.Counter()
        self.failed, self.prepared, self.names, self.changed = [], {}, {}, None

    def state(self, part):
        return self.context.states[part.name]

    def _counts(self, part):
        return part.counts is None or part.counts(self.context)

    def _needed(self, part, cases):
        """The chosen cases that have not passed; failed cases come last."""
        cases_chosen = matching(cases, self.wanted[part])
        if not self._counts(part) or self.options.again:
            return cases_chosen
        state = self.state(part)
        passed = self.ledger.passed(part.name, state, [case.name for case in cases])
        others = self.ledger.others(part.name, state)
        return sorted((case for case in cases_chosen if case.name not in passed), key=lambda case: case.name in others)

    def _is_complete(self, part):
        return self._counts(part) and not self.options.again and self.ledger.complete(part.name, self.state(part))

    def estimator(self, part):
        mean = self.ledger.mean_seconds(part.name)

        def estimate(case):
            if not self._counts(part):
                return case.seconds or part.seconds, False
            known = self.durations.known.get(f"{part.name}/{case.name}")
            return (known, True) if known is not None else (case.seconds or mean or part.seconds, False)

        return estimate

    # --- What is needed ---------------------------------------------------------------------------

    def print_needed(self):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in `--needed | head`
        total, number, unknown = 0.0, 0, False
        for part in self.wanted:
            if complete := self._is_complete(part):
                print(f"{part.name:12} passed, all {complete} cases")
                continue
            cases = part.cases(self.context)
            if cases is None:
                unknown = True
                passed = self.ledger.passed(part.name, self.state(part))
                print(f"{part.name:12} {len(passed)} passed, the others are not known before {self.options.build} is built")
                continue
            needed, estimate = self._needed(part, cases), self.estimator(part)
            others = self.ledger.others(part.name, self.state(part))
            seconds = sum(estimate(case)[0] / (1 if case.alone else self.options.jobs) for case in needed)
            total, number = total + seconds, number + len(needed)
            names = ledger.compress(case.name for case in needed)
            names = names if len(names) <= MOST_NAMES else names[:MOST_NAMES].rpartition(", ")[0] + ", ..."
            print(f"{part.name:12} {len(needed)} of {len(cases)} needed, about {_clock(seconds)}{': ' if names else ''}{names}")
            for case in needed:
                if case.name in others:
                    print(f"{'':12} {case.name} {others[case.name]}")
        print(f"{number} cases needed, about {_clock(total)}{', and those that are not known' if unknown else ''}")
        return 0

    # --- A run ------------------------------------------------------------------------------------

    def run(self):
        build = self.context.build
        build.mkdir(parents=True, exist_ok=True)
        lock = open(build / "nightly.lock", "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            _fail(f"another run uses {self.options.build}")
        self.runner = running.Runner(self.root, build / "logs", self.options.jobs, self.options.seconds)
        left = {}
        # Cases of unknown length, which may be too long, come when no other case fits.
        for gamble in (False, True):
            for part in self.wanted:
                if not self._over() and (not gamble or left.get(part)):
                    left[part] = self._run_part(part, left.get(part), gamble)
                elif part not in left:
                    left[part] = None
        return self._finish(left)

    def _over(self):
        return self.runner.over() or self.changed

    def _run_part(self, part, cases, gamble):
        """Runs the part's cases, or the remaining ones; returns the cases that have not run, None if they are not
        known."""
        if cases is None:
            cases = self._begin(part)
        if not cases:
            return cases
        waiting = {case.name for case in cases}

        def ended(case, *result):
            waiting.discard(case.name)
            self._note(part, case, *result, len(waiting))

        return self.runner.run(part.name, cases, self.estimator(part), ended, gamble)

    def _begin(self, part):
        """The cases to run; None if they are not known because the part cannot be built."""
        if complete := self._is_complete(part):
            print(f"== {part.name}: all {complete} cases have passed", flush=True)
            return []
        if not self._prepare(part):
            return None
        everything = part.cases(self.context) or []
        if self._over():
            return None  # the program that lists the cases may also have been stopped
        self.names[part.name] = [case.name for case in everything]
        cases, pattern = self._needed(part, everything), self.wanted[part]
        print(f"== {part.name}: {len(everything)} cases, {len(cases)} to run", flush=True)
        if not matching(everything, pattern):
            what = "there is no case" if pattern is None else f"no case matches {pattern}"
            self._note_failure(part, what, noted=pattern is None)
        return cases

    def _prepare(self, part):
        """Builds the needs of the part; False if that is not possible."""
        name = part.prepare
        if name not in self.prepared:
            self.prepared[name] = None if name else ""
            for step in self.table.PREPARATIONS[name](self.context) if name else ():
                self.runner.run(f"prepare-{name}", [step], lambda _: (0, True), lambda *result: self._step_ended(name, *result))
                if self.prepared[name] or self.runner.over():
                    break
            else:
                self.prepared[name] = ""
        if self.prepared[name]:
            self._note_failure(part, self.prepared[name])
        return self.prepared[name] == ""

    def _step_ended(self, name, step, verdict, sentence, seconds):
        print(f"   prepare {name}/{step.name} {verdict} in {seconds:,.0f} s", flush=True)
        if verdict in ("failed", "skipped"):
            self.prepared[name] = f"{self._log(f'prepare-{name}', step)}: {sentence}"

    def _log(self, part, case):
        return os.path.relpath(self.runner.log(part, case), self.root)

    def _note_failure(self, part, sentence, noted=True):
        """Before there are cases."""
        self.failed.append(f"{part.name}: {sentence}")
        self.verdicts["failed"] += 1
        print(f"   {part.name} failed: {sentence}", flush=True)
        if noted:
            self.ledger.note(part.name, self.state(part), None, ledger.PREPARATION, "failed", 0, sentence)

    def _note(self, part, case, verdict, sentence, seconds, waiting):
        left = "" if math.isinf(self.runner.left()) else f", {_clock(self.runner.left())} left"
        print(f"   {part.name}/{case.name} {verdict} in {seconds:,.0f} s ({waiting} to go{left})", flush=True)
        if verdict in ("failed", "skipped"):
            print(f"      {sentence}", flush=True)
        if self._counts(part):
            self.durations.note(f"{part.name}/{case.name}", seconds, verdict != "stopped")
        if verdict == "stopped" or self.changed:
            self.verdicts["stopped"] += 1
            return
        if ledger.state_of(self.root, part.depends) != self.state(part):
            self.changed = part.name
            self.runner.end = time.monotonic()
            return
        self.verdicts[verdict] += 1
        where = f"{self._log(part.name, case)}: {sentence}"
        if verdict == "failed":
            self.failed.append(f"{part.name}/{case.name}: {where}")
        if self._counts(part):
            self.ledger.note(
                part.name, self.state(part), self.names[part.name], case.name, verdict, seconds, where if verdict == "failed" else sentence
            )

    def _finish(self, left):
        if self.changed:
            print(f"nightly: files of {self.changed} have changed since the run began; start it again", flush=True)
        counted = ", ".join(f"{self.verdicts[verdict]} {verdict}" for verdict in ("passed", "failed", "skipped", "stopped"))
        not_run = sum(len(cases) for cases in left.values() if cases)
        unknown = [part.name for part, cases in left.items() if cases is None]
        print(f"== {counted}, {not_run} have not run" + (f"; not begun: {', '.join(unknown)}" if unknown else ""))
        for line in self.failed:
            print(f"failed: {line}")
        if self.runner.signal:
            return 128 + self.runner.signal
        return 1 if self.failed or self.changed else 0


def main(arguments, table, root=ROOT):
    """Runs the command line with a table of parts; returns the exit status."""
    options = parse(arguments, table.PARTS, table.TURN)
    nightly = Nightly(table, pathlib.Path(root), options)
    return nightly.print_needed() if options.needed else nightly.run()


if __name__ == "__main__":
    import parts

    sys.exit(main(sys.argv[1:], parts))

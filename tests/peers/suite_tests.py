#!/usr/bin/env python3
"""Test-suites of other people's software pass as before when the software's programs and libraries were rewritten.

CPython, zstd, GMP, OpenSSL, coreutils and SQLite are built for x86-64 (suites.py), and all their executables, libraries
and modules are replaced by images that Respike made: laid out at random, counted, optimized by the profile of the
counted run. Then the software's own tests run, and each test has to end as it ends with the originals. The originals'
tests run twice; tests that end in two ways are listed and not compared. A test that differs runs twice more with the
rewritten images; if it then ends as before, it is also listed. Results are kept in a file, from which a stopped run
goes on."""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common
import machines
import packages
import results
import runner
import steps
import suite_images
import suites

MACHINE = machines.MACHINES["x86_64"]
STEPS = {step.name: step for step in steps.STEPS if not step.of and step.by in (None, "count") and step.name != "count.weights"}
USUAL = ("random", "count", "profile")
AGAIN = 2  # times that a test which differs runs again
MOST = 40  # differences that are listed by name
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
FAILED = ("fail", "error", "xpass")


@dataclasses.dataclass(frozen=True)
class Case:
    suite: suites.Suite
    build: packages.Build
    step: steps.Step
    seed: int
    units: str = ""  # a pattern, as of the next
    images: str = ""

    @property
    def name(self):
        part = "".join(f" {what}={chosen}" for what, chosen in (("unit", self.units), ("image", self.images)) if chosen)
        seed = f".{self.seed}" if "SEED" in self.step.options else ""
        return f"x86_64/{self.suite.name}@{self.build.name}/{self.step.name}{seed}{part}"


def _cases(args):
    for suite in suites.SUITES:
        for build in suite.builds:
            for name in args.step or USUAL:
                seeds = range(1, args.seeds + 1) if "SEED" in STEPS[name].options else [1]
                yield from (Case(suite, build, STEPS[name], seed, args.unit, args.image) for seed in seeds)


# --- Running a suite --------------------------------------------------------------------------------


def _run_units(suite, folder, units, logs):
    """{test: result} of these units. The output of each unit is kept in the folder `logs`."""
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)

    def run(unit):
        with tempfile.TemporaryDirectory(prefix="respike-suite-") as scratch:
            try:
                found = suite.run(folder, unit, pathlib.Path(scratch))
            except common.Failure as failure:
                found = {unit: str(failure)}
            log = pathlib.Path(scratch) / "log"
            if log.exists():
                shutil.copyfile(log, logs / unit.replace("/", "-"))
            return found

    found = {}
    with concurrent.futures.ThreadPoolExecutor(suite.at_once) as pool:
        for part in pool.map(run, units):
            found.update(part)
    return found


def _unit(test):
    return test.partition(": ")[0]


def _differences(expected, actual, units):
    """{test: (expected, actual)} of the tests of these units."""
    tests = [test for test in {**expected, **actual} if _unit(test) in units]
    return {t: (expected.get(t), actual.get(t)) for t in tests if expected.get(t) != actual.get(t)}


@dataclasses.dataclass
class Expected:
    results: dict  # of the originals
    unstable: dict  # test -> why it is not compared
    seconds: float

    def compared(self, units):
        return [test for test in self.results if _unit(test) in units and test not in self.unstable]


def _expected(suite, folder, state, units):
    """The originals' results; results of units that are not in the file yet are determined."""
    file = state / "expected.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    recipes = _hash(suites.__file__)  # results that were read in another way are not comparable
    if known.get("recipes") != recipes:
        known = {"recipes": recipes, "units": [], "results": {}, "unstable": {}, "seconds": 0}
    missing = [unit for unit in units if unit not in known["units"]]
    if missing:
        start = time.monotonic()
        first = _run_units(suite, folder, missing, state / "logs" / "original.1")
        known["seconds"] += time.monotonic() - start
        second = _run_units(suite, folder, missing, state / "logs" / "original.2")
        for test, (one, other) in _differences(first, second, set(missing)).items():
            known["unstable"][test] = f"original: {one}, then {other}"
        known["results"].update(first)
        known["units"] += missing
        file.write_text(json.dumps(known))
    unstable = dict(known["unstable"])
    for test in known["results"]:
        for pattern, reason in suite.uncompared.items():
            if re.search(pattern, test):
                unstable[test] = reason
    return Expected(known["results"], unstable, known["seconds"])


# --- Rewriting --------------------------------------------------------------------------------------


class Refused(Exception):
    """Respike leaves an image alone; the message is its sentence."""


def _respike(*arguments):
    outcome = common.respike(*arguments, timeout=steps.RESPIKE_TIMEOUT)
    said = outcome.stderr.decode(errors="replace").strip()
    if outcome.status == 1 and arguments[1] != "verify":
        raise Refused(said.splitlines()[-1][-500:] if said else "")
    if outcome.status != 0:
        raise common.Failure(f"respike {' '.join(arguments[:2])}: {common.describe_status(outcome.status)}: {said[-500:]}")
    return outcome.stdout


def _profiles(state):
    return state / "profiles"


class Rewriting:
    """The images of one step, by name: `made`, `refused` with the sentence, `wrong` with the fault."""

    def __init__(self, case, images, state, spools):
        self.case, self.images, self.state, self.spools = case, images, state, spools
        self.made, self.refused, self.wrong = {}, {}, {}
        self.opaque, self.uncounted = {}, {}  # reasons of procedures

    def run(self, names):
        suite_images.for_each(self._try, names)
        return self

    def _try(self, name):
        try:
            self.made[name] = self._rewrite(name)
        except Refused as refused:
            self.refused[name] = str(refused).replace(str(self.images.folder), "").replace(common.RESPIKE, "respike")
        except common.Failure as failure:
            self.wrong[name] = str(failure)

    def _rewrite(self, name):
        step, image = self.case.step, self.images.folder / name
        output = self.state / "made" / self.case.step.name / name
        output.parent.mkdir(parents=True, exist_ok=True)
        options = [str(self.case.seed) if option == "SEED" else option for option in step.options]
        if step.counts:
            figures = _respike("image", "instrument", image, "-o", output, "--json", "--spool", self.spools.of(name), *options)
            self.uncounted[name] = [procedure["reason"] for procedure in json.loads(figures)["left_out"]]
            return output
        report = output.with_name(f"{output.name}.report")
        if step.by:
            profile = _profiles(self.state) / f"{name}.profile"
            options += ["--profile", profile] if profile.exists() else []
        _respike("image", "optimize", image, "-o", output, *options, "--report", report)
        _respike("image", "verify", image, output)
        self.opaque[name] = [procedure["reason"] for procedure in json.loads(report.read_text())["opaque"]]
        return output


def _keep_profiles(spools, state, stamp):
    shutil.rmtree(_profiles(state), ignore_errors=True)
    for name, path in spools.profiles.items():
        place = _profiles(state) / f"{name}.profile"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    (_profiles(state) / "stamp").write_text(stamp)


def _hash(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def _stamp():
    """Which respike made the profiles."""
    return _hash(common.RESPIKE)


# --- A case -----------------------------------------------------------------------------------------


def _compare(case, folder, state, expected, units):
    """Runs the units with the images in place: the tests that differ each time, and those that differ only
    sometimes."""
    logs = state / "logs" / case.step.name
    found = _run_units(case.suite, folder, units, logs)
    tests = {t: pair for t, pair in _differences(expected.results, found, set(units)).items() if t not in expected.unstable}
    wrong, shaky = {}, {}
    again = sorted({_unit(test) for test in tests})
    runs = [_run_units(case.suite, folder, again, logs.with_name(f"{logs.name}.again{n}")) for n in range(AGAIN)] if again else []
    for test, (before, after) in tests.items():
        seen = [run.get(test) for run in runs]
        place, text = (shaky, f"{after}, then {', '.join(map(str, seen))}") if before in seen else (wrong, f"{after}")
        place[test] = f"{text} instead of {before}"
    return found, wrong, shaky


def _take(case, folder, record):
    suite, state = case.suite, case.suite.state(case.build)
    made = suite.make(case.build)
    images = suite_images.Images(made, state, suite.keeps)
    units = [unit for unit in suite.units(made) if re.search(case.units, unit)]
    expected = _expected(suite, made, state, units)
    profiles = _profiles(state) / "stamp"
    if case.step.by and not (profiles.exists() and profiles.read_text() == _stamp()):
        raise packages.Unavailable("there are no profiles of this respike: the step `count` makes them")
    names = [name for name in images.names if re.search(case.images, name)]
    shutil.rmtree(state / "made" / case.step.name, ignore_errors=True)
    counting = {name: state / "made" / case.step.name / name for name in names}
    spools = suite_images.Spools(folder / "spools", counting, state / "damaged")
    rewriting = Rewriting(case, images, state, spools).run(names)
    start = time.monotonic()
    with images.replaced(rewriting.made):
        if case.step.counts:
            with spools:
                found, wrong, shaky = _compare(case, made, state, expected, units)
        else:
            found, wrong, shaky = _compare(case, made, state, expected, units)
    if case.step.counts:
        record.update(ran=len(spools.profiles))
        for name, said in spools.refused.items():
            rewriting.wrong[f"counters of {name}"] = f"collect refuses {len(said)} counter files, for example: {said[0].rpartition('respike: ')[2]}"
        if not (spools.profiles or not rewriting.made):
            rewriting.wrong["counters"] = "no counter file"
        if not (case.units or case.images):
            _keep_profiles(spools, state, _stamp())
    compared = expected.compared(set(units))
    record.update(
        tests=len([test for test in found if ": " in test]),
        compared=len([test for test in compared if ": " in test]),
        units=len(units),
        # Units whose originals say nothing about single tests: only exit statuses are compared.
        silent={u: expected.results[u] for u in units if not any(_unit(t) == u and t != u for t in expected.results)},
        results=dict(collections.Counter(found[t] for t in found if ": " in t)),
        unstable={test: why for test, why in expected.unstable.items() if _unit(test) in set(units)},
        shaky=shaky,
        images=len(rewriting.made),
        **_reasons(rewriting),
        failing=[test for test in compared if expected.results[test] in FAILED],
        refused=rewriting.refused,
        different=len(wrong),
        run_seconds=round(time.monotonic() - start, 1),
        original_seconds=round(expected.seconds, 1),
        wrong={**rewriting.wrong, **dict(list(wrong.items())[:MOST])},
    )
    # A suite that does not run at all would otherwise pass: nothing differs.
    endings = {expected.results[unit] for unit in units}
    if not record["compared"] and endings != {common.describe_status(0)}:
        record["wrong"]["the originals"] = f"no test to compare: {', '.join(sorted(endings)) or 'no unit'}"
    if record["wrong"]:
        record["status"] = "failed"


def _reasons(rewriting):
    """How many procedures stay where they are, or have no counters, and why."""
    figures = {}
    for field, reasons in (("opaque", rewriting.opaque), ("uncounted", rewriting.uncounted)):
        if not reasons:
            continue
        counted = collections.Counter(_NUMBER.sub("N", reason) for of_image in reasons.values() for reason in of_image)
        figures[field] = counted.total()
        figures[f"{field}_reasons"] = dict(counted.most_common(10))
    return figures


def _run(case, folder):
    start = time.monotonic()
    folder.mkdir(parents=True)
    record = {"case": case.name, "machine": MACHINE.name, "suite": case.suite.name, "set": case.build.name, "status": "passed"}
    try:
        with case.suite.locked(case.build):
            _take(case, folder, record)
    except packages.Unavailable as reason:
        record.update(status="left out", reason=str(reason))
    except common.Failure as failure:
        record.update(status="failed", wrong={"the suite": str(failure)})
    shutil.rmtree(folder, ignore_errors=True)
    return {**record, "seconds": round(time.monotonic() - start, 1)}


# --- The report -------------------------------------------------------------------------------------

COLUMNS = (
    ("images", "images"),
    ("opaque", "opaque"),
    ("uncounted", "uncounted"),
    ("tests", "tests"),
    ("compared", "compared"),
    ("different", "different"),
    ("original_seconds", "s before"),
    ("run_seconds", "s after"),
)


def report(records):
    """Prints the results; returns the number of failed cases."""
    print(f"\n{'suite, step':36}" + "".join(f"{title:>11}" for _, title in COLUMNS) + "   failed, skipped")
    for record in records:
        found = collections.Counter(record.get("results", {}))
        skipped, failed = found["skip"], sum(found[result] for result in FAILED)
        figures = "".join(f"{record.get(field, '-'):>11}" for field, _ in COLUMNS)
        print(f"{record['case'].removeprefix('x86_64/'):36}{figures}   {failed}, {skipped}")
    for record in records:
        if record["status"] == "left out":
            print(f"left out {record['case']}: {record['reason']}")
        for image, sentence in record.get("refused", {}).items():
            print(f"refused {record['case']}: {image}: {sentence}")
    reasons = collections.Counter()
    for record in records:
        for field in ("opaque", "uncounted"):
            for reason, number in record.get(f"{field}_reasons", {}).items():
                reasons[f"{record['suite']}@{record['set']} {field}: {reason}"] = number  # the same in each step
    if reasons:
        print("\nprocedures that stay in place (opaque) or have no counters, in all images of a suite:")
    for reason, number in reasons.most_common():
        print(f"  {number:6}  {reason}")
    failing = {(r["suite"], r["set"], test): None for r in records for test in r.get("failing", [])}
    if failing:
        print("\ntests that fail with the originals, too:")
    for suite, build, test in failing:
        print(f"  {suite}@{build} {test}")
    silent = {(r["suite"], r["set"], unit): status for r in records for unit, status in r.get("silent", {}).items()}
    if silent:
        print("\nparts that tell nothing of single tests, and how they end with the originals:")
    for (suite, build, unit), status in silent.items():
        print(f"  {suite}@{build} {unit}: {status}")
    unstable = {(r["suite"], r["set"], test): why for r in records for test, why in r.get("unstable", {}).items()}
    if unstable:
        print("\ntests that are not compared, since they end in two ways with the originals:")
    for (suite, build, test), why in unstable.items():
        print(f"  {suite}@{build} {test}: {why}")
    if any(record.get("shaky") for record in records):
        print("\ntests that ended otherwise at first, and as before when they ran again:")
    for record in records:
        for test, seen in record.get("shaky", {}).items():
            print(f"  {record['case'].removeprefix('x86_64/')} {test}: {seen}")
    failed = [record for record in records if record["status"] == "failed"]
    for record in failed:
        print(f"\nFAILED {record['case']}")
        for what, message in record["wrong"].items():
            print(f"    {what}: {message}")
    status = collections.Counter(record["status"] for record in records)
    print(f"\n{len(records)} cases: {', '.join(f'{n} {s}' for s, n in sorted(status.items()))}")
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].replace("\n", " "))
    parser.add_argument("--filter", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--step", action="append", choices=STEPS, help=f"instead of {', '.join(USUAL)} (repeatable)")
    parser.add_argument("--seeds", type=int, default=1, help="of random layouts (default 1)")
    parser.add_argument("--unit", default="", help="only these parts of a suite, such as test_re of CPython: a regular expression")
    parser.add_argument("--image", default="", help="rewrite only these images: a regular expression")
    parser.add_argument("--results", type=pathlib.Path, default=runner.WORK / "suites.jsonl", help="the file of results")
    parser.add_argument("--fresh", action="store_true", help="do not go on where a run was stopped")
    parser.add_argument("--report", action="store_true", help="only print what is in the file of results")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    args = parser.parse_args()
    cases = [case for case in _cases(args) if re.search(args.filter, case.name)]
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    if args.report:
        return 1 if report(list(results.read(args.results).values())) else 0
    if reason := MACHINE.missing():
        print(f"NOTE: without suites for x86-64: {reason}")
        return results.SKIPPED
    found = results.Results(args.results, args.fresh)
    done = runner.run_all(cases, found, _run, jobs=1)  # they share a folder, and each keeps all processors busy
    return results.status(done, report(done))


if __name__ == "__main__":
    sys.exit(main())

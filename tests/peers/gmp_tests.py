#!/usr/bin/env python3
"""GMP's own test-suite, for Alpha and Itanium with their assembly, passes after rewriting.

GMP is configured for the machine and built with its tests, which are programs that check themselves; each is linked
with the static library, laid out at random, scattered, counted, and optimized by its profile, and must end as before.
The source package is fetched like the other sources. Results are kept in a file, from which a stopped run goes on."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import gcc_sources
import build
import common
import machines
import results
import runner
import steps

STEPS = ["random", "scatter", "default", "profile", "count.weights", "profile>random", "profile>profile"]
LONGEST = 60.0


@dataclasses.dataclass(frozen=True)
class Case:
    machine: str
    program: pathlib.Path
    name: str


def _command(folder, log, *command):
    with open(log, "ab") as file:
        return subprocess.run([str(c) for c in command], cwd=folder, stdout=file, stderr=file).returncode == 0


def source():
    """A copy of the source with the folder of documentation, which Debian's package lacks."""
    source = gcc_sources.SOURCES / "gmp-build"
    if not source.exists():
        if not build.fetch(gcc_sources.SOURCES, ["gmp"]):
            return None
        part = source.with_name(".gmp-build")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(gcc_sources.SOURCES / "gmp", part)
        (part / "doc").mkdir(exist_ok=True)
        (part / "doc" / "Makefile.in").write_text("all check clean install:\n")
        part.rename(source)
    return source


def _built(machine, source):
    """The folder in which GMP and its tests are built for the machine; built once."""
    folder = runner.WORK / f"gmp-{machine.name}"
    done, log = folder / ".built", folder / "log"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tools = [f"{tool.upper()}={machine.name}-linux-gnu-{tool}" for tool in ("ar", "nm", "ranlib")]
    compilers = [f"CC={machine.compiler('c')}", f"CXX={machine.compiler('c++')}", "CC_FOR_BUILD=gcc"]
    flags = ["CFLAGS=-O2", "CXXFLAGS=-O2", f"LDFLAGS={build.RELOCATIONS}", "--disable-shared", "--enable-cxx"]
    host = [f"--host={machine.triplet}", "--build=x86_64-linux-gnu"]
    make = ["make", f"-j{common.jobs()}"]
    if not (
        _command(folder, log, source / "configure", *host, *compilers, *tools, *flags)
        and _command(folder, log, *make)
        and _command(folder, log, *make, "-C", "tests", "check", "TESTS=")
    ):
        sys.exit(f"GMP cannot be built for {machine.name}: {log}")
    done.touch()
    return folder


def _cases(machine, folder):
    for path in sorted((folder / "tests").rglob("*")):
        if path.is_file() and os.access(path, os.X_OK) and path.read_bytes()[:4] == b"\x7fELF":
            if "devel" not in path.parts:
                yield Case(machine.name, path, f"{machine.name}/gmp/{path.relative_to(folder / 'tests')}")


def _run(case, folder, kept):
    start = time.monotonic()
    record = {"case": case.name, "machine": case.machine, "suite": "gmp", "set": "O2"}
    image = folder / "start0" / "program"
    image.parent.mkdir(parents=True)
    shutil.copy2(case.program, image)
    machine = machines.MACHINES[case.machine]
    subject = steps.Subject(machine, folder, image, None, {}, False, False, compares=False)
    try:
        subject.expected = machine.run(image, timeout=LONGEST)
        if subject.expected.status != 0:
            record.update(status="left out", reason=f"the original fails: {common.describe_status(subject.expected.status)}")
        else:
            walk, _ = steps.take(subject, sum(case.name.encode()), STEPS, False)
            wrong = {name: result for name, result in walk.results.items() if result != "ok"}
            record.update(status="failed" if wrong else "passed", wrong=wrong, warnings=dict(walk.warnings), opaque=walk.opaque)
    except common.Failure as failure:
        record.update(status="left out", reason=f"the original: {failure}")
    if record["status"] == "failed":
        runner.keep(case, folder, kept)
    shutil.rmtree(folder, ignore_errors=True)
    return {**record, "seconds": round(time.monotonic() - start, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only programs whose name matches this regular expression")
    parser.add_argument("--machine", action="append", choices=list(machines.MACHINES), help="only these (repeatable)")
    parser.add_argument("--results", type=pathlib.Path, default=runner.WORK / "gmp.jsonl", help="the file of results")
    parser.add_argument("--fresh", action="store_true", help="do not go on where a run was stopped")
    args = parser.parse_args()
    source_folder = source()
    if source_folder is None:
        print("NOTE: Debian's sources were unreachable; without GMP's tests")
        return results.SKIPPED
    cases, missing = [], True
    for name in args.machine or machines.MACHINES:
        machine = machines.MACHINES[name]
        if reason := machine.missing():
            print(f"NOTE: without {name}: {reason}")
        else:
            cases += [case for case in _cases(machine, _built(machine, source_folder)) if re.search(args.filter, case.name)]
        missing = missing and bool(reason)
    if missing:
        return results.SKIPPED
    found = results.Results(args.results, args.fresh)
    done = runner.run_all(cases, found, lambda case, folder: _run(case, folder, runner.WORK / "failed"))
    return results.status(done, results.report(done))


if __name__ == "__main__":
    sys.exit(main())

"""Runs many cases at a time, each in a folder of its own, and keeps their results.

A case has a name; run(case, folder) returns its record, a dictionary with `case`, `status` (passed, failed, left out),
`wrong` (step -> message) and `seconds`; results.py knows the rest."""

import concurrent.futures
import pathlib
import re
import shutil
import tempfile
import time

import gcc_sources  # noqa: F401  (its folders of modules)
import common

WORK = pathlib.Path(common.RESPIKE).resolve().parent / "peers"


def keep(case, folder, kept):
    """Copies the files that a failed case left."""
    place = kept / re.sub(r"[^\w.+-]+", "_", case.name)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, symlinks=True)


def run_all(cases, found, run, sample=None, jobs=None):
    """Runs the cases that are not among the results `found`, of a sample until so many could be run, `jobs` at a time;
    returns all records."""
    jobs = jobs or common.jobs()
    waiting = iter([case for case in cases if case.name not in found.records])
    done = [found.records[case.name] for case in cases if case.name in found.records]
    ran = sum(record["status"] != "left out" for record in done)
    start = last = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="respike-peers-") as scratch, _pool(jobs) as pool:
        running, number = set(), 0
        while True:
            while len(running) < jobs and (sample is None or ran + len(running) < sample):
                case = next(waiting, None)
                if case is None:
                    break
                number += 1
                running.add(pool.submit(run, case, pathlib.Path(scratch) / f"{number:06}"))
            if not running:
                return done
            ended, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for record in (future.result() for future in ended):
                found.add(record)
                done.append(record)
                ran += record["status"] != "left out"
                if record["status"] == "failed":
                    print(f"FAILED {record['case']}: {record['wrong']}", flush=True)
            if time.monotonic() - last > 60:
                last = time.monotonic()
                print(f"  {len(done)} of {len(cases)} cases, {ran} run, {last - start:.0f} s", flush=True)


def _pool(jobs):
    return concurrent.futures.ThreadPoolExecutor(jobs)

"""One of GCC's programs, compiled with one set of options for one machine, through all steps."""

import dataclasses
import hashlib
import pathlib
import random
import re
import shutil
import time
import traceback

import gcc_sources
import common
import dejagnu
import machines
import runner
import steps

STUB = pathlib.Path(__file__).resolve().parent / "stub.c"
LONGEST = 5.0  # seconds that an original may run; the steps together take fifty times that
THREADS = re.compile(rb"pthread_create|std::thread|std::async|\bv?fork\s*\(|\bclone\s*\(|\bsystem\s*\(|std::jthread")
ADDRESS = re.compile(rb"\b0x[0-9a-f]{8,}\b")
SIGNALS = re.compile(rb"\bsignal\s*\(|sigaction|\bkill\s*\(|\braise\s*\(|alarm\s*\(|setitimer|-fnon-call-exceptions")
OWN_LEVEL = ("c-torture", "ieee", "builtins")


class LeftOut(Exception):
    """The original cannot be compiled or run here."""


@dataclasses.dataclass(frozen=True)
class Case:
    source: gcc_sources.Source
    machine: str
    set: str  # of options, see machines.py

    @property
    def name(self):
        language = "" if self.source.path.suffix == ".C" or self.source.suite.language == "c" else "(c++)"
        return f"{self.machine}/{self.source.name}{language}@{self.set}"

    @property
    def seed(self):
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:3], "big")


def choose(sources, names, sets, seed):
    """`sets` sets of options, drawn by the seed, for each source and machine."""
    for source in sources:
        for name in names:
            key = f"{seed} {name} {source.suite.language} {source.name}"
            draw = random.Random(key)
            chosen = list(machines.MACHINES[name].sets)
            for option_set in draw.sample(chosen, min(sets, len(chosen))):
                yield Case(source, name, option_set)


def _compile(case, machine, folder):
    """The image and its directives."""
    language, suite = case.source.suite.language, case.source.suite
    flags = [*suite.flags, *machine.sets[case.set]]
    flags += machine.ieee if suite.name == "ieee" else []
    test = dejagnu.read(case.source.path, machine.target(language), suite.runs, flags)
    if not test.runs:
        raise LeftOut("no program to run")
    if test.left_out:
        raise LeftOut(test.left_out)
    files = [case.source.path, *case.source.others(), *(case.source.path.parent / s for s in test.sources)]
    image = folder / "start0" / "program"
    image.parent.mkdir(exist_ok=True)
    # The test's own options come last, as in GCC's harness; the link options of the set must stay.
    linked = [f for f in machine.sets[case.set] if f in ("-fPIC", "-fPIE", "-shared", "-pie", "-static")]

    def link(*more):
        try:
            problem = machine.compile(files, image, language, [*flags, *test.options, *linked, *more], folder)
        except common.Failure as failure:
            problem = str(failure)
        if problem:
            raise LeftOut(f"cannot be compiled: {problem}")
        return image

    return test, link


def _stub(machine, language, folder):
    problem = machine.compile_stub(STUB, folder / "stub", language, folder)
    if problem:
        raise LeftOut(f"no stub: {problem}")
    return folder / "stub"


def _run_original(subject, test):
    """Sets the expectation; returns the reason if it cannot."""
    try:
        start = time.monotonic()
        first = subject.machine.run(*subject.command(subject.image), subject.environment, timeout=LONGEST)
        used = time.monotonic() - start
        second = subject.run(subject.image, {"SOMETHING_ELSE_ON_THE_STACK": "x" * 100})
    except common.Failure as failure:
        return f"the original: {failure}"
    if used > LONGEST:
        return f"the original takes {used:.0f} s"
    if (first.status == 0) == test.fails:
        return f"the original fails: {common.describe_status(first.status)}: {first.stderr.decode(errors='replace')[-200:]}"
    if first.behaviour() != second.behaviour():
        return "two runs of the original differ"
    if ADDRESS.search(first.stdout):
        return "the original prints an address: outputs have their heap behind more code"
    subject.expected = first
    return None


def _text_of(path):
    """A test's source, with the files of its folder that it includes (not files that these include)."""
    text = path.read_bytes()
    names = re.findall(rb'^\s*#\s*include\s+"([^"]+)"', text, re.M)
    included = [path.parent / name.decode(errors="replace") for name in names]
    return b"\n".join([text, *(file.read_bytes() for file in included if file.is_file())])


def _subject(case, folder):
    machine = machines.MACHINES[case.machine]
    test, link = _compile(case, machine, folder)
    image = link()
    text = _text_of(case.source.path)
    stub = _stub(machine, case.source.suite.language, folder) if "-shared" in machine.sets[case.set] else None
    subject = steps.Subject(
        machine, folder, image, stub, test.environment, bool(THREADS.search(text)), bool(SIGNALS.search(text))
    )
    reason = _run_original(subject, test)
    if reason and machine.fallback():
        link(*machine.fallback())
        reason = _run_original(subject, test)
    if reason:
        raise LeftOut(reason)
    return subject


def run(case, folder, kept, chosen=None, measures=True):
    """The record of one case, for the file of results. Failed cases are kept in the folder `kept`."""
    start = time.monotonic()
    record = {"case": case.name, "machine": case.machine, "suite": case.source.suite.name, "set": case.set}
    folder.mkdir(parents=True)
    try:
        walk, figures = steps.take(_subject(case, folder), case.seed, chosen, measures)
        wrong = {name: result for name, result in walk.results.items() if result != "ok"}
        failed = any(not r.startswith("not taken") for r in wrong.values())
        record.update(status="failed" if failed else "passed", steps=len(walk.results), wrong=wrong, figures=figures)
        record.update(warnings=dict(walk.warnings), opaque=walk.opaque, seed=case.seed, compared=walk.compared)
    except LeftOut as reason:
        record.update(status="left out", reason=str(reason).replace(str(folder), "")[:400])
    except common.Failure as failure:
        record.update(status="failed", wrong={"-": str(failure)})
    except Exception:  # a broken harness is a failure
        record.update(status="failed", wrong={"-": traceback.format_exc()[-1500:]})
    record["seconds"] = round(time.monotonic() - start, 2)
    if record["status"] == "failed":
        runner.keep(case, folder, kept)
    shutil.rmtree(folder, ignore_errors=True)
    return record

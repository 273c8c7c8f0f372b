"""The steps for the image of somebody else's program: it is rewritten, counted, optimized by its own profile, and the
results go through the same once more. Each output has to run like the original, `image verify` has to accept it, and
each count has to be the emulator's.

    steps.take(subject, seed)      {name of a step: "ok", or the fault}, and the measurements

A step names the step whose output it takes, so a chain of names is a way through the rewriter: `profile>scatter>default`
is the image laid out by the profile of its run, scattered, and laid out by estimates."""

import collections
import dataclasses
import json
import pathlib
import re

import gcc_sources  # noqa: F401  (its folders of modules)
import common
from common import Failure, expect

RESPIKE_TIMEOUT = 300.0


@dataclasses.dataclass(frozen=True)
class Step:
    """`of`: the step whose output is the input; "": the original. `by`: the step that made the profile."""

    name: str
    of: str = ""
    options: tuple = ()
    by: str | None = None
    counts: bool = False  # it is instrumented, not laid out


RANDOM, SCATTER = ("--layout", "random", "--seed", "SEED"), ("--layout", "scatter", "--seed", "SEED")
ATOMIC = ("--counters", "atomic")
BEST = tuple(common.BEST_LAYOUT)  # code moves also where nothing is gained

STEPS = [
    Step("random", "", RANDOM),
    Step("scatter", "", SCATTER),
    Step("original", "", ("--layout", "original")),
    Step("default"),
    Step("count", counts=True),
    Step("profile", "", BEST, by="count"),
    Step("shipped", by="count"),  # as users do it; this is measured
    Step("count.weights", by="count", counts=True),
    Step("count.atomic", options=ATOMIC, counts=True),
    Step("scatter>default", "scatter"),
    Step("scatter>count", "scatter", counts=True),
    Step("scatter>profile", "scatter", BEST, by="scatter>count"),
    Step("random>count.atomic", "random", ATOMIC, counts=True),
    Step("random>default", "random"),
    Step("profile>random", "profile", RANDOM),
    Step("profile>scatter", "profile", SCATTER),
    Step("profile>scatter>default", "profile>scatter"),
    Step("profile>count", "profile", counts=True),
    Step("profile>count.weights", "profile", ATOMIC, "profile>count", True),
    Step("profile>profile", "profile", BEST, by="profile>count"),
    Step("profile>profile>count", "profile>profile", counts=True),
    Step("default>count", "default", counts=True),
    Step("default>profile", "default", BEST, by="default>count"),
]


@dataclasses.dataclass
class Subject:
    """An image with the way to run it: as a program, as a library that `stub` opens, or by `work(image)`, which returns
    the outcome of whatever has to be done with it."""

    machine: object
    folder: pathlib.Path
    image: pathlib.Path
    stub: pathlib.Path | None
    environment: dict
    threads: bool  # or processes: counters are exact only if they are atomic
    signals: bool  # interrupted code counts as finished
    expected: object = None
    compares: bool = True  # compares counts, which also takes an emulator that counts
    work: object = None

    def command(self, image):
        return (self.stub, [image]) if self.stub else (image, [])

    def run(self, image, more=None):
        if self.work:
            return self.work(image)
        return self.machine.run(*self.command(image), {**self.environment, **(more or {})})

    def count(self, image):
        return self.machine.count(*self.command(image), image, self.environment)

    def check(self, outcome, what):
        if (outcome.status, outcome.stdout) != (self.expected.status, self.expected.stdout):
            raise Failure(f"{what}: {common.describe_difference(self.expected, outcome)}")


class Walk:
    """The steps of one subject, in order, with their outputs."""

    def __init__(self, subject, seed):
        self.subject, self.seed = subject, seed
        self.outputs, self.profiles = {"": subject.image}, {}
        self.results, self.warnings, self.opaque = {}, collections.Counter(), {}
        self.compared = 0  # counts of blocks

    def take(self, step):
        missing = [n for n in (step.of,) if n not in self.outputs] + [n for n in (step.by,) if n and n not in self.profiles]
        if missing:
            self.results[step.name] = f"not taken: without {missing[0]}"
            return
        try:
            (self._count if step.counts else self._optimize)(step)
            self.results[step.name] = "ok"
        except Failure as failure:
            self.results[step.name] = str(failure)

    def _respike(self, *arguments):
        outcome = common.respike(*arguments, timeout=RESPIKE_TIMEOUT)
        said = outcome.stderr.decode(errors="replace").strip().replace(f"{self.subject.folder}/", "")
        if outcome.status != 0:
            raise Failure(f"respike {' '.join(arguments[:2])}: {common.describe_status(outcome.status)}: {said[-500:]}")
        for line in said.splitlines():
            self.warnings[re.sub(r"\d[\d,.]*%?", "N", line.removeprefix("respike: "))[:200]] += 1
        return outcome.stdout

    def _place(self, step):
        """Folders have names of one length, to give all images stacks of one size."""
        place = self.subject.folder / f"step{len(self.results):02}"
        place.mkdir()
        return place

    def _options(self, step):
        chosen = [str(self.seed) if option == "SEED" else option for option in step.options]
        if step.by:
            chosen += ["--weights" if step.counts else "--profile", self.profiles[step.by]]
        return chosen

    def _optimize(self, step):
        image, output = self.outputs[step.of], self._place(step) / "program"
        self._respike("image", "optimize", image, "-o", output, *self._options(step))
        self._respike("image", "verify", image, output)
        self.subject.check(self.subject.run(output), "wrong run")
        self.outputs[step.name] = output

    def _count(self, step):
        image, place = self.outputs[step.of], self._place(step)
        output, spool, blocks = place / "program", place / "spool", place / "blocks"
        figures = json.loads(
            self._respike(
                "image", "instrument", image, "-o", output, "--spool", spool, "--block-map", blocks, "--json", *self._options(step)
            )
        )
        self.opaque[step.name] = figures["left_out"]
        outcome, counts = self.subject.count(output) if self.subject.compares else (self.subject.run(output), None)
        self.subject.check(outcome, "wrong run when counted")
        files = sorted(spool.iterdir()) if spool.exists() else []
        expect(files, "no counter file")
        profile = place / "profile"
        self._respike("image", "collect", *files, "-o", profile)
        self.profiles[step.name] = profile
        if counts is None or (self.subject.threads and "atomic" not in step.options):
            return
        shown = json.loads(self._respike("profile", "show", profile, "--json"))
        places = {int(before, 16): int(after, 16) for before, after in map(str.split, blocks.read_text().splitlines())}
        self._compare(shown, places, counts)

    def _compare(self, profile, places, counts):
        """Every block of the profile as often as the emulator saw its first instruction."""
        shared = collections.Counter(places.values())  # blocks of no-ops alone may have no place of their own
        wrong, known = [], set()
        for procedure in profile["procedures"]:
            for block in procedure["blocks"]:
                address = block["address"]
                known.add(address)
                if address == 0 or not procedure["exact"] or shared[places[address]] > 1:
                    continue  # 0: made up by the lifter
                self.compared += 1
                seen = counts.get(places[address], 0)
                if block["count"] != seen:
                    wrong.append(f"{procedure['name']} {address:#x}: {block['count']} instead of {seen}")
        wrong += [f"{a:#x}: not counted" for a, at in places.items() if a not in known and counts.get(at, 0)]
        if wrong and (self.subject.signals or self.subject.expected.status < 0):
            self.warnings["counts differ where signals interrupt"] += 1
        else:
            expect(not wrong, f"wrong counts, {len(wrong)} of {len(places)} blocks: {'; '.join(wrong[:5])}")

    # --- Figures ----------------------------------------------------------------------------------

    def measure(self):
        """Instructions and cycles of the original and of the image optimized by its profile, for all images of the run
        together, and the instructions of the image itself."""
        if "shipped" not in self.outputs:
            return None
        figures = {}
        for name, image in (("before", self.outputs[""]), ("after", self.outputs["shipped"])):
            program, arguments = self.subject.command(image)
            variables = {"PATH": "/usr/bin:/bin", **self.subject.machine.measuring(), **self.subject.environment}
            command = [common.RESPIKE, "measure", "--json", "--", program, *arguments]
            done = common.run_command(command, timeout=RESPIKE_TIMEOUT, cwd=self.subject.folder, env=variables)
            if done.status != 0:
                return None  # a signal kills it
            measured = json.loads(done.stdout)
            own = sum(self.subject.count(image)[1].values())
            figures[name] = {"instructions": measured["instructions"], "cycles": measured["cycles"], "own": own}
        return figures


def with_needs(names):
    """The steps of these names and the steps that they need."""
    needed = set(names)
    for step in reversed(STEPS):
        if step.name in needed:
            needed |= {step.of, step.by}
    return [step for step in STEPS if step.name in needed]


def take(subject, seed, chosen=None, measures=True):
    """All steps, or the steps that `chosen` names, with the steps that they need."""
    walk = Walk(subject, seed)
    for step in STEPS if chosen is None else with_needs(chosen):
        walk.take(step)
    return walk, walk.measure() if measures and subject.machine.models else None

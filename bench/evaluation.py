"""What bench/paper shows, as numbers: runs the workloads with all layouts, and finds out what their
programs are like."""

import json

import measuring
import workloads

# Figure 10: the components, from one alone to all, and what Respike does by default
COMPONENTS = ["chain", "place", "split,place", "chain,split,place", measuring.DEFAULT]
RANDOM = "random"
POWERS = [2**k for k in range(11)]  # 1 .. 1024
NONLOOPING = 4  # figures 4 and 5: procedures with a lower trip count


class Evaluation:
    """All that the figures need: per workload its procedures and what its layouts cost."""

    def __init__(self, lab, tool, made, jobs):
        self.workloads = made
        self.measured = {}
        self.characteristics = {}
        tasks = []
        for w in made:
            tasks.append((w.name, lambda w=w: self._characterize(lab, tool, w)))
            for layout in [measuring.ORIGINAL, RANDOM, *COMPONENTS]:
                for kind in workloads.KINDS:
                    task = lambda w=w, l=layout, k=kind: self._measure(lab, w, l, k)
                    tasks.append((f"{w.name} {layout}", task))
        measuring.run_all(tasks, jobs, "measuring")
        for (name, layout, kind), found in self.measured.items():
            if found["output"] != self.measured[name, measuring.ORIGINAL, kind]["output"]:
                raise measuring.Failure(f"{name}, {layout}, {kind} input: other output")

    def _characterize(self, lab, tool, w):
        """What the program does in its reference run."""
        profile = lab.profile(w.image, w.reference)
        key = measuring.digest(lab.hash_file(w.image), lab.hash_file(profile), lab.hash_file(tool))
        self.characteristics[w.name] = lab.cached(
            lab.folder / "characteristics" / f"{key}.json",
            lambda: json.loads(measuring.call(tool, w.image, profile)),
        )

    def _measure(self, lab, w, layout, kind):
        profile = None if layout == measuring.ORIGINAL else lab.profile(w.image, w.training)
        image, _ = lab.optimize(w.image, layout, profile)
        self.measured[w.name, layout, kind] = lab.measure(image, w.runs(kind))

    def speedup(self, name, layout, kind="reference"):
        """Of cycles by model C, in percent."""
        before = self.measured[name, measuring.ORIGINAL, kind]["cycles_c"]
        return 100 * (before / self.measured[name, layout, kind]["cycles_c"] - 1)

    def change(
        self, name, event, layout=measuring.DEFAULT, kind="reference", per_instruction=False
    ):
        """In percent; None where the original has next to no such events."""
        before = self.measured[name, measuring.ORIGINAL, kind]
        after = self.measured[name, layout, kind]
        if 1000 * before[event] < before["instructions"]:
            return None
        ratio = after[event] / before[event]
        if per_instruction:
            ratio *= before["instructions"] / after["instructions"]
        return 100 * (ratio - 1)

    def share(self, name, chosen=lambda p: True, what="instructions", of=lambda p: True):
        """Percentage of the executed instructions in procedures `of` a kind that is `what`, in the
        chosen ones."""
        procedures = [p for p in self.characteristics[name]["procedures"] if of(p)]
        whole = sum(p["instructions"] for p in procedures)
        return 100 * sum(p[what] for p in procedures if chosen(p)) / max(1, whole)

    # ---- what the figures are made of ----

    def names(self):
        return [w.name for w in self.workloads]

    def by_looping(self):
        """The names, those with most time in procedures with a trip count below 8 first."""
        return sorted(self.names(), key=lambda n: -self.share(n, lambda p: p["trip_count"] < 8))

    def trip_counts(self, name):
        """{N: percent of the time in procedures with a trip count less than N}."""
        return {n: self.share(name, lambda p: p["trip_count"] < n) for n in POWERS[1:]}

    def complexity(self, name, what):
        """{N: percent of the time of nonlooping procedures in those with at most N blocks}."""
        slow = lambda p: p["trip_count"] < NONLOOPING
        return {n: self.share(name, lambda p: p[what] <= n, of=slow) for n in POWERS}

    def overhead(self, name):
        """Percentages of prolog and epilog work: stack adjustments, saves, restores."""
        return [self.share(name, what=w) for w in ("adjustments", "saves", "restores")]
